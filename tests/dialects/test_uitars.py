from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.strategies import actions
from ui_gym.contract.action import (
    Click,
    Type,
    Wait,
)
from ui_gym.dialects.grid import smart_resize
from ui_gym.dialects.uitars import UITars, UITars15

SIZE = (500, 200)
relative = UITars()
absolute = UITars15()


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


@given(st.integers(1, 1000), st.data())
@settings(max_examples=200)
def test_every_pixel_of_a_screen_up_to_1000_wide_survives_relative(
    width: int, data: st.DataObject
) -> None:
    action = Click(data.draw(st.integers(0, width - 1)), 0)
    assert relative.parse(relative.render([action], (width, 1)), (width, 1)) == [action]


@given(st.integers(1001, 3000), st.data())
@settings(max_examples=100)
def test_wider_screens_are_off_by_one_pixel_at_most(width: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, width - 1))
    (found,) = relative.parse(relative.render([Click(x, 0)], (width, 1)), (width, 1))
    assert abs(found.points()[0][0] - x) <= 1


@given(st.tuples(st.integers(20, 2600), st.integers(20, 2600)), st.data())
@settings(max_examples=200)
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
