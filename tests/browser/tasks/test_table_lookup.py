"""TableLookup's logic, and that of what its tables are filled with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, judge

from ui_gym.browser.content import tables
from ui_gym.browser.content.tables import TableColumn
from ui_gym.browser.tasks.table_lookup import TableLookup, TableLookupParams
from ui_gym.errors import UserError

SALES = TableLookupParams(
    topic=0, rows=("Marlow North", "Marlow South", "Selby East"), columns=("January", "March"),
    sheets=("2023",), values=((("1,200", "3,450"), ("5,600", "7,890"), ("2,300", "9,100")),),
    asked=((0, 0, 1), (0, 2, 0)), theme=0, side="left", phrasing=0,
)  # fmt: skip


def check(*values: str) -> Any:
    return ("check", {"values": list(values)})


@pytest.mark.parametrize(
    ("events", "score", "done"),
    [
        ([], 0.0, False),
        ([check("3,450", "2,300")], 1.0, True),
        ([check("3450", " $2300.00 ")], 1.0, True),
        ([check("3450", "")], 1 / 3, True),
        ([check("2300", "3450")], 0.0, True),
        ([check("3451", "2300")], 1 / 3, True),
        ([check("7890", "1200")], 0.0, True),
        ([check("3450")], 1 / 3, True),
        ([check("3450", "2300", "1")], 2 / 3, True),
        ([check("", ""), check("3450", "2300")], 0.0, True),
        ([("check", {})], 0.0, True),
    ],
    ids=["none", "right", "other ways", "one missing", "swapped", "one wrong", "look-alikes",
         "too few", "too many", "too late", "nothing"],
)  # fmt: skip
def test_table_lookup_scores(events: Any, score: float, done: bool) -> None:
    verdict = judge(TableLookup(), SALES, *events)
    assert (verdict.score, verdict.done) == (pytest.approx(score), done)


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_goals_name_cells_that_stand_out(level: Any) -> None:
    task = TableLookup(level=level)
    for seed in SEEDS:
        params = task.draw(seed)
        goal = task.goal(params)
        assert len(set(params.rows)) == task.rows
        assert len(set(params.columns)) == task.columns
        for sheet, row, column in params.asked:
            cells = params.values[sheet]
            assert params.rows[row] in goal
            assert params.columns[column] in goal
            assert (params.sheets[sheet] in goal) == (task.sheets > 1)
            value = cells[row][column]
            assert [line[column] for line in cells].count(value) == 1
            assert cells[row].count(value) == 1
            assert goal.count(value) == 0


@pytest.mark.parametrize("level", ["easy", "hard"])
@pytest.mark.parametrize("mistake", TableLookup.mistakes)
def test_a_slip_of_the_eye_reads_a_neighbour(level: Any, mistake: str) -> None:
    task, rng = TableLookup(level=level), np.random.default_rng(0)
    for seed in SEEDS:
        params = task.draw(seed)
        believed = task.misread(params, mistake, rng)
        read = []
        for (sheet, row, column), (sheet_2, row_2, column_2) in zip(
            params.asked, believed.asked, strict=True
        ):
            assert sheet == sheet_2
            moved = abs(row - row_2), abs(column - column_2)
            assert moved == ((1, 0) if mistake == "row" else (0, 1))
            read.append(believed.values[sheet_2][row_2][column_2])
        assert judge(task, params, check(*read)).score == 0


def test_blind_rate_counts_the_cells() -> None:
    assert TableLookup().blind_rate(SALES) == pytest.approx(1 / 36)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": 3}, "rows must be 4 to 80, not 3"),
        ({"columns": 9}, "columns must be 2 to 8, not 9"),
        ({"sheets": 0}, "sheets must be 1 to 3, not 0"),
        ({"cells": 5}, "cells must be 1 to 4, not 5"),
        ({"level": "rude"}, "has no level 'rude'"),
    ],
)
def test_table_lookup_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        TableLookup(**arguments)


# -- what tables are filled with --


@pytest.mark.parametrize("kind", tables.ROW_KINDS)
@pytest.mark.parametrize("count", [2, 8, 33, 80])
@pytest.mark.parametrize("alike", [True, False])
def test_names_of_rows_differ(kind: Any, count: int, alike: bool) -> None:
    for seed in range(5):
        names = tables.names(kind, count, alike, np.random.default_rng(seed))
        assert len(names) == len(set(names)) == count


@pytest.mark.parametrize(("kind", "part"), [("people", -1), ("towns", 0), ("goods", -1)])
def test_look_alikes_share_a_word(kind: Any, part: int) -> None:
    def words(alike: bool) -> set[str]:
        found = tables.names(kind, 16, alike, np.random.default_rng(1))
        return {name.split()[part] for name in found}

    assert len(words(True)) <= 4 < 8 < len(words(False))


@pytest.mark.parametrize(
    ("said", "true", "expected"),
    [
        ("1234", "1,234", True), (" $12.50", "12.5", True), ("7:05", "07:05", True),
        ("17:05", "7:05", False), ("12.5.", "12.5", False), ("Oak ", "Oak", True),
        ("oak", "Oak", False), ("", "", True), ("", "0", False), ("-3", "3", False),
        ("705", "07:05", False), ("95%", "95", True),
    ],
)  # fmt: skip
def test_what_is_the_same(said: str, true: str, expected: bool) -> None:
    assert tables.same(said, true) is expected


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [("whole", 12345, "12,345"), ("cents", 120499, "1,204.99"), ("cents", 5, "0.05"),
     ("tenths", 987, "98.7"), ("time", 425, "07:05")],
)  # fmt: skip
def test_how_cells_are_written(kind: Any, value: int, text: str) -> None:
    assert TableColumn("", kind).write(value) == text
