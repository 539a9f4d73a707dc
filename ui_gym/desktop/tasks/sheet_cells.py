"""Write values into the cells of a sheet, with Gnumeric."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.draws import another, between, other, pick, some
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop.content import sheets, words
from ui_gym.desktop.content.sheets import Cell, Table, reference
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.sheet_task import CompactSheetTask, SheetParams, SheetTask, with_cells

WORDS: tuple[str, ...] = words.WRITTEN["cell_words"]
"""What is written into cells."""


@dataclass(frozen=True)
class EnterCellParams(SheetParams):
    """All that varies between episodes."""

    sheet: int
    cell: str
    value: int | float | str


@register(
    "DesktopEnterCell", suite="desktop", category="gnumeric", difficulty="easy", max_steps=15,
    tags=("sheet",),
)  # fmt: skip
class DesktopEnterCell(SheetTask[EnterCellParams]):
    """Write a value into an empty cell of a spreadsheet.

    ## Description
    The goal names a cell beside or below a table, one of two sheets, and a number or a word.

    ## Rewards
    1 if the saved workbook holds the value in that cell, and all else as it was.

    ## Starting state
    The workbook is open in Gnumeric, with its first sheet in front.
    """

    mistakes = ("cell", "sheet", "value")
    goals = (
        'Write {value} into cell {cell} of the sheet "{sheet}" and save {file}.',
        'In {file}, cell {cell} of "{sheet}" should hold {value}. Enter it and save the file.',
        'Open the sheet "{sheet}", put {value} in {cell}, and save the workbook.',
    )

    def sample(self, rng: np.random.Generator) -> EnterCellParams:
        tables = sheets.tables(rng, 2)
        sheet = int(rng.random() < 0.4)
        return EnterCellParams(
            **self.book(rng, tables),
            sheet=sheet,
            cell=reference(*_empty(rng, tables[sheet])),
            value=_value(rng),
        )

    def told(self, params: EnterCellParams) -> Mapping[str, object]:
        return {"value": _said(params.value), "sheet": params.tables[params.sheet].name}

    def wanted(self, params: EnterCellParams) -> dict[str, dict[str, Cell]]:
        name = params.tables[params.sheet].name
        return with_cells(params, name, {params.cell: params.value})

    def oracle(self, device: DesktopDevice, params: EnterCellParams) -> Iterator[Action | Demo]:
        yield from self.application.show(params.sheet)
        yield from self.enter(device, params, {params.cell: params.value})

    def misread(
        self, params: EnterCellParams, mistake: str, rng: np.random.Generator
    ) -> EnterCellParams:
        """``cell``: another empty one. ``sheet``: the other. ``value``: another."""
        if mistake == "sheet":
            return dataclasses.replace(params, sheet=1 - params.sheet)
        if mistake == "cell":
            table = params.tables[params.sheet]
            cell = another(lambda: reference(*_empty(rng, table)), params.cell)
            return dataclasses.replace(params, cell=cell)
        value = another(lambda: _value(rng), params.value)
        return dataclasses.replace(params, value=value)


@dataclass(frozen=True)
class FixValueParams(SheetParams):
    """All that varies between episodes."""

    row: int
    """Counted from 0, which are the titles."""
    column: int
    value: int | float


@register(
    "DesktopFixValue", suite="desktop", category="gnumeric", difficulty="medium", max_steps=15,
    tags=("sheet",),
)  # fmt: skip
class DesktopFixValue(CompactSheetTask[FixValueParams]):
    """Correct one number of a table that the goal tells by its row and column.

    ## Description
    The goal says what stands first in the row, the title of the column, and the right number. The
    cell is to be found. With ``compact=True`` the table has four things and two numbers of each, on
    a screen that a model of a million parameters can read.

    ## Rewards
    1 if the saved workbook holds that number there, and all else as it was.

    ## Starting state
    The workbook is open in Gnumeric.

    ## Arguments
    | `compact` | False | a screen of 400x320 pixels, and six actions |
    """

    mistakes = ("row", "column", "value")
    goals = (
        'One number in {file} is wrong: "{title}" of {row} should be {value}. Correct and save it.',
        "Change the {title} of {row} to {value} in the spreadsheet, then save.",
        'Please set "{title}" to {value} in the row of {row}, and save {file}.',
    )
    compact_goals = (
        "Change {title} of {row} to {value} and save.",
        "{title} of {row} should be {value}. Correct and save it.",
        "Set {row}, {title} to {value} and save.",
    )

    def sample(self, rng: np.random.Generator) -> FixValueParams:
        if self.compact:
            tables: tuple[Table, ...] = (self.compact_table(rng),)
        else:
            tables = sheets.tables(rng, between(rng, 1, 2))
        row = between(rng, 1, tables[0].height - 1)
        column = between(rng, 1, len(tables[0].titles) - 1)
        return FixValueParams(
            **self.book(rng, tables),
            row=row,
            column=column,
            value=self._new_number(rng, tables[0], column),
        )

    def told(self, params: FixValueParams) -> Mapping[str, object]:
        table = params.table
        title, row = table.titles[params.column], table.rows[params.row][0]
        return {"title": title, "row": row, "value": _said(params.value)}

    def wanted(self, params: FixValueParams) -> dict[str, dict[str, Cell]]:
        cell = reference(params.column, params.row)
        return with_cells(params, params.table.name, {cell: params.value})

    def oracle(self, device: DesktopDevice, params: FixValueParams) -> Iterator[Action | Demo]:
        if self.compact:
            yield from self.enter_compact(params, params.column, params.row, str(params.value))
            return
        cell = reference(params.column, params.row)
        yield from self.enter(device, params, {cell: params.value})

    def misread(
        self, params: FixValueParams, mistake: str, rng: np.random.Generator
    ) -> FixValueParams:
        """``row``, ``column``: of a neighbour. ``value``: another number."""
        if mistake == "row":
            row = other(rng, range(1, params.table.height), params.row)
            return dataclasses.replace(params, row=row)
        if mistake == "column":
            columns = range(1, len(params.table.titles))
            return dataclasses.replace(params, column=other(rng, columns, params.column))
        value = another(lambda: self._new_number(rng, params.table, params.column), params.value)
        return dataclasses.replace(params, value=value)

    def _new_number(self, rng: np.random.Generator, table: Table, column: int) -> int | float:
        if self.compact:
            return pick(rng, [n for n in range(2, 100) if n not in table.column(column)])
        return _new_number(rng, table, column)


@dataclass(frozen=True)
class FillBlanksParams(SheetParams):
    """All that varies between episodes."""

    column: int
    twin: int
    """Another column with empty cells, which are to stay empty."""
    blanks: tuple[int, ...]
    """The rows of the empty cells, counted from 0."""
    value: int | float | str


@register(
    "DesktopFillBlanks", suite="desktop", category="gnumeric", difficulty="medium", max_steps=25,
    tags=("sheet",),
)  # fmt: skip
class DesktopFillBlanks(SheetTask[FillBlanksParams]):
    """Fill all empty cells of a column.

    ## Description
    The goal names a column by its title, and what is to stand in each of its two to four empty
    cells. Another column has empty cells, too.

    ## Rewards
    1 if the saved workbook holds the value in all of them, and all else as it was.

    ## Starting state
    The workbook is open in Gnumeric.
    """

    mistakes = ("column", "missed", "value")
    goals = (
        'Fill every empty cell of the column "{title}" in {file} with {value}, and save.',
        'Some cells under "{title}" are empty. Enter {value} in each of them and save the file.',
        'Wherever "{title}" is missing in {file}, it should say {value}. Save when you are done.',
    )

    def sample(self, rng: np.random.Generator) -> FillBlanksParams:
        table, *others = sheets.tables(rng, between(rng, 1, 2))
        column, twin = some(rng, (1, 2, 3), 2)
        rows = range(1, table.height)
        blanks = some(rng, rows, between(rng, 2, min(4, len(rows) - 2)))
        spared = some(rng, rows, between(rng, 1, 2))
        empty = {(row, column) for row in blanks} | {(row, twin) for row in spared}
        values = tuple(
            tuple(None if (r, c) in empty else value for c, value in enumerate(row))
            for r, row in enumerate(table.rows)
        )
        return FillBlanksParams(
            **self.book(rng, (Table(table.name, values), *others)),
            column=column,
            twin=twin,
            blanks=tuple(sorted(blanks)),
            value=_value(rng),
        )

    def told(self, params: FillBlanksParams) -> Mapping[str, object]:
        return {"title": params.table.titles[params.column], "value": _said(params.value)}

    def filled(self, params: FillBlanksParams) -> dict[str, Cell]:
        """The cells that change."""
        return {reference(params.column, row): params.value for row in params.blanks}

    def wanted(self, params: FillBlanksParams) -> dict[str, dict[str, Cell]]:
        return with_cells(params, params.table.name, self.filled(params))

    def oracle(self, device: DesktopDevice, params: FillBlanksParams) -> Iterator[Action | Demo]:
        yield from self.enter(device, params, self.filled(params))

    def misread(
        self, params: FillBlanksParams, mistake: str, rng: np.random.Generator
    ) -> FillBlanksParams:
        """``column``: the other with empty cells. ``missed``: all but one. ``value``: another."""
        if mistake == "missed":
            left = pick(rng, params.blanks)
            blanks = tuple(row for row in params.blanks if row != left)
            return dataclasses.replace(params, blanks=blanks)
        if mistake == "column":
            rows = enumerate(params.table.column(params.twin), start=1)
            blanks = tuple(row for row, value in rows if value is None)
            return dataclasses.replace(
                params, column=params.twin, twin=params.column, blanks=blanks
            )
        value = another(lambda: _value(rng), params.value)
        return dataclasses.replace(params, value=value)


def _value(rng: np.random.Generator) -> int | float | str:
    """A word, or a number."""
    if rng.random() < 0.5:
        return pick(rng, WORDS)
    return sheets.number(rng, pick(rng, ("Price", "Count")))


def _said(value: int | float | str) -> str:
    """As a goal names it."""
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def _empty(rng: np.random.Generator, table: Table) -> tuple[int, int]:
    """(column, row) of a cell to the right of a table, or below it."""
    if rng.random() < 0.7:
        return between(rng, 4, 6), between(rng, 0, table.height)
    return between(rng, 0, 3), between(rng, table.height, table.height + 2)


def _new_number(rng: np.random.Generator, table: Table, column: int) -> int | float:
    """A number that does not stand in a column yet."""
    while True:
        drawn = sheets.number(rng, table.titles[column])
        if drawn not in table.column(column):
            return drawn
