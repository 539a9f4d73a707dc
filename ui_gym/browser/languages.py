"""Languages: the same episode as people elsewhere would read it.

A language is a file of its name in ``content/data/languages``: how it writes (`writing`), and what
each family says, by the English text. Params, events and judges know the English texts alone: the
goal and the page look up what they say. `varied` draws like a look, beside all else.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from ui_gym.browser.content.data import table
from ui_gym.errors import UserError

ENGLISH = "en"
TRANSLATED = ("de", "es", "ja")
"""The languages that families are translated into."""
LANGUAGES = (ENGLISH, *TRANSLATED)
VARIED = "varied"
"""The word for all languages, of which each episode has one."""


@dataclass(frozen=True)
class Language:
    """How one family speaks: call it with an English text for what it says instead."""

    name: str
    texts: Mapping[str, str]
    writing: Mapping[str, Any]

    def __call__(self, text: str) -> str:
        return self.texts.get(text, text)

    def named(self, text: str) -> str:
        """What `text` is called, in this language's quotation marks."""
        before, after = self.writing["quotes"]
        return f"{before}{self(text)}{after}"

    def listing(self, parts: Iterable[str]) -> str:
        """``a, b and c``."""
        between, last_between = self.writing["listing"]
        *most, last = parts
        return f"{between.join(most)}{last_between}{last}" if most else last

    def number(self, value: int) -> str:
        """``two`` where words are written, else ``2``."""
        words = self.writing["numbers"]
        return words[value] if 0 <= value < len(words) else str(value)

    def counted(self, value: int, one: str, many: str) -> str:
        """``one adult``, ``two adults``."""
        thing = self(one if value == 1 else many)
        written: str = self.writing["counted"]
        return written.format(number=self.number(value), thing=thing)

    def money(self, written: str) -> str:
        """A price that English writes so: ``$1,204.50``."""
        thousands, point = self.writing["marks"]
        amount = written.removeprefix("$").translate({ord(","): thousands, ord("."): point})
        form: str = self.writing["money"]
        return form.format(amount=amount)

    def weekday(self, day: date) -> str:
        """``Tuesday``."""
        return str(self.writing["weekdays"][day.weekday()])

    def dated(self, day: date, form: int = 0) -> str:
        """A date in one of the three forms that people write."""
        return self._written(self.writing["dates"][form], day)

    def on_weekday(self, day: date) -> str:
        """``the second Tuesday of March 2026``; a fifth one is called the last."""
        place = self.writing["places"][(day.day - 1) // 7]
        return self._written(self.writing["on_weekday"], day, place=place)

    def _written(self, form: str, day: date, **more: str) -> str:
        month = self.writing["months"][day.month - 1]
        numbers = {"day": day.day, "number": day.month, "year": day.year}
        return form.format(month=month, weekday=self.weekday(day), **numbers, **more)

    def on_page(self, composed: Mapping[str, str]) -> dict[str, Any]:
        """What the page is told: nothing of English, which its texts are.

        Args:
            composed: Texts that are put together of others, by what they are in English.
        """
        if self.name == ENGLISH:
            return {}
        writing = {name: self.writing[name] for name in ("months", "weekdays", "dates")}
        return {"language": {"name": self.name, "texts": {**self.texts, **composed}, **writing}}


def check_language(language: str) -> str:
    """`language` if there is such a language, or the word for all; else a `UserError`."""
    if language not in (*LANGUAGES, VARIED):
        *most, last = map(repr, (*LANGUAGES, VARIED))
        raise UserError(f"language is {', '.join(most)} or {last}, not {language!r}")
    return language


def drawn(language: str, digest: int) -> str:
    """`language`, or one of all by `digest`."""
    if language != VARIED:
        return language
    return LANGUAGES[int(np.random.default_rng((digest, 2)).integers(len(LANGUAGES)))]


@functools.cache
def language_of(name: str, tables: tuple[str, ...]) -> Language:
    """A language with what some tables of its file say, and the table that all families share."""
    written = table(f"languages/{name}")
    texts = {key: text for one in ("shared", *tables) for key, text in written.get(one, {}).items()}
    return Language(name, texts, written["writing"])
