from __future__ import annotations

import pytest

from tests.dialects.refusal import refused
from ui_gym.contract.action import (
    Action,
    Answer,
    Click,
    Drag,
    Finish,
    LongPress,
    Move,
    Open,
    Press,
    Scroll,
    Type,
    Wait,
)
from ui_gym.contract.device import Element
from ui_gym.dialects.pyautogui import WAIT, PyAutoGUI
from ui_gym.dialects.seen import Seen

SIZE = (500, 200)
pyautogui = PyAutoGUI()


@pytest.mark.parametrize(
    ("code", "actions"),
    [
        ("pyautogui.click(50, 100)", [Click(50, 100)]),
        ("pyautogui.click(x=50, y=100, button='right')", [Click(50, 100, button="right")]),
        ("pyautogui.click((50, 100), clicks=2, interval=0.1)", [Click(50, 100, count=2)]),
        ("pyautogui.doubleClick(50, 100)", [Click(50, 100, count=2)]),
        ("pyautogui.tripleClick(50.0, 100)", [Click(50, 100, count=3)]),
        ("pyautogui.rightClick(50, 100)", [Click(50, 100, button="right")]),
        ("pyautogui.middleClick(50, 100)", [Click(50, 100, button="middle")]),
        ("pyautogui.moveTo(50, 100, duration=0.5)", [Move(50, 100)]),
        ("pyautogui.moveTo(50, 100, 0.7, pyautogui.easeInQuad)", [Move(50, 100)]),
        ("pyautogui.moveTo(1, 2); pyautogui.dragTo(3, 4, duration=1.0, button='left', "
         "mouseDownUp=True, tween=pyautogui.linear)", [Drag(1, 2, 3, 4, seconds=1)]),
        ("import pyautogui; import time; pyautogui.FAILSAFE = False; pyautogui.press('a')",
         [Press("a")]),
        ("pyautogui.moveTo(50, 100); pyautogui.click()", [Move(50, 100), Click(50, 100)]),
        ("pyautogui.moveTo(50, 100)\npyautogui.moveRel(-10, +5)", [Move(50, 100), Move(40, 105)]),
        ("pyautogui.moveTo(1, 2)\npyautogui.dragTo(3, 4, duration=1.0, button='left')",
         [Drag(1, 2, 3, 4, seconds=1)]),
        ("pyautogui.click(1, 2)\npyautogui.drag(10, 0, 0.5)",
         [Click(1, 2), Drag(1, 2, 11, 2, seconds=0.5)]),
        ("pyautogui.mouseDown(1, 2)\npyautogui.moveTo(9, 9)\npyautogui.mouseUp()",
         [Drag(1, 2, 9, 9)]),
        ("pyautogui.moveTo(1, 2)\npyautogui.mouseDown()\npyautogui.mouseUp()", [Click(1, 2)]),
        ("pyautogui.mouseDown(1, 2)\ntime.sleep(2)\npyautogui.mouseUp()", [LongPress(1, 2, 2)]),
        ("pyautogui.scroll(-5, x=50, y=100)", [Scroll(50, 100, dy=500)]),
        ("pyautogui.scroll(3)", [Scroll(250, 100, dy=-300)]),
        ("pyautogui.moveTo(1, 2); pyautogui.hscroll(2)", [Move(1, 2), Scroll(1, 2, dx=200)]),
        ("pyautogui.write('Ann', interval=0.1)", [Type("Ann")]),
        ("pyautogui.typewrite(message='Ann\\n')", [Type("Ann", enter=True)]),
        ("pyautogui.typewrite(['a', 'enter'])", [Press("a"), Press("enter")]),
        ("pyautogui.write('''two\nlines''')", [Type("two\nlines")]),
        ("pyautogui.press('enter')", [Press("enter")]),
        ("pyautogui.press(['tab', 'esc'], presses=2)",
         [Press("tab"), Press("escape"), Press("tab"), Press("escape")]),
        ("pyautogui.press('\\n')", [Press("enter")]),
        ("pyautogui.hotkey('ctrl', 'shift', 't')", [Press("ctrl+shift+t")]),
        ("pyautogui.hotkey(['ctrl', 'c'])", [Press("ctrl+c")]),
        ("pyautogui.hotkey('winleft', 'd', interval=0.1)", [Press("meta+d")]),
        ("pyautogui.keyDown('ctrl')\npyautogui.click(1, 2)\npyautogui.click(3, 4)\n"
         "pyautogui.keyUp('ctrl')", [Click(1, 2, keys="ctrl"), Click(3, 4, keys="ctrl")]),
        ("pyautogui.keyDown('alt'); pyautogui.press('tab'); pyautogui.keyUp('alt')",
         [Press("alt+tab")]),
        ("pyautogui.keyDown('ctrl'); pyautogui.keyDown('c'); pyautogui.keyUp('c');"
         "pyautogui.keyUp('ctrl')", [Press("ctrl+c")]),
        ("pyperclip.copy('naïve')\npyautogui.hotkey('ctrl', 'v')", [Type("naïve")]),
        ("pyperclip.copy('ls')\npyautogui.hotkey('ctrl', 'shift', 'v')", [Type("ls")]),
        ("pyperclip.copy('ls')\npyautogui.hotkey('shift', 'insert'); pyautogui.press('enter')",
         [Type("ls"), Press("enter")]),
        ("pyperclip.copy('a'); pyautogui.keyDown('ctrl'); pyautogui.press('v');"
         "pyautogui.keyUp('ctrl')", [Type("a")]),
        ("pyperclip.copy('a'); pyautogui.hotkey('ctrl', 'v'); pyautogui.hotkey('ctrl', 'v');"
         "pyperclip.copy('b'); pyautogui.hotkey('ctrl', 'v')", [Type("a"), Type("a"), Type("b")]),
        ("pyautogui.hotkey('ctrl', 'v')", [Press("ctrl+v")]),
        ("pyautogui.write('a < b > c')", [Type("a < b > c")]),
        ("pyautogui.press('<')", [Press("<")]),
        ("pyautogui.hotkey('shift', ',')", [Press("shift+,")]),
        ("pyautogui.hotkey('ctrl', '+'); pyautogui.press('+')", [Press("ctrl++"), Press("+")]),
        ("pyautogui.vscroll(-1, 50, 100)", [Scroll(50, 100, dy=100)]),
        ("pyautogui.moveTo(9, 9); pyautogui.dragRel(-4, 2, duration=2)",
         [Drag(9, 9, 5, 11, seconds=2)]),
        ("time.sleep(1.5)", [Wait(1.5)]),
        ("import pyautogui\nimport time\n\n# the form\npyautogui.PAUSE = 0.5\n'''why'''\n"
         "time.sleep(1)", [Wait(1)]),
        ("WAIT", [Wait(WAIT)]),
        ("DONE", [Finish("success")]),
        ("FAIL", [Finish("infeasible")]),
        ("pyautogui.press('enter')\nDONE", [Press("enter"), Finish("success")]),
    ],
)  # fmt: skip
def test_what_agents_write_is_read(code: str, actions: list[Action]) -> None:
    assert pyautogui.parse(code, SIZE) == actions
    assert pyautogui.parse(f"I do it.\n```python\n{code}\n```\nThen I look.", SIZE) == actions
    assert pyautogui.parse(f"```\n{code}\n```", SIZE) == actions
    assert pyautogui.parse(f"Observation: (a form)\nCode:\n{code}", SIZE) == actions


@pytest.mark.parametrize("text", ["```DONE```", "```python DONE```", "I am done. ```DONE```"])
def test_a_fence_may_stand_on_one_line(text: str) -> None:
    assert pyautogui.parse(text, SIZE) == [Finish("success")]


def test_the_last_fence_counts_and_may_be_open() -> None:
    two = "```python\npyautogui.click(1, 2)\n```\nNo:\n```python\npyautogui.click(3, 4)\n```"
    assert pyautogui.parse(two, SIZE) == [Click(3, 4)]
    assert pyautogui.parse("```python\npyautogui.click(3, 4)", SIZE) == [Click(3, 4)]
    assert pyautogui.parse("```python\n    pyautogui.click(3, 4)\n    WAIT\n```", SIZE) == [
        Click(3, 4),
        Wait(WAIT),
    ]


def test_the_pointer_is_where_the_last_step_left_it() -> None:
    seen = Seen(pointer=(7, 8))
    assert pyautogui.parse("pyautogui.click()", SIZE, seen) == [Click(7, 8)]
    assert pyautogui.parse("pyautogui.dragTo(9, 9)", SIZE, seen) == [Drag(7, 8, 9, 9)]
    assert pyautogui.parse("pyautogui.scroll(1)", SIZE, seen) == [Scroll(7, 8, dy=-100)]


def test_tags_are_the_elements_that_were_shown() -> None:
    seen = Seen((Element(3, "button", "Save", (10, 20, 30, 40)),))
    assert pyautogui.parse("pyautogui.click(tag_3)", SIZE, seen) == [Click(25, 40)]
    assert pyautogui.parse("pyautogui.moveTo(1, 2); pyautogui.dragTo(tag_3)", SIZE, seen) == [
        Drag(1, 2, 25, 40)
    ]
    with refused("argument", "there is no element 4; there are 3"):
        pyautogui.parse("pyautogui.click(tag_4)", SIZE, seen)
    with refused("argument", "no elements are shown here"):
        pyautogui.parse("pyautogui.click(tag_3)", SIZE)
    assert "tag_12" in pyautogui.prompt(SIZE, elements=True)
    assert "tag_12" not in pyautogui.prompt(SIZE)


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("I am lost", "parse", "no code in 'I am lost'"),
        ("```\nI am lost\n```", "parse", "cannot read"),
        ("```python\n```", "parse", "the code does nothing"),
        ("import os", "parse", "no code in"),
        ("```\nimport os\n```", "parse", "'import os' is not allowed"),
        ("```\nimport pyautogui as p\n```", "parse", "not allowed"),
        ("```\nfrom pyautogui import click\n```", "parse", "not allowed"),
        ("```\nos.system('ls')\n```", "parse", "\"os.system('ls')\" is not allowed"),
        ("```\neval('1')\n```", "parse", "not allowed"),
        ("```\nfor i in range(3):\n    pyautogui.click(i, i)\n```", "parse", "not allowed"),
        ("```\nx = pyautogui.position()\n```", "parse", "not allowed"),
        ("pyautogui.click(1, 2).x()", "parse", "not allowed"),
        ("pyautogui.PAUSE = open('x')", "parse", "not allowed"),
        ("pyautogui.clik(1, 2)", "name", "Did you mean 'pyautogui.click'"),
        ("time.time()", "parse", "no code in"),
        ("pyautogui.locateOnScreen('a.png')", "name", "no function"),
        ("pyautogui.click(x, y)", "argument", "plain numbers and strings"),
        ("pyautogui.click(480 / 2, 100)", "argument", "plain numbers and strings"),
        ("pyautogui.click(*[1, 2])", "argument", "plain numbers and strings"),
        ("pyautogui.click(**{'x': 1})", "argument", "is unknown"),
        ("pyautogui.click(f'{1}', 2)", "argument", "plain numbers and strings"),
        ("pyautogui.click(1)", "argument", "y is missing. It is written pyautogui.click(x, y"),
        ("pyautogui.click('button.png')", "argument", "x must be a number, not 'button.png'"),
        ("pyautogui.click(500, 100)", "argument", "outside the screen"),
        ("pyautogui.click(1, 2, colour='red')", "argument", "'colour' is unknown"),
        ("pyautogui.click(1, 2, x=3)", "argument", "given twice"),
        ("pyautogui.click(1, 2, clicks=4)", "argument", "count must be 1, 2 or 3"),
        ("pyautogui.click(1, 2, button='side')", "argument", "'primary'"),
        ("pyautogui.click()", "argument", "where the pointer is, is not known"),
        ("pyautogui.moveTo()", "argument", "the point is missing"),
        ("pyautogui.click(1, 2); pyautogui.dragTo(3, 4, mouseDownUp=False)", "argument",
         "a drag presses the button"),
        ("pyautogui.moveTo(pyautogui.size, 3)", "argument", "plain numbers and strings"),
        ("pyautogui.write(pyautogui.linear)", "argument", "message is missing"),
        ("pyautogui.press('a', presses=17)", "parse", "more than 16"),
        ("pyautogui.press('a', presses=10**9)", "argument", "plain numbers"),
        ("pyperclip.copy('a')", "argument", "pasted in the same code"),
        ("pyperclip.copy('a'); pyautogui.hotkey('ctrl', 'c')", "argument", "must be pasted"),
        ("pyautogui.click(tag_x)", "argument", "plain numbers and strings"),
        ("pyautogui.keyDown('ctrl')", "argument", "while ctrl is held down"),
        ("pyautogui.keyUp('ctrl')", "argument", "the key 'ctrl' is not down"),
        ("pyautogui.keyDown('shift'); pyautogui.write('a')", "argument", "cannot type while"),
        ("pyautogui.mouseDown(1, 2)", "argument", "while a mouse button is down"),
        ("pyautogui.mouseDown(1, 2, 'right'); pyautogui.mouseUp(5, 6, 'right')", "name",
         "only the left button"),
        ("time.sleep(99)", "argument", "0 to 60"),
        ("time.sleep(1e999)", "argument", "sensible size"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_kind(code: str, kind: str, message: str) -> None:
    with refused(kind, message):
        pyautogui.parse(code, SIZE)


def test_actions_are_written_as_code_in_a_fence() -> None:
    said = [Click(1, 2, keys="ctrl"), Type("it's `so`"), Press("ctrl+escape")]
    assert pyautogui.render(said, SIZE, "Now:") == (
        "Now:\n```python\npyautogui.keyDown('ctrl')\npyautogui.click(1, 2)\n"
        "pyautogui.keyUp('ctrl')\npyautogui.write(\"it's \\x60so\\x60\")\n"
        "pyautogui.hotkey('ctrl', 'esc')\n```"
    )


@pytest.mark.parametrize(
    "action",
    [
        Scroll(1, 1, dy=150),
        Scroll(1, 1, dx=100, dy=100),
        Type("a", clear=True),
        Type("a\n"),
        Open("Mail"),
        Answer("42"),
        Finish("failure"),
        Finish("success", "done"),
        Click(1, 1, keys="ctrl+ctrl"),
    ],
)
def test_what_code_cannot_say_is_refused(action: Action) -> None:
    assert not pyautogui.can_say(action)
