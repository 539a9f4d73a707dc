"""SheetTask: what tasks with a spreadsheet share, whichever application shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from ui_gym.contract.action import Action, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.task import Verdict
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
