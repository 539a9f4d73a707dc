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
    Press,
    Scroll,
    Type,
    Wait,
)
from ui_gym.dialects.anthropic import Anthropic
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

SIZE = (500, 200)
anthropic = Anthropic()


def said(action: str, **rest: object) -> dict[str, object]:
    return {"action": action, **rest}


@pytest.mark.parametrize(
    ("call", "action"),
    [
        (said("left_click", coordinate=[50, 100]), Click(50, 100)),
        (said("left_click", coordinate=[50, 100], text="ctrl"), Click(50, 100, keys="ctrl")),
        (said("left_click", coordinate=[1, 2], text="Shift_L+super"),
         Click(1, 2, keys="shift+meta")),
        (said("right_click", coordinate=[50, 100]), Click(50, 100, button="right")),
        (said("middle_click", coordinate=[50, 100]), Click(50, 100, button="middle")),
        (said("double_click", coordinate=[50, 100]), Click(50, 100, count=2)),
        (said("triple_click", coordinate=[50, 100]), Click(50, 100, count=3)),
        (said("mouse_move", coordinate=[50, 100]), Move(50, 100)),
        (said("left_click_drag", start_coordinate=[1, 2], coordinate=[3, 4]), Drag(1, 2, 3, 4)),
        (said("scroll", coordinate=[1, 2], scroll_direction="down", scroll_amount=3),
         Scroll(1, 2, dy=300)),
        (said("scroll", coordinate=[1, 2], scroll_direction="left", scroll_amount=5),
         Scroll(1, 2, dx=-500)),
        (said("scroll", scroll_direction="up", scroll_amount=1), Scroll(250, 100, dy=-100)),
        (said("type", text="Ann Lee"), Type("Ann Lee")),
        (said("type", text="query\n"), Type("query", enter=True)),
        (said("key", text="Return"), Press("enter")),
        (said("key", text="ctrl+s"), Press("ctrl+s")),
        (said("key", text="Page_Down"), Press("pagedown")),
        (said("key", text="ctrl+plus"), Press("ctrl++")),
        (said("key", text="super"), Press("meta")),
        (said("wait", duration=2), Wait(2)),
        (said("screenshot"), Wait(0)),
    ],
)  # fmt: skip
def test_every_action_of_the_tool_is_read(call: dict[str, object], action: Action) -> None:
    block = {"type": "tool_use", "id": "toolu_01", "name": "computer", "input": call}
    message = {
        "role": "assistant",
        "stop_reason": "tool_use",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "So:"}, block],
    }
    for text in (call, block, [block], message["content"], message):
        assert anthropic.parse(json.dumps(text), SIZE) == [action]
    assert anthropic.parse(f"I will do it now. {json.dumps(call)}", SIZE) == [action]
    assert anthropic.parse(f"Thus: {call!r}", SIZE) == [action]  # as Python prints it


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


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (said("clik", coordinate=[1, 2]), "name", "no action 'clik'"),
        (said("zoom", region=[0, 0, 9, 9]), "name", "zoom is not offered here"),
        (said("cursor_position"), "name", "cursor_position is not offered here"),
        (said("mouse_move"), "argument", "coordinate is missing. It is written {"),
        (said("left_click", coordinate=[1]), "argument", "must be two numbers, not a list"),
        (said("left_click", coordinate=[1, 2.5]), "argument", "whole numbers"),
        (said("left_click", coordinate=[1, 200]), "argument", "outside the screen"),
        (said("scroll", coordinate=[1, 2], scroll_direction="in"), "argument", "one of 'down'"),
        (said("scroll", coordinate=[1, 2], text="ctrl"), "argument", "in clicks alone"),
        (said("scroll", coordinate=[1, 2], scroll_amount=1e12), "argument", "out of range"),
        (said("key", text=""), "argument", "must name a key"),
        (said("key", text="Down", repeat=17), "parse", "more than 16"),
        (said("key", text="Down", repeat=10**9), "argument", "repeat be 1 to 100"),
        (said("wait", duration=1000), "argument", "must be 0 to 60"),
        ({"type": "tool_use", "name": "bash", "input": {"command": "ls"}}, "name", "no function"),
    ],
)
def test_a_mistake_is_named_with_its_kind(call: dict[str, object], kind: str, message: str) -> None:
    with refused(kind, message):
        anthropic.parse(json.dumps(call), SIZE)


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


@pytest.mark.parametrize(
    "action",
    [
        Click(1, 1, button="right", count=2),
        Drag(1, 1, 2, 2, seconds=1),
        Scroll(1, 1, dy=150),
        Scroll(1, 1, dx=100, dy=100),
        Type("a", clear=True),
        Press("a b"),
    ],
)
def test_what_the_tool_cannot_say_is_refused(action: Action) -> None:
    assert not anthropic.can_say(action)
