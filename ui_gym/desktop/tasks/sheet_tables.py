"""Work with whole columns, rows and sheets, with Gnumeric."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.draws import another, between, other, pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop.content import sheets
from ui_gym.desktop.content.sheets import Cell, Table, Workbook, reference
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.sheet_task import SheetParams, SheetTask, before, with_cells


@dataclass(frozen=True)
class SumColumnParams(SheetParams):
    """All that varies between episodes."""

    column: int
    cell: str
    """Where the sum is to stand."""
    skipped: int = 0
    """Rows at the end that are left out, and whether the number itself is typed: mistakes."""
    typed: bool = False

    @property
    def summands(self) -> str:
        """The cells that are summed up, as a formula names them."""
        last = self.table.height - 1 - self.skipped
        return f"{reference(self.column, 1)}:{reference(self.column, last)}"

    @property
    def total(self) -> int | float:
        return sum(float(value) for value in self.table.column(self.column) if value is not None)


@register(
    "DesktopSumColumn", suite="desktop", category="gnumeric", difficulty="medium", max_steps=15,
    tags=("sheet",),
)  # fmt: skip
class DesktopSumColumn(SheetTask[SumColumnParams]):
    """Sum up a column with a formula.

    ## Description
    The goal names a column by its title, and the cell where its sum is to be computed.

    ## Rewards
    1 if the saved workbook holds a formula in that cell whose value is the sum, and all else as it
    was. A number that was typed is no formula, nor is one without cells of the column.

    ## Starting state
    The workbook is open in Gnumeric.
    """

    mistakes = ("column", "cell", "short", "typed")
    goals = (
        'Compute the sum of the column "{title}" in cell {cell} with a formula, and save {file}.',
        'In {file}, cell {cell} should be a formula that adds up all of "{title}". Save the file.',
        'Use SUM to put the total of "{title}" into {cell}, then save the workbook.',
    )

    def sample(self, rng: np.random.Generator) -> SumColumnParams:
        tables = sheets.tables(rng, between(rng, 1, 2))
        column = between(rng, 1, 3)
        return SumColumnParams(
            **self.book(rng, tables),
            column=column,
            cell=_place(rng, tables[0], column),
        )

    def told(self, params: SumColumnParams) -> Mapping[str, object]:
        return {"title": params.table.titles[params.column]}

    def wanted(self, params: SumColumnParams) -> dict[str, dict[str, Cell]]:
        return with_cells(params, params.table.name, {params.cell: params.total})

    def lacks(self, book: Workbook, params: SumColumnParams) -> list[str]:
        letter = reference(params.column, 0)[0]
        formula = book.formulas[params.table.name].get(params.cell, "")
        summed = re.search(rf"(?<![A-Z]){letter}\$?\d|(?<![A-Z]){letter}:", formula.upper())
        return [] if summed else [f"{params.cell} holds no formula with cells of column {letter}"]

    def oracle(self, device: DesktopDevice, params: SumColumnParams) -> Iterator[Action | Demo]:
        said = params.total if params.typed else f"=SUM({params.summands})"
        yield from self.enter(device, params, {params.cell: said})

    def misread(
        self, params: SumColumnParams, mistake: str, rng: np.random.Generator
    ) -> SumColumnParams:
        """``column``, ``cell``: another. ``short``: without the last rows. ``typed``: a number."""
        if mistake == "typed":
            return dataclasses.replace(params, typed=True)
        if mistake == "short":
            return dataclasses.replace(params, skipped=between(rng, 1, 2))
        if mistake == "column":
            return dataclasses.replace(params, column=other(rng, range(1, 4), params.column))
        cell = another(lambda: _place(rng, params.table, between(rng, 1, 3)), params.cell)
        return dataclasses.replace(params, cell=cell)


@dataclass(frozen=True)
class SortRowsParams(SheetParams):
    """All that varies between episodes."""

    column: int
    descending: bool

    @property
    def sorted(self) -> Table:
        """The table as it should become."""

        def key(row: tuple[Cell, ...]) -> float:
            value = row[self.column]
            assert isinstance(value, int | float)
            return value

        titles, *rows = self.table.rows
        return Table(self.table.name, (titles, *sorted(rows, key=key, reverse=self.descending)))


@register(
    "DesktopSortRows", suite="desktop", category="gnumeric", difficulty="medium", max_steps=20,
    tags=("sheet",),
)  # fmt: skip
class DesktopSortRows(SheetTask[SortRowsParams]):
    """Sort a table by one of its columns.

    ## Description
    The goal names a column by its title, and whether the smallest or the largest is to come first.
    The titles stay where they are, and rows stay together.

    ## Rewards
    1 if the rows of the saved workbook are in that order, and all else as it was.

    ## Starting state
    The workbook is open in Gnumeric, with its rows in another order.
    """

    mistakes = ("column", "order")
    goals = (
        'Sort the rows of {file} by "{title}", {order} first, and save. Keep the titles on top.',
        'Put the rows of the table in order of "{title}" ({order} first), then save the file.',
        'Order all rows of {file} by "{title}", {order} first, below the titles. Save the file.',
    )

    def sample(self, rng: np.random.Generator) -> SortRowsParams:
        while True:
            params = SortRowsParams(
                file=f"{pick(rng, sheets.FILES)}.xlsx",
                tables=sheets.tables(rng, between(rng, 1, 2)),
                phrasing=self.phrase(rng),
                column=between(rng, 1, 3),
                descending=bool(rng.random() < 0.5),
            )
            if params.sorted != params.table:
                return params

    def told(self, params: SortRowsParams) -> Mapping[str, object]:
        order = "largest" if params.descending else "smallest"
        return {"title": params.table.titles[params.column], "order": order}

    def wanted(self, params: SortRowsParams) -> dict[str, dict[str, Cell]]:
        return before(params) | {params.table.name: params.sorted.cells()}

    def oracle(self, device: DesktopDevice, params: SortRowsParams) -> Iterator[Action | Demo]:
        yield from self.application.sort(
            device, params.file, params.table, params.column, descending=params.descending
        )
        yield from self.application.save()

    def misread(
        self, params: SortRowsParams, mistake: str, rng: np.random.Generator
    ) -> SortRowsParams:
        """``column``: by another, where that gives another order. ``order``: the other way."""
        if mistake == "order":
            return dataclasses.replace(params, descending=not params.descending)
        column = other(rng, range(1, 4), params.column)
        misread = dataclasses.replace(params, column=column)
        return params if misread.sorted == params.sorted else misread


@dataclass(frozen=True)
class RenameSheetParams(SheetParams):
    """All that varies between episodes."""

    sheet: int
    name: str
    """The new name."""


@register(
    "DesktopRenameSheet", suite="desktop", category="gnumeric", difficulty="medium", max_steps=20,
    tags=("sheet",),
)  # fmt: skip
class DesktopRenameSheet(SheetTask[RenameSheetParams]):
    """Give one of three sheets another name.

    ## Description
    The goal names a sheet of the workbook and its new name.

    ## Rewards
    1 if that sheet of the saved workbook has the name, and all else is as it was.

    ## Starting state
    The workbook is open in Gnumeric, with its first sheet in front.
    """

    mistakes = ("sheet", "name")
    goals = (
        'Rename the sheet "{old}" of {file} to "{new}" and save.',
        'The sheet "{old}" should be called "{new}". Change its name and save the workbook.',
        'Give the sheet named "{old}" the name "{new}", then save {file}.',
    )

    def sample(self, rng: np.random.Generator) -> RenameSheetParams:
        tables = sheets.tables(rng, 3)
        return RenameSheetParams(
            **self.book(rng, tables),
            sheet=between(rng, 0, 2),
            name=other(rng, sheets.NAMES, *(table.name for table in tables)),
        )

    def told(self, params: RenameSheetParams) -> Mapping[str, object]:
        return {"old": params.tables[params.sheet].name, "new": params.name}

    def wanted(self, params: RenameSheetParams) -> dict[str, dict[str, Cell]]:
        renamed = params.tables[params.sheet].name
        return {
            params.name if name == renamed else name: cells
            for name, cells in before(params).items()
        }

    def oracle(self, device: DesktopDevice, params: RenameSheetParams) -> Iterator[Action | Demo]:
        yield from self.application.show(params.sheet)
        yield from self.application.rename(device, params.file, params.name)
        yield from self.application.save()

    def misread(
        self, params: RenameSheetParams, mistake: str, rng: np.random.Generator
    ) -> RenameSheetParams:
        """``sheet``: another one. ``name``: another new name."""
        if mistake == "sheet":
            return dataclasses.replace(params, sheet=other(rng, range(3), params.sheet))
        taken = (params.name, *(table.name for table in params.tables))
        return dataclasses.replace(params, name=other(rng, sheets.NAMES, *taken))


def _place(rng: np.random.Generator, table: Table, column: int) -> str:
    """An empty cell: below a column, or to the right of the table."""
    if rng.random() < 0.7:
        return reference(column, between(rng, table.height, table.height + 1))
    return reference(between(rng, 4, 5), between(rng, 0, table.height))
