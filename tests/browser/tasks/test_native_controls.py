"""NativeControls' logic, and what its page keeps of the browser's own windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, levels, mistakes_fail, perform, verdicts

from ui_gym.browser.content.natives import NATIVES, NativeField
from ui_gym.browser.tasks.native_controls import NativeControls, NativeControlsParams
from ui_gym.contract.action import Click, Press
from ui_gym.errors import UserError

# Date, time, guests and area of a table.
TABLE = NativeControlsParams(
    form="table", shown=(0, 1, 2, 3), options=((), (), (), ("Bar", "Gallery", "Garden")),
    starts=("2026-03-02", "19:30", "4", "Bar"), asked=("2026-03-09", "13:00", "4", "Bar"),
    named=(0, 1), turned=False, place=0, theme=0, phrasing=0,
)  # fmt: skip


def sent(*values: str) -> Any:
    return ("sent", {"values": list(values)})


test_native_controls_scores = verdicts(
    NativeControls(fields=4, changes=2),
    TABLE,
    {
        "right": (sent("2026-03-09", "13:00", "4", "Bar"), 1.0, True),
        "month and day": (
            (sent("2026-09-03", "13:00", "4", "Bar")),
            0.5,
            True,
            "Date: '2026-09-03', not '2026-03-09'",
        ),
        "emptied": (sent("", "13:00", "4", "Bar"), 0.5, True),
        "another changed": (sent("2026-03-09", "13:00", "5", "Bar"), 0.5, True),
        "unchanged": (sent("2026-03-02", "19:30", "4", "Bar"), 0.0, True),
        "too late": (
            sent("2026-03-02", "19:30", "4", "Bar"),
            sent("2026-03-09", "13:00", "4", "Bar"),
            0.0,
            True,
        ),
    },
)


def test_native_controls_goal_says_dates_in_words() -> None:
    assert NativeControls(fields=4, changes=2, confirm=True).goal(TABLE) == (
        "Change the table booking: set Date to 9 March 2026 and Time to 1:00 pm. "
        "Leave everything else as it is and press Save booking, then confirm."
    )


@levels(NativeControls)
def test_native_controls_asks_for_what_can_be_set(task: Any) -> None:
    for params, goal in goals(task):
        changed = [i for i, want in enumerate(params.asked) if want != params.starts[i]]
        assert tuple(changed) == params.named
        for i in changed:
            field = params.fields[i]
            assert params.asked[i] in field.values()
            assert f"{field.label} " in goal
            assert field.said(params.asked[i]) in goal
            assert field.mistaken(params.asked[i], np.random.default_rng(0)) != params.asked[i]


test_native_controls_mistakes_fail = mistakes_fail(
    NativeControls, lambda params: [sent(*params.asked)]
)


def test_native_controls_values_and_their_keys() -> None:
    date, time = NativeField("Day", "date"), NativeField("Time", "time")
    rng = np.random.default_rng(0)
    assert date.mistaken("2026-03-09", rng) == "2026-09-03"
    assert date.mistaken("2026-03-01", rng) == "2026-01-03"
    assert date.mistaken("2026-03-30", rng) == "2026-03-29"
    assert time.mistaken("08:15", rng) == "20:15"
    assert [time.said(value) for value in ("00:00", "07:45", "12:00", "21:15")] == [
        "12:00 am", "7:45 am", "12:00 pm", "9:15 pm",
    ]  # fmt: skip
    assert [time.typed(value) for value in ("07:45", "12:00")] == ["0745a", "1200p"]
    assert (date.typed("2026-03-09"), date.typed("2026-03-09", year=False)) == ("03092026", "0309")


def test_native_controls_lists_fit_on_the_screen() -> None:
    # A wheel does not scroll an open list: all of it must be seen.
    for form in NATIVES.values():
        assert all(len(field.options) <= 8 for field in form.fields)


def test_native_controls_compact_folds_nothing() -> None:
    with pytest.raises(UserError, match="folds no fields away"):
        NativeControls(compact=True, folded=True)
    for params in draws(NativeControls(compact=True, fields=4)):
        assert params.place <= 1


def test_no_key_opens_a_window_of_the_browser(make_device: Callable[..., Any]) -> None:
    """With one open, no frame that is asked for would be painted: the picture would never come."""
    task = NativeControls(fields=4, changes=2)
    device = make_device(task.viewport, kind="chromium:beginframe")
    task.setup(device, TABLE)
    for field in ("#field-0", "#field-1"):
        before = perform(device, Click(*device.center(field)))
        for keys in ("space", "f4", "alt+down"):
            assert perform(device, Press(keys)) == before
            assert device.capture(elements=True).elements
        assert before["focused"] == field[1:]
