"""Tasks with spreadsheets: what counts as done."""

from __future__ import annotations

import importlib
import io
import re
from typing import Any

import numpy as np
import pytest
from desktop_episodes import made, play

from ui_gym.contract import registry
from ui_gym.contract.device import DevicePool
from ui_gym.desktop.content import sheets
from ui_gym.desktop.content.sheets import Table, Workbook
from ui_gym.desktop.device import DesktopDevice
from ui_gym.playing.env import UIEnv


def test_what_is_not_saved_does_not_count(pool: DevicePool) -> None:
    with made("DesktopFixValue", pool=pool) as env:
        assert not play(env, 0, without="ctrl+s")["success"]


# -- what is and what is not as asked --


def begun(env: UIEnv) -> tuple[Any, dict[str, dict[str, Any]]]:
    """Begin an episode; its params, and the cells that are wanted."""
    env.reset(seed=0)
    task: Any = env.task
    params = task.draw(0, env.split)
    return params, task.wanted(params)


def judged(env: UIEnv, params: Any, cells: dict[str, dict[str, Any]]) -> bool:
    """Whether the goal is reached with a workbook of these cells in the place of the task's."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, values in cells.items():
        sheet = book.create_sheet(name)
        for at, value in values.items():
            sheet[at] = value
    assert isinstance(env.device, DesktopDevice)
    file = io.BytesIO()
    book.save(file)
    env.device.write(params.file, file.getvalue())
    return bool(env.step("wait(0.1)")[4]["success"])


def test_a_text_of_digits_is_not_the_number(pool: DevicePool) -> None:
    with made("DesktopFixValue", pool=pool) as env:
        params, wanted = begun(env)
        cell = sheets.reference(params.column, params.row)
        name = params.table.name
        as_text = {**wanted, name: {**wanted[name], cell: str(params.value)}}
        assert not judged(env, params, as_text)
        assert judged(env, params, wanted)


def test_a_cell_that_nobody_asked_for_is_not_as_asked(pool: DevicePool) -> None:
    with made("DesktopRenameSheet", pool=pool) as env:
        params, wanted = begun(env)
        changed = {**wanted, params.name: {**wanted[params.name], "H20": "more"}}
        assert not judged(env, params, changed)
        assert judged(env, params, wanted)


def test_a_workbook_is_read_as_it_was_written() -> None:
    tables = (Table("One", (("a", "b"), (1, 2.5))), Table("Two", (("=A2", None, "c"),)))
    book = sheets.read(sheets.workbook(tables))
    assert book is not None
    assert book.values["One"] == {"A1": "a", "B1": "b", "A2": 1, "B2": 2.5}
    assert book.values["Two"] == {"C1": "c"}
    assert book.formulas == {"One": {}, "Two": {"A1": "=A2"}}


def test_sheets_of_a_workbook_have_no_title_and_no_thing_in_common() -> None:
    for seed in range(200):
        tables = sheets.tables(np.random.default_rng(seed), 3)
        seen: set[str] = set()
        for table in tables:
            texts = {*table.titles, *map(str, table.column(0))}
            assert not seen & texts
            seen |= texts


def test_formulas_of_arrays_are_formulas() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    formula = importlib.import_module("openpyxl.worksheet.formula")
    book = openpyxl.Workbook()
    book.active["B5"] = formula.ArrayFormula("B5", "=SUM(B2:B4)")
    file = io.BytesIO()
    book.save(file)
    read = sheets.read(file.getvalue())
    assert read is not None
    assert read.formulas == {"Sheet": {"B5": "=SUM(B2:B4)"}}


@pytest.mark.parametrize(
    ("formula", "right"),
    [
        ("=SUM({0}2:{0}6)", True), ("=${0}$2+{0}3", True), ("=SUM({0}:{0})", True),
        ("=430", False), ("=SUM(Z2:Z6)", False), ("", False), ("=BIN{0}2", False),
    ],
)  # fmt: skip
def test_a_sum_is_made_of_cells_of_the_column(formula: str, right: bool) -> None:
    task: Any = registry.spec("DesktopSumColumn").load()()
    for seed in range(5):
        params = task.draw(seed)
        text = formula.format(sheets.reference(params.column, 0)[0])
        formulas = {params.table.name: {params.cell: text} if text else {}}
        assert (not task.lacks(Workbook({}, formulas), params)) == right


def test_goals_name_values_as_people_write_them() -> None:
    for name in ("DesktopEnterCell", "DesktopFillBlanks", "DesktopFixValue"):
        task: Any = registry.spec(name).load()()
        for seed in range(40):
            params = task.draw(seed)
            goal = task.goal(params)
            if isinstance(params.value, str):
                assert f'"{params.value}"' in goal
            assert not re.search(r"\d\.0\b", goal)


@pytest.mark.parametrize("data", [None, b"", b"PK\x03\x04 half of a file", b"text"])
def test_what_is_no_workbook_is_none(data: bytes | None) -> None:
    assert sheets.read(data) is None
