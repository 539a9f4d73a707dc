"""TableSortFilter's logic, and that of its catalogues."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import goals, judge, levels, verdicts

from ui_gym.browser.content import catalogs
from ui_gym.browser.content.catalogs import CATALOGS, COMPACT_CATALOG, Choice, Condition, Measure
from ui_gym.browser.tasks.table_sort_filter import TableSortFilter, TableSortFilterParams
from ui_gym.errors import UserError

LAPTOPS = CATALOGS[0]
# brand, memory, screen, weight, price, stock
OFFERS = (
    (0, 8, 14, 120, 500, 1),
    (0, 16, 14, 130, 700, 1),
    (0, 16, 15, 140, 650, 0),
    (1, 16, 14, 150, 600, 1),
    (0, 32, 16, 160, 900, 1),
)
ASKED = TableSortFilterParams(
    catalog=0, names=("A", "B", "C", "D", "E"), offers=OFFERS, by="price", most=False,
    conditions=(
        Condition("brand", "is", 0), Condition("memory", "at_least", 16),
        Condition("stock", "is", 1),
    ),
    theme=0, phrasing=0,
)  # fmt: skip


test_table_sort_filter_scores = verdicts(
    TableSortFilter(),
    ASKED,
    {
        "only opened": (("open", {"row": 1}), 0.0, False),
        "right": (("open", {"row": 0}), ("open", {"row": 1}), ("act", {"row": 1}), 1.0, True),
        "little memory": (("act", {"row": 0}), 0.0, True),
        "sold out": (("act", {"row": 2}), 0.0, True),
        "other brand": (("act", {"row": 3}), 0.0, True),
        "dearer": (("act", {"row": 4}), 0.0, True),
        "too late": (("act", {"row": 4}), ("act", {"row": 1}), 0.0, True),
        "empty": (("act", {}), 0.0, True),
    },
)


def test_the_highest_may_be_asked_for() -> None:
    most = dataclasses.replace(ASKED, most=True)
    assert judge(TableSortFilter(), most, ("act", {"row": 4})).success
    assert not judge(TableSortFilter(), most, ("act", {"row": 1})).success


def test_a_goal_in_full() -> None:
    expected = (
        "Reserve the cheapest laptop that is made by Halden, has at least 16 GB of memory and is "
        "in stock."
    )
    assert TableSortFilter().goal(ASKED) == expected


@levels(TableSortFilter)
def test_one_row_answers_and_every_condition_counts(task: Any) -> None:
    """Recounted here in plain numbers: no tie, and another row without any one condition."""
    for params, goal in goals(task):
        about = CATALOGS[params.catalog]
        keys = list(about.columns)
        assert len(params.conditions) == task.conditions
        assert len({one.column for one in params.conditions} | {params.by}) == task.conditions + 1
        assert len(set(params.names)) == task.rows

        def best(conditions: Any, params: Any = params, keys: Any = keys) -> list[int]:
            place, found = keys.index(params.by), {}
            for row, offer in enumerate(params.offers):
                have = dict(zip(keys, offer, strict=True))
                if all(
                    {
                        "is": have[one.column] == one.value,
                        "at_least": have[one.column] >= one.value,
                        "at_most": have[one.column] <= one.value,
                    }[one.relation]
                    for one in conditions
                ):
                    found[row] = offer[place]
            wanted = (max if params.most else min)(found.values())
            assert len(found) > 1
            return [row for row, value in found.items() if value == wanted]

        (right,) = best(params.conditions)
        assert judge(task, params, ("act", {"row": right})).success
        for i in range(task.conditions):
            assert best(params.conditions[:i] + params.conditions[i + 1 :]) != [right]
        for one in params.conditions:
            assert one.words(about) in goal
        assert about.noun in goal


def test_table_sort_filter_mistakes() -> None:
    task, rng = TableSortFilter(), np.random.default_rng(0)
    forgotten = task.misread(ASKED, "condition", rng)
    assert len(forgotten.conditions) == 2
    assert set(forgotten.conditions) < set(ASKED.conditions)
    assert task.misread(ASKED, "opposite", rng) == dataclasses.replace(ASKED, most=True)


def test_the_page_is_told_cells_but_no_question() -> None:
    told = TableSortFilter().page_params(ASKED)
    assert set(told) == {"app", "mark", "title", "noun", "verb", "columns", "rows", "theme"}
    assert told["rows"][0]["texts"] == ["Halden", "8 GB", "14 in", "1.20 kg", "$500", "Yes"]


def test_nobody_asks_for_the_ends_of_a_scale() -> None:
    assert catalogs.conditions(LAPTOPS, "memory", OFFERS[0]) == []
    assert catalogs.conditions(LAPTOPS, "memory", OFFERS[1]) == [
        Condition("memory", "at_least", 16)
    ]
    assert {one.relation for one in catalogs.conditions(LAPTOPS, "screen", OFFERS[0])} == {
        "at_least", "at_most",
    }  # fmt: skip
    assert catalogs.conditions(LAPTOPS, "stock", OFFERS[2]) == []


def test_the_compact_goal_names_what_the_page_shows() -> None:
    task = TableSortFilter(compact=True, rows=12)
    for params, goal in goals(task):
        (color,) = params.conditions
        shown = task.page_params(params)["rows"]
        assert COMPACT_CATALOG.columns[params.by].title in goal
        assert {row["texts"][0] for row in shown if row["values"][0] == color.value} <= {
            *goal.replace(".", "").split()
        }
        assert len(set(params.names)) == 12
    with pytest.raises(UserError, match="conditions must be 1"):
        TableSortFilter(compact=True, conditions=2)
    with pytest.raises(UserError, match="rows must be 10 to 100"):
        TableSortFilter(rows=6)


@pytest.mark.parametrize("catalog", CATALOGS, ids=lambda catalog: catalog.title)
def test_catalogues_have_a_filter_of_both_kinds_and_extremes(catalog: Any) -> None:
    kinds = [type(column) for column in catalog.columns.values()]
    assert kinds.count(Choice) == 1
    assert len(catalog.ordered()) == 2
    for column in catalog.columns.values():
        if isinstance(column, Measure) and column.least:
            assert "{}" in column.least
            assert "{}" in column.most
    names = catalog.names(100, np.random.default_rng(0))
    assert len(set(names)) == 100
