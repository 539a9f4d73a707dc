"""Formulas of a spreadsheet, such as ``=SUM(B2:B6)``: what a sheet's cells come to.

The page ``formula_sheet.html`` computes the same, in its own way; what it says is judged by this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

Cell = tuple[int, int]
"""Row and column, counted from 0."""
Cells = Mapping[Cell, str]
"""What was entered, by cell; a cell that is left out is empty."""

LONGEST = 200
"""Letters of a formula, at most."""
LARGEST = 10**300
"""No number is as large, nor is the numerator or the denominator of a fraction; the page, which
rounds, knows no such fractions."""
READS = 1000
"""How often cells and ranges are read for one number, at most."""

_TOKEN = re.compile(
    r"\s*(?:([0-9]+(?:\.[0-9]*)?|\.[0-9]+)|([A-Z]+)([0-9]+)|([A-Z]+)|([-+*/(),;:]))"
)
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_FUNCTIONS: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "SUM": lambda values: _total(values),
    "AVERAGE": lambda values: _sized(_total(values) / len(values)),
    "MIN": lambda values: min(values, default=Fraction()),
    "MAX": lambda values: max(values, default=Fraction()),
    "COUNT": lambda values: Fraction(len(values)),
}


class SheetError(ValueError):
    """A formula that comes to no number."""


def address(cell: Cell) -> str:
    """``B7`` for (6, 1)."""
    return f"{chr(ord('A') + cell[1])}{cell[0] + 1}"


def value(cells: Cells, cell: Cell) -> Fraction:
    """The number that a cell comes to; 0 if it is empty.

    Raises:
        SheetError: it says something else, depends on itself, or on too much.
    """
    try:
        return _Sheet(cells).value(cell)
    except RecursionError:
        raise SheetError("the formulas are nested too deep") from None


def _sized(number: Fraction) -> Fraction:
    if max(abs(number.numerator), number.denominator) >= LARGEST:
        raise SheetError("a number is too long")
    return number


def _total(values: list[Fraction]) -> Fraction:
    total = Fraction()
    for one in values:
        total = _sized(total + one)
    return total


class _Sheet:
    """The numbers of a sheet's cells, each worked out once."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._known: dict[Cell, Fraction | None] = {}
        """None for a cell that is being worked out."""
        self._reads = 0

    def value(self, cell: Cell) -> Fraction:
        self._read()
        if cell not in self._known:
            self._known[cell] = None
            self._known[cell] = self._worked_out(cell)
        known = self._known[cell]
        if known is None:
            raise SheetError(f"{address(cell)} depends on itself")
        return known

    def numbers(self, first: Cell, last: Cell) -> Iterator[Fraction]:
        """Those that stand in a range."""
        self._read()
        (top, bottom), (left, right) = (sorted(pair) for pair in zip(first, last, strict=True))
        for cell, text in self._cells.items():
            if top <= cell[0] <= bottom and left <= cell[1] <= right:
                said = text.strip()
                if said.startswith("=") or _NUMBER.fullmatch(said):
                    yield self.value(cell)

    def _read(self) -> None:
        self._reads += 1
        if self._reads > READS:
            raise SheetError(f"cells are read more than {READS} times")

    def _worked_out(self, cell: Cell) -> Fraction:
        said = self._cells.get(cell, "").strip()
        if not said:
            return Fraction()
        if said.startswith("="):
            return _Reader(said[1:], self).whole()
        if not _NUMBER.fullmatch(said):
            raise SheetError(f"{address(cell)} is no number")
        return Fraction(said)


class _Reader:
    """Reads a formula from left to right, and computes it on the way."""

    def __init__(self, text: str, sheet: _Sheet) -> None:
        self._sheet = sheet
        self._tokens = list(_tokens(text))

    def whole(self) -> Fraction:
        result = self._sum()
        if self._tokens:
            raise SheetError(f"there is something after the end: {self._tokens[0]}")
        return result

    def _next(self, *wanted: str) -> str:
        """The next token if it is a wanted one, else an empty text."""
        if self._tokens and self._tokens[0] in wanted:
            return str(self._tokens.pop(0))
        return ""

    def _need(self, wanted: str) -> None:
        if not self._next(wanted):
            raise SheetError(f"{wanted} is missing")

    def _sum(self) -> Fraction:
        result = self._product()
        while sign := self._next("+", "-"):
            other = self._product()
            result = _sized(result + other if sign == "+" else result - other)
        return result

    def _product(self) -> Fraction:
        result = self._factor()
        while sign := self._next("*", "/"):
            other = self._factor()
            if sign == "/" and not other:
                raise SheetError("division by zero")
            result = _sized(result * other if sign == "*" else result / other)
        return result

    def _factor(self) -> Fraction:
        if sign := self._next("+", "-"):
            return -self._factor() if sign == "-" else self._factor()
        if self._next("("):
            result = self._sum()
            self._need(")")
            return result
        token = self._tokens.pop(0) if self._tokens else ""
        if isinstance(token, Fraction):
            return token
        if isinstance(token, tuple):
            return self._sheet.value(token)
        if token in _FUNCTIONS:
            self._need("(")
            values = self._values()
            self._need(")")
            if token == "AVERAGE" and not values:
                raise SheetError("the average of nothing")
            return _FUNCTIONS[token](values)
        raise SheetError(f"this is no value: {token or 'nothing'}")

    def _values(self) -> list[Fraction]:
        """Of a function: numbers, and those that stand in ranges; texts there do not count."""
        values: list[Fraction] = []
        while True:
            if len(self._tokens) > 2 and self._tokens[1] == ":":
                first, _, last = self._tokens[:3]
                if not (isinstance(first, tuple) and isinstance(last, tuple)):
                    raise SheetError("a range goes from a cell to a cell")
                del self._tokens[:3]
                values += self._sheet.numbers(first, last)
            else:
                values.append(self._sum())
            if not self._next(",", ";"):
                return values


def _tokens(text: str) -> Iterator[str | Fraction | Cell]:
    text = text.upper().rstrip()
    if len(text) > LONGEST:
        raise SheetError(f"a formula has {LONGEST} letters at most")
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise SheetError(f"this is not understood: {text[at:]}")
        at = found.end()
        number, column, row, name, sign = found.groups()
        if number:
            yield Fraction(number)
        elif row:
            if len(column) > 1 or int(row) == 0:
                raise SheetError(f"there is no cell {column}{row}")
            yield int(row) - 1, ord(column) - ord("A")
        else:
            yield name or sign
