"""Recorded texts are read again as what they did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ui_gym.contract.action import Click
from ui_gym.contract.device import Element
from ui_gym.dialects import get_dialect
from ui_gym.dialects.reread import reread
from ui_gym.playing.env import UIEnv

SIZE = (320, 256)
PLACES = st.integers(-2000, 2000)
SIDES = st.integers(0, 2000)
WORDS = st.text("abc", min_size=1)


@example(Element(0, "menu item", " ", (0, 0, 0, 0)))
@given(
    st.builds(
        Element,
        st.integers(0, 9999),
        WORDS | st.just("menu item"),
        st.text(st.characters(exclude_categories=["Cs"])) | st.just(" @ 1,2 3x4 "),
        st.tuples(PLACES, PLACES, SIDES, SIDES),
        st.lists(WORDS | st.just(r'value="Any \"board\""')).map(tuple),
    )
)
def test_an_element_is_read_from_its_line(element: Element) -> None:
    read = Element.read(str(element))
    assert read is not None
    assert (read.id, read.role, read.box, read.states) == (
        element.id, element.role, element.box, element.states
    )  # fmt: skip
    assert str(read) == str(element)


@pytest.mark.parametrize("line", ["", "[1] button", "[x] a @ 1,2 3x4", '[1] button "Sub'])
def test_a_line_that_was_cut_is_no_element(line: str) -> None:
    assert Element.read(line) is None


def test_numbers_stand_for_the_elements_that_were_listed_then() -> None:
    here, there = (str(Element(3, "link", "", (x, 10, 20, 20))) for x in (0, 100))
    turns = [("click(element=3)", here), ("click(element=4)", there), ("click(element=3)", there)]
    done = reread([*turns, ("click(element=3)", "")], get_dialect("canonical"), SIZE)
    assert done == [[Click(10, 20)], [], [Click(110, 20)], []]


def test_the_pointer_rests_where_the_last_action_left_it() -> None:
    texts = ("pyautogui.click()", "pyautogui.moveTo(5, 6)", "pyautogui.press('a')",
             "pyautogui.click()")  # fmt: skip
    done = reread([(text, "") for text in texts], get_dialect("pyautogui"), SIZE)
    assert done[0] == []
    assert done[3] == [Click(5, 6)]


def test_what_an_env_did_is_read_again(make: Callable[..., UIEnv]) -> None:
    env = make("PaintText", observation="both")
    observation, _ = env.reset(seed=1)
    device: Any = env.device
    turns = []
    for line in observation["elements"].splitlines():
        turns.append((f"click(element={line[1 : line.index(']')]})", observation["elements"]))
        observation, _, over, _, _ = env.step(turns[-1][0])
        if over:
            break
    done = reread(turns, get_dialect("canonical"), env.size)
    assert [action for actions in done for action in actions] == env._history
    assert len(device.clicked) == len(turns)
