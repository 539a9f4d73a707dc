"""What boards of cards hold: the columns of some kinds of work, titles of cards, and people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.content.data import table


@dataclass(frozen=True)
class Board:
    """What the boards of one kind of work are made of."""

    name: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    verbs: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    """A card's title is a verb and a thing; without any, it is a person's name."""

    def titles(self, count: int, alike: bool, rng: np.random.Generator) -> list[str]:
        """Different titles of cards; where they are `alike`, they are made of few words."""
        first: Sequence[str] = self.verbs or words.FIRST_LONG
        last: Sequence[str] = self.things or words.LAST_LONG
        if alike:
            first, last = chosen(first, 6, rng), chosen(last, max(3, count // 4), rng)
        pairs = rng.choice(len(first) * len(last), size=count, replace=False)
        return [f"{first[int(i) // len(last)]} {last[int(i) % len(last)]}" for i in pairs]


BOARDS = tuple(Board(**written) for written in table("boards")["boards"])


def somebody(count: int, rng: np.random.Generator) -> list[str]:
    """Names of people who share neither the first nor the last name."""
    names = (chosen(words.FIRST_LONG, count, rng), chosen(words.LAST_LONG, count, rng))
    return [" ".join(name) for name in zip(*names, strict=True)]
