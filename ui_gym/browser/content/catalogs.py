"""Catalogues: made-up things on offer, and how a sentence asks for one of them.

A column is a choice (one of a few texts), a measure (a number) or a flag (yes or no). An offer is
its name and a value for each column: an index of the choice, the number, 1 or 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick


@dataclass(frozen=True)
class Choice:
    """A column of texts; `asked` is said of an offer: ``is made by {}``."""

    title: str
    texts: tuple[str, ...]
    every: str
    """How its filter calls no choice at all."""
    asked: str


@dataclass(frozen=True)
class Measure:
    """A column of numbers: those of `steps`, or from `low` to `high`."""

    title: str
    form: str
    """How a number is written: ``${:,}``."""
    low: int = 0
    high: int = 0
    steps: tuple[int, ...] = ()
    shift: int = 0
    """How many of its digits stand behind the point."""
    least: str = ""
    """The offer with the lowest number in words, if it is asked for: ``the cheapest {}``."""
    most: str = ""
    at_least: str = ""
    """That the number is not below another, if it is asked for: ``has at least {}``."""
    at_most: str = ""

    def write(self, value: int) -> str:
        """A number as pages and goals write it."""
        return self.form.format(round(value / 10**self.shift, self.shift) if self.shift else value)


@dataclass(frozen=True)
class Flag:
    """A column of yes and no; `asked` is said of an offer that has it."""

    title: str
    only: str
    """What its box in the filter says."""
    asked: str


Column = Choice | Measure | Flag


@dataclass(frozen=True)
class Catalog:
    """What is on offer, and where."""

    app: str
    mark: str
    title: str
    noun: str
    verb: str
    """What the button of an offer says."""
    act: str
    """What is done with it, in a goal."""
    first: tuple[str, ...]
    """Offers are called by a word of `first` and one of `last`."""
    last: tuple[str, ...]
    columns: Mapping[str, Column]

    def ordered(self) -> list[str]:
        """The columns whose extremes are asked for."""
        return [key for key, one in self.columns.items() if isinstance(one, Measure) and one.least]

    def names(self, count: int, rng: np.random.Generator) -> list[str]:
        """`count` different names."""
        pairs = rng.choice(len(self.first) * len(self.last), size=count, replace=False)
        return [
            f"{self.first[pair // len(self.last)]} {self.last[pair % len(self.last)]}".strip()
            for pair in map(int, pairs)
        ]

    def offer(self, rng: np.random.Generator) -> tuple[int, ...]:
        """A value for each column."""
        return tuple(_draw(column, rng) for column in self.columns.values())


def _draw(column: Column, rng: np.random.Generator) -> int:
    match column:
        case Choice(texts=texts):
            return int(rng.integers(len(texts)))
        case Flag():
            return int(rng.random() < 0.6)
        case Measure(steps=(), low=low, high=high):
            return int(rng.integers(low, high + 1))
        case Measure(steps=steps):
            return pick(rng, steps)


@dataclass(frozen=True)
class Condition:
    """What an offer has to be: `column` is at least or at most (a measure) or exactly `value`."""

    column: str
    relation: str
    """``"is"``, ``"at_least"`` or ``"at_most"``."""
    value: int

    def met(self, catalog: Catalog, offer: Sequence[int]) -> bool:
        have = offer[list(catalog.columns).index(self.column)]
        if self.relation == "is":
            return have == self.value
        return have >= self.value if self.relation == "at_least" else have <= self.value

    def words(self, catalog: Catalog) -> str:
        """As it is said of an offer: ``has at least 16 GB of memory``."""
        match catalog.columns[self.column]:
            case Choice(texts=texts, asked=asked):
                return asked.format(texts[self.value])
            case Flag(asked=asked):
                return asked
            case measure:
                return str(getattr(measure, self.relation)).format(measure.write(self.value))


def conditions(catalog: Catalog, column: str, offer: Sequence[int]) -> list[Condition]:
    """What can be asked of a column so that `offer` meets it."""
    value = offer[list(catalog.columns).index(column)]
    match catalog.columns[column]:
        case Choice():
            return [Condition(column, "is", value)]
        case Flag():
            return [Condition(column, "is", 1)] if value else []
        case Measure(steps=steps) as measure:
            if value in (min(steps, default=None), max(steps, default=None)):
                return []  # "at most 1 rooms", "at least 5 stars" of 5: nobody speaks so
            relations = ("at_least", "at_most")
            return [Condition(column, one, value) for one in relations if getattr(measure, one)]


def _column(written: Mapping[str, Any]) -> Column:
    if "texts" in written:
        return Choice(**written)
    return Flag(**written) if "only" in written else Measure(**written)


def _catalog(columns: Mapping[str, Any], **written: Any) -> Catalog:
    return Catalog(**written, columns={key: _column(one) for key, one in columns.items()})


CATALOGS = tuple(_catalog(**written) for written in table("catalogs")["catalogs"])
COMPACT_CATALOG = Catalog(
    app="Shop",
    mark="bag",
    title="Shop",
    noun="name",
    verb="Buy",
    act="Buy {}",
    first=words.THINGS_SHORT,
    last=("",),
    columns={
        "color": Choice("Color", ("Blue", "Green", "Red"), every="All", asked="{}"),
        "price": Measure(
            "Price", "{}", low=10, high=99, least="lowest Price", most="highest Price"
        ),
        "size": Measure("Size", "{}", low=1, high=31, least="lowest Size", most="highest Size"),
    },
)
