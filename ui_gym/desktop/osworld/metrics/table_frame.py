"""A sheet as a table with a header, and what it takes for two of them to be the same.

OSWorld compares sheets with pandas (``read_excel``, ``round``, ``equals``), so what pandas makes of
a cell decides a score: the first row is the header, a name that is there twice gets a number, a
column has one type, texts that look like numbers are numbers, an empty cell is the same as "NA",
and a column of whole numbers is never the same as one with fractions. That is kept here, without
pandas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ui_gym.desktop.osworld.metrics.reading import Broken

Kind = Literal["int", "float", "bool", "object"]

MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
    | {"<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)
"""The texts that pandas takes for an empty cell."""

FAULTS = frozenset({"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"})
"""What a formula gives that cannot be computed; pandas takes these for empty, too."""

MAX_CELLS = 5_000_000
"""A larger sheet is not compared: a single cell in its last corner makes it one."""

NUMBER = re.compile(
    r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?)\s*", re.I | re.A
)
INTEGER = re.compile(r"\s*[+-]?\d+\s*", re.A)
TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True)
class FrameColumn:
    """The values of a column below its header; None for an empty cell. `float` has NaN there."""

    kind: Kind
    values: npt.NDArray[Any] | tuple[Any, ...]


@dataclass(frozen=True)
class TableFrame:
    """A sheet: its header and its columns."""

    header: tuple[Any, ...]
    columns: tuple[FrameColumn, ...]

    def same(self, other: TableFrame, precision: int) -> bool:
        """Whether both hold the same, floats rounded to `precision` decimal digits."""
        return (
            self.header == other.header
            and len(self.columns) == len(other.columns)
            and all(
                _same(mine, its, precision)
                for mine, its in zip(self.columns, other.columns, strict=True)
            )
        )


def frame(rows: Iterable[Sequence[Any]]) -> TableFrame:
    """The table that the rows of a sheet make; an empty cell is None or an empty text."""
    lines = _trimmed(rows)
    if not lines:
        return TableFrame((), ())
    width = max(len(line) for line in lines)
    if width * len(lines) > MAX_CELLS:
        raise Broken(f"a sheet of {len(lines)} x {width} cells is too large")
    padded = [line + [""] * (width - len(line)) for line in lines]
    body = padded[1:]
    columns = tuple(_column([line[place] for line in body]) for place in range(width))
    return TableFrame(_header(padded[0]), columns)


def _trimmed(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """The rows without what is empty at their right and at the end."""
    lines = []
    filled = 0
    for row in rows:
        line = [_cell(value) for value in row]
        while line and line[-1] == "":
            line.pop()
        lines.append(line)
        if line:
            filled = len(lines)
    return lines[:filled]


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return math.nan if isinstance(value, str) and value in FAULTS else value


def _header(cells: list[Any]) -> tuple[Any, ...]:
    """The names of the columns, each once: ``a``, ``a.1``; a column without one is unnamed."""
    names = [f"Unnamed: {place}" if cell == "" else cell for place, cell in enumerate(cells)]
    seen: dict[Any, int] = {}
    # Names of the sheet's own are counted first, so that those made up give way.
    own = [place for place, cell in enumerate(cells) if cell != ""]
    for place in own + [place for place in range(len(cells)) if cells[place] == ""]:
        first = name = names[place]
        count = seen.get(name, 0)
        while count > 0:
            seen[first] = count + 1
            name = f"{first}.{count}"
            count = count + 1 if name in names else seen.get(name, 0)
        names[place] = name
        seen[name] = count + 1
    return tuple(names)


def _column(cells: list[Any]) -> FrameColumn:
    numbers = _numbers(cells)
    if numbers is not None:
        return numbers
    values = tuple(None if cell in MISSING or cell is math.nan else cell for cell in cells)
    if all(isinstance(value, bool) for value in values):
        return FrameColumn("bool", values)
    truths = [TRUTHS.get(value.lower()) if isinstance(value, str) else None for value in values]
    if None not in truths:
        return FrameColumn("bool", tuple(truths))
    return FrameColumn("object", values)


def _numbers(cells: list[Any]) -> FrameColumn | None:
    """A column of numbers; None where a cell is something else, or where all are truths."""
    if any(isinstance(cell, bool) for cell in cells) and not any(map(_is_number, cells)):
        return None
    numbers: list[float] = []
    whole = True
    for cell in cells:
        if isinstance(cell, str):
            if cell in MISSING:
                numbers.append(np.nan)
                whole = False
            elif NUMBER.fullmatch(cell):
                integral = INTEGER.fullmatch(cell) is not None
                numbers.append(int(cell) if integral else float(cell))
                whole = whole and integral
            else:
                return None
        elif isinstance(cell, int | float):  # a truth among numbers counts as 0 or 1
            numbers.append(cell)
            whole = whole and isinstance(cell, int)
        else:
            return None
    if whole:
        return FrameColumn("int", tuple(numbers)) if cells else FrameColumn("object", ())
    return FrameColumn("float", np.array(numbers, dtype=np.float64))


def _is_number(cell: Any) -> bool:
    if isinstance(cell, str):
        return NUMBER.fullmatch(cell) is not None
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _same(mine: FrameColumn, its: FrameColumn, precision: int) -> bool:
    if mine.kind != its.kind or len(mine.values) != len(its.values):
        return False
    if mine.kind != "float":
        return tuple(mine.values) == tuple(its.values)
    first, second = (np.round(np.asarray(c.values), precision) for c in (mine, its))
    return bool(np.array_equal(first, second, equal_nan=True))
