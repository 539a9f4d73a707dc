"""Errands between two sites: what the one knows of somebody, and what a form on the other asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.browser.content.directories import STREETS, WAYS
from ui_gym.contract.draws import pick

LETTERS = "ABCDEFGHKLMNPRSTVWX"


class Detail(NamedTuple):
    """Something that is known of each record."""

    label: str
    asked: str
    """What the form calls it."""
    said: str
    """What a goal calls it."""
    form: str
    """How it is drawn: # is a digit, & a letter, @ a street."""

    def draw(self, rng: Generator) -> str:
        made = []
        for i, sign in enumerate(self.form):
            if sign == "#":
                # No nought ahead, which somebody might leave out.
                first = i == 0 or self.form[i - 1] != "#"
                made.append(str(rng.integers(int(first), 10)))
            elif sign == "&":
                made.append(pick(rng, LETTERS))
            elif sign == "@":
                made.append(f"{pick(rng, STREETS)} {pick(rng, WAYS)}")
            else:
                made.append(sign)
        return "".join(made)


class ErrandNames(NamedTuple):
    """Names of records have two parts; a hint tells those of like names apart."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    hints: tuple[str, ...]


class Errand(NamedTuple):
    row: str
    """What a goal calls a record by its name, and by its hint as well."""
    row_with: str
    source: Mapping[str, Any]
    """Words of the site that has the records."""
    form: Mapping[str, Any]
    """Words of the site that has the form."""
    names: ErrandNames
    details: tuple[Detail, ...]


def _errand(written: Mapping[str, Any]) -> Errand:
    details = tuple(Detail(*one) for one in written["details"].values())
    return Errand(**{**written, "names": ErrandNames(**written["names"]), "details": details})


ERRANDS = {key: _errand(written) for key, written in table("errands").items()}

SHORT_NAMES = ErrandNames(words.FIRST_SHORT, ("",), ("",))
SHORT_DETAILS = tuple(Detail(word, word, word, "##") for word in ("Code", "Price", "Room", "Seat"))
COMPACT_ERRANDS = {
    source: Errand(
        row="{name}",
        row_with="{name}",
        source={"name": source, "host": "", "icon": "list", "title": "", "remove": ""},
        form={"name": form, "host": "", "icon": "list", "title": "", "lead": "", "kept": (),
              "tick": "", "button": "Send", "done": "Done"},
        names=SHORT_NAMES,
        details=SHORT_DETAILS,
    )
    for source, form in (("Shop", "Post"), ("Mail", "Bank"), ("Team", "Taxi"))
}  # fmt: skip
ALL_ERRANDS = {**ERRANDS, **COMPACT_ERRANDS}
