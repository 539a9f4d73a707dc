"""The dialects read what the vendors' own types write, as their SDKs give it to a program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ui_gym.contract.action import Click, Press, Type
from ui_gym.dialects import get_dialect

SIZE = (500, 200)
WANTED = [Click(50, 100), Type("Ann"), Press("ctrl+a")]


def dumps(model: Any) -> list[str]:
    """As the wire has it, and as a program dumps it with all that is not there."""
    return [model.to_json(), json.dumps(model.to_dict()), model.model_dump_json()]


def test_openais_response_is_read() -> None:
    responses = pytest.importorskip("openai.types.responses", reason="tox -e computers")
    actions = [
        {"type": "click", "x": 50, "y": 100, "button": "left"}, {"type": "type", "text": "Ann"},
        {"type": "keypress", "keys": ["CTRL", "A"]},
    ]  # fmt: skip
    call = {"id": "cu_1", "call_id": "c_1", "type": "computer_call", "status": "completed",
            "pending_safety_checks": [], "actions": actions}  # fmt: skip
    thought = {"id": "rs_1", "type": "reasoning", "summary": []}
    response = responses.Response.model_validate(
        {"id": "r", "object": "response", "created_at": 1, "model": "gpt-5.4", "tools": [],
         "tool_choice": "auto", "parallel_tool_calls": False, "output": [thought, call]}
    )  # fmt: skip
    for text in dumps(response) + dumps(response.output[1]):
        assert get_dialect("openai").parse(text, SIZE) == WANTED


def test_anthropics_message_is_read() -> None:
    beta = pytest.importorskip("anthropic.types.beta", reason="tox -e computers")
    calls = [("left_click", {"coordinate": [50, 100]}), ("type", {"text": "Ann"}),
             ("key", {"text": "ctrl+a"})]  # fmt: skip
    blocks = [
        {
            "type": "tool_use",
            "id": f"t_{n}",
            "name": name,
            "toolset_name": "computer",
            "input": said,
        }
        for n, (name, said) in enumerate(calls)
    ]
    message = beta.BetaMessage.model_validate(
        {"id": "m", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
         "content": [{"type": "text", "text": "So:"}, *blocks], "stop_reason": "tool_use",
         "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    )  # fmt: skip
    for text in dumps(message):
        assert get_dialect("anthropic_toolset").parse(text, SIZE) == WANTED


def test_googles_response_is_read() -> None:
    types = pytest.importorskip("google.genai.types", reason="tox -e computers")
    calls = [
        types.FunctionCall(name="click", args={"x": 100, "y": 500, "intent": "The name."}),
        types.FunctionCall(name="type", args={"text": "Ann"}),
        types.FunctionCall(name="hotkey", args={"keys": ["control", "a"]}),
    ]
    parts = [types.Part(text="Hm.", thought=True, thought_signature=b"s")]
    parts += [types.Part(function_call=call) for call in calls]
    content = types.Content(role="model", parts=parts)
    response = types.GenerateContentResponse(candidates=[types.Candidate(content=content)])
    for model in (response, content):
        for named in (True, False):
            for bare in (True, False):
                text = model.model_dump_json(by_alias=named, exclude_none=bare)
                assert get_dialect("gemini").parse(text, SIZE) == WANTED
    said = [call.model_dump(exclude_none=True) for call in response.function_calls]
    assert get_dialect("gemini").parse(json.dumps(said), SIZE) == WANTED
