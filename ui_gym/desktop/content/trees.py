"""Trees: folders of files with which something is done by commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.draws import between, pick, some
from ui_gym.desktop.content import texts, words

LEVELS: tuple[str, ...] = words.WRITTEN["log_levels"]
"""Words with which lines of a log begin."""

_PARTS: Sequence[str] = words.WRITTEN["log_parts"]
_STATES: Sequence[str] = words.WRITTEN["log_states"]


@dataclass(frozen=True)
class Log:
    """A log by what its text is made of."""

    name: str
    seed: int
    lines: int

    @property
    def text(self) -> str:
        rng = np.random.default_rng(self.seed)
        return "".join(
            f"{n // 60 + 6:02}:{n % 60:02} {pick(rng, LEVELS)} {pick(rng, _PARTS)} "
            f"{pick(rng, _STATES)}\n"
            for n in np.sort(rng.permutation(900)[: self.lines]).tolist()
        )

    def count(self, word: str) -> int:
        """The lines with this word; all lines if it is empty."""
        return sum(word in line for line in self.text.splitlines())


def logs(rng: np.random.Generator, count: int) -> tuple[Log, ...]:
    """Logs with different names and different numbers of lines."""
    names = words.file_names(rng, count, "log")
    lengths = rng.permutation(np.arange(24, 160))[:count].tolist()
    return tuple(
        Log(name, between(rng, 0, 1 << 30), length)
        for name, length in zip(names, lengths, strict=True)
    )


@dataclass(frozen=True)
class Sized:
    """A file that is told from others by its size, in bytes."""

    path: str
    size: int

    @property
    def text(self) -> str:
        line = f"{self.path} was written by a machine, line after line.\n"
        return (line * (self.size // len(line) + 1))[: self.size - 1] + "\n"


def sized(rng: np.random.Generator, folders: Sequence[str], count: int) -> tuple[Sized, ...]:
    """Files in these folders, each at least a tenth smaller than the one before."""
    size = float(between(rng, 45_000, 70_000))
    found = []
    for name in words.file_names(rng, count):
        found.append(Sized(f"{pick(rng, folders)}/{name}", int(size)))
        size *= 0.55 + 0.35 * rng.random()
    return tuple(found)


def files(rng: np.random.Generator, folder: str, count: int) -> tuple[tuple[str, str], ...]:
    """(path, text) of files in a folder; the second is named much like the first."""
    return tuple((f"{folder}/{name}", texts.page(rng)) for name in words.file_names(rng, count))


def nested(rng: np.random.Generator) -> tuple[str, ...]:
    """Paths of folders in folders, none of which holds another: 3 or 4 of them."""
    names = [name.lower() for name in some(rng, words.FOLDERS, 5)]
    shapes = (
        ("0/1/2", "0/3", "4"), ("0/1", "0/2", "0/3/4"), ("0/1/2", "0/1/3", "4"),
        ("0/1", "2/3", "2/4"), ("0", "1/2", "1/3", "1/4"), ("0/1/2/3", "0/4", "4"),
    )  # fmt: skip
    return tuple(
        "/".join(names[int(part)] for part in path.split("/")) for path in pick(rng, shapes)
    )
