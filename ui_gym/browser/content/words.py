"""Words that tasks draw from: short lists that a tiny model can learn to read, and longer ones."""

from __future__ import annotations

from ui_gym.browser.content.data import table

FIRST_SHORT: tuple[str, ...] = table("words")["first_short"]

LAST_SHORT: tuple[str, ...] = table("words")["last_short"]

THINGS_SHORT: tuple[str, ...] = table("words")["things_short"]

FIRST_LONG: tuple[str, ...] = table("words")["first_long"]

LAST_LONG: tuple[str, ...] = table("words")["last_long"]
