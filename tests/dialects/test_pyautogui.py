from __future__ import annotations

import pytest

from tests.dialects.refusal import refused
from ui_gym.contract.action import (
    Click,
    Drag,
    Finish,
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


def test_actions_are_written_as_code_in_a_fence() -> None:
    said = [Click(1, 2, keys="ctrl"), Type("it's `so`"), Press("ctrl+escape")]
    assert pyautogui.render(said, SIZE, "Now:") == (
        "Now:\n```python\npyautogui.keyDown('ctrl')\npyautogui.click(1, 2)\n"
        "pyautogui.keyUp('ctrl')\npyautogui.write(\"it's \\x60so\\x60\")\n"
        "pyautogui.hotkey('ctrl', 'esc')\n```"
    )
