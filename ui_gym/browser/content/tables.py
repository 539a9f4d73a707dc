"""What tables of the suite are filled with: names of rows, cells of a kind, what is the same."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick

TOWNS: tuple[str, ...] = table("tables")["towns"]
PARTS: tuple[str, ...] = table("tables")["parts"]

GOODS: tuple[str, ...] = table("tables")["goods"]
WOODS: tuple[str, ...] = table("tables")["woods"]

RowKind = Literal["codes", "first", "goods", "people", "things", "towns"]
ROW_KINDS: tuple[RowKind, ...] = ("codes", "goods", "people", "towns")
SHORT: dict[RowKind, tuple[str, ...]] = {
    "first": words.FIRST_SHORT,
    "things": words.THINGS_SHORT,
}
"""Names of the compact pages."""
ALIKE = 4
"""How many look-alikes stand in a table together."""


def names(kind: RowKind, count: int, alike: bool, rng: np.random.Generator) -> tuple[str, ...]:
    """`count` different names of rows in any order; if `alike`, each has some that look like it."""
    if kind in SHORT:
        return tuple(chosen(SHORT[kind], count, rng))
    if kind == "codes":
        found = _codes(count, alike, rng)
    else:
        own, shared, form = {
            "goods": (WOODS, GOODS, "{0} {1}"),
            "people": (words.FIRST_LONG, words.LAST_LONG, "{0} {1}"),
            "towns": (PARTS, TOWNS, "{1} {0}"),
        }[kind]
        groups = chosen(shared, max(2, math.ceil(count / ALIKE)) if alike else count, rng)
        columns = ([form.format(one, group) for one in chosen(own, 8, rng)] for group in groups)
        found = [name for row in itertools.zip_longest(*columns) for name in row]
        found = found[:count]
    return tuple(found[i] for i in rng.permutation(count))


def _codes(count: int, alike: bool, rng: np.random.Generator) -> list[str]:
    """Part numbers such as ``KX-204``; look-alikes have their digits in another order."""
    letters = [a + b for a in "ABDHKMRT" for b in "CEFLNSXZ"]
    found: list[str] = []
    while len(found) < count:
        digits = rng.permutation(10)[:3]
        orders = list(itertools.permutations(int(d) for d in digits))
        start = pick(rng, letters)
        for i in rng.permutation(len(orders))[: ALIKE if alike else 1]:
            code = f"{start}-{''.join(map(str, orders[int(i)]))}"
            if code not in found:
                found.append(code)
    return found[:count]


@dataclass(frozen=True)
class TableColumn:
    """What the cells of a column hold: one of `pool`, or a number from `low` to `high`."""

    title: str
    kind: Literal["text", "whole", "cents", "tenths", "time"] = "text"
    low: int = 0
    high: int = 0
    pool: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.kind in ("whole", "cents", "tenths")

    def draw(self, rng: np.random.Generator) -> str:
        """A cell."""
        if self.kind == "text":
            return pick(rng, self.pool)
        return self.write(int(rng.integers(self.low, self.high + 1)))

    def write(self, value: int) -> str:
        """A number as the cells write it."""
        if self.kind == "cents":
            return f"{value // 100:,}.{value % 100:02}"
        if self.kind == "tenths":
            return f"{value // 10}.{value % 10}"
        if self.kind == "time":
            return f"{value // 60:02}:{value % 60:02}"
        return f"{value:,}"


_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def number(text: str) -> Decimal | None:
    """The number that a text writes, with or without commas, a currency or a percent sign."""
    plain = re.sub(r"[\s,$€£%]", "", text)
    return Decimal(plain) if _NUMBER.fullmatch(plain) else None


def same(said: str, true: str) -> bool:
    """Whether two cells say the same: blanks around them and ways to write a number aside."""
    if said.strip() == true.strip():
        return True
    if ":" in true:
        return said.strip() == true.lstrip("0")
    one = number(said)
    return one is not None and one == number(true)
