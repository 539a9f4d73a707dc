"""Charts: what they are about, how their axes are cut, and values that can be told apart by eye."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ui_gym.browser.content.data import table
from ui_gym.browser.content.tables import TOWNS
from ui_gym.contract.draws import pick

Kind = Literal["bars", "line", "pie", "rows"]
Values = tuple[tuple[int, ...], ...]
"""Of each series its values, one a category."""

Point = tuple[int, int]
"""A value: its series and its category, counted from 0."""

_MONTHS = [datetime.date(2025, month, 1) for month in range(1, 13)]
CATEGORIES: dict[str, tuple[tuple[str, str], ...]] = {
    "months": tuple((f"{day:%b}", f"{day:%B}") for day in _MONTHS),
    "years": tuple((str(year), str(year)) for year in range(2014, 2026)),
    "towns": tuple((town, town) for town in TOWNS[:12]),
}
"""Labels of categories, each with how a goal says it."""


@dataclass(frozen=True)
class Topic:
    """What a chart with axes is about. A value in words: `what`, then `of` its series if there are
    several, then ``in`` its category."""

    app: str
    mark: str
    title: str
    unit: str
    what: str
    of: str
    series: tuple[str, ...]
    categories: str

    def words(self, series: int | None, category: int) -> str:
        """A value, in a goal."""
        of = self.of.format(self.series[series]) if series is not None else ""
        return f"{self.what}{of} in {CATEGORIES[self.categories][category][1]}"


TOPICS = tuple(Topic(**written) for written in table("charts")["topics"])
COMPACT_TOPIC = Topic(
    app="Chart",
    mark="chart",
    title="Chart",
    unit="",
    what="",
    of="",
    series=("",),
    categories="months",
)


@dataclass(frozen=True)
class Pie:
    """What a pie chart is about."""

    app: str
    mark: str
    title: str
    of: str
    slices: tuple[str, ...]


ORDERED = tuple(i for i, topic in enumerate(TOPICS) if topic.categories != "towns")
"""The topics that may be drawn as a line: none leads from town to town."""

PIES = tuple(Pie(**written) for written in table("charts")["pies"])


@dataclass(frozen=True)
class Axis:
    """From `low` to `high` with a line at every `step`."""

    low: int
    high: int
    step: int

    @property
    def span(self) -> int:
        return self.high - self.low


LOWEST, HIGHEST = 0.1, 0.97
"""Between which shares of their axis values lie."""

PERCENT = Axis(0, 100, 10)
"""What stands for the axis of a pie chart."""


def axis(cut: bool, rng: np.random.Generator) -> Axis:
    """An axis; one that is `cut` does not begin at zero."""
    step, lines = pick(rng, (10, 20, 50, 100, 200)), int(rng.integers(4, 7))
    low = step * int(rng.integers(2, 9)) if cut else 0
    return Axis(low, low + step * lines, step)


def compact_axis(cut: bool, rng: np.random.Generator) -> Axis:
    """An axis of the compact page: four steps, and small numbers."""
    step = pick(rng, (5, 10))
    low = step * int(rng.integers(1, 3)) if cut else 0
    return Axis(low, low + 4 * step, step)


def walks(series: int, count: int, on: Axis, rng: np.random.Generator) -> Values:
    """Values that wander up and down inside of an axis."""
    found = []
    for _ in range(series):
        height, line = rng.uniform(0.2, 0.9), []
        for _ in range(count):
            line.append(on.low + round(on.span * height))
            turn = rng.normal(0, 0.2)
            height += turn if LOWEST < height + turn < HIGHEST else -turn / 2
            height = min(max(height, LOWEST), HIGHEST)
        found.append(tuple(line))
    return tuple(found)


def shares(count: int, rng: np.random.Generator) -> Values:
    """Whole per cent that make a hundred, none too small to see."""
    least = 6
    parts = rng.dirichlet(np.full(count, 1.6)) * (100 - least * count)
    whole = [least + int(part) for part in parts]
    whole[int(rng.integers(count))] += 100 - sum(whole)
    return (tuple(whole),)


def beside(values: Values, point: Point) -> list[Point]:
    """What is read in a value's stead: the categories beside it, and the other series."""
    series, category = point
    around = [(series, near) for near in (category - 1, category + 1)]
    others = [(other, category) for other in range(len(values)) if other != series]
    return [(s, c) for s, c in around + others if 0 <= c < len(values[s])]


def distinct(values: Values, far: int, step: int) -> list[Point]:
    """The values that are more than `far` from all beside them, and on no line of the axis."""
    return [
        (series, category)
        for series, line in enumerate(values)
        for category, value in enumerate(line)
        if value % step
        and all(abs(value - values[s][c]) > far for s, c in beside(values, (series, category)))
    ]
