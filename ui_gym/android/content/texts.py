"""Short texts that people write to each other and to themselves, and names of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ui_gym.contract import words
from ui_gym.contract.draws import pick
from ui_gym.contract.tables import read_table

_LISTS = read_table(__package__, "words")

GOALS = read_table(__package__, "goals")
"""What goals say, by the name of the task."""

EVENTS: tuple[str, ...] = _LISTS["events"]
"""Titles of events."""
PLACES: tuple[str, ...] = _LISTS["venues"]
"""Where events take place."""
ALARMS: tuple[str, ...] = _LISTS["alarms"]
"""Labels of alarms."""
THINGS_SHORT: tuple[str, ...] = _LISTS["things_short"]
EVENTS_SHORT: tuple[str, ...] = _LISTS["events_short"]
PLACES_SHORT: tuple[str, ...] = _LISTS["venues_short"]
"""Words that a tiny model can learn to read: what is written, titles of events, their places."""
FOLDERS = ("Download", "Documents", "Music", "Pictures")
"""Folders of the shared storage in which the tasks are played, as the Files app shows them."""

_KINDS = ("txt", "txt", "md", "csv")
_SLOTS: Mapping[str, Sequence[object]] = {
    "minutes": range(5, 50, 5),
    "hour": range(7, 22),
    "half": ("15", "30", "45"),
    "thing": _LISTS["things"],
    "place": _LISTS["places"],
    "day": words.DAYS,
    "few": range(2, 10),
    "room": range(101, 500),
    "code": range(1000, 10_000),
    "word": _LISTS["passwords"],
}


def goals(task: str) -> tuple[str, ...]:
    """What the goals of a task may say."""
    return tuple(GOALS[task])


def compact_goals(task: str) -> tuple[str, ...]:
    """What they may say where the screen is compact; empty, of a task that says there what it
    always says."""
    return tuple(GOALS["compact"].get(task, ()))


def message(rng: np.random.Generator) -> str:
    """What somebody writes to somebody else."""
    return _filled(rng, "messages")


def incoming(rng: np.random.Generator) -> str:
    """A message that wants an answer."""
    return _filled(rng, "incoming")


def reply(rng: np.random.Generator) -> str:
    """Such an answer."""
    return _filled(rng, "replies")


def note(rng: np.random.Generator) -> str:
    """A line that somebody writes down."""
    return _filled(rng, "notes")


def files(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """Different names of files; the second is much like the first."""
    return words.file_names(rng, count + 1, _KINDS)[:count]


def _filled(rng: np.random.Generator, pool: str) -> str:
    return words.filled(rng, pick(rng, _LISTS[pool]), _SLOTS)
