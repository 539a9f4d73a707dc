"""Files of a made-up home: drawn by what is asked for, each with bytes of its own."""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import phrases, words
from ui_gym.browser.content.data import table
from ui_gym.browser.content.filetree import ENDINGS, STEMS, SUBS, TOPS, name, parent
from ui_gym.contract.draws import pick


class TransferScene(NamedTuple):
    app: str
    icon: str
    title: str
    thing: str
    lead: str
    facts: tuple[tuple[str, str], ...]


class HomeFile(NamedTuple):
    """A file of the home, or (its path has no folder) of the page's list of documents."""

    path: str
    size: int
    """In bytes."""
    modified: str
    """In ISO's format, to the minute."""
    mark: int
    """What its bytes repeat."""


SCENES = tuple(TransferScene(**written) for written in table("transfers")["scenes"])
DOCS, COMPACT_DOWNLOADS = table("transfers")["compact_folders"]
DOWNLOADS = "Downloads/"
KILOBYTE = 1000
MOST_KILOBYTES = 5000
"""That any page takes."""
FITTING_KILOBYTES = 500
"""That a page takes which is particular about it."""


def content(file: HomeFile) -> bytes:
    """The bytes of a file: its mark, again and again."""
    unit = f"{file.mark}\n".encode()
    return (unit * (file.size // len(unit) + 1))[: file.size]


def checksum(file: HomeFile) -> str:
    """The CRC-32 of its bytes, as the page tells it."""
    return f"{zlib.crc32(content(file)):08x}"


def downloaded(file: HomeFile, home: Sequence[HomeFile], folder: str) -> str:
    """The name under which it comes to lie in the folder of downloads."""
    taken = {name(one.path) for one in home if parent(one.path) == folder}
    stem, dot, kind = file.path.rpartition(".") if "." in file.path else (file.path, "", "")
    count = 0
    told = file.path
    while told in taken:
        count += 1
        told = f"{stem} ({count}){dot}{kind}"
    return told


class Drawer:
    """Draws files with days, sizes and marks of their own."""

    def __init__(self, rng: Generator, *, compact: bool) -> None:
        self._rng = rng
        self._compact = compact
        self._days = [int(day) for day in rng.permutation(30 if compact else 300)]
        self._marks = [int(mark) for mark in rng.permutation(90_000)[:99] + 10_000]

    def file(self, path: str, low: int = 20, high: int = FITTING_KILOBYTES - 10) -> HomeFile:
        """A file of `low` to `high` kilobytes; no two are of one day."""
        rng = self._rng
        first = datetime.datetime(2025, 12, 1) if self._compact else datetime.datetime(2025, 3, 1)
        minutes = 60 * 8 + int(rng.integers(600))
        when = first + datetime.timedelta(days=self._days.pop(), minutes=minutes)
        size = int(rng.integers(low, high)) * KILOBYTE + int(rng.integers(KILOBYTE))
        return HomeFile(path, size, when.isoformat(timespec="minutes"), self._marks.pop())


def folders(count: int, rng: Generator) -> list[str]:
    """Folders of a home, every other one inside the one before it."""
    tops = [str(top) for top in rng.choice(TOPS, size=(count + 1) // 2, replace=False)]
    subs = [str(sub) for sub in rng.choice(SUBS, size=count // 2, replace=False)]
    inner = [f"{tops[i]}/{sub}/" for i, sub in enumerate(subs)]
    return [*(f"{top}/" for top in tops), *inner]


def alike(stem: str, kind: str, count: int, rng: Generator) -> list[str]:
    """Names of files of one sort, which are told apart by their endings."""
    endings = rng.choice(ENDINGS, size=count, replace=False)
    return [f"{stem}-{ending}.{kind}" for ending in endings]


def others(besides: str, count: int, rng: Generator) -> list[str]:
    """Names of files of other sorts."""
    sorts = [sort for sort in STEMS if sort[0] != besides]
    picked = rng.choice(len(sorts), size=count, replace=False)
    return [alike(*sorts[int(i)], 1, rng)[0] for i in picked]


def short_names(count: int, rng: Generator) -> list[str]:
    """Names of files of the compact page."""
    return [str(one) for one in rng.choice(words.THINGS_SHORT, size=count, replace=False)]


def sort_of(rng: Generator) -> tuple[str, str]:
    """A sort of files: how their names begin, and how they end."""
    stem, kind = pick(rng, STEMS)
    return stem, kind


def shuffled(files: Sequence[HomeFile], rng: Generator) -> list[HomeFile]:
    """The files in another order."""
    return [files[int(i)] for i in rng.permutation(len(files))]


def day_of(file: HomeFile, *, compact: bool) -> str:
    """When it was changed, as the page shows it."""
    when = datetime.datetime.fromisoformat(file.modified)
    return f"{when:%b} {when.day}" if compact else f"{phrases.date(when.date())}, {when:%H:%M}"
