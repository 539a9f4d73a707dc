"""Made-up people with telephone numbers that nobody has."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.draws import between, pick
from ui_gym.contract.tables import read_table

_LISTS = read_table(__package__, "words")
FIRST: tuple[str, ...] = _LISTS["first"]
LAST: tuple[str, ...] = _LISTS["last"]
FIRST_SHORT: tuple[str, ...] = _LISTS["first_short"]
LAST_SHORT: tuple[str, ...] = _LISTS["last_short"]
"""Names that a tiny model can learn to read."""

AREAS = ("202", "206", "212", "303", "305", "312", "404", "415", "503", "512", "617", "702")
"""Area codes; 555-0100 to 555-0199 are kept free in each of them, for fiction."""


LENGTH = 10
"""Digits of a number that is not a short one."""


@dataclass(frozen=True)
class Person:
    """Somebody, with the digits of a telephone number."""

    name: str
    digits: str

    @property
    def number(self) -> str:
        """The number as it is written."""
        return written(self.digits)


def number(rng: np.random.Generator, *, short: bool = False) -> str:
    """Ten digits; three, if it is a `short` one."""
    if short:
        return str(between(rng, 100, 999))
    return f"{pick(rng, AREAS)}55501{between(rng, 0, 99):02}"


def written(digits: str) -> str:
    """``(212) 555-0147``; a short number as it is."""
    if len(digits) < LENGTH:
        return digits
    return f"({digits[:3]}) {digits[3:6]}-{digits[6:]}"


def digits_of(number: str) -> str:
    """The last ten digits of a number, however it is written: its country's prefix is left out."""
    return re.sub(r"\D", "", number)[-LENGTH:]


def neighbour(rng: np.random.Generator, digits: str) -> str:
    """Another number, as somebody careless reads it: one of the last two digits is wrong."""
    at = len(digits) - between(rng, 1, 2)
    wrong = (int(digits[at]) + between(rng, 1, 9)) % 10
    return f"{digits[:at]}{wrong}{digits[at + 1 :]}"


def people(rng: np.random.Generator, count: int, *, short: bool = False) -> tuple[Person, ...]:
    """Different people with different numbers; the second has the first one's first name. With
    `short`, of short names and numbers."""
    firsts, lasts = (FIRST_SHORT, LAST_SHORT) if short else (FIRST, LAST)
    names: list[str] = []
    digits: list[str] = []
    while len(names) < count:
        first = names[0].split()[0] if len(names) == 1 else pick(rng, firsts)
        name = f"{first} {pick(rng, lasts)}"
        if name not in names:
            names.append(name)
    while len(digits) < count:
        drawn = number(rng, short=short)
        if drawn not in digits:
            digits.append(drawn)
    return tuple(map(Person, names, digits))
