"""Setup steps that OSWorld's server would run as programs: read, and done as actions."""

from __future__ import annotations

from typing import Any

import pytest

from ui_gym.contract.action import Action, Click, Move, Press, Scroll, Type, Wait
from ui_gym.desktop.osworld import scripts
from ui_gym.errors import ActionError, UserError

SIZE = (1280, 720)


class Desk:
    """As much of a desktop as a script needs."""

    size = SIZE

    def __init__(self, refuses: str = "") -> None:
        self.done: list[Action] = []
        self._refuses = refuses

    def perform(self, action: Action) -> None:
        if action.name == self._refuses:
            raise ActionError("runtime", f"{action.name}: this desktop cannot do that")
        self.done.append(action)


def run(script: Any, desk: Desk | None = None) -> list[Action]:
    desk = desk or Desk()
    scripts.run_script(desk, script)  # type: ignore[arg-type]
    return desk.done


@pytest.mark.parametrize(
    "command",
    [
        ["python", "-c", "import pyautogui; pyautogui.press('enter')"],
        ["python3", "-c", "import time; import pyautogui; time.sleep(1)"],
        ["/usr/bin/python3.11", "-c", "import pyautogui"],
        "python3 -c \"import pyautogui; pyautogui.press('enter')\"",
    ],
)
def test_a_program_of_pyautogui_is_recognised(command: Any) -> None:
    assert scripts.is_script(command)


@pytest.mark.parametrize(
    "command",
    [
        ["python3", "-c", "print(1)"],
        ["python3", "/home/user/pyautogui.py", "-c"],
        ["/bin/bash", "-c", "import pyautogui"],
        ["python3", "tool.py", "-n", "-c", "2", "pyautogui"],
        "python3 -c 'import pyautogui' && ls",
        "python3 -c 'import pyautogui",
        "ls",
        "",
        [],
    ],
)
def test_other_commands_are_no_scripts(command: Any) -> None:
    assert not scripts.is_script(command)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('import pyautogui; pyautogui.hotkey("ctrl", "s");', [Press("ctrl+s")]),
        (
            "import time; import pyautogui; time.sleep(1);pyautogui.hotkey(['shift','ctrl','e']);",
            [Wait(1), Press("shift+ctrl+e")],
        ),
        ("import pyautogui; pyautogui.press(['enter']);", [Press("enter")]),
        (
            "import pyautogui; import time; pyautogui.click(640, 360); time.sleep(0.5); "
            "pyautogui.scroll(-20)",
            [Click(640, 360), Wait(0.5), Scroll(640, 360, dy=2000)],
        ),
        (
            "import pyautogui; pyautogui.write('cd notes'); pyautogui.press('enter')",
            [Type("cd notes"), Press("enter")],
        ),
        ("import pyautogui; pyautogui.write('ls\\n')", [Type("ls", enter=True)]),
        (
            "import pyautogui;  pyautogui.doubleClick(x=640, y=360); time.sleep(0.5);"
            "pyautogui.mouseDown(); pyautogui.mouseUp()",
            [Click(640, 360, count=2), Wait(0.5), Click(640, 360)],
        ),
        (
            "import pyautogui; pyautogui.press('down', presses=40, interval=0.01)",
            [Press("down")] * 40,
        ),
        ("import pyautogui; time.sleep(15)", [Wait(5)]),
        ("import pyautogui; time.sleep(900)", [Wait(5)]),
        ("import pyautogui", []),
    ],
)
def test_its_calls_are_done_as_actions(code: str, found: list[Action]) -> None:
    assert scripts.actions(code, SIZE) == found
    assert run(["python", "-c", code]) == found
    assert run(code) == found


def test_a_program_goes_on_where_the_pointer_is() -> None:
    assert scripts.actions("pyautogui.click()", SIZE, (7, 8)) == [Click(7, 8)]
    assert scripts.actions("pyautogui.moveTo()", SIZE, (7, 8)) == [Move(7, 8)]
    with pytest.raises(UserError, match="where the pointer is, is not known"):
        scripts.actions("pyautogui.click()", SIZE)


def test_fences_in_a_typed_text_are_no_fences() -> None:
    code = "pyautogui.write('```'); pyautogui.press('enter'); pyautogui.write('```')"
    assert scripts.actions(code, SIZE) == [Type("```"), Press("enter"), Type("```")]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import pyautogui, os; os.remove('x')", "not allowed"),
        ("import pyautogui; open('/tmp/canary', 'w')", "not allowed"),
        ("import pyautogui; pyautogui.click({SCREEN_WIDTH_HALF}, 3)", "plain numbers"),
        ("import pyautogui; pyautogui.click(1280, 3)", "outside the screen"),
        ("import pyautogui; pyautogui.press('a', presses=100); " * 3, "more than 200"),
        ("import pyautogui; pyautogui.keyDown('ctrl')", "ctrl is held down"),
        ("import pyautogui; pyautogui.alert('no')", "no function 'pyautogui.alert'"),
    ],
)
def test_what_is_not_allowed_is_the_task_files_mistake_and_nothing_is_done(
    code: str, message: str
) -> None:
    desk = Desk()
    with pytest.raises(UserError, match=r"^the setup script .* cannot be done: ") as caught:
        run(code, desk)
    assert message in str(caught.value)
    assert desk.done == []


def test_what_the_desktop_cannot_do_is_named() -> None:
    with pytest.raises(UserError, match="type: this desktop cannot do that"):
        run("import pyautogui; pyautogui.write('x')", Desk(refuses="type"))


def test_a_command_that_is_no_program_is_refused() -> None:
    with pytest.raises(UserError, match="'ls -l' is no program of pyautogui"):
        run(["ls", "-l"])
