"""TableEdit's logic, and the keys of its spreadsheet."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, goals, judge, levels, verdicts

from ui_gym.browser.content import tables
from ui_gym.browser.content.sheets import SHEETS, Change
from ui_gym.browser.tasks.table_edit import TableEdit, TableEditParams
from ui_gym.contract.action import Click, Press, Type
from ui_gym.errors import UserError

STOCK = TableEditParams(
    topic=0, rows=("Oak bench", "Oak desk", "Pine tray", "Elm bowl"), columns=(0, 2, 4),
    cells=(
        ("Brandt", "40", "120.50"), ("Hollis", "55", "1,300.00"), ("Brandt", "71", "25.00"),
        ("Nordwood", "90", "30.00"),
    ),
    changes=(Change("set", 0, 1, "62"), Change("clear", 1, 0), Change("add", 2, 2, "9.50")),
    theme=0, phrasing=0,
)  # fmt: skip


def edit(row: int, column: int, value: str) -> Any:
    return ("edit", {"row": row, "column": column, "value": value})


ALL = [edit(0, 1, "62"), edit(1, 0, ""), edit(2, 2, "34.50")]


test_table_edit_scores = verdicts(
    TableEdit(),
    STOCK,
    {
        "all": (*ALL, 1.0, True),
        "any order": (*ALL[::-1], 1.0, True),
        "one": (*ALL[:1], 1 / 4, False),
        "two": (*ALL[:2], 2 / 4, False),
        "another way": (*ALL[:2], edit(2, 2, "34.5"), 1.0, True),
        "not added": (*ALL[:2], edit(2, 2, "9.50"), 2 / 4, False),
        "extra": (edit(3, 1, "62"), *ALL, 2 / 4, False),
        "repaired": (edit(3, 1, "62"), *ALL, edit(3, 1, "90"), 1.0, True),
        "more harm than good": (edit(3, 1, "1"), edit(3, 0, "2"), ALL[0], 0.0, False),
        "taken back": (ALL[0], edit(0, 1, "40"), *ALL[1:], 2 / 4, False),
        "second try": (edit(0, 1, "26"), *ALL, 1.0, True),
        "no change": (edit(3, 1, "90.0"), 0.0, False),
    },
)


@pytest.mark.parametrize(
    ("change", "words", "result"),
    [
        (Change("set", 0, 0, "Hollis"), 'set the supplier of Oak bench to "Hollis"', "Hollis"),
        (Change("set", 0, 1, "62"), "set the stock of Oak bench to 62", "62"),
        (Change("clear", 3, 2), "clear the price of Elm bowl", ""),
        (Change("add", 1, 2, "2.50"), "add 2.50 to the price of Oak desk", "1,302.50"),
        (Change("subtract", 2, 1, "7"), "subtract 7 from the stock of Pine tray", "64"),
        (Change("copy", 2, 0, other=3), "give Pine tray the same supplier as Elm bowl",
         "Nordwood"),
    ],
)  # fmt: skip
def test_what_changes_say_and_do(change: Change, words: str, result: str) -> None:
    columns = [SHEETS[0].columns[i] for i in STOCK.columns]
    assert change.words(columns, STOCK.rows) == words
    assert change.result(columns, STOCK.cells) == result


@levels(TableEdit)
def test_changes_are_apart_and_each_changes_something(task: Any) -> None:
    kinds = set()
    for params, goal in goals(task):
        columns = [SHEETS[params.topic].columns[i] for i in params.columns]
        assert len(set(params.rows)) == task.rows
        touched = [one.row for one in params.changes]
        assert len(set(touched)) == task.changes
        for one in params.changes:
            assert one.words(columns, params.rows)[1:] in goal
            result = one.result(columns, params.cells)
            assert not tables.same(result, params.cells[one.row][one.column])
            assert (one.other in touched) is False
            kinds.add(one.kind)
    assert kinds == ({*task_kinds(task.mixed)})


def task_kinds(mixed: bool) -> tuple[str, ...]:
    return ("set", "clear", "add", "subtract", "copy") if mixed else ("set", "clear")


@pytest.mark.parametrize("mistake", TableEdit.mistakes)
def test_a_slip_changes_the_cell_beside(mistake: str) -> None:
    task = TableEdit(level="hard")
    for seed in SEEDS:
        params = task.draw(seed)
        believed = task.misread(params, mistake, np.random.default_rng(seed))
        columns = [SHEETS[params.topic].columns[i] for i in params.columns]
        (slip,) = [i for i, one in enumerate(params.changes) if one != believed.changes[i]]
        right, wrong = params.changes[slip], believed.changes[slip]
        moved = abs(right.row - wrong.row), abs(right.column - wrong.column)
        assert moved == ((1, 0) if mistake == "row" else (0, 1))
        done = [
            edit(one.row, one.column, one.result(columns, params.cells)) for one in believed.changes
        ]
        assert not judge(task, params, *done).success


def test_the_sheet_is_edited_as_sheets_are(show: Any) -> None:
    task = TableEdit()
    params = dataclasses.replace(STOCK, changes=(Change("set", 0, 1, "62"),))
    device = show(task, params)

    def does(*actions: Any) -> list[Any]:
        before = len(device.events)
        for action in actions:
            device.perform(action)
        device.state()
        return [tuple(event.data.values()) for event in device.events[before:]]

    bench, tray = device.center("#cell-0-1"), device.center("#cell-2-1")
    assert does(Click(*bench), Type("6"), Press("escape")) == []
    assert does(Type("62"), Press("tab")) == [(0, 1, "62")]
    assert task.judge(device, params, ()).success
    assert does(Press("enter"), Type("9"), Press("enter")) == [(0, 2, "120.509")]
    assert does(Press("up"), Press("ctrl+z")) == [(0, 2, "120.50")]
    assert task.judge(device, params, ()).success
    assert does(Click(*tray, count=2), Type("5"), Click(*bench)) == [(2, 1, "715")]
    assert does(Click(*device.center("#undo"))) == [(2, 1, "71")]
    assert does(Press("backspace"), Press("f2"), Type("é"), Press("enter")) == [
        (2, 1, ""), (2, 1, "é"),
    ]  # fmt: skip
    assert does(Click(*bench), Type("7", clear=True, enter=True))[-1] == (0, 1, "7")
    assert device.state()["here"] == [1, 1]


def test_the_selected_cell_is_copied_cut_and_pasted_over(show: Any) -> None:
    task = TableEdit()
    device = show(task, STOCK)

    def press(cell: str, *keys: str) -> Any:
        device.perform(Click(*device.center(cell)))
        for chord in keys:
            device.perform(Press(chord))
        return device.state()["cells"]

    press("#cell-0-2", "ctrl+c")
    assert press("#cell-3-2", "ctrl+v")[3][2] == "120.50"
    assert press("#cell-3-2", "ctrl+z")[3][2] == "30.00"
    assert press("#cell-1-0", "ctrl+x")[1][0] == ""
    assert press("#cell-2-0", "ctrl+v", "ctrl+v")[2][0] == "Hollis"
    # While a cell is edited, they are the text's own.
    assert press("#cell-2-1", "f2", "ctrl+a", "ctrl+c", "ctrl+v", "ctrl+v", "enter")[2][1] == "7171"


def test_the_compact_sheet_is_small_and_asks_for_no_sums() -> None:
    task = TableEdit(compact=True)
    for params, goal in goals(task):
        assert len(goal.split()) <= 12
        assert {one.kind for one in params.changes} <= {"set", "clear"}
        for one in params.changes:
            assert params.rows[one.row] in goal
    with pytest.raises(UserError, match="mixed and alike are False"):
        TableEdit(compact=True, mixed=True)
    with pytest.raises(UserError, match="rows must be 2 to 6"):
        TableEdit(compact=True, rows=7)
    with pytest.raises(UserError, match="rows must be 6 to 80"):
        TableEdit(rows=5)


def test_one_change_too_many_is_of_another_cell_in_the_smallest_sheets_too() -> None:
    task = TableEdit(compact=True, rows=2, changes=2)
    for params, _ in goals(task):
        (more,) = task.overdone(params, "another").changes
        assert (more.row, more.column) not in [(one.row, one.column) for one in params.changes]


def test_mixed_changes_leave_a_row_to_copy_from() -> None:
    with pytest.raises(UserError, match="changes must be 1 to 5, not 6"):
        TableEdit(rows=6, changes=6, mixed=True)
    for task in (TableEdit(rows=6, changes=5, mixed=True), TableEdit(rows=6, changes=6)):
        assert {len(params.changes) for params, _ in goals(task)} == {task.changes}
