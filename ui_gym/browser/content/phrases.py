"""How goals write numbers, lists, prices and days; dates and prices read as on the pages."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
TODAY = datetime.date(2026, 1, 15)
"""The day on which every page begins (`EPOCH` of ``pages/world.js``)."""


def number(value: int) -> str:
    """``two``, but ``14``."""
    return NUMBERS[value] if 0 <= value < len(NUMBERS) else str(value)


def ordinal(value: int) -> str:
    """``first`` for 1, ``22nd`` for 22."""
    if 1 <= value <= len(ORDINALS):
        return ORDINALS[value - 1]
    ending = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10)
    return f"{value}{ending or 'th'}"


def plural(value: int, one: str, many: str = "") -> str:
    """``one adult``, ``two adults``."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def listing(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def money(cents: int) -> str:
    """``$1,204.50``; whole dollars without cents."""
    whole, rest = divmod(cents, 100)
    return f"${whole:,}.{rest:02}" if rest else f"${whole:,}"


def date(day: datetime.date) -> str:
    """``14 March 2026``."""
    return f"{day.day} {day:%B %Y}"
