from __future__ import annotations

import json

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
from ui_gym.dialects.androidworld import SWIPE, WAIT, AndroidWorld
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

SIZE = (200, 500)
SEEN = Seen(
    (Element(0, "text", "Name", (10, 20, 40, 10)), Element(3, "list", "", (0, 100, 200, 60)))
)
phone = AndroidWorld()


@pytest.mark.parametrize(
    ("said", "actions"),
    [
        ('{"action_type": "click", "x": 50, "y": 100}', [Click(50, 100)]),
        ('{"action_type": "click", "index": 0}', [Click(30, 25)]),
        ('{"action_type": "click", "index": "3"}', [Click(100, 130)]),
        ('{"action_type": "double_tap", "x": 50, "y": 100}', [Click(50, 100, count=2)]),
        ('{"action_type": "long_press", "index": 3}', [LongPress(100, 130)]),
        ('{"action_type": "input_text", "text": "Ann", "index": 0}',
         [Click(30, 25), Type("Ann", enter=True)]),
        ('{"action_type": "input_text", "text": "Ann", "x": 1, "y": 2, "clear_text": true}',
         [Click(1, 2), Type("Ann", clear=True, enter=True)]),
        ('{"action_type": "input_text", "text": "Ann"}', [Type("Ann", enter=True)]),
        ('{"action_type": "input_text", "text": 5, "enter": false}', [Type("5")]),
        ('{"action_type": "keyboard_enter"}', [Press("enter")]),
        ('{"action_type": "navigate_home"}', [Press("home")]),
        ('{"action_type": "navigate_back"}', [Press("back")]),
        ('{"action_type": "press_keyboard", "keycode": "KEYCODE_DEL"}', [Press("backspace")]),
        ('{"action_type": "press_keyboard", "keycode": "KEYCODE_VOLUME_UP"}',
         [Press("volume_up")]),
        ('{"action_type": "scroll", "direction": "down"}', [Scroll(100, 250, dy=250)]),
        ('{"action_type": "scroll", "direction": "left"}', [Scroll(100, 250, dx=-100)]),
        ('{"action_type": "scroll", "direction": "up", "index": 3}', [Scroll(100, 130, dy=-30)]),
        ('{"action_type": "scroll", "direction": "down", "x": 5, "y": 6, "distance": 300}',
         [Scroll(5, 6, dy=300)]),
        ('{"action_type": "swipe", "direction": "down"}', [Drag(100, 0, 100, 499, SWIPE)]),
        ('{"action_type": "swipe", "direction": "up"}', [Drag(100, 499, 100, 0, SWIPE)]),
        ('{"action_type": "swipe", "direction": "left"}', [Drag(0, 250, 199, 250, SWIPE)]),
        ('{"action_type": "swipe", "direction": "right"}', [Drag(199, 250, 0, 250, SWIPE)]),
        ('{"action_type": "open_app", "app_name": "Clock"}', [Open("Clock")]),
        ('{"action_type": "wait"}', [Wait(WAIT)]),
        ('{"action_type": "answer", "text": "42"}', [Answer("42")]),
        ('{"action_type": "status", "goal_status": "complete"}', [Finish("success")]),
        ('{"action_type": "status", "goal_status": "infeasible"}', [Finish("infeasible")]),
        ('{"action_type": "CLICK", "x": 1, "y": 2, "reasoning": "why"}', [Click(1, 2)]),
        ('{"action_type": "answer", "text": "42"}\n'
         '{"action_type": "status", "goal_status": "complete"}', [Answer("42")]),
    ],
)  # fmt: skip
def test_what_agents_write_is_read(said: str, actions: list[Action]) -> None:
    assert phone.parse(said, SIZE, SEEN) == actions
    assert phone.parse(f"Reason: the {{box}} is there.\nAction: {said}", SIZE, SEEN) == actions
    assert phone.parse(f"Action: ```json\n{said}\n```", SIZE, SEEN) == actions


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ({"action_type": "tap", "x": 1, "y": 2}, "name", "no action 'tap'"),
        ({"action_type": "click"}, "argument", "x is missing. It is written {"),
        ({"action_type": "click", "index": 1}, "argument", "there is no element 1; there are 0, 3"),
        ({"action_type": "click", "index": True}, "argument", "named by its number"),
        ({"action_type": "click", "index": 0, "x": 1, "y": 2}, "argument", "but not both"),
        ({"action_type": "click", "x": 200, "y": 2}, "argument", "outside the screen"),
        ({"action_type": "scroll", "direction": "in"}, "argument", "one of 'down'"),
        ({"action_type": "status", "goal_status": "failed"}, "argument", "one of 'complete'"),
        ({"action_type": "input_text"}, "argument", "text is missing"),
        ({"action_type": "open_app", "app_name": ["a"]}, "argument", "must be a string"),
    ],
)
def test_a_mistake_is_named_with_its_kind(said: dict[str, object], kind: str, message: str) -> None:
    with refused(kind, message):
        phone.parse(json.dumps(said), SIZE, SEEN)


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


@pytest.mark.parametrize(
    "action",
    [
        Move(1, 1),
        Drag(1, 1, 2, 2),
        Click(1, 1, button="right"),
        Click(1, 1, count=3),
        LongPress(1, 1, seconds=2),
        Scroll(1, 1, dx=1, dy=1),
        Press("ctrl+c"),
        Wait(3),
        Finish("failure"),
        Finish("success", "done"),
    ],
)
def test_what_the_format_cannot_say_is_refused(action: Action) -> None:
    assert not phone.can_say(action)


def test_the_prompt_speaks_of_indices_where_elements_are_shown() -> None:
    assert "index" not in phone.prompt(SIZE)
    assert '{"action_type": "click", "index": 12}' in phone.prompt(SIZE, elements=True)
