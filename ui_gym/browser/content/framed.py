"""Portals that show forms in frames: what the forms are called, and what is entered in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick


class FramePortal(NamedTuple):
    app: str
    icon: str
    title: str
    entries: tuple[str, ...]
    """Links at the side, of which the second is this page's."""
    frames: tuple[str, ...]
    """The titles of the frames, each of which holds the same form."""
    fields: tuple[tuple[str, str], ...]
    """The label of each field, and what it takes (`drawn`)."""
    inner: str
    """The title of the frame inside, which holds the last of them."""
    save: str


_WRITTEN = dict(table("framed"))
_VALUES: Mapping[str, Sequence[str]] = {
    **_WRITTEN.pop("values"),
    "first": words.FIRST_LONG,
    "last": words.LAST_LONG,
    "short": words.FIRST_SHORT,
    "thing": words.THINGS_SHORT,
}
_NUMBERS: Mapping[str, Callable[[Generator], int]] = {
    "number": lambda rng: int(rng.integers(10, 300)),
    "small": lambda rng: int(rng.integers(1, 30)),
}


def _portal(written: Mapping[str, Any]) -> FramePortal:
    lists = {key: tuple(written[key]) for key in ("entries", "frames")}
    fields = tuple((label, kind) for label, kind in written["fields"])
    return FramePortal(**{**written, **lists, "fields": fields})


PORTALS = {key: _portal(written) for key, written in _WRITTEN.items()}


def drawn(kind: str, rng: Generator) -> str:
    """A value of a kind of field."""
    if kind in _NUMBERS:
        return str(_NUMBERS[kind](rng))
    known = _VALUES[kind]
    return str(pick(rng, known))
