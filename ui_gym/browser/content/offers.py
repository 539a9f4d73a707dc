"""Sites that show one thing a page, as open tabs do: what it has or lacks, and its measures."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, NamedTuple

from ui_gym.browser.content import phrases, words
from ui_gym.browser.content.data import table

ENDS = {"date": ("earliest", "latest"), "metres": ("shortest", "longest")}
"""How a goal says the least and the greatest value of a measure; of others, lowest and highest."""


class Figure(NamedTuple):
    """Something that is measured of each thing."""

    label: str
    said: str
    """As a goal says it."""
    kind: str
    span: tuple[int, int]
    """The least and the greatest value."""

    def show(self, value: int) -> str:
        """A value as the page says it."""
        match self.kind:
            case "money":
                return f"${value:,}"
            case "tenths":
                return f"{value // 10}.{value % 10} of 10"
            case "metres":
                return f"{value * 50:,} m"
            case "grams":
                return f"{value * 10:,} g"
            case "date":
                return phrases.date(phrases.TODAY + datetime.timedelta(days=value))
        return str(value)

    def end(self, *, most: bool) -> str:
        """The word for the least or the greatest value."""
        return ENDS.get(self.kind, ("lowest", "highest"))[most]


class Offers(NamedTuple):
    """A site."""

    app: str
    host: str
    icon: str
    links: tuple[str, ...]
    many: str
    have: str
    act: str
    button: str
    acted: str
    near: str
    sale: bool
    """Whether a page may show a struck price beside its own."""
    names: tuple[str, ...]
    blurbs: tuple[str, ...]
    features: tuple[tuple[str, str], ...]
    """As the page and as a goal say them."""
    fee: tuple[str, tuple[int, ...], str]
    """Its label, its amounts, and how a goal says that it is added to the first measure."""
    measures: tuple[Figure, ...]


def _offers(written: Mapping[str, Any]) -> Offers:
    figures = tuple(Figure(**one) for one in written["measures"])
    return Offers(**{**written, "measures": figures})


OFFERS = {key: _offers(written) for key, written in table("offers").items()}

COMPACT_OFFERS = Offers(
    app="Rooms",
    host="",
    icon="home",
    links=(),
    many="rooms",
    have="have",
    act="book",
    button="Book",
    acted="Done",
    near="",
    sale=False,
    names=words.FIRST_SHORT,
    blurbs=("",),
    features=(("Pool", "Pool"), ("Bar", "Bar"), ("Gym", "Gym"), ("Park", "Park")),
    fee=("", (0,), ""),
    measures=(
        Figure("Price", "Price", "count", (10, 99)),
        Figure("Beds", "Beds", "count", (1, 9)),
        Figure("Stars", "Stars", "count", (1, 9)),
    ),
)
ALL_OFFERS = {**OFFERS, "compact": COMPACT_OFFERS}
