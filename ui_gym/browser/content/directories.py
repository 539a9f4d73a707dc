"""Directories that pages search in: people, companies and addresses, many of them alike."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.content.data import table

Kind = Literal["people", "companies", "addresses"]
KINDS: tuple[Kind, ...] = ("people", "companies", "addresses")

Entry = tuple[str, str]
"""A title (``Ingrid Dalgaard``) and what tells namesakes apart (``Legal, Oslo``)."""

TOWNS: tuple[str, ...] = table("directories")["towns"]
DEPARTMENTS: tuple[str, ...] = table("directories")["departments"]
STREETS: tuple[str, ...] = table("directories")["streets"]
WAYS: tuple[str, ...] = table("directories")["ways"]
BRANCHES: tuple[str, ...] = table("directories")["branches"]


def directory(
    kind: Kind, stems: int, alike: int, namesakes: int, rng: np.random.Generator
) -> tuple[Entry, ...]:
    """`stems` times `alike` different entries, sorted: those of one stem share a word of their
    title, `namesakes` of them all of it."""
    entries: list[Entry] = []
    known = {"people": words.LAST_LONG, "companies": words.LAST_LONG, "addresses": STREETS}[kind]
    for stem in chosen(known, stems, rng):
        titles = _titles(kind, stem, -(-alike // namesakes), rng)
        group = [(title, detail) for title in titles for detail in _details(kind, namesakes, rng)]
        entries += group[:alike]
    return tuple(sorted(entries))


def compact_directory(
    stems: int, alike: int, namesakes: int, rng: np.random.Generator
) -> tuple[Entry, ...]:
    """The same of people with short names, whom a number tells apart that nobody else has."""
    people = [
        f"{first} {last}"
        for last in chosen(words.LAST_SHORT, stems, rng)
        for first in chosen(words.FIRST_SHORT, -(-alike // namesakes), rng)
        for _ in range(namesakes)
    ]
    numbers = rng.permutation(np.arange(1, len(people) + 1))
    return tuple(sorted((name, str(n)) for name, n in zip(people, numbers, strict=True)))


def _titles(kind: Kind, stem: str, count: int, rng: np.random.Generator) -> list[str]:
    if kind == "people":
        return [f"{first} {stem}" for first in chosen(words.FIRST_LONG, count, rng)]
    if kind == "companies":
        return [f"{stem} {branch}" for branch in chosen(BRANCHES, count, rng)]
    numbers = rng.choice(np.arange(2, 98), size=count, replace=False)
    return [f"{n} {stem} {way}" for n, way in zip(numbers, chosen(WAYS, count, rng), strict=True)]


def _details(kind: Kind, count: int, rng: np.random.Generator) -> list[str]:
    towns = chosen(TOWNS, count, rng)
    if kind == "people":
        places = zip(chosen(DEPARTMENTS, count, rng), towns, strict=True)
        return [f"{department}, {town}" for department, town in places]
    return towns
