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
from ui_gym.dialects.qwen import Qwen, Qwen25, Qwen25Mobile, QwenMobile
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

SIZE = (500, 200)
relative, mobile, absolute = Qwen(), QwenMobile(), Qwen25()


def call(action: str, function: str = "computer_use", **rest: object) -> str:
    said = json.dumps({"name": function, "arguments": {"action": action, **rest}})
    return f"<tool_call>\n{said}\n</tool_call>"


@pytest.mark.parametrize(
    ("said", "action"),
    [
        (call("left_click", coordinate=[100, 500]), Click(50, 100)),
        (call("left_click", coordinate=[1000, 1000]), Click(499, 199)),
        (call("left_click", coordinate="(100, 500)"), Click(50, 100)),
        (call("right_click", coordinate=[100, 500]), Click(50, 100, button="right")),
        (call("middle_click", coordinate=[100, 500]), Click(50, 100, button="middle")),
        (call("double_click", coordinate=[100, 500]), Click(50, 100, count=2)),
        (call("triple_click", coordinate=[100, 500]), Click(50, 100, count=3)),
        (call("mouse_move", coordinate=[100, 500]), Move(50, 100)),
        (call("scroll", pixels=-300), Scroll(250, 100, dy=300)),
        (call("scroll", coordinate=[100, 500], pixels=120), Scroll(50, 100, dy=-120)),
        (call("hscroll", coordinate=[100, 500], pixels=120), Scroll(50, 100, dx=120)),
        (call("key", keys=["ctrl", "c"]), Press("ctrl+c")),
        (call("key", keys=["esc"]), Press("escape")),
        (call("key", keys="ctrl+c"), Press("ctrl+c")),
        (call("type", text="Ann"), Type("Ann")),
        (call("type", text="Ann\n"), Type("Ann", enter=True)),
        (call("wait", time=2), Wait(2)),
        (call("answer", text="42"), Answer("42")),
        (call("terminate", status="success"), Finish("success")),
        (call("terminate", status="failure"), Finish("failure")),
        (call("click", "mobile_use", coordinate=[100, 500]), Click(50, 100)),
        (call("long_press", "mobile_use", coordinate=[100, 500], time=2), LongPress(50, 100, 2)),
        (call("swipe", "mobile_use", coordinate=[100, 500], coordinate2=[100, 0]),
         Drag(50, 100, 50, 0)),
        (call("system_button", "mobile_use", button="Back"), Press("back")),
        (call("system_button", "mobile_use", button="Menu"), Press("recents")),
        (call("key", "mobile_use", text="volume_up"), Press("volume_up")),
        (call("open", "mobile_use", text="Clock"), Open("Clock")),
    ],
)  # fmt: skip
def test_every_action_of_the_functions_is_read(said: str, action: Action) -> None:
    assert relative.parse(said, SIZE) == [action]
    assert mobile.parse(f"Thought: now.\nAction: I do it.\n{said}", SIZE) == [action]


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


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        (call("clik", coordinate=[1, 2]), "name", "Did you mean"),
        (call("wait", "browser_use"), "name", "no function 'browser_use'"),
        (call("mouse_move"), "argument", "coordinate is missing"),
        (call("left_click", coordinate=[1, 1001]), "argument", "(1, 1001) is outside the screen"),
        (call("left_click", coordinate=[1, 2, 3]), "argument", "two numbers"),
        (call("scroll", pixels="far"), "argument", "pixels must be a number, not 'far'"),
        (call("scroll"), "argument", "pixels is missing"),
        (call("system_button", button="Power"), "argument", "one of 'back', 'home'"),
        (call("terminate", status="tired"), "argument", "one of 'success'"),
        ('<tool_call>{"name": "computer_use", "arguments": "x"}', "argument", "no JSON object"),
        ("<tool_call>\n</tool_call>", "parse", "no action in"),
    ],
)
def test_a_mistake_is_named_with_its_kind(said: str, kind: str, message: str) -> None:
    with refused(kind, message):
        relative.parse(said, SIZE)


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


@pytest.mark.parametrize(
    ("dialect", "action"),
    [
        (relative, LongPress(1, 1)),
        (relative, Open("Clock")),
        (relative, Click(1, 1, keys="ctrl")),
        (relative, Scroll(1, 1, dx=1, dy=1)),
        (relative, Type("a", clear=True)),
        (relative, Finish("success", "done")),
        (mobile, Move(1, 1)),
        (mobile, Scroll(1, 1, dy=300)),
        (mobile, Click(1, 1, count=2)),
    ],
)
def test_what_the_functions_cannot_say_is_refused(dialect: Qwen, action: Action) -> None:
    assert not dialect.can_say(action)
