"""Tasks with spreadsheets: what counts as done."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from desktop_episodes import assert_solved, desktops, made, play

from ui_gym.desktop.content import sheets
from ui_gym.desktop.content.sheets import Table
from ui_gym.desktop.surface import DesktopDevice
from ui_gym.device import DevicePool
from ui_gym.env import UIEnv
from ui_gym.testing import check_ui_env

TASKS = (
    "DesktopEnterCell", "DesktopFixValue", "DesktopFillBlanks", "DesktopSumColumn",
    "DesktopSortRows", "DesktopRenameSheet",
)  # fmt: skip


@pytest.fixture(scope="module")
def pool() -> Iterator[DevicePool]:
    with desktops() as made_pool:
        yield made_pool


@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_reaches_the_goal(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        for seed in (1, 2):
            assert_solved(env, seed)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_keeps_its_contract(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        check_ui_env(env, seeds=range(1))


@pytest.mark.parametrize("name", ["DesktopSortRows", "DesktopRenameSheet"])
def test_tasks_are_solved_on_a_smaller_screen(name: str) -> None:
    with made(name, viewport=(1024, 768)) as env:
        assert_solved(env, 3)


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


@pytest.mark.parametrize("data", [None, b"", b"PK\x03\x04 half of a file", b"text"])
def test_what_is_no_workbook_is_none(data: bytes | None) -> None:
    assert sheets.read(data) is None
