from __future__ import annotations

import json

from ui_gym.contract.action import (
    Answer,
    Click,
    Press,
    Wait,
)
from ui_gym.dialects.openai import WAIT, OpenAI

SIZE = (500, 200)
openai = OpenAI()


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


def test_actions_are_written_as_the_tool_has_them() -> None:
    assert openai.render([Click(1, 2)], SIZE) == (
        '{"type": "click", "button": "left", "x": 1, "y": 2}'
    )
    assert openai.render([Press("ctrl+escape"), Wait(WAIT)], SIZE, "hm") == (
        'hm\nAction: [{"type": "keypress", "keys": ["CTRL", "ESC"]},\n {"type": "wait"}]'
    )
