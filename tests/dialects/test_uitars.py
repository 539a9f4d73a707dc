from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.refusal import refused
from tests.dialects.strategies import actions
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
from ui_gym.dialects.grid import smart_resize
from ui_gym.dialects.uitars import SCROLL, UITars, UITars15
from ui_gym.errors import ActionError

SIZE = (500, 200)
relative = UITars()
absolute = UITars15()


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("click(start_box='(100,500)')", Click(50, 100)),
        ("click(start_box='(100, 500)')", Click(50, 100)),
        ("click(start_box='<|box_start|>(100,500)<|box_end|>')", Click(50, 100)),
        ("click(point='<point>100 500</point>')", Click(50, 100)),
        ("click(start_box='<bbox>80 400 120 600</bbox>')", Click(50, 100)),
        ("click(start_box='[80, 400, 120, 600]')", Click(50, 100)),
        ('click(start_box="(100,500)")', Click(50, 100)),
        ("click(start_box=(100,500))", Click(50, 100)),
        ("left_single(start_box='(100,500)')", Click(50, 100)),
        ("left_double(start_box='(100,500)')", Click(50, 100, count=2)),
        ("double_click(start_box='(100,500)')", Click(50, 100, count=2)),
        ("right_click(start_box='(100,500)')", Click(50, 100, button="right")),
        ("select(start_box='(0,0)', end_box='(100,500)')", Drag(0, 0, 50, 100)),
        ("right_single(point='<point>100 500</point>')", Click(50, 100, button="right")),
        ("hover(start_box='(100,500)')", Move(50, 100)),
        ("drag(start_box='(0,0)', end_box='(100,500)')", Drag(0, 0, 50, 100)),
        (
            "drag(start_point='<point>0 0</point>', end_point='<point>100 500</point>')",
            Drag(0, 0, 50, 100),
        ),
        ("long_press(start_box='(100,500)', time='')", LongPress(50, 100)),
        ("long_press(start_box='(100,500)', time='2')", LongPress(50, 100, seconds=2)),
        ("hotkey(key='ctrl c')", Press("ctrl+c")),
        ("hotkey(key='ctrl+shift+t')", Press("ctrl+shift+t")),
        ("hotkey(key='arrowdown')", Press("down")),
        ("hotkey(key='ctrl +')", Press("ctrl++")),
        ("hotkey(key='arrowleft')", Press("left")),
        ("hotkey(key='ctrl alt arrowright')", Press("ctrl+alt+right")),
        ("hotkey(hotkey=' space ')", Press("space")),
        ("press(key='enter')", Press("enter")),
        ("keydown(key='shift')", Press("shift")),
        ("type(content='hello')", Type("hello")),
        (r"type(content='hello\n')", Type("hello", enter=True)),
        (r"type(content='hello\n\n')", Type("hello\n", enter=True)),
        (r"type(content='plan')", Type("plan")),
        (r"type(content='plan\n')", Type("plan", enter=True)),
        (r"type(content='plan\\n')", Type("plan", enter=True)),
        (r"type(content='plan\\n\n')", Type("plan\\n", enter=True)),
        (r"type(content='a\\nb')", Type("a\\nb")),
        (r"type(content='C:\\new \'x\' \"y\"')", Type("C:\\new 'x' \"y\"")),
        ("type(content='it's (so) they said')", Type("it's (so) they said")),
        ("type(content='two\nlines')", Type("two\nlines")),
        ("type(content='Action: none')", Type("Action: none")),
        ("scroll(start_box='(100,500)', direction='down')", Scroll(50, 100, dy=SCROLL)),
        ("scroll(direction='up')", Scroll(250, 100, dy=-SCROLL)),
        ("scroll(point='<point>0 0</point>', direction='Left')", Scroll(0, 0, dx=-SCROLL)),
        ("wait()", Wait(5)),
        ("finished()", Finish("success")),
        ("finished(content='')", Finish("success")),
        ("finished(content='42')", Answer("42")),
        ("call_user()", Finish("infeasible")),
        ("open_app(app_name='Settings')", Open("Settings")),
        ("press_home()", Press("home")),
        ("press_back()", Press("back")),
    ],
)
def test_every_spelling_seen_in_practice_is_read(said: str, action: Action) -> None:
    assert relative.parse(f"Thought: I do it.\nAction: {said}", SIZE) == [action]
    assert relative.parse(f"Thought: I do it. Action: {said}", SIZE) == [action]
    assert relative.parse(said, SIZE) == [action]


def test_several_actions_are_separated_by_blank_lines() -> None:
    text = "Thought: both\nAction: click(start_box='(0,0)')\n\ntype(content='a')\n\nwait()"
    assert relative.parse(text, SIZE) == [Click(0, 0), Type("a"), Wait(5)]
    assert relative.render([Click(0, 0), Type("a"), Wait(5)], SIZE, "both") == text


def test_only_the_last_action_counts() -> None:
    text = (
        "Thought: first\nAction: click(start_box='(0,0)')\n"
        "Reflection: no\nAction: type(content='b\\n')\n\nclick(start_box='(100,500)')\n"
    )
    assert relative.parse(text, SIZE) == [Type("b", enter=True), Click(50, 100)]


def test_the_grid_is_that_of_the_picture_that_was_sent() -> None:
    """Whoever sends smaller pictures than the default limit must read them so too."""
    sent = UITars("absolute", max_pixels=1_000_000)
    width, height = smart_resize((1920, 1080), max_pixels=1_000_000)
    assert (width, height) == (1316, 728)
    middle = f"click(start_box='({width // 2},{height // 2})')"
    assert sent.parse(middle, (1920, 1080)) == [Click(960, 540)]
    assert absolute.parse(middle, (1920, 1080)) == [Click(654, 360)]


def test_a_fence_around_everything_is_ignored() -> None:
    assert relative.parse("```\nThought: x\nAction: wait()\n```", SIZE) == [Wait(5)]


def test_a_thought_that_speaks_of_actions_is_not_one() -> None:
    thought = "The last one was\nAction: click(start_box='(9,9)')\nso now"
    text = relative.render([Type("Action: no\nAction: wait()")], SIZE, thought)
    assert relative.parse(text, SIZE) == [Type("Action: no\nAction: wait()")]


def test_the_far_edge_of_the_grid_is_the_last_pixel() -> None:
    assert relative.parse("click(start_box='(1000,1000)')", SIZE) == [Click(499, 199)]


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ("I am lost", "parse", "no action in 'I am lost'"),
        ("Action:", "parse", "no action after Action:"),
        ("Action: click(start_box='(1,2)'", "parse", "cannot read"),
        ("Action: click((1,2))", "parse", "cannot read"),
        ("Action: clik(start_box='(1,2)')", "name", "Did you mean 'click'"),
        ("Action: release(key='a')", "name", "no action 'release'"),
        ("Action: click()", "argument", "start_box is missing"),
        ("Action: click(start_box='here')", "argument", "'here' is not 2 or 4 numbers"),
        ("Action: click(start_box='(1,2,3)')", "argument", "not 2 or 4 numbers"),
        ("Action: click(start_box='(1001,2)')", "argument", "outside the screen; x is 0 to 1000"),
        ("Action: click(start_box='(-1,2)')", "argument", "outside the screen"),
        ("Action: scroll(direction='in')", "argument", "direction 'in' is unknown"),
        ("Action: hotkey(key='')", "argument", "It is written hotkey"),
        ("Action: long_press(start_box='(1,2)', time='99')", "argument", "must be 0 to 60"),
        ("Action: " + "wait()\n" * 17, "parse", "more than 16"),
    ],
)
def test_a_mistake_is_named_with_its_kind(said: str, kind: str, message: str) -> None:
    with refused(kind, message):
        relative.parse(said, SIZE)


@pytest.mark.parametrize(
    "action",
    [
        Click(1, 1, button="middle"),
        Click(1, 1, count=3),
        Click(1, 1, keys="ctrl"),
        Drag(1, 1, 2, 2, seconds=1),
        Scroll(1, 1, dy=100),
        Scroll(1, 1),
        Type("a", clear=True),
        Type("a\n"),
        Type("C:\\n"),
        Wait(1),
        Answer(""),
        Finish("failure"),
        Finish("success", "done"),
    ],
)
def test_what_the_grammar_cannot_say_is_refused(action: Action) -> None:
    assert not relative.can_say(action)
    with pytest.raises(ActionError, match="UI-TARS has no words for") as caught:
        relative.render([action], SIZE)
    assert caught.value.kind == "name"


@given(st.integers(1, 1000), st.data())
@settings(max_examples=200, deadline=None)
def test_every_pixel_of_a_screen_up_to_1000_wide_survives_relative(
    width: int, data: st.DataObject
) -> None:
    action = Click(data.draw(st.integers(0, width - 1)), 0)
    assert relative.parse(relative.render([action], (width, 1)), (width, 1)) == [action]


@given(st.integers(1001, 3000), st.data())
@settings(max_examples=100, deadline=None)
def test_wider_screens_are_off_by_one_pixel_at_most(width: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, width - 1))
    (found,) = relative.parse(relative.render([Click(x, 0)], (width, 1)), (width, 1))
    assert abs(found.points()[0][0] - x) <= 1


@given(st.tuples(st.integers(20, 2600), st.integers(20, 2600)), st.data())
@settings(max_examples=200, deadline=None)
def test_absolute_survives_where_the_resized_picture_is_no_smaller(
    size: tuple[int, int], data: st.DataObject
) -> None:
    action = data.draw(actions(size).filter(absolute.can_say))
    (found,) = absolute.parse(absolute.render([action], size), size)
    resized = smart_resize(size)
    for (x, y), (x2, y2) in zip(action.points(), found.points(), strict=True):
        assert abs(x - x2) <= (resized[0] < size[0])
        assert abs(y - y2) <= (resized[1] < size[1])
    if resized[0] >= size[0] and resized[1] >= size[1]:
        assert found == action


@pytest.mark.parametrize(
    ("size", "resized"),
    # Independent values: Qwen2VLImageProcessor's own smart_resize, with the same limits.
    [
        ((1920, 1080), (1932, 1092)),
        ((1280, 720), (1288, 728)),
        ((1280, 800), (1288, 812)),
        ((320, 256), (336, 252)),
        ((320, 240), (336, 252)),
        ((5120, 2880), (4760, 2688)),
        ((40, 30), (336, 252)),
    ],
)
def test_smart_resize_gives_what_qwens_processor_gives(
    size: tuple[int, int], resized: tuple[int, int]
) -> None:
    assert smart_resize(size) == resized


def test_absolute_coordinates_are_those_of_the_resized_picture() -> None:
    assert absolute.parse("click(start_box='(966,546)')", (1920, 1080)) == [Click(960, 540)]
    assert "1932 wide and 1092 high" in absolute.prompt((1920, 1080))
    assert "0 to 1000" in relative.prompt((1920, 1080))
