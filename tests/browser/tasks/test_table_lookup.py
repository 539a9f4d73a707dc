"""TableLookup's logic, and that of what its tables are filled with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, judge, levels, verdicts

from ui_gym.browser.content import tables
from ui_gym.browser.content.tables import TableColumn
from ui_gym.browser.family import PATCH
from ui_gym.browser.tasks.table_lookup import COMPACT_ROOM, TableLookup, TableLookupParams
from ui_gym.errors import UserError

SALES = TableLookupParams(
    topic=0, rows=("Marlow North", "Marlow South", "Selby East"), columns=("January", "March"),
    sheets=("2023",), values=((("1,200", "3,450"), ("5,600", "7,890"), ("2,300", "9,100")),),
    asked=((0, 0, 1), (0, 2, 0)), theme=0, side="left", phrasing=0,
)  # fmt: skip


def check(*values: str) -> Any:
    return ("check", {"values": list(values)})


test_table_lookup_scores = verdicts(
    TableLookup(),
    SALES,
    {
        "right": (check("3,450", "2,300"), 1.0, True),
        "other ways": (check("3450", " $2300.00 "), 1.0, True),
        "one missing": (check("3450", ""), 1 / 3, True),
        "swapped": (check("2300", "3450"), 0.0, True),
        "one wrong": (check("3451", "2300"), 1 / 3, True),
        "look-alikes": (check("7890", "1200"), 0.0, True),
        "too few": (check("3450"), 1 / 3, True),
        "too many": (check("3450", "2300", "1"), 2 / 3, True),
        "too late": (check("", ""), check("3450", "2300"), 0.0, True),
        "nothing": (("check", {}), 0.0, True),
    },
)


@levels(TableLookup)
def test_goals_name_cells_that_stand_out(task: Any) -> None:
    for params, goal in goals(task):
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


@levels(TableLookup, "easy", "hard")
@pytest.mark.parametrize("mistake", TableLookup.mistakes)
def test_a_slip_of_the_eye_reads_a_neighbour(task: Any, mistake: str) -> None:
    rng = np.random.default_rng(0)
    for params in draws(task):
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


def test_the_compact_table_scrolls_by_whole_rows(show: Any) -> None:
    task = TableLookup(compact=True)
    params = next(one for one in draws(task) if one.asked[0][1] >= COMPACT_ROOM)
    device = show(task, params)
    scroll, *_ = task.oracle(device, params)
    _, before, *_ = device.box("#row-7")
    device.perform(scroll.action)
    left, top, _, height = device.box("#row-7")
    assert (left, height, (before - top) % height) == (0, PATCH, 0)
    assert top + height <= task.viewport[1]


def test_the_compact_page_asks_for_one_cell() -> None:
    for more in ({"sheets": 2}, {"cells": 2}, {"alike": True}):
        with pytest.raises(UserError, match="sheets and cells are 1, alike is False"):
            TableLookup(compact=True, **more)
    with pytest.raises(UserError, match="rows must be 4 to 10"):
        TableLookup(compact=True, rows=11)


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
