"""Short texts: what people write down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ui_gym.contract.draws import between, pick
from ui_gym.contract.words import DAYS, filled
from ui_gym.desktop.content import words

_LINES: Sequence[str] = words.WRITTEN["lines"]
_WITH: Sequence[str] = words.WRITTEN["lines_with"]

_SLOTS: Mapping[str, Sequence[object]] = {
    "hour": range(7, 22),
    "half": ("15", "30", "45"),
    "thing": words.WRITTEN["brought"],
    "place": words.WRITTEN["places"],
    "day": DAYS,
    "few": range(3, 10),
    "room": range(101, 500),
    "code": range(1000, 10_000),
    "word": words.THINGS,
}


def line(rng: np.random.Generator) -> str:
    """A line that somebody writes down, at most 50 characters."""
    return filled(rng, pick(rng, _LINES), _SLOTS)


def lines(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """Different lines."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[line(rng)] = None
    return tuple(found)


def line_with(rng: np.random.Generator, word: str) -> str:
    """A line in which a word stands, inside it and in small letters; perhaps twice."""
    return filled(rng, pick(rng, _WITH).replace("{}", word), _SLOTS)


def page(rng: np.random.Generator, low: int = 2, high: int = 5) -> str:
    """The text of a whole file of some lines, with its last newline."""
    return joined(lines(rng, between(rng, low, high)))


def joined(parts: tuple[str, ...]) -> str:
    """The text of a file with these lines."""
    return "".join(f"{part}\n" for part in parts)
