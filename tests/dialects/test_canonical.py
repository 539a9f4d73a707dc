from __future__ import annotations

import pytest

from ui_gym.contract.action import ACTIONS, Click, Type, usage
from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError

SIZE = (100, 50)
canonical = get_dialect("canonical")


def test_several_actions_are_joined_and_the_thought_is_left_out() -> None:
    text = canonical.render([Click(1, 2), Type("a; b")], SIZE, thought="first the box")
    assert text == 'click(1, 2); type("a; b")'
    assert canonical.parse(text, SIZE) == [Click(1, 2), Type("a; b")]


@pytest.mark.parametrize("text", ["click(100, 0)", "click(0, 50)", "drag(0, 0, 0, -1)"])
def test_a_point_outside_the_screen_is_an_error_not_a_clamp(text: str) -> None:
    with pytest.raises(ActionError, match="x is 0 to 99, y is 0 to 49") as caught:
        canonical.parse(text, SIZE)
    assert caught.value.kind == "argument"


def test_the_prompt_teaches_every_action_and_the_size() -> None:
    prompt = canonical.prompt(SIZE)
    assert all(usage(name) in prompt for name in ACTIONS)
    assert "100 pixels wide and 50 high" in prompt
