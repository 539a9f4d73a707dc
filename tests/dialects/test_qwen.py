from __future__ import annotations

import json

import pytest

from ui_gym.contract.action import (
    Answer,
    Click,
    Drag,
    Type,
    Wait,
)
from ui_gym.dialects.qwen import Qwen, Qwen25, Qwen25Mobile, QwenMobile
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

SIZE = (500, 200)
relative, mobile, absolute = Qwen(), QwenMobile(), Qwen25()


def call(action: str, function: str = "computer_use", **rest: object) -> str:
    said = json.dumps({"name": function, "arguments": {"action": action, **rest}})
    return f"<tool_call>\n{said}\n</tool_call>"


def test_several_calls_and_what_apis_make_of_them() -> None:
    two = call("left_click", coordinate=[0, 0]) + "\nand then\n" + call("type", text="a")
    assert relative.parse(two, SIZE) == [Click(0, 0), Type("a")]
    arguments = {"action": "left_click", "coordinate": [0, 0]}
    function = {"name": "computer_use", "arguments": json.dumps(arguments)}
    for said in (
        arguments,
        {"function": function, "id": "call_0", "type": "function"},
        {"tool_calls": [{"function": function, "type": "function"}]},
        [{"name": "computer_use", "arguments": arguments}],
    ):
        assert relative.parse(json.dumps(said), SIZE) == [Click(0, 0)]


@pytest.mark.parametrize(
    "said",
    [
        '<tool_call>{"name": "computer_use", "arguments": {"action": "wait", "time": 1}',
        '<tool_call>{"name": "computer_use", "arguments": {"action": "wait", "time": 1}}',
        "<tool_call>{'name': 'computer_use', 'arguments': {'action': 'wait', 'time': 1}}",
        '```json\n{"name": "computer_use", "arguments": {"action": "wait", "time": 1,},}\n```',
    ],
)
def test_slips_that_leave_no_doubt_are_forgiven(said: str) -> None:
    assert relative.parse(said, SIZE) == [Wait(1)]


def test_a_drag_begins_where_the_mouse_is() -> None:
    drag = call("left_click_drag", coordinate=[100, 500])
    assert relative.parse(drag, SIZE, Seen(pointer=(3, 4))) == [Drag(3, 4, 50, 100)]
    moved = call("mouse_move", coordinate=[0, 0]) + "\n" + drag
    assert relative.parse(moved, SIZE) == [Drag(0, 0, 50, 100)]
    assert relative.render([Drag(0, 0, 50, 100)], SIZE) == moved


def test_terminate_after_an_answer_adds_nothing() -> None:
    text = call("answer", text="42") + call("terminate", status="success")
    assert relative.parse(text, SIZE) == [Answer("42")]


def test_absolute_coordinates_are_those_of_the_resized_picture() -> None:
    said = call("left_click", coordinate=[966, 546])
    assert absolute.parse(said, (1920, 1080)) == [Click(960, 540)]
    assert "1932x1092" in absolute.prompt((1920, 1080))
    assert "1000x1000" in relative.prompt((1920, 1080))
    with pytest.raises(ActionError, match="x is 0 to 1932, y is 0 to 1092"):
        absolute.parse(call("left_click", coordinate=[1933, 1]), (1920, 1080))


def test_each_writes_its_own_function() -> None:
    assert relative.render([Click(50, 100)], SIZE, "So.") == (
        'So.\n<tool_call>\n{"name": "computer_use", "arguments": '
        '{"action": "left_click", "coordinate": [100, 500]}}\n</tool_call>'
    )
    assert '"mobile_use", "arguments": {"action": "click"' in mobile.render([Click(1, 2)], SIZE)
    assert '"coordinate": [966, 546]' in Qwen25Mobile().render([Click(960, 540)], (1920, 1080))


def test_a_tag_in_a_typed_text_stays_text() -> None:
    said = [Type("</tool_call> {'a': 1} <tool_call>"), Wait(1)]
    assert relative.parse(relative.render(said, SIZE, "hm"), SIZE) == said
