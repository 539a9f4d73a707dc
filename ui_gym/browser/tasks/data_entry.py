"""Data entry: copy rows of a spreadsheet into a form."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.looks import PLAIN, check_look
from ui_gym.browser.moves import because, count_scrolls, reveal
from ui_gym.browser.task import BrowserTask
from ui_gym.contract.action import Action, Click, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

COLUMNS = ("first", "last", "email")
LABELS = {"first": "First name", "last": "Last name", "email": "E-mail"}
COMPACT_LABELS = {"first": "First", "last": "Last", "email": "Mail"}
COMPACT_SIZE = (320, 256)
PATCH = 32
"""The grid of the compact page, in pixels: its layout varies in whole patches of a vision model."""

ROW_HEIGHT = 34
"""Of the full table, in pixels."""

ONE_ROW = ("Enter row {}.", "Copy row {} into the form.", "Submit the person in row {}.")
MANY_ROWS = (
    "Enter rows {} of the table into the form, one at a time, and submit each.",
    "Copy the people in rows {} into the form. Submit every one of them once.",
    "Submit a new entry for each of the rows {}.",
)


@dataclass(frozen=True)
class DataEntryParams:
    """All that varies between episodes."""

    people: tuple[tuple[str, ...], ...]
    """The table: one tuple a row, its values in the order of the columns."""
    asked: tuple[int, ...]
    """The row numbers to copy, counted from 1, ascending."""
    fields: tuple[str, ...]
    """The form's fields, from top to bottom."""
    place: int
    """How far the form is moved down, in pixels."""
    phrasing: int


@register("DataEntry", suite="browser", category="input", difficulty="medium", max_steps=40)
class DataEntry(BrowserTask[DataEntryParams]):
    """Copy rows of a spreadsheet of people into a form, and submit each.

    ## Description
    A spreadsheet of people stands beside a form. The goal names the rows to copy: for each, the
    agent fills the form's fields with the row's values and presses Submit. The order of the
    fields and the form's place vary, so that labels must be read. The task is the headline
    experiment of UI-RL ("SimpleDataEntry").

    ## Action space
    Clicking a field, typing and clicking Submit is all that is needed; Tab and Enter work as in any
    form.

    ## Rewards
    The score when the episode ends: 1 for exactly the asked rows, each submitted once, and nothing
    else. Otherwise the share of the asked rows that were submitted before the first wrong one,
    and never 1. With ``reward="progress"``, the score's increments.

    ## Starting state
    An empty form, nothing focused, the table scrolled to its top.

    ## Episode end
    Termination: the asked rows are all submitted; or something else was. `max_steps` is 42 with the
    default arguments, more for more rows; compact: 10 for one row.

    ## Arguments
    | `rows` | 3 (compact: 1) | how many rows to copy |
    | `length` | 100 (compact: 6) | rows: 2 to 200, to 48 of short words, to 23 of one column |
    | `columns` | 3 (compact: 2) | fields a row: first name, last name, e-mail |
    | `words` | "long" (compact: "short") | names from a long or a short list |
    | `compact` | False | a 320x256 page that a model of a million parameters can read |
    """

    page = "data_entry.html"
    shown = ("people", "columns", "labels", "fields", "place", "compact")
    mistakes = ("row", "labels")
    excesses = ("another", "twice")

    def __init__(
        self,
        *,
        compact: bool = False,
        rows: int | None = None,
        length: int | None = None,
        columns: int | None = None,
        words: Literal["long", "short"] | None = None,
        look: str | None = None,
        adverts: bool | None = None,
        cookie_bar: bool | None = None,
    ) -> None:
        self.compact = compact
        self.look = check_look(look or PLAIN)
        self.put_around(adverts, cookie_bar)
        self.rows = rows if rows is not None else (1 if compact else 3)
        self.columns = COLUMNS[: columns if columns is not None else (2 if compact else 3)]
        self.words = words or ("short" if compact else "long")
        usual = min(6 if compact else 100, self._most)
        self.length = length if length is not None else usual
        self.labels = COMPACT_LABELS if compact else LABELS
        if compact:
            self.viewport = COMPACT_SIZE
        self._check_arguments()
        self.max_steps = self._steps_needed() + self.cookie_bar

    def sample(self, rng: Generator) -> DataEntryParams:
        people = tuple(self._person(rng) for _ in range(self.length))
        while len(set(people)) < len(people):  # equal rows would make the asked one ambiguous
            people = tuple(self._person(rng) for _ in range(self.length))
        asked = rng.choice(self.length, size=self.rows, replace=False) + 1
        fields = tuple(self.columns[i] for i in rng.permutation(len(self.columns)))
        step, places = (PATCH, 4) if self.compact else (24, 5)
        return DataEntryParams(
            people=people,
            asked=tuple(sorted(int(row) for row in asked)),
            fields=fields,
            place=step * int(rng.integers(places)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: DataEntryParams) -> str:
        if len(params.asked) == 1:
            return ONE_ROW[params.phrasing].format(params.asked[0])
        *most, last = params.asked
        return MANY_ROWS[params.phrasing].format(f"{', '.join(map(str, most))} and {last}")

    def judge(
        self, device: BrowserDevice, params: DataEntryParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        wanted = [self._record(params, row) for row in params.asked]
        right = 0
        for event in device.events:
            if event.type != "submit":
                continue
            entry = {column: str(event.data.get(column, "")).strip() for column in self.columns}
            if entry not in wanted:
                share = right / (len(params.asked) + 1)
                return Verdict(share, done=True, notes=f"submitted {_show(entry)}, not asked for")
            wanted.remove(entry)
            right += 1
        if not wanted:
            return Verdict(1.0, done=True, notes="all asked rows are submitted")
        return Verdict(right / (len(params.asked) + 1), notes=f"{len(wanted)} rows to go")

    def oracle(self, device: BrowserDevice, params: DataEntryParams) -> Iterator[Action | Demo]:
        for row in params.asked:
            record = self._record(params, row)
            words = " ".join([str(row), *record.values()])
            if not self.compact:
                # A person has to see the row to read it.
                yield from because(words, reveal(device, f"#row-{row}", ".sheet", head=ROW_HEIGHT))
            for column in self.columns:
                # By position, not by label: whoever ignores the labels looks at the place alone.
                target = f"[data-position='{params.fields.index(column)}']"
                thought = f"{words} {self.labels[column]}"
                yield self._demo(device, params, Click(*device.center(target)), thought)
                yield self._demo(device, params, Type(record[column]), thought)
            button = device.center("form button")
            yield self._demo(device, params, Click(*button), f"{words} Submit")

    def overdone(self, params: DataEntryParams, excess: str) -> DataEntryParams:
        """``another`` row is submitted, if there is one; or the first asked one ``twice``."""
        rows = range(1, len(params.people) + 1)
        others = [row for row in rows if row not in params.asked and excess == "another"]
        return replace(params, asked=tuple(others[:1]) or params.asked[:1] * 2)

    def misread(self, params: DataEntryParams, mistake: str, rng: Generator) -> DataEntryParams:
        """``row``: the eye slips to the row above each asked one (of the first: below).

        ``labels``: the fields are taken to be in the order of the table's columns, whatever their
        labels say.
        """
        if mistake == "labels":
            return replace(params, fields=self.columns)
        asked = tuple(row - 1 if row > 1 else row + 1 for row in params.asked)
        return replace(params, asked=asked)

    def blind_rate(self, params: DataEntryParams) -> float:
        """Any rows of the table, copied without fault."""
        return 1 / math.comb(len(params.people), len(params.asked))

    def caption(self, device: BrowserDevice, params: DataEntryParams) -> str:
        """All that the compact picture says: the table, then the form with its state."""
        state = device.state()
        lines = [" ".join(person) for person in params.people]
        for column in state["fields"]:
            words = [self.labels[column], state["values"][column]]
            words += ["<here>"] if state["focused"] == column else []
            lines.append(" ".join(word for word in words if word))
        return "\n".join(lines)

    def _demo(
        self, device: BrowserDevice, params: DataEntryParams, action: Action, thought: str
    ) -> Demo:
        return Demo(action, thought, self.caption(device, params) if self.compact else "")

    def _steps_needed(self) -> int:
        """Steps until truncation: twice what the oracle needs on the compact page, and on the full
        one at least the registered number, with some room where more rows are asked for."""
        needed = self.rows * (2 * len(self.columns) + 1)
        if self.compact:
            return 2 * needed
        scrolls = count_scrolls(self.length * ROW_HEIGHT)
        return max(self.spec.max_steps, math.ceil(1.25 * (needed + scrolls)))

    @property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self.words == "long":
            return words.FIRST_LONG, words.LAST_LONG
        return words.FIRST_SHORT, words.LAST_SHORT

    @property
    def _most(self) -> int:
        """Rows that there may be: few enough that a draw without equal ones is found in some 20."""
        first, last = self._names
        people = len(first) * (len(last) if len(self.columns) > 1 else 1)
        return min(6 if self.compact else 200, math.isqrt(6 * people))

    def _person(self, rng: Generator) -> tuple[str, ...]:
        first, last = (pick(rng, names) for names in self._names)
        return (first, last, f"{first}.{last}@example.org".lower())[: len(self.columns)]

    def _record(self, params: DataEntryParams, row: int) -> dict[str, str]:
        return dict(zip(self.columns, params.people[row - 1], strict=True))

    def _check_arguments(self) -> None:
        if not 1 <= len(self.columns) <= len(COLUMNS):
            raise UserError("DataEntry: columns must be 1, 2 or 3")
        if self.words not in ("long", "short"):
            raise UserError(f"DataEntry: words must be 'long' or 'short', not {self.words!r}")
        if not 1 <= self.rows <= self.length:
            raise UserError(f"DataEntry: rows must be 1 to {self.length}, not {self.rows}")
        if not 2 <= self.length <= self._most:
            raise UserError(f"DataEntry: length must be 2 to {self._most}, not {self.length}")


def _show(entry: dict[str, str]) -> str:
    return " / ".join(repr(value) for value in entry.values())
