"""The index of Settings: what a person may search for, where it is, and other words for it."""

from __future__ import annotations

from dataclasses import dataclass

from ui_gym_phone import data
from ui_gym_phone.apps.settings.app import PREFIX

DEVELOPER = PREFIX + "DevelopmentSettingsDashboardActivity"


@dataclass(frozen=True)
class SettingsEntry:
    """Something to be found: its title, the path of the page that has it, that page's class."""

    title: str
    path: tuple[str, ...]
    cls: str
    words: str
    """All that a search looks into, in small letters."""


def _entries() -> list[SettingsEntry]:
    """Each page by its title, and what is on it. A row that only leads to a page is that page,
    found by the row's words, too."""
    found: dict[tuple[str, tuple[str, ...]], SettingsEntry] = {}
    pages = data.table("settings_index").items()
    lines = [(page["path"][-1], "", tuple(page["path"][:-1]), name) for name, page in pages]
    lines += [
        (title, words, tuple(page["path"]), name)
        for name, page in pages
        for title, words in page["on"].items()
    ]
    for title, words, path, name in lines:
        if path[-1:] == (title,):
            path = path[:-1]
        known = found.get((title, path), SettingsEntry(title, path, PREFIX + name, _plain(title)))
        words = f"{known.words} {_plain(words)}".strip()
        found[title, path] = SettingsEntry(title, path, known.cls, words)
    return list(found.values())


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("colour", "color")


ENTRIES = _entries()


def search(query: str, *, developer: bool = False) -> list[SettingsEntry]:
    """The entries that hold every word of a query, those with it in their titles first.

    Each word may be the beginning of one. `developer` tells whether developer options are shown.
    """
    words = _plain(query).split()
    if not words:
        return []

    def holds(text: str) -> bool:
        parts = text.replace("&", " ").split()
        return all(any(part.startswith(word) for part in parts) for word in words)

    hits = [e for e in ENTRIES if holds(e.words) and (developer or e.cls != DEVELOPER)]
    return sorted(hits, key=lambda e: (not holds(_plain(e.title)), len(e.path)))
