"""Forms of pages that fail, and what is entered in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick


class RetryForm(NamedTuple):
    app: str
    icon: str
    title: str
    listed: str
    """The title of the list of what was saved."""
    thing: str
    fields: tuple[str, ...]


FORMS = {key: RetryForm(**written) for key, written in table("retries").items()}

VALUES: dict[str, Callable[[Generator], str]] = {
    "What for": lambda rng: pick(rng, words.THINGS_SHORT),
    "Thing": lambda rng: pick(rng, words.THINGS_SHORT),
    "Amount": lambda rng: str(int(rng.integers(11, 99))),
    "Hour": lambda rng: f"{int(rng.integers(8, 18))}:00",
    "Paid by": lambda rng: pick(rng, words.FIRST_LONG),
    "Visitor": lambda rng: f"{pick(rng, words.FIRST_LONG)} {pick(rng, words.LAST_LONG)}",
    "Host": lambda rng: pick(rng, words.LAST_LONG),
    "Name": lambda rng: pick(rng, words.FIRST_SHORT),
}


def other(label: str, value: str, rng: Generator) -> str:
    """Another value of the field."""
    while (drawn := VALUES[label](rng)) == value:
        continue
    return drawn
