"""SheetTask: what tasks with a spreadsheet share, whichever application shows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from ui_gym.contract.action import Action, Press, Type, Wait
from ui_gym.contract.draws import pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import compact as small
from ui_gym.desktop.compact_task import NAMES, CompactDesktopTask
from ui_gym.desktop.content import sheets
from ui_gym.desktop.content.sheets import Cell, Table, Workbook
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.facts import file_change
from ui_gym.desktop.offices import await_document
from ui_gym.desktop.spreadsheets import GNUMERIC, Spreadsheet
from ui_gym.desktop.task import DesktopTask


@dataclass(frozen=True)
class SheetParams:
    """What varies in all of them."""

    file: str
    """The workbook, in the home folder."""
    tables: tuple[Table, ...]
    """Its sheets; the first is in front."""
    phrasing: int

    @property
    def table(self) -> Table:
        """The sheet in front."""
        return self.tables[0]


S = TypeVar("S", bound=SheetParams)


COMPACT_THINGS = 4
"""Rows of a compact table, the titles left out."""

COMPACT_TITLES = ("Price", "Count", "Sold")
"""Titles of its numbers."""


class SheetTask(DesktopTask[S]):
    """A task with a workbook that is to be changed and saved."""

    application: ClassVar[Spreadsheet] = GNUMERIC

    def book(self, rng: np.random.Generator, tables: tuple[Table, ...]) -> dict[str, Any]:
        """The fields of `SheetParams`, drawn around these tables."""
        file = f"{pick(rng, sheets.FILES)}.xlsx"
        return {"file": file, "tables": tables, "phrasing": self.phrase(rng)}

    def wanted(self, params: S) -> dict[str, dict[str, Cell]]:
        """What the cells of the sheets should hold, by the sheets' names in their order."""
        raise NotImplementedError

    def lacks(self, book: Workbook, params: S) -> list[str]:
        """What else is not as it should be."""
        return []

    def enter(
        self, device: DesktopDevice, params: S, texts: Mapping[str, object]
    ) -> Iterator[Action]:
        """Type these into cells (``"B3"``) of the sheet that shows, and save."""
        for cell, text in texts.items():
            yield from self.application.go_to(device, params.file, cell)
            yield Type(str(text), enter=True)
        yield from self.application.save()

    def session(self, params: S) -> SessionSpec:
        return SessionSpec(
            files={params.file: sheets.workbook(params.tables)},
            launch=[[*self.application.command, params.file]],
            warm=self.application.warm,
            titles=[params.file],
        )

    def setup(self, device: DesktopDevice, params: S) -> None:
        super().setup(device, params)
        program = self.application
        await_document(device, params.file, program.rest, program=program.process)

    def may_change(self, params: S) -> Sequence[AllowedChange]:
        return file_change(params.file)

    def judge(self, device: DesktopDevice, params: S, history: Sequence[Action]) -> Verdict:
        book = sheets.read(device.read(params.file))
        wrong = sheets.differences(book, self.wanted(params))
        if book is not None and not wrong:
            wrong = self.lacks(book, params)
        notes = "; ".join(wrong[:3])
        return Verdict(0.0 if wrong else 1.0, done=not wrong, notes=notes)


class CompactSheetTask(CompactDesktopTask[S], SheetTask[S]):
    """Such a task with a compact form: a sheet of a few things, with two numbers each."""

    compact_steps = 3

    def compact_table(self, rng: np.random.Generator) -> Table:
        """What stands there."""
        names = some(rng, NAMES, COMPACT_THINGS)
        numbers = iter(some(rng, range(2, 100), 2 * len(names)))
        rows = tuple((name, next(numbers), next(numbers)) for name in names)
        return Table("Stock", (("Item", *some(rng, COMPACT_TITLES, 2)), *rows))

    def session(self, params: S) -> SessionSpec:
        usual = super().session(params)
        if not self.compact:
            return usual
        book = sheets.workbook(params.tables, small.GRID)
        return dataclasses.replace(usual, files={**usual.files, params.file: book})

    def enter_compact(self, params: S, column: int, row: int, text: str) -> Iterator[Demo]:
        """Type this into a cell of the compact sheet, both counted from 0, and save."""
        told = str(params.table.rows[row][0])
        yield Demo(small.at_cell(column, row), f"{told} {params.table.titles[column]}")
        yield Demo(Type(text, enter=True), text)
        yield Demo(Press("ctrl+s"), told)
        for _ in range(3):  # where the file is not written yet
            yield Demo(Wait(0.5), told)


def before(params: SheetParams) -> dict[str, dict[str, Cell]]:
    """What the cells of the sheets hold at the beginning."""
    return {table.name: table.cells() for table in params.tables}


def with_cells(params: SheetParams, sheet: str, changes: Mapping[str, Cell]) -> dict[
    str, dict[str, Cell]
]:  # fmt: skip
    """What they hold with some cells of a sheet changed."""
    found = before(params)
    found[sheet] |= changes
    return found
