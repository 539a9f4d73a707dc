"""Long lists to choose from: countries, languages, currencies, time zones, fonts, ports..."""

from __future__ import annotations

from ui_gym.browser.content.data import table

COUNTRIES: tuple[str, ...] = table("lists")["countries"]

LANGUAGES: tuple[str, ...] = table("lists")["languages"]

CURRENCIES: tuple[str, ...] = table("lists")["currencies"]

ZONES: tuple[str, ...] = table("lists")["zones"]

FONTS: tuple[str, ...] = table("lists")["fonts"]

PORTS: tuple[str, ...] = table("lists")["ports"]

THINGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    topic: (one["things"], one["kinds"]) for topic, one in table("lists")["things"].items()
}
"""By topic: what can be ticked, and the ways in which labels of several kinds are alike."""
