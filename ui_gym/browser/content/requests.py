"""Places where something can be had, unless it is gone, missing, or not for everybody."""

from __future__ import annotations

from typing import NamedTuple

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table


class Office(NamedTuple):
    app: str
    icon: str
    title: str
    list: str
    first: tuple[str, ...]
    """Of the names of what there is, which have two words; a name of one has no second."""
    second: tuple[str, ...]
    hints: tuple[str, ...]
    label: str
    choices: tuple[str, ...]
    gone: str
    """How the page says that a choice is no more to be had."""
    commit: str
    done: str
    locked: str
    """How it says that something is not for everybody."""
    offer: str
    """What it offers in its stead, which nobody asked for."""
    goals: tuple[str, ...]

    def name(self, first: int, second: int) -> str:
        return f"{self.first[first]} {self.second[second]}".strip()


OFFICES = {key: Office(**written) for key, written in table("requests").items()}

COMPACT_OFFICE = Office(
    app="Rooms",
    icon="calendar",
    title="",
    list="",
    first=words.FIRST_SHORT,
    second=("",),
    hints=("",),
    label="",
    choices=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat"),
    gone="Full",
    commit="",
    done="Done",
    locked="Locked",
    offer="",
    goals=("Book {entry} on {choice}.", "Take {entry} on {choice}.", "Get {entry}, {choice}."),
)
ALL_OFFICES = {**OFFICES, "compact": COMPACT_OFFICE}
