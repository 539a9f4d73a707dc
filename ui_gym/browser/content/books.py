"""What sheets are about that are to be given formulas."""

from __future__ import annotations

from dataclasses import dataclass

from ui_gym.browser.content.data import table
from ui_gym.browser.content.tables import RowKind


@dataclass(frozen=True)
class Book:
    """A sheet of named rows with columns of numbers, and two columns that are computed."""

    app: str
    mark: str
    title: str
    corner: str
    """What its rows are."""
    rows: RowKind
    columns: tuple[tuple[str, int, int], ...]
    """Titles, with the least and the greatest number."""
    difference: str
    """The column of the first less the second; empty if there is none."""
    product: str
    """The column of the last two's product."""


BOOKS = tuple(Book(**written) for written in table("books")["books"])
COMPACT_BOOK = Book(
    app="Sheet",
    mark="table",
    title="Sheet",
    corner="Name",
    rows="things",
    columns=(("Count", 2, 31), ("Price", 10, 99)),
    difference="",
    product="Cost",
)
