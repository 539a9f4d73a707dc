"""What tables of the suite are about: reports to read, sheets to edit, and changes to these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ui_gym.browser.content import tables
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


REPORTS = (
    Report(
        "Merchant", "chart", "Sales in dollars", "Branch", "towns",
        ("January", "February", "March", "April", "May", "June", "July", "August"),
        ("2023", "2024", "2025"), TableColumn("", "whole", 1000, 98000),
        "the sales of {row} in {column}", " {sheet}",
    ),
    Report(
        "Depot", "truck", "Stock by warehouse", "Part", "codes",
        ("Airport", "Canal", "Dock", "Hilltop", "Orchard", "Quay", "Ringway", "Valley"),
        ("New", "Used", "Returned"), TableColumn("", "whole", 12, 989),
        "the stock of part {row} in the warehouse {column}", ", on the sheet {sheet}",
    ),
    Report(
        "Campus", "people", "Marks", "Student", "people",
        ("Biology", "Chemistry", "English", "French", "History", "Maths", "Music", "Physics"),
        ("Autumn", "Spring", "Summer"), TableColumn("", "tenths", 210, 999),
        "the mark of {row} in {column}", " in the {sheet} term",
    ),
    Report(
        "Counter", "tag", "Price list", "Article", "goods",
        ("Gloss", "Limed", "Matt", "Oiled", "Painted", "Raw", "Satin", "Waxed"),
        ("Retail", "Trade", "Outlet"), TableColumn("", "cents", 950, 49900),
        'the price of "{row}" in the finish {column}', ", on the sheet {sheet}",
    ),
    Report(
        "Linework", "clock", "First departures", "Stop", "towns",
        ("Line 1", "Line 2", "Line 4", "Line 6", "Line 7", "Line 10", "Line 11", "Line 14"),
        ("Weekdays", "Saturday", "Sunday"), TableColumn("", "time", 4 * 60, 11 * 60),
        "the first departure of {column} from {row}", ", on the sheet {sheet}",
    ),
    Report(
        "Clearwater", "filter", "Readings in mg per litre", "Sample", "codes",
        ("Calcium", "Chloride", "Fluoride", "Iron", "Lead", "Nitrate", "Sulfate", "Zinc"),
        ("Intake", "Filter", "Outlet"), TableColumn("", "cents", 5, 9990),
        "the {column} reading of sample {row}", ", on the sheet {sheet}",
    ),
)  # fmt: skip


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


SHEETS = (
    Sheet(
        "Depot", "truck", "Stock list", "Article", "goods",
        (
            TableColumn(
                "Supplier", pool=("Brandt", "Falk & Sons", "Hollis", "Nordwood", "Tamar Mill")
            ),
            TableColumn(
                "Shelf", pool=("A-02", "A-11", "B-04", "B-17", "C-08", "C-20", "D-05", "D-13")
            ),
            TableColumn("Stock", "whole", 20, 240),
            TableColumn("Minimum", "whole", 20, 60),
            TableColumn("Price", "cents", 2050, 48999),
        ),
    ),
    Sheet(
        "Rota", "people", "Team sheet", "Name", "people",
        (
            TableColumn("Team", pool=("Design", "Finance", "Legal", "Sales", "Support")),
            TableColumn("Room", pool=("1.04", "1.17", "2.09", "2.21", "3.02", "3.15", "4.08")),
            TableColumn("Status", pool=("Away", "On leave", "Office", "Remote")),
            TableColumn("Hours", "whole", 20, 40),
            TableColumn("Holidays", "whole", 20, 34),
        ),
    ),
    Sheet(
        "Ledgerly", "chart", "Budget by branch", "Branch", "towns",
        (
            TableColumn("Owner", pool=("Berg", "Castell", "Dunn", "Ives", "Marek", "Okoro")),
            TableColumn("Rent", "whole", 1200, 9800),
            TableColumn("Travel", "whole", 150, 2400),
            TableColumn("Training", "whole", 100, 1900),
            TableColumn("Software", "whole", 120, 3600),
        ),
    ),
    Sheet(
        "Partsbin", "gear", "Spare parts", "Part", "codes",
        (
            TableColumn("Type", pool=("Bearing", "Bracket", "Gasket", "Hinge", "Spring", "Valve")),
            TableColumn("Drawer", pool=("E1", "E4", "F2", "F7", "G3", "G6", "H5", "H8")),
            TableColumn("Orders", "whole", 20, 90),
            TableColumn("Stock", "whole", 20, 400),
            TableColumn("Cost", "cents", 2010, 9900),
        ),
    ),
)  # fmt: skip


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
