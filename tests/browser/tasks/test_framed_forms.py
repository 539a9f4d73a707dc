"""FramedForms' logic, and the way into its frames by keys and by their elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from task_helpers import goals, levels, mistakes_fail, perform, verdicts

from ui_gym.browser.tasks.framed_forms import FramedForms, FramedFormsParams
from ui_gym.contract.action import Click, Press, Type
from ui_gym.errors import UserError

# Street, city and floor of two addresses; the floor lies in a frame inside.
MOVE = FramedFormsParams(
    form="move", titles=("New address", "Old address"), frame=1, shown=(0, 2, 4),
    starts=(("Elm Avenue", "Carlow", "2"), ("Mill Lane", "Norwood", "4")),
    asked=("Park Avenue", "Norwood", "1"), named=(0, 2), place=0, theme=0, phrasing=0,
)  # fmt: skip


def saved(frame: int, *values: str) -> Any:
    return ("saved", {"frame": frame, "values": list(values)})


test_framed_forms_scores = verdicts(
    FramedForms(fields=3),
    MOVE,
    {
        "right": (saved(1, "Park Avenue", "Norwood", "1"), 1.0, True),
        "with a blank": (saved(1, "Park  Avenue ", "Norwood", "1"), 1.0, True),
        "one of two": (
            (saved(1, "Park Avenue", "Norwood", "4")),
            0.5,
            True,
            "Floor: '4', not '1'",
        ),
        "another changed": (saved(1, "Park Avenue", "Carlow", "1"), 0.5, True),
        "another form": (
            (saved(0, "Park Avenue", "Norwood", "1")),
            0.0,
            True,
            "saved 'New address', not 'Old address'",
        ),
        "another form first": (
            saved(0, "Elm Avenue", "Carlow", "2"),
            saved(1, "Park Avenue", "Norwood", "1"),
            0.0,
            True,
        ),
        "unchanged": (saved(1, "Mill Lane", "Norwood", "4"), 0.0, True),
    },
)


def test_framed_forms_goal_names_the_form() -> None:
    assert FramedForms(fields=3).goal(MOVE) == (
        'In the form "Old address", set Street to Park Avenue and Floor to 1. '
        "Change nothing else there and press its Save."
    )


@levels(FramedForms)
def test_framed_forms_ask_for_what_no_frame_holds(task: Any) -> None:
    for params, goal in goals(task):
        for i, want in enumerate(params.asked):
            held = {start[i] for start in params.starts}
            assert (want not in held) == (i in params.named)
        assert f'"{params.titles[params.frame]}"' in goal
        assert len(set(params.titles)) == task.frames


test_framed_forms_mistakes_fail = mistakes_fail(
    FramedForms, lambda params: [saved(params.frame, *params.asked)]
)


def test_framed_forms_need_a_field_outside_of_the_inner_frame() -> None:
    with pytest.raises(UserError, match="nested needs 3 to 5 fields, not 2"):
        FramedForms(fields=2, changes=1)


def test_framed_forms_are_told_and_reached_by_keys(make_device: Callable[..., Any]) -> None:
    task = FramedForms(fields=3)
    device = make_device(task.viewport)
    task.setup(device, MOVE)
    told = device.capture(elements=True).elements
    streets = [element for element in told if element.name == "Street"]
    assert [element.states for element in streets] == [
        ('value="Elm Avenue"',), ('value="Mill Lane"',),
    ]  # fmt: skip
    state = perform(device, Click(*streets[1].center), Type("Park Avenue", clear=True))
    assert state["values"][1] == ["Park Avenue", "Norwood", "4"]
    # From the frame into the one inside it.
    state = perform(device, Press("tab"), Press("tab"), Type("1", clear=True))
    assert (state["focused"], state["values"][1]) == ("field-2", list(MOVE.asked))
    assert state["values"][0] == list(MOVE.starts[0])
