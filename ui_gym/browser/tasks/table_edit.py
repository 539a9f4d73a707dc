"""Table edit: make the named changes to a spreadsheet, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import tables
from ui_gym.browser.content.sheets import LEAST, MIXED, PLAIN, SHEETS, Change, Kind
from ui_gym.browser.content.tables import TableColumn
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, count_scrolls, reveal
from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

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
    | `rows` | of the level | rows of the sheet, 6 to 80 |
    | `changes` | of the level | how many changes are asked for, 1 to 6 |
    | `mixed` | of the level | whether some have to be worked out: sums and copies |
    | `alike` | of the level | whether names of rows look alike |
    """

    page = "table_edit.html"
    shown = ("rows", "cells", "theme")
    mistakes = ("column", "row")
    excesses = ("another",)
    rows: int = whole(6, 80, easy=10, medium=24, hard=60)
    changes: int = whole(1, 6, easy=1, medium=3, hard=5)
    mixed: bool = flag(easy=False, medium=False, hard=True)
    alike: bool = flag(easy=False, medium=True, hard=True)

    def prepare(self) -> None:
        scrolls = count_scrolls(self.rows * ROW_HEIGHT, ROOM)
        self.max_steps = 6 * self.changes + 2 + self.changes * scrolls

    def sample(self, rng: Generator) -> TableEditParams:
        topic = int(rng.integers(len(SHEETS)))
        about = SHEETS[topic]
        columns = tuple(int(i) for i in rng.permutation(len(about.columns)))
        params = TableEditParams(
            topic=topic,
            rows=tables.names(about.rows, self.rows, self.alike, rng),
            columns=columns,
            cells=tuple(
                tuple(about.columns[i].draw(rng) for i in columns) for _ in range(self.rows)
            ),
            changes=(),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(ONE))),
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
        said = [_words(params, change) for change in params.changes]
        if len(said) > 1:
            numbered = "; ".join(f"({i}) {one}" for i, one in enumerate(said, 1))
            return MANY[params.phrasing].format(changes=numbered)
        goal = ONE[params.phrasing].format(changes=said[0])
        return goal[0].upper() + goal[1:]

    def page_params(self, params: TableEditParams) -> dict[str, Any]:
        about = SHEETS[params.topic]
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
                reveal(device, cell, "#pane", head=ROW_HEIGHT),
            )
            value = _result(params, change)
            thought = f"It has to say {value or 'nothing'}: {_words(params, change)}."
            yield Demo(click(device, cell), thought)
            if value:
                yield Demo(Type(value), thought)
                yield Demo(Press("enter"), thought)
            else:
                yield Demo(Press("delete"), thought)

    def overdone(self, params: TableEditParams, excess: str) -> TableEditParams:
        """``another``: a cell that is not named is changed."""
        named = {(change.row, change.column) for change in params.changes}
        cells = [(row, 0) for row in range(len(params.rows))]
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


def _columns(params: TableEditParams) -> list[TableColumn]:
    return [SHEETS[params.topic].columns[i] for i in params.columns]


def _result(params: TableEditParams, change: Change) -> str:
    return change.result(_columns(params), params.cells)


def _words(params: TableEditParams, change: Change) -> str:
    return change.words(_columns(params), params.rows)
