"""Lists whose order matters: what they hold, how a value reads, and how they are put in order."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ui_gym.browser.content.data import table
from ui_gym.browser.content.phrases import TODAY, date
from ui_gym.contract.draws import pick

Form = Literal["date", "distance", "length", "pages", "price"]


@dataclass(frozen=True)
class Kind:
    """A kind of list. Titles are made of two words; values are whole numbers."""

    app: str
    icon: str
    headings: tuple[str, ...]
    noun: str
    first: tuple[str, ...]
    last: tuple[str, ...]
    further: tuple[str, ...]
    """What stands below a title."""
    form: Form
    values: tuple[int, int, int]
    """The lowest, the highest, and the step between."""
    rising: str
    """How a goal says that the list is sorted by its values."""
    falling: str


KINDS = {key: Kind(**written) for key, written in table("sequences").items()}

Item = tuple[str, str, int]
"""Title, what stands below it, value."""


def draw(kind: Kind, count: int, alike: bool, rng: np.random.Generator) -> tuple[Item, ...]:
    """Items with different titles and values; `alike`, titles share words and values are close."""
    first, last = kind.first, kind.last
    low, high, step = kind.values
    steps = (high - low) // step + 1
    if alike:
        first = tuple(str(word) for word in rng.choice(first, size=3, replace=False))
        span = min(steps, 3 * count)
        low += step * int(rng.integers(steps - span + 1))
        steps = span
    pairs = rng.choice(len(first) * len(last), size=count, replace=False)
    values = rng.choice(steps, size=count, replace=False)
    return tuple(
        (
            f"{first[int(pair) // len(last)]} {last[int(pair) % len(last)]}",
            pick(rng, kind.further),
            low + step * int(value),
        )
        for pair, value in zip(pairs, values, strict=True)
    )


def shown(form: Form, value: int) -> str:
    """A value as the page shows it."""
    if form == "length":
        return f"{value // 60}:{value % 60:02}"
    if form == "price":
        return f"${value // 100}.{value % 100:02}"
    if form == "date":
        return "due " + date(TODAY + datetime.timedelta(days=value))
    return f"{value} pages" if form == "pages" else f"{value / 10:.1f} km"


def moves(now: Sequence[int], wanted: Sequence[int]) -> Iterator[tuple[int, int]]:
    """What to move to which place, one after the other, so that `now` becomes `wanted` with as few
    moves as possible."""
    order, kept = list(now), _longest_run([wanted.index(item) for item in now])
    for rank, item in enumerate(wanted):
        if rank in kept:
            continue
        order.remove(item)
        place = order.index(wanted[rank - 1]) + 1 if rank else 0
        order.insert(place, item)
        yield item, place


def inversions(order: Sequence[int], wanted: Sequence[int]) -> int:
    """How many pairs stand the wrong way round."""
    ranks = [wanted.index(item) for item in order]
    return sum(one > other for i, one in enumerate(ranks) for other in ranks[i + 1 :])


def _longest_run(ranks: Sequence[int]) -> set[int]:
    """The longest rising subsequence: what need not be moved."""
    runs: list[tuple[int, ...]] = [()]
    for rank in ranks:
        before = max((len(run), run) for run in runs if not run or run[-1] < rank)[1]
        runs.append((*before, rank))
    return set(max((len(run), run) for run in runs)[1])
