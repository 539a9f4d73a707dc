"""DataEntry's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, verdicts

from ui_gym.browser.tasks.data_entry import DataEntry, DataEntryParams

PEOPLE = (("Ann", "Lee"), ("Bob", "Ray"), ("Cid", "Fox"), ("Dot", "Day"))
ENTRY = DataEntryParams(people=PEOPLE, asked=(2, 4), fields=("last", "first"), place=0, phrasing=0)


def submit(first: str, last: str) -> Any:
    return ("submit", {"first": first, "last": last})


BOB, DOT = submit("Bob", "Ray"), submit("Dot", "Day")

test_data_entry_scores = verdicts(
    DataEntry(compact=True, rows=2, length=4),
    ENTRY,
    {
        "both": (BOB, DOT, 1.0, True),
        "any order": (DOT, BOB, 1.0, True),
        "one": (BOB, 1 / 3, False),
        "blanks": (submit(" Bob ", "Ray"), DOT, 1.0, True),
        "wrong": (submit("Bob", "Ray!"), BOB, DOT, 0.0, True),
        "extra": (BOB, submit("Ann", "Lee"), DOT, 1 / 3, True),
        "twice": (BOB, BOB, 1 / 3, True),
        "swapped": (submit("Ray", "Bob"), 0.0, True),
        "missing": (("submit", {"first": "Bob"}), 0.0, True),
        "empty": (("submit", {}), 0.0, True),
        "case": (submit("bob", "ray"), 0.0, True),
    },
)


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


@pytest.mark.parametrize(
    ("given", "length"),
    [({"columns": 1}, 23), ({"words": "short"}, 48), ({"columns": 1, "words": "short"}, 10)],
)
def test_a_table_of_few_names_is_as_long_as_they_allow(given: dict[str, Any], length: int) -> None:
    """A hundred rows of them, all different, would be drawn for ever."""
    task = DataEntry(**given)
    for seed in SEEDS:
        assert len(set(task.draw(seed).people)) == length


def test_data_entry_mistakes() -> None:
    task, rng = DataEntry(compact=True), np.random.default_rng(0)
    params = dataclasses.replace(ENTRY, asked=(1,))
    assert task.misread(params, "row", rng).asked == (2,)
    assert task.misread(params, "labels", rng).fields == ("first", "last")
