from __future__ import annotations

import json

import pytest

from ui_gym.contract.action import (
    Answer,
    Click,
    Drag,
    Finish,
    LongPress,
    Move,
    Press,
    Wait,
)
from ui_gym.dialects.anthropic import Anthropic
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

SIZE = (500, 200)
anthropic = Anthropic()


def said(action: str, **rest: object) -> dict[str, object]:
    return {"action": action, **rest}


def test_several_keys_are_pressed_one_after_the_other() -> None:
    found = anthropic.parse(json.dumps(said("key", text="Down Down ctrl+a")), SIZE)
    assert found == [Press("down"), Press("down"), Press("ctrl+a")]
    assert (
        anthropic.parse(json.dumps(said("key", text="Tab", repeat=3)), SIZE) == [Press("tab")] * 3
    )


def test_a_held_key_is_pressed_and_the_time_passes() -> None:
    text = json.dumps(said("hold_key", text="shift", duration=0.5))
    assert anthropic.parse(text, SIZE) == [Press("shift"), Wait(0.5)]


def test_the_oldest_tool_clicks_where_the_mouse_was_moved() -> None:
    click = json.dumps(said("left_click"))
    assert anthropic.parse(click, SIZE, Seen(pointer=(7, 8))) == [Click(7, 8)]
    both = json.dumps([said("mouse_move", coordinate=[1, 2]), said("right_click")])
    assert anthropic.parse(both, SIZE) == [Move(1, 2), Click(1, 2, button="right")]
    drag = json.dumps(said("left_click_drag", coordinate=[3, 4]))
    assert anthropic.parse(drag, SIZE, Seen(pointer=(7, 8))) == [Drag(7, 8, 3, 4)]
    with pytest.raises(ActionError, match="where the pointer is, is not known"):
        anthropic.parse(click, SIZE)


def test_the_button_is_held_within_one_step() -> None:
    down, up = said("left_mouse_down"), said("left_mouse_up")
    move, wait = said("mouse_move", coordinate=[9, 9]), said("wait", duration=1.5)
    seen = Seen(pointer=(1, 2))
    assert anthropic.parse(json.dumps([down, move, up]), SIZE, seen) == [Drag(1, 2, 9, 9)]
    assert anthropic.parse(json.dumps([down, up]), SIZE, seen) == [Click(1, 2)]
    assert anthropic.parse(json.dumps([down, wait, up]), SIZE, seen) == [LongPress(1, 2, 1.5)]
    with pytest.raises(ActionError, match="cannot end a step while a mouse button is down"):
        anthropic.parse(json.dumps([down]), SIZE, seen)
    with pytest.raises(ActionError, match="the left button is not down"):
        anthropic.parse(json.dumps([up]), SIZE, seen)


def test_other_tools_say_what_the_computer_cannot() -> None:
    end = {"type": "tool_use", "name": "finish", "input": {"outcome": "failure", "message": "no"}}
    assert anthropic.parse(json.dumps(end), SIZE) == [Finish("failure", "no")]
    last = {"role": "assistant", "content": [{"type": "text", "text": "It is 42."}]}
    assert anthropic.parse(json.dumps(last), SIZE) == [Answer("It is 42.")]
    plain = {"role": "assistant", "content": "It is 42."}
    assert anthropic.parse(json.dumps(plain), SIZE) == [Answer("It is 42.")]


def test_actions_are_written_as_the_tool_has_them() -> None:
    assert anthropic.render([Click(1, 2, count=2)], SIZE) == (
        '{"action": "double_click", "coordinate": [1, 2]}'
    )
    assert (
        anthropic.render([Press("ctrl+enter")], SIZE) == '{"action": "key", "text": "ctrl+Return"}'
    )
    assert anthropic.parse(anthropic.render([LongPress(5, 6, 2)], SIZE), SIZE) == [
        LongPress(5, 6, 2)
    ]
