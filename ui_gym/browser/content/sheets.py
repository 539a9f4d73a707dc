"""What tables of the suite are about: reports to read, sheets to edit, and changes to these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ui_gym.browser.content import tables, words
from ui_gym.browser.content.data import table
from ui_gym.browser.content.tables import RowKind, TableColumn


@dataclass(frozen=True)
class Report:
    """A table of one quantity, by row and column."""

    app: str
    mark: str
    title: str
    corner: str
    """What its rows are."""
    rows: RowKind
    columns: tuple[str, ...]
    sheets: tuple[str, ...]
    cell: TableColumn
    asked: str
    """A cell in words; what names the sheet is put behind it."""
    sheet: str


REPORTS = tuple(
    Report(**{**written, "cell": TableColumn(**written["cell"])})
    for written in table("sheets")["reports"]
)
COMPACT_REPORT = Report(
    app="Hours",
    mark="clock",
    title="Hours",
    corner="Name",
    rows="first",
    columns=("Mon", "Tue", "Wed", "Thu", "Fri"),
    sheets=("",),
    cell=TableColumn("", "whole", low=0, high=31),
    asked="{row} {column}",
    sheet="",
)


@dataclass(frozen=True)
class Sheet:
    """A spreadsheet of things with a few columns each."""

    app: str
    mark: str
    title: str
    corner: str
    """What its rows are."""
    rows: RowKind
    columns: tuple[TableColumn, ...]


SHEETS = tuple(
    Sheet(**{**written, "columns": tuple(TableColumn(**one) for one in written["columns"])})
    for written in table("sheets")["sheets"]
)
COMPACT_SHEET = Sheet(
    app="Sheet",
    mark="table",
    title="Sheet",
    corner="Name",
    rows="things",
    columns=(
        TableColumn("Owner", pool=words.FIRST_SHORT),
        TableColumn("Count", "whole", low=0, high=31),
        TableColumn("Price", "whole", low=10, high=99),
    ),
)


Kind = Literal["set", "clear", "add", "subtract", "copy"]
PLAIN: tuple[Kind, ...] = ("set", "clear", "set")
MIXED: tuple[Kind, ...] = ("set", "clear", "add", "subtract", "copy")

WORDS: dict[Kind, str] = {
    "set": "set the {column} of {row} to {value}",
    "clear": "clear the {column} of {row}",
    "add": "add {value} to the {column} of {row}",
    "subtract": "subtract {value} from the {column} of {row}",
    "copy": "give {row} the same {column} as {other}",
}
LEAST = 20
"""No number of a sheet is lower, so that what is subtracted is less."""


@dataclass(frozen=True)
class Change:
    """One change. `value` is what is set, added or subtracted; `other` the row that is copied."""

    kind: Kind
    row: int
    column: int
    value: str = ""
    other: int = -1

    def result(self, columns: Sequence[TableColumn], cells: Sequence[Sequence[str]]) -> str:
        """What its cell says afterwards."""
        if self.kind in ("set", "clear"):
            return self.value
        if self.kind == "copy":
            return cells[self.other][self.column]
        have, more = tables.number(cells[self.row][self.column]), tables.number(self.value)
        assert have is not None
        assert more is not None
        column = columns[self.column]
        total = have + more if self.kind == "add" else have - more
        return column.write(int(total * 100 if column.kind == "cents" else total))

    def words(self, columns: Sequence[TableColumn], rows: Sequence[str]) -> str:
        """As a goal says it."""
        column = columns[self.column]
        return WORDS[self.kind].format(
            column=column.title.lower(),
            row=rows[self.row],
            other=rows[self.other],
            value=self.value if column.is_number else f'"{self.value}"',
        )
