"""What can be counted when something is booked or ordered: people by age, and things."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ui_gym.browser.content.data import table


class Counter(NamedTuple):
    label: str
    """As the page shows it."""
    one: str
    """As a goal says it, of one and of many."""
    many: str
    hint: str = ""
    low: int = 0
    most: int = 9


class Scene(NamedTuple):
    app: str
    icon: str
    title: str
    thing: str
    """What the goal calls the whole."""
    bands: tuple[Counter, ...]
    """People, from the youngest to the oldest."""
    cuts: tuple[tuple[int, ...], ...]
    """Sets of ages at which the next band begins."""
    extras: tuple[Counter, ...]

    def counters(self, cuts: Sequence[int], say: Callable[[str], str] = str) -> list[Counter]:
        """All that can be counted, with the ages of people in the hints, which `say` translates."""
        hints = hints_of(cuts, say) if self.bands else []
        people = [band._replace(hint=hint) for band, hint in zip(self.bands, hints, strict=True)]
        return [*people, *self.extras]


def hints_of(cuts: Sequence[int], say: Callable[[str], str] = str) -> list[str]:
    """What the page says about the ages of each band."""
    between = [
        say("Age {low} to {high}").format(low=low, high=high - 1)
        for low, high in itertools.pairwise(cuts)
    ]
    return [
        say("Under {age}").format(age=cuts[0]),
        *between,
        say("Age {age} and over").format(age=cuts[-1]),
    ]


def band_of(age: int, cuts: Sequence[int]) -> int:
    """Which band somebody of an age belongs to."""
    return sum(age >= cut for cut in cuts)


def _counter(one: str, many: str, hint: str = "", low: int = 0) -> Counter:
    return Counter(many.capitalize(), one, many, hint, low)


def _scene(written: Mapping[str, Any]) -> Scene:
    counted = {key: tuple(_counter(*one) for one in written[key]) for key in ("bands", "extras")}
    return Scene(**{**written, **counted})


SCENES = {key: _scene(written) for key, written in table("counters").items()}
