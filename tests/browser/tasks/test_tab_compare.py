"""TabCompare's logic, and the window that its tabs are in."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, judge, levels, perform, verdicts

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.content.offers import OFFERS
from ui_gym.browser.tasks.tab_compare import OpenTab, TabCompare, TabCompareParams
from ui_gym.contract.action import Click
from ui_gym.errors import UserError

# The cheapest with breakfast (the first feature) is the last; the second is cheaper, and has none.
TABS = TabCompareParams(
    site="hotels",
    tabs=(
        OpenTab("Hotel Linden", (120, 80, 10), 0, (0, 2), 0),
        OpenTab("The Old Mill", (60, 90, 12), 0, (1, 2), 1),
        OpenTab("Seaview Inn", (99, 70, 20), 0, (0, 1), 2),
    ),
    at=1, measure=0, most=False, needs=(0,), target=2, shut=1, features=(0, 1, 2, 3, 4),
    measures=(0, 1, 2), similar=(), flipped=False, place=0, theme=0, phrasing=0,
)  # fmt: skip


def act(tab: Any) -> Any:
    return ("act", {"tab": tab})


def shut(tab: Any) -> Any:
    return ("shut", {"tab": tab})


SHOW = ("show", {"tab": 2})

test_tab_compare_scores = verdicts(
    TabCompare(),
    TABS,
    {
        "right": (SHOW, act(2), shut(1), 1.0, True, "all is as asked"),
        "closed first": (shut(1), act(2), 1.0, True),
        "only booked": (act(2), 0.5, False, "still to do: [('shut', 1)]"),
        "only closed": (shut(1), 0.5, False),
        "another booked": (act(1), 0.0, True, "not what was asked for: act 1"),
        "another closed": (shut(0), act(2), shut(1), 0.0, True),
        "closed itself": (shut(2), 0.0, True),
        "a tab too many": (act(2), shut(0), shut(1), 0.0, True),
        "looked only": (SHOW, 0.0, False),
        "a strange event": (act(None), 0.0, True),
    },
)

test_tab_compare_scores_without_a_tab_to_close = verdicts(
    TabCompare(level="easy"),
    dataclasses.replace(TABS, shut=-1),
    {"right": (act(2), 1.0, True), "closed one": (shut(1), act(2), 0.0, True)},
)


def played(params: TabCompareParams) -> list[Any]:
    return [act(params.target)] + [shut(params.shut)] * (params.shut >= 0)


@levels(TabCompare)
def test_tab_compare_mistakes_lead_to_another_tab(task: Any) -> None:
    rng, misled = np.random.default_rng(0), {"feature": 0, "overlooked": 0}
    for params in draws(task):
        assert judge(task, params, *played(params)).success
        for mistake in misled:
            believed = task.misread(params, mistake, rng)
            misled[mistake] += believed != params
            assert judge(task, params, *played(believed)).success == (believed == params)
    assert misled["overlooked"] == 60
    assert misled["feature"] > 20


def test_tab_compare_goal_says_all() -> None:
    assert TabCompare().goal(TABS) == (
        "Of the hotels in the open tabs that have breakfast, book the one with the lowest price "
        "per night. Close the tab of The Old Mill, too."
    )


@levels(TabCompare)
def test_tab_compare_one_tab_fits_best(task: Any) -> None:
    sites, places, ranks = set(), set(), set()
    for params, goal in goals(task):
        sites.add(params.site)
        places.add(params.target)
        figure = OFFERS[params.site].measures[params.measure]
        assert figure.end(most=params.most) in goal
        totals = [tab.values[params.measure] + tab.fee for tab in params.tabs]
        assert len(set(totals)) == len(totals)
        assert min(min(tab.values) for tab in params.tabs) > 0
        fitting = [i for i, tab in enumerate(params.tabs) if set(params.needs) <= set(tab.features)]
        assert 2 <= len(fitting) < len(params.tabs)
        best = (max if params.most else min)(fitting, key=totals.__getitem__)
        assert params.target == best
        ranks.add(sorted(totals, reverse=params.most).index(totals[best]))
        if task.close:
            assert params.shut != best
            assert params.tabs[params.shut].name in goal
    assert sites == set(OFFERS)
    assert places == set(range(task.tabs))
    assert {0, 1} <= ranks, "the best of all is always right, or never"


def test_tab_compare_fees_matter() -> None:
    misled = 0
    for params in draws(TabCompare(level="hard")):
        fitting = [tab for tab in params.tabs if set(params.needs) <= set(tab.features)]
        best = (max if params.most else min)(fitting, key=lambda tab: tab.values[0])
        misled += best != params.tabs[params.target]
    assert misled > 5


def test_tab_compare_refuses_what_does_not_fit() -> None:
    with pytest.raises(UserError, match="no fees and no decoys"):
        TabCompare(compact=True, decoys=True)
    with pytest.raises(UserError, match="tabs"):
        TabCompare(compact=True, tabs=4)


def test_a_closed_tab_gives_its_place_to_the_next(show: Callable[..., ChromiumDevice]) -> None:
    device = show(TabCompare(level="easy"), TABS)

    def press(selector: str) -> tuple[list[int], int | None]:
        state = perform(device, Click(*device.center(selector)))
        return state["open"], state["current"]

    assert press("#tab-2") == ([0, 1, 2], 2)
    assert press("#shut-1") == ([0, 2], 2), "another tab than the current one was closed"
    assert press("#shut-2") == ([0], 0), "the last one closed leaves its neighbour"
    assert press("#shut-0") == ([], None)
    told = [(event.type, event.data) for event in device.events]
    assert told == [SHOW, shut(1), shut(2), shut(0)]
