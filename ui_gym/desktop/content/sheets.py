"""Sheets: small tables of things and numbers, as workbooks of Excel's format (.xlsx) and back."""

from __future__ import annotations

import datetime
import importlib
import io
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ui_gym.contract.draws import between, some
from ui_gym.desktop.content import words, zipped
from ui_gym.errors import UserError

Cell = str | int | float | None
Cells = Mapping[str, Cell]
"""What the cells of a sheet hold that are not empty, by their names (``"B3"``)."""

_MADE = datetime.datetime(2025, 1, 1)

Subject = tuple[str, tuple[str, ...], tuple[str, ...]]

_SUBJECTS: tuple[Subject, ...] = tuple(
    (subject["first"], subject["things"], subject["titles"])
    for subject in words.WRITTEN["subjects"]
)
"""What a table lists: the title of its first column, what stands there, titles of numbers."""

GOODS = _SUBJECTS[0][1]
"""What is bought."""

NAMES: tuple[str, ...] = words.WRITTEN["sheet_names"]
"""Names of sheets."""

FILES: tuple[str, ...] = words.WRITTEN["workbooks"]
"""Names of workbooks, without their ending."""


@dataclass(frozen=True)
class Table:
    """A sheet by its name; the first of its rows holds the titles of the columns."""

    name: str
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(map(str, self.rows[0]))

    @property
    def height(self) -> int:
        """The number of rows, the titles among them."""
        return len(self.rows)

    def column(self, index: int) -> list[Cell]:
        """What stands below a title."""
        return [row[index] for row in self.rows[1:]]

    def cells(self) -> dict[str, Cell]:
        return {
            reference(column, row): value
            for row, values in enumerate(self.rows)
            for column, value in enumerate(values)
            if value is not None
        }


@dataclass(frozen=True)
class CellGrid:
    """How the cells of a workbook are laid out: `font` and the rows' `height` in points, the
    columns' `width` in letters, and the `indent` of what stands in them; of the first `rows` and
    `columns`."""

    font: int
    height: float
    width: float
    indent: int
    rows: int
    columns: int


def reference(column: int, row: int) -> str:
    """The name of a cell, both counted from 0: (1, 2) is ``"B3"``."""
    return f"{chr(ord('A') + column)}{row + 1}"


def tables(rng: np.random.Generator, count: int, *, most_rows: int = 9) -> tuple[Table, ...]:
    """Up to four tables with different names and no title in common, each of 5 to `most_rows` rows
    of three numbers. The numbers of a column are different."""
    subjects = some(rng, _SUBJECTS, count)
    names = some(rng, NAMES, count)
    return tuple(
        _table(rng, name, subject, most_rows) for name, subject in zip(names, subjects, strict=True)
    )


def number(rng: np.random.Generator, title: str) -> int | float:
    """A number such as stands below a title."""
    if title in ("Price", "Cost", "Pay", "Weight"):
        return between(rng, 8, 190) / 4
    if title == "Year":
        return between(rng, 1950, 2024)
    return between(rng, 2, 480)


def workbook(sheets: Sequence[Table], grid: CellGrid | None = None) -> bytes:
    """An .xlsx file with these sheets, the first of them in front; their cells as `grid` has it, or
    as applications have it by themselves."""
    book = _openpyxl().Workbook()
    book.remove(book.active)
    book.properties.created = book.properties.modified = _MADE
    # A font that is there wherever the desktops' own is, so that rows have the same height.
    book._named_styles["Normal"].font = _font() if grid is None else _font(grid.font)
    for table in sheets:
        sheet = book.create_sheet(table.name)
        for row in table.rows:
            sheet.append(list(row))
        if grid is not None:
            _lay_out(sheet, grid)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@dataclass(frozen=True)
class Workbook:
    """What a workbook holds, sheet by sheet in their order: the values that were last computed,
    and the text of formulas."""

    values: Mapping[str, Cells]
    formulas: Mapping[str, Mapping[str, str]]


def read(data: bytes | None) -> Workbook | None:
    """The workbook of an .xlsx file; None where it is none, or only half of one."""
    if data is None or not zipped.is_readable(data):
        return None
    library = _openpyxl()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles that openpyxl does not keep
            values, formulas = (
                _sheets(library.load_workbook(io.BytesIO(data), data_only=computed))
                for computed in (True, False)
            )
    except Exception:  # a damaged file may break its reader in any way
        return None
    texts = {
        name: {at: text for at, text in map(_formula, cells.items()) if text.startswith("=")}
        for name, cells in formulas.items()
    }
    return Workbook(values, texts)


def differences(book: Workbook | None, wanted: Mapping[str, Cells]) -> list[str]:
    """Where a workbook is not as `wanted`, in words; nothing if it is."""
    if book is None:
        return ["there is no such workbook"]
    if list(book.values) != list(wanted):
        return [f"its sheets are {', '.join(book.values)}"]
    return [
        f"{name}!{at} is {book.values[name].get(at)!r}, not {cells.get(at)!r}"
        for name, cells in wanted.items()
        for at in sorted({*cells, *book.values[name]})
        if not alike(book.values[name].get(at), cells.get(at))
    ]


def alike(one: Cell, other: Cell) -> bool:
    """Whether two cells hold the same, spaces around a text left out."""
    if isinstance(one, str) and isinstance(other, str):
        return one.strip() == other.strip()
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, abs_tol=1e-9)
    return one is None and other is None


def _table(rng: np.random.Generator, name: str, subject: Subject, most_rows: int) -> Table:
    first, things, titles = subject
    chosen = some(rng, titles, 3)
    listed = some(rng, things, between(rng, 5, most_rows))
    columns = [_numbers(rng, title, len(listed)) for title in chosen]
    return Table(name, ((first, *chosen), *zip(listed, *columns, strict=True)))


def _numbers(rng: np.random.Generator, title: str, count: int) -> list[Cell]:
    found: list[Cell] = []
    while len(found) < count:
        drawn = number(rng, title)
        if drawn not in found:
            found.append(drawn)
    return found


def _sheets(book: Any) -> dict[str, dict[str, Any]]:
    return {
        sheet.title: {
            cell.coordinate: cell.value
            for row in sheet.iter_rows()
            for cell in row
            if cell.value not in (None, "")
        }
        for sheet in book.worksheets
    }


def _formula(cell: tuple[str, Any]) -> tuple[str, str]:
    at, value = cell
    return at, str(getattr(value, "text", value))  # an array's formula is an object with a text


def _font(size: int = 10) -> Any:
    return importlib.import_module("openpyxl.styles").Font(name="DejaVu Sans", size=size)


def _lay_out(sheet: Any, grid: CellGrid) -> None:
    style = importlib.import_module("openpyxl.styles").Alignment
    for row in sheet.iter_rows(max_row=grid.rows, max_col=grid.columns):
        sheet.row_dimensions[row[0].row].height = grid.height
        for cell in row:
            sheet.column_dimensions[cell.column_letter].width = grid.width
            cell.alignment = style(horizontal="left", vertical="center", indent=grid.indent)


def _openpyxl() -> Any:
    try:
        return importlib.import_module("openpyxl")
    except ImportError:
        raise UserError(
            'tasks with spreadsheets need openpyxl: pip install "ui-gym[desktop]"'
        ) from None
