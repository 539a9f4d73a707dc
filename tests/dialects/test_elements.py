"""Elements by their numbers: in the dialects that have words for them, and through an env."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.refusal import refused
from ui_gym.contract.action import Click, LongPress, Move, Scroll, Type
from ui_gym.contract.device import Element
from ui_gym.dialects import get_dialect
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError
from ui_gym.playing.env import UIEnv

SIZE = (320, 256)
BUTTON = Element(12, "button", "Submit", (100, 50, 40, 20))
OTHERS = [Element(i, "text", "", (0, 10 * i, 10, 10)) for i in (0, 1, 2, 7)]
SEEN = Seen((*OTHERS, BUTTON))


@pytest.mark.parametrize("name", ["canonical", "cells"])
def test_a_number_stands_for_the_middle_of_the_element(name: str) -> None:
    text = (
        'click(element=12, button="right"); long_press(element=7); move(element="[0]");'
        'scroll(element="1", dy=100); type("Ann", element=2, enter=True)'
    )
    assert get_dialect(name).parse(text, SIZE, SEEN) == [
        Click(120, 60, button="right"),
        LongPress(5, 75),
        Move(5, 5),
        Scroll(5, 15, dy=100),
        Click(5, 25),
        Type("Ann", enter=True),
    ]


def test_json_says_the_same() -> None:
    text = '[{"action": "click", "element": 12}, {"action": "type", "text": "a", "element": "[0]"}]'
    assert get_dialect("json").parse(text, SIZE, SEEN) == [Click(120, 60), Click(5, 5), Type("a")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("click(element=3)", "there is no element 3; there are 0-2, 7, 12"),
        ("click(element=-1)", "there is no element -1"),
        ("click(element=1.5)", "named by its number, not"),
        ("click(element='Submit')", "named by its number, not"),
        ("click(element=True)", "named by its number"),
        ("click(5, 5, element=12)", "but not both"),
        ("click(x=5, element=12)", "but not both"),
        ("drag(1, 2, 3, 4, element=12)", "drag takes no element"),
        ("press('enter', element=12)", "press takes no element"),
        ("type(element=12)", "missing 1 required"),
        ("click(element=" + "9" * 40 + ")", "there is no element 9999"),
    ],
)
def test_a_wrong_reference_is_an_argument_error(text: str, message: str) -> None:
    for name in ("canonical", "cells"):
        with refused("argument", message):
            get_dialect(name).parse(text, SIZE, SEEN)


def test_where_nothing_is_shown_coordinates_are_asked_for() -> None:
    for name, text in (
        ("canonical", "click(element=1)"),
        ("json", '{"action":"click","element":1}'),
    ):
        with pytest.raises(ActionError, match="no elements are shown here; give x and y instead"):
            get_dialect(name).parse(text, SIZE)


def test_an_element_off_the_screen_is_outside() -> None:
    below = Seen((Element(1, "link", "", (0, 400, 10, 10)),))
    with pytest.raises(ActionError, match=r"\(5, 405\) is outside the screen"):
        get_dialect("canonical").parse("click(element=1)", SIZE, below)


def test_sixteen_actions_are_the_most_after_the_clicks_too() -> None:
    text = "; ".join(['type("a", element=0)'] * 9)
    with pytest.raises(ActionError, match="18 actions in one step; at most 16"):
        get_dialect("canonical").parse(text, SIZE, SEEN)


def test_many_elements_are_not_all_listed() -> None:
    seen = Seen(tuple(Element(2 * i, "text", "", (0, 0, 1, 1)) for i in range(500)))
    with pytest.raises(ActionError) as caught:
        seen.locate(1)
    assert str(caught.value).endswith("36, 38, ...")


@pytest.mark.parametrize("name", ["canonical", "cells", "json", "androidworld"])
def test_a_prompt_teaches_numbers_only_where_elements_are_shown(name: str) -> None:
    dialect = get_dialect(name)
    assert '[12] button "Submit"' in dialect.prompt(SIZE, elements=True)
    assert '[12] button "Submit"' not in dialect.prompt(SIZE)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("canonical", "click(element={})"),
        ("cells", "The green one.\nclick(element={})"),
        ("json", '{{"action": "click", "element": {}}}'),
        ("androidworld", 'Reason: it is green.\nAction: {{"action_type": "click", "index": {}}}'),
    ],
)
def test_an_env_resolves_the_elements_that_it_showed(
    make: Callable[..., UIEnv], name: str, text: str
) -> None:
    env = make("PaintText", dialect=name, observation="both")
    observation, _ = env.reset(seed=1)
    line = next(one for one in observation["elements"].splitlines() if "green" in one)
    number = line[1 : line.index("]")]
    observation, _, _, _, info = env.step(text.format(number))
    assert info["action_error"] is None
    device: Any = env.device
    assert device.clicked == ["green"]
    observation, _, _, _, info = env.step(text.format(99))
    assert info["action_error"] == "argument"
    assert "there is no element 99; there are 0-2" in observation["feedback"]
    assert device.clicked == ["green"]


def test_an_env_that_shows_none_resolves_none(make: Callable[..., UIEnv]) -> None:
    env = make("PaintText")
    env.reset(seed=1)
    observation, _, _, _, info = env.step("click(element=0)")
    assert info["action_error"] == "argument"
    assert "no elements are shown here" in observation["feedback"]


def test_an_env_knows_where_the_pointer_is(make: Callable[..., UIEnv]) -> None:
    env = make("PaintText", dialect="pyautogui", max_steps=20)
    env.reset(seed=1)
    _, _, _, _, info = env.step("pyautogui.click()")
    assert info["action_error"] == "argument"
    for text in ("pyautogui.moveTo(3, 4)", "pyautogui.press('a')", "pyautogui.click()"):
        env.step(text)
    device: Any = env.device
    assert device.performed[-1] == Click(3, 4)
    env.reset(seed=1)
    _, _, _, _, info = env.step("pyautogui.click()")
    assert info["action_error"] == "argument"
