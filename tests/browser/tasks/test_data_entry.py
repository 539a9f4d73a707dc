"""DataEntry's logic."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from task_helpers import SEEDS, judge

from ui_gym.browser.tasks.data_entry import DataEntry, DataEntryParams
from ui_gym.contract.task import Verdict

PEOPLE = (("Ann", "Lee"), ("Bob", "Ray"), ("Cid", "Fox"), ("Dot", "Day"))
ENTRY = DataEntryParams(people=PEOPLE, asked=(2, 4), fields=("last", "first"), place=0, phrasing=0)
ASKED = [{"first": "Bob", "last": "Ray"}, {"first": "Dot", "last": "Day"}]


def entries(*submitted: Mapping[str, str]) -> Verdict:
    task = DataEntry(compact=True, rows=2, length=4)
    return judge(task, ENTRY, *(("submit", entry) for entry in submitted))


@pytest.mark.parametrize(
    ("submitted", "score", "done"),
    [
        ([], 0.0, False),
        (ASKED, 1.0, True),
        (ASKED[::-1], 1.0, True),
        (ASKED[:1], 1 / 3, False),
        ([{"first": " Bob ", "last": "Ray"}, ASKED[1]], 1.0, True),
        ([{"first": "Bob", "last": "Ray!"}, *ASKED], 0.0, True),
        ([ASKED[0], {"first": "Ann", "last": "Lee"}, ASKED[1]], 1 / 3, True),
        ([ASKED[0], ASKED[0]], 1 / 3, True),
        ([{"first": "Ray", "last": "Bob"}], 0.0, True),
        ([{"first": "Bob"}], 0.0, True),
        ([{}], 0.0, True),
        ([{"first": "bob", "last": "ray"}], 0.0, True),
    ],
    ids=["none", "both", "any order", "one", "blanks", "wrong", "extra", "twice", "swapped",
         "missing", "empty", "case"],
)  # fmt: skip
def test_data_entry_scores(
    submitted: Sequence[Mapping[str, str]], score: float, done: bool
) -> None:
    verdict = entries(*submitted)
    assert (verdict.score, verdict.done) == (score, done)


def test_data_entry_goals_name_the_rows() -> None:
    one, three = DataEntry(compact=True), DataEntry()
    for seed in SEEDS:
        params = one.draw(seed)
        assert f"ow {params.asked[0]}" in one.goal(params)
        params = three.draw(seed)
        first, second, third = params.asked
        assert f"{first}, {second} and {third}" in three.goal(params)
        assert first < second < third
        assert len(set(params.people)) == 100


def test_data_entry_mistakes() -> None:
    task, rng = DataEntry(compact=True), np.random.default_rng(0)
    params = dataclasses.replace(ENTRY, asked=(1,))
    assert task.misread(params, "row", rng).asked == (2,)
    assert task.misread(params, "labels", rng).fields == ("first", "last")
