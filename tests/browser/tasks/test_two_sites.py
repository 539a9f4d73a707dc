"""TwoSites' logic."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, judge, levels, mistakes_fail, perform, verdicts

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.content.errands import ERRANDS
from ui_gym.browser.moves import click
from ui_gym.browser.tasks.two_sites import SourceRow, TwoSites, TwoSitesParams
from ui_gym.errors import UserError

# The bill of Mill Water for May: its reference and its amount; the one for June is another.
BILL = TwoSitesParams(
    errand="bills",
    rows=(
        SourceRow("Mill Water", "June", ("R20481", "$310.20", "34 111 902", "C55104", "KD41")),
        SourceRow("Mill Water", "May", ("R77310", "$148.50", "51 672 338", "C18822", "AR93")),
        SourceRow("Mill Garage", "May", ("R50972", "$990.01", "27 404 615", "C90317", "PT28")),
    ),
    shown=(0, 1, 2, 3, 4), target=1, wanted=(1, 0), entries=("$148.50", "R77310"),
    kept=(("From account", "Household, 20 118 4"), ("When", "As soon as possible")), first=True,
    swapped=False, at=0, flipped=False, place=(0, 0), themes=(0, 1), phrasing=0,
)  # fmt: skip
KEPT = ("Household, 20 118 4", "As soon as possible")


def confirm(*values: str, ticked: bool = False) -> Any:
    return ("confirm", {"values": list(values), "ticked": ticked})


RIGHT = confirm(*KEPT, "$148.50", "R77310")

test_two_sites_scores = verdicts(
    TwoSites(),
    BILL,
    {
        "right": (RIGHT, 1.0, True, "all is entered as asked"),
        "written otherwise": (confirm(*KEPT, " 148.50 ", "r77310"), 1.0, True),
        "of the other bill": (confirm(*KEPT, "$310.20", "R20481"), 0.0, True),
        "half": (confirm(*KEPT, "$148.50", "R77301"), 0.5, True, "'r77301', not 'r77310'"),
        "swapped": (confirm(*KEPT, "R77310", "$148.50"), 0.0, True),
        "another field changed": (confirm(KEPT[0], "Today", "$148.50", "R77310"), 0.5, True),
        "ticked": (confirm(*KEPT, "$148.50", "R77310", ticked=True), 0.5, True, "a box was ticked"),
        "empty": (confirm(*KEPT, "", ""), 0.0, True),
        "no form": (confirm(), 0.0, True, "0 fields, not 4"),
        "too late": (confirm(*KEPT, "", "R77310"), RIGHT, 0.5, True),
        "only looked": (("show", {"tab": 1}), 0.0, False),
        "closed a tab": (("shut", {"tab": 0}), RIGHT, 0.0, True, "a tab was closed"),
        "removed a bill": (("remove", {"row": 0}), RIGHT, 0.0, True, "a record was removed"),
    },
)


def typed(params: TwoSitesParams) -> list[Any]:
    kept = [value for _, value in params.kept]
    return [confirm(*(kept * params.first), *params.entries, *(kept * (not params.first)))]


test_two_sites_mistakes = mistakes_fail(TwoSites, typed)


def test_two_sites_goal_tells_bills_of_one_house_apart() -> None:
    assert TwoSites().goal(BILL) == (
        "Enter the amount to pay and bill number of the bill of Mill Water for May from Postbox "
        "into the form of Halden Bank, and press Confirm transfer."
    )
    alone = dataclasses.replace(BILL, rows=BILL.rows[1:], target=0)
    assert "of the bill of Mill Water from Postbox" in TwoSites().goal(alone)


@levels(TwoSites)
def test_two_sites_goals_name_one_record_and_all_details(task: Any) -> None:
    errands = set()
    for params, goal in goals(task):
        errands.add(params.errand)
        details = ERRANDS[params.errand].details
        assert all(details[i].said in goal for i in params.wanted)
        right = params.rows[params.target]
        assert params.entries == tuple(right.details[i] for i in params.wanted)
        named = [row for row in params.rows if row.name == right.name]
        assert len({row.hint for row in named}) == len(named)
        assert right.name in goal
        assert (len(named) == 1) or right.hint in goal
        assert (len(named) > 1) == (task.alike > 0)
        for i in params.wanted:
            assert len({row.details[i] for row in params.rows}) == len(params.rows)
    assert errands == set(ERRANDS)


def test_two_sites_mistakes_of_rows_take_like_ones() -> None:
    rng = np.random.default_rng(0)
    likely = {TwoSites().misread(BILL, "row", rng).target for _ in range(20)}
    assert likely == {0, 2}


def test_two_sites_compact_keeps_its_table_small() -> None:
    with pytest.raises(UserError, match="no records that are alike"):
        TwoSites(compact=True, alike=1)
    task = TwoSites(compact=True)
    for params in draws(task):
        assert judge(task, params, *typed(params)).success
        (label, _), shown = params.kept[0], {params.words.details[i].label for i in params.shown}
        assert label not in shown


def test_two_sites_remember_what_was_typed_and_tell_what_was_removed(
    show: Callable[..., ChromiumDevice],
) -> None:
    device = show(TwoSites(), BILL)
    for selector in ("#row-1", "#tab-1", "#extra", "#tab-0", "#tab-1", "#confirm"):
        state = perform(device, click(device, selector))
    assert (state["opened"], state["current"], state["open"]) == (1, 1, [0, 1])
    (confirmed,) = [event.data for event in device.events if event.type == "confirm"]
    assert confirmed == {"values": [*KEPT, "", ""], "ticked": True}
    perform(device, click(device, "#tab-0"))
    state = perform(device, click(device, "#remove"))
    assert (device.events[-1].type, state["removed"]) == ("remove", [1])
