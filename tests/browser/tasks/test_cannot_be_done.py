"""CannotBeDone's logic."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest
from task_helpers import Reported, draws, goals, levels, verdicts

from ui_gym.browser.tasks.cannot_be_done import CannotBeDone, CannotBeDoneParams
from ui_gym.contract.action import Click, Finish
from ui_gym.errors import UserError

# Blue is sold out of the kettle and Red can be had; the Alma lamp is for traders only.
SHOP = CannotBeDoneParams(
    office="shop", entries=("Fjell kettle", "Alma lamp", "Fjell lamp", "Juno clock"),
    hints=(0, 0, 0, 0), choices=("Blue", "Red", "Sand"), gone=((0,), (2,), (), ()), locked=(1,),
    wanted="Fjell kettle", choice=1, flipped=False, theme=0, phrasing=0,
)  # fmt: skip
GONE = dataclasses.replace(SHOP, choice=0)
LOCKED = dataclasses.replace(SHOP, wanted="Alma lamp")
MISSING = dataclasses.replace(SHOP, wanted="Alma kettle")
OPEN, OFFER = ("open", {"entry": 0}), ("offer", {"entry": 0})


def done(entry: int, choice: int) -> Any:
    return ("done", {"entry": entry, "choice": choice})


test_cannot_be_done_scores_what_can = verdicts(
    CannotBeDone(),
    SHOP,
    {
        "right": (OPEN, done(0, 1), 1.0, True, "what was asked for"),
        "another choice": (OPEN, done(0, 2), 0.0, True),
        "another entry": (done(2, 1), 0.0, True),
        "something more": (OPEN, OFFER, done(0, 1), 0.0, True),
        "too late": (done(0, 2), done(0, 1), 0.0, True),
        "only looked": (OPEN, 0.0, False, "not done yet"),
    },
)
test_cannot_be_done_scores_nothing_that_is_done_instead = verdicts(
    CannotBeDone(),
    GONE,
    {
        "what is gone": (OPEN, done(0, 0), 0.0, True),
        "another choice": (OPEN, done(0, 1), 0.0, True),
        "looked, and said nothing": (OPEN, 0.0, False),
    },
)


def refused(task: Any, params: Any, *events: Any) -> float:
    verdict = task.judge(Reported(*events), params, [Click(1, 1), Finish("infeasible")])
    assert verdict.details == {"infeasible": bool(params.reason), "gave_up": True}
    assert verdict.done
    return float(verdict.score)


def test_cannot_be_done_refusing_needs_a_look_at_the_entry() -> None:
    task = CannotBeDone()
    assert [p.reason for p in (SHOP, GONE, LOCKED, MISSING)] == ["", "gone", "locked", "missing"]
    assert refused(task, SHOP, OPEN) == 0
    assert refused(task, GONE) == 0
    assert refused(task, GONE, OPEN) == 1
    assert refused(task, GONE, ("open", {"entry": 2})) == 0
    assert refused(task, GONE, OPEN, OFFER) == 0
    assert refused(task, GONE, OPEN, done(0, 1)) == 0
    assert refused(task, LOCKED, OPEN) == 0
    assert refused(task, LOCKED, ("open", {"entry": 1})) == 1


def test_cannot_be_done_what_is_missing_must_be_looked_for_to_the_end() -> None:
    short, long = CannotBeDone(), CannotBeDone(entries=9)
    assert refused(short, MISSING) == 1  # all of the list is seen at the start
    some = [str(i) for i in range(9)]
    listed = dataclasses.replace(MISSING, entries=tuple(some), gone=((),) * 9)
    assert refused(long, listed) == 0
    assert refused(long, listed, ("seen", {"count": 8})) == 0
    assert refused(long, listed, ("seen", {"count": 8}), ("seen", {"count": 9})) == 1


@pytest.mark.parametrize("params", [GONE, LOCKED, MISSING], ids=["gone", "locked", "missing"])
def test_cannot_be_done_only_infeasible_is_the_word(params: Any) -> None:
    events = [("open", {"entry": i}) for i in range(4)]
    task: Any = CannotBeDone()
    for word in (Finish(), Finish("failure")):
        assert task.judge(Reported(*events), params, [word]).score == 0


@levels(CannotBeDone)
def test_cannot_be_done_half_of_all_can_be_done(task: Any) -> None:
    reasons = Counter(task.draw(seed).reason for seed in range(400))
    assert set(reasons) == {"", "missing", "gone", "locked"}
    assert 160 < reasons[""] < 240
    assert min(reasons.values()) > 35


@levels(CannotBeDone)
def test_cannot_be_done_looks_the_same_from_outside(task: Any) -> None:
    for params, goal in goals(task):
        assert params.wanted in goal
        assert params.choices[params.choice].lower() in goal.lower()
        assert len(set(params.entries)) == task.entries
        first, second = params.wanted.split()
        like = [e for e in params.entries if first in e.split() or second in e.split()]
        assert len(like) >= 2
        assert params.locked
        assert all(len(gone) < task.choices for gone in params.gone)
        assert params.possible
        assert not {"wanted", "choice"} & set(task.page_params(params))


def test_cannot_be_done_mistakes() -> None:
    task, rng = CannotBeDone(), np.random.default_rng(0)
    assert task.misread(SHOP, "verdict", rng).reason == "gone"
    believed = task.misread(SHOP, "choice", rng)
    assert (believed.wanted, believed.choice) == ("Fjell kettle", 2)
    for params in (GONE, LOCKED, MISSING, *draws(task)):
        for mistake in task.mistakes:
            believed = task.misread(params, mistake, rng)
            assert bool(believed.reason) == (mistake == "verdict" and not params.reason)
            assert (believed.wanted, believed.choice) != (params.wanted, params.choice) or (
                believed.reason != params.reason
            )


def test_cannot_be_done_compact_offers_nothing() -> None:
    with pytest.raises(UserError, match="offers is False"):
        CannotBeDone(compact=True, offers=True)
    with pytest.raises(UserError, match="entries must be 4 to 7, not 8"):
        CannotBeDone(compact=True, entries=8)
