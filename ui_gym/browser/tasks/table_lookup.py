"""Table lookup: read cells of a table and enter what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import tables
from ui_gym.browser.content.sheets import COMPACT_REPORT, REPORTS, Report
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, flag, whole
from ui_gym.browser.moves import SCROLL, because, click, fill, reveal
from ui_gym.contract.action import Scroll
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

Place = tuple[int, int, int]
"""A cell: its sheet, row and column, counted from 0."""


ONE = (
    "Find {asked} in the table, enter it into the field and press Check.",
    "What is {asked}? Type it into the field of the page and press Check.",
    "Look up {asked}. Enter it as the value and press Check.",
)
MANY = (
    "Look up these values in the table, enter them in this order and press Check: {asked}.",
    "Fill in the values and press Check. The table has them: {asked}.",
    "Copy some cells of the table into the fields, then press Check: {asked}.",
)
SIDES = ("left", "right")
THEMES = 6
ROW_HEIGHT = 36
"""Of the table, in pixels."""
COMPACT = -1
"""Stands for the topic of the compact page."""
COMPACT_ROOM = 5
"""Rows of the compact page that are seen at once; one scroll brings as many others to sight."""
COMPACT_COLUMNS = 4
"""Columns that the compact page has room for."""
COMPACT_GOALS = (
    "Find {asked}. Type it as Value. Press Check.",
    "Type {asked} as Value. Press Check.",
    "Enter {asked} as Value, then press Check.",
)


@dataclass(frozen=True)
class TableLookupParams:
    """All that varies between episodes."""

    topic: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    sheets: tuple[str, ...]
    values: tuple[tuple[tuple[str, ...], ...], ...]
    """The cells: of each sheet its rows."""
    asked: tuple[Place, ...]
    theme: int
    side: str
    """Where the form stands; compact: above ("left") or below the table."""
    phrasing: int


@register("TableLookup", suite="browser", category="table", difficulty="medium", max_steps=30)
class TableLookup(Family[TableLookupParams]):
    """Read cells of a table, named by row and column, and enter what they say.

    ## Description
    A table of sales, stock, marks, prices, departures or readings, beside a form with a field for
    each value that is asked for. The goal names the cells by row and column, and by sheet where the
    table has several; the agent enters what they say and presses Check. The table scrolls; at the
    harder levels many names of rows look alike.

    ## Action space
    Clicking a field, typing, scrolling the table and clicking Check is all that is needed.

    ## Rewards
    1 if Check is pressed with all values right (commas, currency signs and blanks do not matter);
    else, of n values, n + 1 shares: one for each right value.

    ## Starting state
    Empty fields, nothing focused, the first sheet scrolled to its top.

    ## Episode end
    Termination: Check is pressed. `max_steps` is about twice what is needed.

    ## Arguments
    | `rows` | of the level (compact: 8) | rows of the table, 4 to 80, compact to 10 |
    | `columns` | of the level (compact: 3) | columns beside names of rows, 2 to 8, compact to 4 |
    | `sheets` | of the level (compact: 1) | sheets, each behind a tab, 1 to 3, compact 1 |
    | `cells` | of the level (compact: 1) | how many values are asked for, 1 to 4, compact 1 |
    | `alike` | of the level (compact: False) | whether names of rows look alike |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "table_lookup.html"
    shown = ("rows", "columns", "sheets", "values", "theme", "side")
    ends, waiting = "check", "nothing is entered yet"
    compact_values = {"rows": 8, "columns": 3, "sheets": 1, "cells": 1, "alike": False}
    mistakes = ("column", "row")
    rows: int = whole(4, 80, easy=8, medium=32, hard=60)
    columns: int = whole(2, 8, easy=4, medium=6, hard=8)
    sheets: int = whole(1, 3, easy=1, medium=1, hard=3)
    cells: int = whole(1, 4, easy=1, medium=2, hard=3)
    alike: bool = flag(easy=False, medium=True, hard=True)

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        scrolls = max(0, self.rows * ROW_HEIGHT - 560) // SCROLL
        self.max_steps = 2 * (self.cells * (2 + scrolls + (self.sheets > 1)) + 1) + 2

    def _prepare_compact(self) -> None:
        if self.alike or self.sheets > 1 or self.cells > 1:
            raise UserError(
                "TableLookup: the compact page asks for one cell of one sheet of short names; "
                "sheets and cells are 1, alike is False"
            )
        self.check_range("rows", self.rows, 4, 2 * COMPACT_ROOM)
        self.check_range("columns", self.columns, 2, COMPACT_COLUMNS)
        self.max_steps = 2 * (3 + (self.rows > COMPACT_ROOM))

    def sample(self, rng: Generator) -> TableLookupParams:
        while True:
            topic = COMPACT if self.compact else int(rng.integers(len(REPORTS)))
            about = _report(topic)
            columns = sorted(rng.permutation(len(about.columns))[: self.columns])
            values = tuple(
                tuple(
                    tuple(about.cell.draw(rng) for _ in range(self.columns))
                    for _ in range(self.rows)
                )
                for _ in range(self.sheets)
            )
            asked = self._ask(values, rng)
            if asked:
                break
        return TableLookupParams(
            topic=topic,
            rows=tables.names(about.rows, self.rows, self.alike, rng),
            columns=tuple(about.columns[i] for i in columns),
            sheets=about.sheets[: self.sheets],
            values=values,
            asked=asked,
            theme=0 if self.compact else int(rng.integers(THEMES)),
            side=pick(rng, SIDES),
            phrasing=int(rng.integers(len(ONE))),
        )

    def goal(self, params: TableLookupParams) -> str:
        if len(params.asked) == 1:
            ones = COMPACT_GOALS if self.compact else ONE
            return ones[params.phrasing].format(asked=_words(params, params.asked[0]))
        listed = (f"({i}) {_words(params, place)}" for i, place in enumerate(params.asked, 1))
        return MANY[params.phrasing].format(asked="; ".join(listed))

    def page_params(self, params: TableLookupParams) -> dict[str, Any]:
        about = _report(params.topic)
        return {
            **super().page_params(params),
            **{name: getattr(about, name) for name in ("app", "mark", "title", "corner")},
            "fields": len(params.asked),
        }

    def verdict(self, data: Mapping[str, Any], params: TableLookupParams) -> Verdict:
        said = [str(value) for value in data.get("values", ())]
        true = [_value(params, place) for place in params.asked]
        right = sum(tables.same(one, other) for one, other in zip(said, true, strict=False))
        if right == len(true) == len(said):
            return Verdict(1.0, done=True, notes="every value is right")
        share = right / (len(true) + 1)
        return Verdict(share, done=True, notes=f"entered {said}, asked for were {true}")

    def oracle(self, device: BrowserDevice, params: TableLookupParams) -> Steps:
        if self.compact:
            yield from self._compact_steps(device, params)
            return
        for number, place in enumerate(params.asked, 1):
            sheet, row, _ = place
            if device.state()["sheet"] != sheet:
                thought = f"The sheet {params.sheets[sheet]} is the one to read."
                yield Demo(click(device, f"#sheet-{sheet}"), thought)
            yield from because(
                f"{params.rows[row]} is not in sight.",
                reveal(device, f"#row-{row}", "#pane", head=ROW_HEIGHT),
            )
            value = _value(params, place)
            yield from because(
                f"It says {value}: {_words(params, place)}.",
                fill(device, f"#value-{number}", value),
            )
        yield Demo(click(device, "#check"), "All is filled in.")

    def _compact_steps(self, device: BrowserDevice, params: TableLookupParams) -> Steps:
        (place,) = params.asked
        if place[1] >= COMPACT_ROOM:
            left, top, width, height = device.box("#pane")
            middle = left + width // 2, top + height // 2
            yield Demo(Scroll(*middle, dy=COMPACT_ROOM * PATCH), params.rows[place[1]])
        value = _value(params, place)
        press, write = fill(device, "#value-1", value)
        yield Demo(press, "Value")
        yield Demo(write, f"Value {value}")
        yield Demo(click(device, "#check"), "Check")

    def misread(self, params: TableLookupParams, mistake: str, rng: Generator) -> TableLookupParams:
        """``row``, ``column``: the eye slips to the row or column beside each asked one."""
        asked = []
        for sheet, row, column in params.asked:
            if mistake == "row":
                row = _beside(row, len(params.rows), rng)
            else:
                column = _beside(column, len(params.columns), rng)
            asked.append((sheet, row, column))
        return replace(params, asked=tuple(asked))

    def blind_rate(self, params: TableLookupParams) -> float:
        """Any cells of the table, copied without fault."""
        cells = len(params.sheets) * len(params.rows) * len(params.columns)
        return float(cells ** -len(params.asked))

    def _ask(self, values: Sequence[Sequence[Sequence[str]]], rng: Generator) -> tuple[Place, ...]:
        """Cells of different rows, each unlike all that could be read in its stead; or nothing."""
        asked: list[Place] = []
        for row in rng.permutation(self.rows):
            place = int(rng.integers(self.sheets)), int(row), int(rng.integers(self.columns))
            if _stands_out(values, place):
                asked.append(place)
            if len(asked) == self.cells:
                return tuple(asked)
        return ()


def _report(topic: int) -> Report:
    return COMPACT_REPORT if topic == COMPACT else REPORTS[topic]


def _stands_out(values: Sequence[Sequence[Sequence[str]]], place: Place) -> bool:
    """Whether no other cell of its row or column, nor its like on another sheet, says the same."""
    sheet, row, column = place
    others = list(values[sheet][row]) + [cells[column] for cells in values[sheet]]
    others += [cells[row][column] for cells in values]
    # It is itself in its row, in its column and among the sheets.
    return others.count(values[sheet][row][column]) == 3


def _beside(index: int, count: int, rng: Generator) -> int:
    if index in (0, count - 1):
        return 1 if index == 0 else count - 2
    return index + pick(rng, (-1, 1))


def _value(params: TableLookupParams, place: Place) -> str:
    sheet, row, column = place
    return params.values[sheet][row][column]


def _words(params: TableLookupParams, place: Place) -> str:
    sheet, row, column = place
    about = _report(params.topic)
    named = about.asked.format(row=params.rows[row], column=params.columns[column])
    return named + (
        about.sheet.format(sheet=params.sheets[sheet]) if len(params.sheets) > 1 else ""
    )
