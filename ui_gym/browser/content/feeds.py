"""What feeds show: the houses that run them, and posts of people about topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.content.data import table


@dataclass(frozen=True)
class House:
    """Who runs a feed."""

    app: str
    mark: str
    title: str
    side: tuple[str, ...]
    """Where its links lead."""


@dataclass(frozen=True)
class FeedTopic:
    """What people write about, and how: each text says the name."""

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Post:
    """One post of a feed, with what the reader did to it before."""

    author: str
    topic: str
    text: int
    likes: int
    picture: int
    """Which of the drawn ones it has; 0 for none."""
    liked: bool
    saved: bool


HOUSES = tuple(House(**written) for written in table("feeds")["houses"])
COMPACT_HOUSE = House("Feed", "globe", "", ())
TOPICS = {written["name"]: FeedTopic(**written) for written in table("feeds")["topics"]}
TRENDS: tuple[str, ...] = table("feeds")["trends"]


def namesake(author: str, rng: np.random.Generator) -> str:
    """Somebody who shares the first or the last name of `author`."""
    first, last = author.split()
    other_last = chosen([one for one in words.LAST_LONG if one != last], 1, rng)[0]
    other_first = chosen([one for one in words.FIRST_LONG if one != first], 1, rng)[0]
    return f"{first} {other_last}" if rng.random() < 0.5 else f"{other_first} {last}"
