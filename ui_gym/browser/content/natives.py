"""Forms of the browser's own controls: their fields, and the values that these take.

A value is what the page's control holds: an option's text, a number, ``2026-03-14``, ``14:30``.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import phrases
from ui_gym.browser.content.choices import lookalike
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick

DAYS = 330
"""How far from today dates are, at most: all are in this year."""
EARLIEST, LATEST = 7, 22
"""The hours of the day."""


class NativeField(NamedTuple):
    """A field: a ``select``, or an ``input`` of the type `kind`."""

    label: str
    kind: str
    options: tuple[str, ...] = ()
    low: int = 0
    most: int = 0
    step: int = 1
    unit: str = ""

    def values(self, *, hourly: bool = False) -> list[str]:
        """All values that are drawn, in their order."""
        if self.kind == "select":
            return list(self.options)
        if self.kind == "date":
            days = (phrases.TODAY + datetime.timedelta(days=n) for n in range(1, DAYS))
            return [day.isoformat() for day in days]
        if self.kind == "time":
            minutes = (0,) if hourly else (0, 15, 30, 45)
            return [f"{h:02}:{m:02}" for h in range(EARLIEST, LATEST) for m in minutes]
        return [str(value) for value in range(self.low, self.most + 1, self.step)]

    def mistaken(self, value: str, rng: Generator) -> str:
        """What `value` may be taken for: day and month, or the halves of the day, the other way
        round; the option that looks most like it; a neighbour of a number."""
        if self.kind == "date":
            day = datetime.date.fromisoformat(value)
            if day.day <= 12 and day.day != day.month:
                return day.replace(month=day.day, day=day.month).isoformat()
            return (day - datetime.timedelta(days=1)).isoformat()
        if self.kind == "time":
            hour, minute = value.split(":")
            return f"{(int(hour) + 12) % 24:02}:{minute}"
        if self.kind == "select":
            return self.options[lookalike(value, self.options)]
        known = self.values()
        at = known.index(value)
        near = [known[i] for i in (at - 1, at + 1) if 0 <= i < len(known)]
        return pick(rng, near)

    def said(self, value: str) -> str:
        """The value as a goal says it: ``14 March 2026``, ``2:30 pm``."""
        if self.kind == "date":
            return phrases.date(datetime.date.fromisoformat(value))
        if self.kind == "time":
            hour, minute = value.split(":")
            return f"{(int(hour) - 1) % 12 + 1}:{minute} {'ap'[int(hour) >= 12]}m"
        return value + self.unit

    def typed(self, value: str, *, year: bool = True) -> str:
        """The keys that enter the value, from the first part of the field on."""
        if self.kind == "date":
            wanted = datetime.date.fromisoformat(value)
            return f"{wanted:%m%d%Y}" if year else f"{wanted:%m%d}"
        if self.kind == "time":
            hour, minute = value.split(":")
            return f"{(int(hour) - 1) % 12 + 1:02}{minute}{'ap'[int(hour) >= 12]}"
        return value


class NativeForm(NamedTuple):
    """What a page is about."""

    app: str
    icon: str
    title: str
    lead: str
    thing: str
    """What the goal calls the whole."""
    send: str
    sure: str
    aside: str
    facts: Sequence[str]
    more: str
    """What is folded away is called so."""
    fields: tuple[NativeField, ...]


def _form(written: Mapping[str, Any]) -> NativeForm:
    fields = (
        NativeField(**{**one, "options": tuple(one.get("options", ()))})
        for one in written["fields"]
    )
    return NativeForm(**{**written, "fields": tuple(fields)})


NATIVES = {key: _form(written) for key, written in table("natives").items()}
