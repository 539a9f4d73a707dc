"""Ledgers: long lists of made-up records, each of a person, a day and a place."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.content.data import table
from ui_gym.browser.content.phrases import TODAY, date
from ui_gym.browser.content.tables import PARTS, TOWNS
from ui_gym.contract.draws import pick

DAYS_BACK = 330
"""How old the oldest record may be."""
NAMESAKES = {1: 1, 2: 5, 3: 16}
"""How many records are of a person who is looked for, by the facts that tell them apart."""
COMPACT_NAMESAKES = {1: 1, 2: 3}
"""The same, of the compact page."""
RELATIVES = 3
"""How many others bear that person's last name."""


@dataclass(frozen=True)
class Record:
    """One line. `secret` is only seen when the record is open."""

    code: str
    person: str
    day: str
    """As an ISO date."""
    place: str
    cents: int
    secret: str

    @property
    def written(self) -> str:
        """The day as pages and goals write it."""
        return date(datetime.date.fromisoformat(self.day))


@dataclass(frozen=True)
class Ledger:
    """What a list is about: how its columns are called, and what is said of a record."""

    app: str
    mark: str
    title: str
    noun: str
    prefix: str
    columns: tuple[str, str, str, str, str]
    """Titles: of the code, the person, the day, the place and the amount."""
    secret: str
    dated: str
    placed: str

    def words(self, record: Record, facts: int) -> str:
        """The record, by its person, with more `facts` also by its day and its place."""
        more = [self.dated.format(record.written), self.placed.format(record.place)]
        return f"the {self.noun} of {' '.join([record.person, *more[: facts - 1]])}"


LEDGERS = tuple(Ledger(**written) for written in table("ledgers")["ledgers"])
COMPACT_LEDGER = Ledger(
    app="People",
    mark="people",
    title="People",
    noun="person",
    prefix="",
    columns=("No", "Name", "Day", "City", "Sum"),
    secret="Code",
    dated="{}",
    placed="",
)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
"""Of the compact page's records."""
CODES = tuple(str(code) for code in range(10, 32))
"""What they hold in secret."""


def records(
    prefix: str, count: int, facts: int, rng: np.random.Generator
) -> tuple[tuple[Record, ...], int]:
    """`count` records, the newest first, and the position of one that its `facts` tell from all.

    The facts are its person, its day and its place. Of its namesakes one has a day that looks
    alike, one the same place, and, where the place is a fact, one the same day.
    """
    namesakes = NAMESAKES[facts]
    numbers = rng.choice(np.arange(10000, 99999), size=count, replace=False)
    secrets = _secrets(count, rng)
    people = _people(count, namesakes, rng)
    found: list[Record] = []
    for i in range(count):
        day, place = _day(rng), _place(rng)
        if 0 < i < namesakes:
            first = found[0]
            while day == first.day:
                day = _day(rng)
            while place == first.place:
                place = _place(rng)
            if i == 1:
                day = _like(first.day)
            elif i == 2:
                place = first.place
            elif i == 3 and facts > 2:
                day = first.day
        found.append(
            Record(
                code=f"{prefix}-{numbers[i]}",
                person=people[i],
                day=day,
                place=place,
                cents=int(rng.integers(900, 98000)),
                secret=secrets[i],
            )
        )
    asked = found[0]
    found = [found[int(i)] for i in rng.permutation(count)]
    found.sort(key=lambda record: record.day, reverse=True)
    return tuple(found), found.index(asked)


def compact_records(
    count: int, facts: int, rng: np.random.Generator
) -> tuple[tuple[Record, ...], int]:
    """`count` records of short names and days in any order, and the position of one that its
    person, or its person and its day, tell from all."""
    namesakes = COMPACT_NAMESAKES[facts]
    first, *others = chosen(words.FIRST_SHORT, count - namesakes + 1, rng)
    days = chosen(DAYS, namesakes, rng)
    days += [DAYS[int(i)] for i in rng.integers(len(DAYS), size=len(others))]
    codes = chosen(CODES, count, rng)
    found = [
        Record(code=str(i), person=person, day=day, place="", cents=0, secret=code)
        for i, (person, day, code) in enumerate(
            zip([first] * namesakes + others, days, codes, strict=True)
        )
    ]
    asked = found[0]
    found = [found[int(i)] for i in rng.permutation(count)]
    return tuple(found), found.index(asked)


def _people(count: int, namesakes: int, rng: np.random.Generator) -> list[str]:
    """The names of the records: first the namesakes, then their relatives, then anybody."""
    firsts = [str(name) for name in rng.permutation(words.FIRST_LONG)]
    lasts = [str(name) for name in rng.permutation(words.LAST_LONG)]
    people = [f"{firsts[0]} {lasts[0]}"] * namesakes
    people += [f"{firsts[1 + i]} {lasts[0]}" for i in range(RELATIVES)]
    while len(people) < count:
        first, last = (int(rng.integers(1, len(pool))) for pool in (firsts, lasts))
        people.append(f"{firsts[first]} {lasts[last]}")
    return people


def _day(rng: np.random.Generator) -> str:
    return (TODAY - datetime.timedelta(days=int(rng.integers(1, DAYS_BACK)))).isoformat()


def _like(day: str) -> str:
    """The same day of the month before."""
    year, month, number = map(int, day.split("-"))
    year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    return f"{year}-{month:02}-{min(number, 28):02}"


def _place(rng: np.random.Generator) -> str:
    return f"{pick(rng, TOWNS)} {pick(rng, PARTS)}"


def _secrets(count: int, rng: np.random.Generator) -> list[str]:
    """Different codes such as ``7K4-2QD``, without signs that are mistaken for others."""
    signs = "234679ACDEFHJKLMNPQRTUVWXY"
    found: set[str] = set()
    ordered: list[str] = []
    while len(ordered) < count:
        text = "".join(signs[int(i)] for i in rng.integers(len(signs), size=6))
        if text not in found:
            found.add(text)
            ordered.append(f"{text[:3]}-{text[3:]}")
    return ordered
