"""Towns that never were: the names on a map."""

from __future__ import annotations

from typing import NamedTuple

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table

_WRITTEN = table("maps")

TOWNS: tuple[str, ...] = _WRITTEN["towns"]
FIRST_NAMES: tuple[str, ...] = _WRITTEN["first_names"]
KINDS: tuple[str, ...] = _WRITTEN["kinds"]


class Names(NamedTuple):
    """What the quarters and the streets of a map may be called."""

    districts: tuple[str, ...]
    streets: tuple[str, ...]


NAMES = Names(_WRITTEN["districts"], _WRITTEN["streets"])
COMPACT_NAMES = Names(_WRITTEN["compact_districts"], words.FIRST_SHORT)
