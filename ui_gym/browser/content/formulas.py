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

_TOKEN = re.compile(
    r"\s*(?:([0-9]+(?:\.[0-9]*)?|\.[0-9]+)|([A-Z]+)([0-9]+)|([A-Z]+)|([-+*/(),;:]))"
)
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_FUNCTIONS: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "SUM": lambda values: sum(values, Fraction()),
    "AVERAGE": lambda values: sum(values, Fraction()) / len(values),
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
        SheetError: it says something else, or depends on itself.
    """
    try:
        return _value(cells, cell, ())
    except RecursionError:
        raise SheetError("the formulas are nested too deep") from None


def _value(cells: Cells, cell: Cell, above: tuple[Cell, ...]) -> Fraction:
    if cell in above:
        raise SheetError(f"{address(cell)} depends on itself")
    said = cells.get(cell, "").strip()
    if not said:
        return Fraction()
    if said.startswith("="):
        return _Reader(said[1:], cells, (*above, cell)).whole()
    if not _NUMBER.fullmatch(said):
        raise SheetError(f"{address(cell)} is no number")
    return Fraction(said)


class _Reader:
    """Reads a formula from left to right, and computes it on the way."""

    def __init__(self, text: str, cells: Cells, above: tuple[Cell, ...]) -> None:
        self._cells, self._above = cells, above
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
            result = result + other if sign == "+" else result - other
        return result

    def _product(self) -> Fraction:
        result = self._factor()
        while sign := self._next("*", "/"):
            other = self._factor()
            if sign == "/" and not other:
                raise SheetError("division by zero")
            result = result * other if sign == "*" else result / other
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
            return _value(self._cells, token, self._above)
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
                values += self._numbers(first, last)
            else:
                values.append(self._sum())
            if not self._next(",", ";"):
                return values

    def _numbers(self, first: Cell, last: Cell) -> Iterator[Fraction]:
        (top, bottom), (left, right) = (sorted(pair) for pair in zip(first, last, strict=True))
        for cell, text in self._cells.items():
            said = text.strip()
            inside = top <= cell[0] <= bottom and left <= cell[1] <= right
            if inside and (said.startswith("=") or _NUMBER.fullmatch(said)):
                yield _value(self._cells, cell, self._above)


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
