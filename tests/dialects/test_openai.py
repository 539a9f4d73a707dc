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
from ui_gym.dialects.openai import WAIT, OpenAI
from ui_gym.errors import ActionError

SIZE = (500, 200)
openai = OpenAI()


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ({"type": "click", "button": "left", "x": 50, "y": 100}, Click(50, 100)),
        ({"type": "click", "x": 50, "y": 100.0}, Click(50, 100)),
        ({"type": "click", "button": "wheel", "x": 1, "y": 2}, Click(1, 2, button="middle")),
        ({"type": "click", "button": "right", "x": 1, "y": 2}, Click(1, 2, button="right")),
        ({"type": "click", "x": 1, "y": 2, "keys": ["CTRL", "SHIFT"]},
         Click(1, 2, keys="ctrl+shift")),
        ({"type": "click", "x": 1, "y": 2, "keys": None}, Click(1, 2)),
        ({"type": "double_click", "x": 1, "y": 2}, Click(1, 2, count=2)),
        ({"type": "move", "x": 1, "y": 2}, Move(1, 2)),
        ({"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 9, "y": 9}, {"x": 3, "y": 4}]},
         Drag(1, 2, 3, 4)),
        ({"type": "drag", "path": [[1, 2], [3, 4]]}, Drag(1, 2, 3, 4)),
        ({"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 417}, Scroll(1, 2, dy=417)),
        ({"type": "scroll", "x": 1, "y": 2, "scroll_y": -100}, Scroll(1, 2, dy=-100)),
        ({"type": "keypress", "keys": ["CTRL", "A"]}, Press("ctrl+a")),
        ({"type": "keypress", "keys": ["ENTER"]}, Press("enter")),
        ({"type": "keypress", "keys": ["ESC"]}, Press("escape")),
        ({"type": "keypress", "keys": ["ARROWDOWN"]}, Press("down")),
        ({"type": "keypress", "keys": ["PAGEDOWN"]}, Press("pagedown")),
        ({"type": "keypress", "keys": ["CMD", "SPACE"]}, Press("meta+space")),
        ({"type": "keypress", "keys": ["CTRL+C"]}, Press("ctrl+c")),
        ({"type": "type", "text": "a 'quoted' \"text\""}, Type("a 'quoted' \"text\"")),
        ({"type": "type", "text": "hello\n"}, Type("hello", enter=True)),
        ({"type": "wait"}, Wait(WAIT)),
        ({"type": "screenshot"}, Wait(0)),
        ({"type": "function_call", "name": "finish", "arguments": '{"outcome": "infeasible"}'},
         Finish("infeasible")),
        ({"type": "function_call", "name": "answer", "arguments": {"text": "42"}}, Answer("42")),
        ({"type": "function_call", "name": "open", "arguments": '{"target": "Mail"}'},
         Open("Mail")),
    ],
)  # fmt: skip
def test_every_action_of_the_tool_is_read(said: object, action: Action) -> None:
    assert openai.parse(json.dumps(said), SIZE) == [action]
    assert openai.parse(f"I do it.\n```json\n{json.dumps(said, indent=2)}\n```", SIZE) == [action]


def test_what_the_api_gives_is_read_whole() -> None:
    click, wait = {"type": "click", "button": "left", "x": 1, "y": 2}, {"type": "wait"}
    call = {"type": "computer_call", "id": "cu_1", "call_id": "call_1", "status": "completed",
            "pending_safety_checks": []}  # fmt: skip
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"text": "{hm}"}]}
    message = {"type": "message", "content": [{"type": "output_text", "text": "I click."}]}
    found = [Click(1, 2), Wait(WAIT)]
    for said in (
        {**call, "action": click},
        {"action": click},
        {"output": [thought, message, {**call, "action": click}]},
        [thought, {**call, "actions": [click]}],
    ):
        assert openai.parse(json.dumps(said), SIZE) == found[:1]
    for said in (
        {**call, "actions": [click, wait]},
        [click, wait],
        {"output": [message, {**call, "actions": [click]}, {**call, "actions": [wait]}]},
    ):
        assert openai.parse(json.dumps(said), SIZE) == found


def test_a_message_without_a_call_is_the_answer() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "It is 42."}]}
    assert openai.parse(json.dumps({"output": [message]}), SIZE) == [Answer("It is 42.")]


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ('{"type": "clik", "x": 1, "y": 2}', "name", "Did you mean 'click'"),
        ('{"x": 1, "y": 2}', "name", "there is no action ''"),
        ('{"type": "click", "x": 1}', "argument", "click: y is missing. It is written {"),
        ('{"type": "click", "x": 1.5, "y": 2}', "argument", "whole numbers"),
        ('{"type": "click", "x": "left", "y": 2}', "argument", "x must be a number, not 'left'"),
        ('{"type": "click", "x": 500, "y": 2}', "argument", "outside the screen"),
        ('{"type": "click", "x": NaN, "y": 2}', "argument", "sensible size"),
        ('{"type": "click", "x": 1, "y": 2, "button": "back"}', "argument", "'left', 'right'"),
        ('{"type": "scroll", "x": 1, "y": 2, "keys": ["CTRL"]}', "argument", "in clicks alone"),
        ('{"type": "drag", "path": [[1, 2]]}', "argument", "two points or more"),
        ('{"type": "keypress", "keys": []}', "argument", "name a key"),
        ('{"type": "type", "text": ["a"]}', "argument", "text must be a string, not a list"),
        ('{"type": "function_call", "name": "shell", "arguments": "{}"}', "name", "no function"),
        ('{"type": "function_call", "name": "answer", "arguments": "42"}', "argument", "no JSON"),
        ('{"type": "reasoning", "summary": []}', "parse", "no action given"),
        ("I click the button.", "parse", "no action in 'I click the button.'"),
        (json.dumps([{"type": "wait"}] * 17), "parse", "more than 16"),
    ],
)
def test_a_mistake_is_named_with_its_kind(said: str, kind: str, message: str) -> None:
    with refused(kind, message):
        openai.parse(said, SIZE)


def test_actions_are_written_as_the_tool_has_them() -> None:
    assert openai.render([Click(1, 2)], SIZE) == (
        '{"type": "click", "button": "left", "x": 1, "y": 2}'
    )
    assert openai.render([Press("ctrl+escape"), Wait(WAIT)], SIZE, "hm") == (
        'hm\nAction: [{"type": "keypress", "keys": ["CTRL", "ESC"]},\n {"type": "wait"}]'
    )


@pytest.mark.parametrize(
    "action",
    [
        Click(1, 1, count=3),
        Click(1, 1, button="right", count=2),
        LongPress(1, 1),
        Drag(1, 1, 2, 2, seconds=1),
        Type("a", clear=True),
        Type("a\n"),
        Press("A"),
        Wait(1),
    ],
)
def test_what_the_tool_cannot_say_is_refused(action: Action) -> None:
    assert not openai.can_say(action)
    with pytest.raises(ActionError):
        openai.render([action], SIZE)
