"""Table edit: make the named changes to a spreadsheet, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import tables
from ui_gym.browser.content.sheets import (
    COMPACT_SHEET,
    LEAST,
    MIXED,
    PLAIN,
    SHEETS,
    Change,
    Kind,
    Sheet,
)
from ui_gym.browser.content.tables import TableColumn
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, by_level, flag, whole
from ui_gym.browser.moves import because, click, count_scrolls, reveal
from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

ONE = ("{changes}.", "In the sheet, {changes}.", "Please {changes}. Leave all else as it is.")
MANY = (
    "Make these changes to the sheet: {changes}.",
    "Update the sheet as follows and leave all else as it is: {changes}.",
    "The sheet needs some changes: {changes}.",
)
THEMES = 6
ROW_HEIGHT = 34
"""Of the sheet, in pixels."""
ROOM = 598
"""The least height of the rows in sight, in pixels."""
COMPACT = -1
"""Stands for the topic of the compact page."""
COMPACT_MOST = 6
"""Rows that the compact page has room for."""
COMPACT_WORDS: tuple[dict[Kind, str], ...] = (
    {"set": "Set {row} {column} to {value}.", "clear": "Clear {row} {column}."},
    {"set": "Type {value} as {row} {column}.", "clear": "Delete {row} {column}."},
)


@dataclass(frozen=True)
class TableEditParams:
    """All that varies between episodes."""

    topic: int
    rows: tuple[str, ...]
    columns: tuple[int, ...]
    """The order of the topic's columns."""
    cells: tuple[tuple[str, ...], ...]
    changes: tuple[Change, ...]
    theme: int
    """Compact: how many rows are free above the sheet."""
    phrasing: int


@register("TableEdit", suite="browser", category="table", difficulty="medium", max_steps=40)
class TableEdit(Family[TableEditParams]):
    """Make the named changes to the cells of a spreadsheet, and no others.

    ## Description
    A stock list, team sheet, budget or list of parts in a spreadsheet that saves by itself. The
    goal names some changes by row and column: a value to set or to clear, at the harder level also
    a number to add or subtract, or the cell of another row to copy. As in any spreadsheet a click
    selects a cell and typing replaces what it says; a double click, Enter or F2 edits it; Enter or
    Tab confirm, Escape gives up, Delete clears; Ctrl+Z and a button undo.

    ## Action space
    Clicking a cell, typing, pressing Enter or Delete and scrolling is all that is needed.

    ## Rewards
    1 if the sheet differs from its start in the named changes alone. Before that, of n changes,
    n + 1 shares: one for each that is made, less one for each other cell that is changed.

    ## Starting state
    The sheet scrolled to its top, its first cell selected.

    ## Episode end
    Termination: the changes are made, and no others. A wrong one can be repaired.
    `max_steps` is about twice what is needed.

    ## Arguments
    | `rows` | of the level (compact: 5) | rows of the sheet, 6 to 80, compact 2 to 6 |
    | `changes` | of the level (compact: 2) | how many changes are asked for, 1 to 6, compact to 2 |
    | `mixed` | of the level (compact: False) | sums and copies too, and fewer changes than rows |
    | `alike` | of the level (compact: False) | whether names of rows look alike |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "table_edit.html"
    shown = ("rows", "cells", "theme")
    compact_values = {"rows": 5, "changes": 2, "mixed": False, "alike": False}
    mistakes = ("column", "row")
    excesses = ("another",)
    rows: int = by_level(easy=10, medium=24, hard=60)
    changes: int = whole(1, 6, easy=1, medium=3, hard=5)
    mixed: bool = flag(easy=False, medium=False, hard=True)
    alike: bool = flag(easy=False, medium=True, hard=True)

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        self.check_range("rows", self.rows, 6, 80)
        if self.mixed:  # a copy is of a row that is not changed
            self.check_range("changes", self.changes, 1, min(6, self.rows - 1))
        scrolls = count_scrolls(self.rows * ROW_HEIGHT, ROOM)
        self.max_steps = 6 * self.changes + 2 + self.changes * scrolls

    def _prepare_compact(self) -> None:
        if self.mixed or self.alike:
            raise UserError(
                "TableEdit: the compact page has short names and no sums; mixed and alike are False"
            )
        self.check_range("rows", self.rows, 2, COMPACT_MOST)
        self.check_range("changes", self.changes, 1, 2)
        self.max_steps = 6 * self.changes

    def sample(self, rng: Generator) -> TableEditParams:
        topic = COMPACT if self.compact else int(rng.integers(len(SHEETS)))
        about = _sheet(topic)
        columns = tuple(int(i) for i in rng.permutation(len(about.columns)))
        params = TableEditParams(
            topic=topic,
            rows=tables.names(about.rows, self.rows, self.alike, rng),
            columns=columns,
            cells=tuple(
                tuple(about.columns[i].draw(rng) for i in columns) for _ in range(self.rows)
            ),
            changes=(),
            theme=int(rng.integers(COMPACT_MOST - self.rows + 1 if self.compact else THEMES)),
            phrasing=int(rng.integers(len(COMPACT_WORDS if self.compact else ONE))),
        )
        # Each touches a row of its own, so that their order does not matter.
        kinds = MIXED if self.mixed else PLAIN
        chosen = [int(i) for i in rng.permutation(self.rows)[: self.changes]]
        first = int(rng.integers(len(kinds)))
        changes = [
            self._change(params, kinds[(first + i) % len(kinds)], row, chosen, rng)
            for i, row in enumerate(chosen)
        ]
        return replace(params, changes=tuple(changes))

    def goal(self, params: TableEditParams) -> str:
        if self.compact:
            return " ".join(_compact_words(params, change) for change in params.changes)
        said = [_words(params, change) for change in params.changes]
        if len(said) > 1:
            numbered = "; ".join(f"({i}) {one}" for i, one in enumerate(said, 1))
            return MANY[params.phrasing].format(changes=numbered)
        goal = ONE[params.phrasing].format(changes=said[0])
        return goal[0].upper() + goal[1:]

    def page_params(self, params: TableEditParams) -> dict[str, Any]:
        about = _sheet(params.topic)
        return {
            **super().page_params(params),
            **{name: getattr(about, name) for name in ("app", "mark", "title", "corner")},
            "columns": [{"title": one.title, "number": one.is_number} for one in _columns(params)],
        }

    def judge(
        self, device: BrowserDevice, params: TableEditParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        now: dict[tuple[Any, Any], str] = {}
        for event in device.events:
            if event.type == "edit":
                place = event.data.get("row"), event.data.get("column")
                now[place] = str(event.data.get("value", ""))
        wanted = {(one.row, one.column): _result(params, one) for one in params.changes}
        right = sum(
            place in now and tables.same(now[place], value) for place, value in wanted.items()
        )
        wrong = sum(
            place not in wanted and not tables.same(value, params.cells[place[0]][place[1]])
            for place, value in now.items()
        )
        notes = f"{right} of {len(wanted)} changes are made, {wrong} other cells are changed"
        if right == len(wanted) and not wrong:
            return Verdict(1.0, done=True, notes=notes)
        return Verdict(max(0, right - wrong) / (len(wanted) + 1), notes=notes)

    def oracle(self, device: BrowserDevice, params: TableEditParams) -> Steps:
        for change in params.changes:
            cell = f"#cell-{change.row}-{change.column}"
            yield from because(
                f"{params.rows[change.row]} is not in sight.",
                reveal(device, cell, "#pane", head=PATCH if self.compact else ROW_HEIGHT),
            )
            value = _result(params, change)
            if self.compact:
                named = f"{params.rows[change.row]} {_columns(params)[change.column].title}"
                thought = f"{named} {value}".strip()
            else:
                named = f"It has to say {value or 'nothing'}: {_words(params, change)}."
                thought = named
            yield Demo(click(device, cell), named)
            if value:
                yield Demo(Type(value), thought)
                yield Demo(Press("enter"), thought)
            else:
                yield Demo(Press("delete"), thought)

    def overdone(self, params: TableEditParams, excess: str) -> TableEditParams:
        """``another``: a cell that is not named is changed."""
        named = {(change.row, change.column) for change in params.changes}
        columns, rows = range(len(params.columns)), range(len(params.rows))
        cells = [(row, column) for column in columns for row in rows]
        row, column = next(cell for cell in cells if cell not in named)
        return replace(params, changes=(Change("set", row, column, "7531"),))

    def misread(self, params: TableEditParams, mistake: str, rng: Generator) -> TableEditParams:
        """``row``, ``column``: one of the changes is made in the row or column beside its own."""
        changes = list(params.changes)
        slip = int(rng.integers(len(changes)))
        one = changes[slip]
        row, column = one.row, one.column
        if mistake == "row":
            row += 1 if row == 0 else -1
        else:
            column += 1 if column == 0 else -1
        changes[slip] = Change("set", row, column, _result(params, one))
        return replace(params, changes=tuple(changes))

    def blind_rate(self, params: TableEditParams) -> float:
        """Who cannot tell what the goal means changes no cell to the right value."""
        return 0.0

    def _change(
        self,
        params: TableEditParams,
        kind: Kind,
        row: int,
        taken: Sequence[int],
        rng: Generator,
    ) -> Change:
        """A change that changes something; what it copies is of a row that is not `taken`."""
        while True:
            position = int(rng.integers(len(params.columns)))
            column, now = _columns(params)[position], params.cells[row][position]
            change = Change(kind, row, position)
            if kind == "set":
                change = replace(change, value=column.draw(rng))
            elif kind in ("add", "subtract") and column.is_number:
                unit = 50 if column.kind == "cents" else 1
                amount = column.write(unit * int(rng.integers(2, LEAST)))
                change = replace(change, value=amount)
            elif kind == "copy":
                other = int(rng.integers(len(params.rows)))
                if other not in taken:
                    change = replace(change, other=other)
            says = change.value or change.other >= 0
            if kind == "clear" or (says and not tables.same(_result(params, change), now)):
                return change


def _sheet(topic: int) -> Sheet:
    return COMPACT_SHEET if topic == COMPACT else SHEETS[topic]


def _columns(params: TableEditParams) -> list[TableColumn]:
    about = _sheet(params.topic)
    return [about.columns[i] for i in params.columns]


def _result(params: TableEditParams, change: Change) -> str:
    return change.result(_columns(params), params.cells)


def _words(params: TableEditParams, change: Change) -> str:
    return change.words(_columns(params), params.rows)


def _compact_words(params: TableEditParams, change: Change) -> str:
    return COMPACT_WORDS[params.phrasing][change.kind].format(
        row=params.rows[change.row],
        column=_columns(params)[change.column].title,
        value=change.value,
    )
