from __future__ import annotations

import pytest

from ui_gym.contract.action import (
    Press,
    Type,
)
from ui_gym.contract.device import Element
from ui_gym.dialects.androidworld import AndroidWorld
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

SIZE = (200, 500)
SEEN = Seen(
    (Element(0, "text", "Name", (10, 20, 40, 10)), Element(3, "list", "", (0, 100, 200, 60)))
)
phone = AndroidWorld()


def test_an_index_without_elements_is_answered_with_what_to_give_instead() -> None:
    with pytest.raises(ActionError, match="no elements are shown here; give x and y instead"):
        phone.parse('{"action_type": "click", "index": 0}', SIZE)


def test_actions_are_written_with_their_reason() -> None:
    assert phone.render([Type("Ann", enter=True)], SIZE, "A name is asked.") == (
        'Reason: A name is asked.\nAction: {"action_type": "input_text", "text": "Ann"}'
    )
    assert phone.render([Press("backspace")], SIZE) == (
        'Action: {"action_type": "press_keyboard", "keycode": "KEYCODE_DEL"}'
    )


def test_the_prompt_speaks_of_indices_where_elements_are_shown() -> None:
    assert "index" not in phone.prompt(SIZE)
    assert '{"action_type": "click", "index": 12}' in phone.prompt(SIZE, elements=True)
