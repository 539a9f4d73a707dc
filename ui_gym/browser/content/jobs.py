"""Small jobs of an office: notes to write, files to fetch, orders to confirm, all of them alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.browser.content.phrases import money
from ui_gym.contract.draws import pick

Items = tuple[tuple[str, ...], ...]
"""What there is, the name first; no two have the same name."""

NOTES: tuple[str, ...] = table("jobs")["notes"]
DAYS: tuple[str, ...] = table("jobs")["days"]
FILES: tuple[str, ...] = table("jobs")["files"]
ENDINGS: tuple[str, ...] = table("jobs")["endings"]
_PARTS = {text.format(day): (text, day) for text in NOTES for day in DAYS}


def notes(count: int, rng: np.random.Generator) -> Items:
    """Notes that differ in a word: at most seven."""
    text = pick(rng, NOTES)
    return tuple((text.format(day),) for day in rng.permutation(DAYS)[:count])


def said(name: str, say: Callable[[str], str]) -> str:
    """A note or the name of a file as a language says it."""
    if name in _PARTS:
        text, day = _PARTS[name]
        return say(text).format(say(day))
    stem, _, rest = name.rpartition(" ")
    return f"{say(stem)} {rest}"


def files(count: int, rng: np.random.Generator) -> Items:
    """Files whose names look alike, with their sizes and whose they are."""
    stems = rng.choice(FILES, size=3, replace=False)
    names = [f"{stem} {year}.{end}" for stem in stems for year in (2024, 2025) for end in ENDINGS]
    return tuple(
        (str(name), f"{rng.integers(14, 980)} KB", pick(rng, words.FIRST_LONG))
        for name in rng.permutation(names)[:count]
    )


def orders(count: int, rng: np.random.Generator) -> Items:
    """Orders whose numbers look alike, with their customers and sums."""
    digits = rng.permutation(10)[:4]
    numbers = {"".join(str(digit) for digit in rng.permutation(digits)) for _ in range(200)}
    return tuple(
        (f"{rng.integers(3, 6)}{number}", _person(rng), money(int(rng.integers(900, 60000))))
        for number in rng.permutation(sorted(numbers))[:count]
    )


def _person(rng: np.random.Generator) -> str:
    return f"{pick(rng, words.FIRST_LONG)} {pick(rng, words.LAST_LONG)}"


ITEMS: dict[str, Callable[[int, np.random.Generator], Items]] = {
    "note": notes, "download": files, "order": orders,
}  # fmt: skip


def short_items(base: str, count: int, rng: np.random.Generator) -> Items:
    """The same in short words: notes, files with their owners, orders with their customers."""
    firsts = [str(name) for name in rng.permutation(words.FIRST_SHORT)[:count]]
    lasts = (str(name) for name in rng.permutation(words.LAST_SHORT)[:count])
    things = [str(thing) for thing in rng.permutation(words.THINGS_SHORT)[:count]]
    if base == "note":
        return tuple((f"{things[0]} {first}",) for first in firsts)
    if base == "download":
        return tuple(zip(things, firsts, strict=True))
    numbers = (str(number) for number in rng.choice(32, size=count, replace=False))
    return tuple(zip(numbers, lasts, strict=True))
