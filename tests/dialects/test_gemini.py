from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ui_gym.contract.action import Answer, Click, Open, Press, Type, Wait
from ui_gym.dialects.gemini import LAST, Gemini

SIZE = (500, 200)
gemini = Gemini()
CLICK = {"name": "click", "args": {"x": 100, "y": 500, "intent": "{I} click."}}
WAIT = {"name": "wait", "args": {"seconds": 2}}
THOUGHT = {"text": "Hm {x}.", "thought": True, "thoughtSignature": "c2ln"}


def response(*parts: dict[str, object]) -> dict[str, object]:
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": "STOP"}], "modelVersion": "g"}


@pytest.mark.parametrize("key", ["functionCall", "function_call"])
def test_what_the_api_gives_is_read_whole(key: str) -> None:
    click, wait = {key: CLICK}, {key: WAIT, "thoughtSignature": "c2ln"}
    whole = response(THOUGHT, {"text": "I click."}, click, wait)
    for said in (click, [click], response(click), {"parts": [{"text": "So:"}, click]}):
        assert gemini.parse(json.dumps(said), SIZE) == [Click(50, 100)]
    for both in (whole, whole["candidates"][0], [click, wait], [CLICK, WAIT]):  # type: ignore[index]
        assert gemini.parse(json.dumps(both), SIZE) == [Click(50, 100), Wait(2)]


def test_the_steps_of_an_interaction_are_read() -> None:
    calls = [
        {"type": "function_call", "id": f"c{n}", "name": call["name"], "arguments": call["args"]}
        for n, call in enumerate((CLICK, WAIT))
    ]
    thought = {"type": "thought", "signature": "c2ln"}
    asked = {"type": "user_input", "content": [{"type": "text", "text": "Click."}]}
    before = {"type": "function_result", "name": "click", "call_id": "c", "result": []}
    words = {"type": "model_output", "content": [{"type": "text", "text": "I click."}]}
    for field in ("steps", "outputs"):
        text = json.dumps(
            {
                "id": "i_1",
                "status": "requires_action",
                field: [asked, before, thought, words, *calls],
            }
        )
        assert gemini.parse(text, SIZE) == [Click(50, 100), Wait(2)]
    last = json.dumps({"id": "i_2", "steps": [asked, thought, words]})
    assert gemini.parse(last, SIZE) == [Answer("I click.")]


def test_a_text_without_a_call_is_the_answer() -> None:
    said = json.dumps(response(THOUGHT, {"text": "It is 42."}, {"thoughtSignature": "c2ln"}))
    assert gemini.parse(said, SIZE) == [Answer("It is 42.")]


def test_the_functions_of_3_are_written() -> None:
    actions = [Click(50, 100, count=2), Press("ctrl+enter"), Type("a", enter=True), Open("Clock")]
    said = gemini.render(actions, SIZE, "hm")
    assert said == (
        'hm\nAction: [{"name": "double_click", "args": {"x": 100, "y": 500}},\n'
        ' {"name": "hotkey", "args": {"keys": ["control", "enter"]}},\n'
        ' {"name": "type", "args": {"text": "a", "press_enter": true}},\n'
        ' {"name": "open", "args": {"target": "Clock"}}]'
    )
    assert gemini.render([Wait(3)], SIZE) == '{"name": "wait", "args": {"seconds": 3}}'


@given(st.integers(1, 1000), st.data())
@settings(max_examples=200)
def test_every_pixel_of_a_screen_up_to_1000_wide_survives(width: int, data: st.DataObject) -> None:
    action = Click(data.draw(st.integers(0, width - 1)), 0)
    assert gemini.parse(gemini.render([action], (width, 1)), (width, 1)) == [action]


@given(st.integers(1001, 3000), st.data())
@settings(max_examples=200)
def test_wider_screens_are_off_by_three_pixels_at_most(width: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, width - 1))
    said = gemini.render([Click(x, 0)], (width, 1))
    assert 0 <= json.loads(said)["args"]["x"] <= LAST
    (found,) = gemini.parse(said, (width, 1))
    assert abs(found.points()[0][0] - x) <= 3
