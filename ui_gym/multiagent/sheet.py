"""The spreadsheet, whose rows are saved whole, the last one over all that came before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ui_gym.browser.content.boards import somebody
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.task import Round, TeamTask, Windows

THEMES = 6
LONGEST = 24
"""Characters of a cell."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "Department": ("Finance", "Legal", "Sales", "Design", "Support", "Research", "Logistics"),
    "Room": tuple(f"{wing}{floor}{door}" for wing in "ABC" for floor in "12" for door in "0479"),
    "Phone": tuple(str(number) for number in range(4100, 4200, 7)),
    "Shift": ("early", "late", "night", "weekend", "flexible"),
}
"""The columns beside the name, and what they hold. Each user of a split goal has one of them."""

COMMON = (
    "You are {me}. With {others}, bring the staff list up to date: {edits}. Share the work: no "
    "cell should be changed by two of you.",
    "{others} and you ({me}) keep this list. Between you, change the following and nothing else: "
    "{edits}.",
    "This list is yours and {others}'s; you are {me}. All of this is to be entered, by any of "
    "you but only once: {edits}.",
)
SPLIT = (
    "You are {me}. In the staff list: {edits}. Other changes are entered by {others} at the same "
    "time; none of them may be lost.",
    "As {me}, enter this: {edits}. Take care: the same rows are also changed by {others}.",
    "Your part of the list ({me}): {edits}. What else there is to change is up to {others}.",
)

Ask = tuple[int, int, str]
"""A row, a column and what its cell shall hold."""


@dataclass(frozen=True)
class SharedSheetParams:
    """All that varies between episodes."""

    names: tuple[str, ...]
    """Who each row is about."""
    rows: tuple[tuple[str, ...], ...]
    people: tuple[str, ...]
    """Who the agents are."""
    asked: tuple[Ask, ...]
    theme: int
    phrasing: int


class SheetDocument(SharedDocument):
    """Rows of cells. Saving a row overwrites all of its cells with what the window holds, and with
    that whatever others have saved in it since the window was told of the sheet."""

    def __init__(self, users: int, rows: Sequence[Sequence[str]]) -> None:
        super().__init__(users)
        self._rows = [list(row) for row in rows]
        self._changed = [[(0, -1)] * len(row) for row in rows]
        """In which version each cell was last changed, and by whom."""

    def snapshot(self, user: int) -> dict[str, Any]:
        return {"version": self.version, "rows": [list(row) for row in self._rows]}

    def edit(self, user: int, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        if kind != "save":
            return {"kind": "sheet", "document": self.snapshot(user)}
        row, edited = int(data["row"]), set(data["edited"])
        for column, told in enumerate(data["cells"]):
            value = str(told)[:LONGEST]
            version, who = self._changed[row][column]
            unseen = who != user and version > data["seen"]
            if value != self._rows[row][column]:
                if unseen:
                    self.clash("lost", user, f"row {row}, column {column}")
                self.version += 1
                self._rows[row][column] = value
                self._changed[row][column] = (self.version, user)
            elif unseen and column in edited:
                self.clash("twice", user, f"row {row}, column {column}")
        return {"kind": "saved", "row": row}

    def cells(self) -> tuple[object, ...]:
        return tuple(value for row in self._rows for value in row)

    def vector(self) -> NDArray[np.float32]:
        """Of each cell, the place of its value in the list of its column, or 1 where it has none
        there."""
        found = []
        for row in self._rows:
            for value, known in zip(row, COLUMNS.values(), strict=True):
                found.append(known.index(value) / len(known) if value in known else 1.0)
        return np.asarray(found, np.float32)


class SharedSheet(TeamTask[SharedSheetParams]):
    """Cells of a spreadsheet are changed.

    Each row has a "Save", which sends the row as the window holds it: what others have saved in
    that row meanwhile is lost. A window learns of others' changes by "Reload" alone, which drops
    what was not saved. With a split goal each user has a column, and all have the same rows.
    """

    name = "shared_board_v0:sheet"
    page = "sheet.html"
    mistakes = ("neighbour", "overwrite", "twice")

    def __init__(self, *, users: int = 2, goal: str = "common", rows: int = 8) -> None:
        """`rows` of the sheet, of which as many are changed as there are users."""
        super().__init__(users=users, goal=goal)
        if isinstance(rows, bool) or not isinstance(rows, int) or not users + 1 <= rows <= 12:
            raise UserError(f"{self.name}: rows must be {users + 1} to 12, not {rows!r}")
        self.rows = rows
        self.max_cycles = 8 * users**2

    def sample(self, rng: Generator) -> SharedSheetParams:
        names = somebody(self.rows + self.users, rng)
        rows = [tuple(pick(rng, known) for known in COLUMNS.values()) for _ in range(self.rows)]
        picked = [int(i) for i in rng.choice(self.rows, self.users, replace=False)]
        columns = [int(i) for i in rng.permutation(len(COLUMNS))[: self.users]]
        asked = [
            (row, column, self._other(rows[row][column], column, rng))
            for row in picked
            for column in columns
        ]
        return SharedSheetParams(
            names=tuple(names[: self.rows]),
            rows=tuple(rows),
            people=tuple(names[self.rows :]),
            asked=tuple(asked),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def part(self, params: SharedSheetParams, user: int) -> list[Ask]:
        """What `user` sees to: of a common job a row, of a split one a column."""
        if self.goal == "common":
            return list(params.asked[user * self.users : (user + 1) * self.users])
        return list(params.asked[user :: self.users])

    def goals(self, params: SharedSheetParams) -> tuple[str, ...]:
        told = []
        titles = tuple(COLUMNS)
        for user, me in enumerate(params.people):
            others = listing([name for name in params.people if name != me])
            asked = params.asked if self.goal == "common" else self.part(params, user)
            edits = [
                f'the {titles[column].lower()} of {params.names[row]} becomes "{value}"'
                for row, column, value in asked
            ]
            goals = COMMON if self.goal == "common" else SPLIT
            told.append(goals[params.phrasing].format(me=me, others=others, edits=listing(edits)))
        return tuple(told)

    def open(self, params: SharedSheetParams) -> SheetDocument:
        return SheetDocument(self.users, params.rows)

    def page_params(self, params: SharedSheetParams, user: int) -> dict[str, Any]:
        return {
            "names": params.names,
            "titles": tuple(COLUMNS),
            "people": params.people,
            "user": user,
            "theme": params.theme,
            "longest": LONGEST,
        }

    def wanted(self, params: SharedSheetParams) -> tuple[object, ...]:
        rows = [list(row) for row in params.rows]
        for row, column, value in params.asked:
            rows[row][column] = value
        return tuple(value for row in rows for value in row)

    def state_size(self) -> int:
        return self.rows * len(COLUMNS)

    def oracle(
        self, windows: Windows, params: SharedSheetParams, mistake: str = ""
    ) -> Iterator[Round]:
        """Each works on a row of its own, and reloads before it turns to one that others had.

        ``twice``: a second user makes the first row's changes as well. ``overwrite``: a second user
        saves the first row as it was before. ``neighbour``: the last value goes into the row
        beside.
        """
        jobs = self._jobs(params)
        if mistake == "neighbour":
            *most, (row, column, value) = jobs[-1][-1]
            jobs[-1][-1] = [*most, (row - 1 if row else row + 1, column, value)]
        if mistake == "twice":
            same = jobs[0][0]
            yield from self._together(windows, {0: same, 1: same})
        elif mistake == "overwrite":
            same = jobs[0][0]
            yield from self._together(windows, {0: same})
            row, column, _ = same[0]
            yield from self._together(windows, {1: [(row, column, params.rows[row][column])]})
        if mistake in ("twice", "overwrite"):
            yield self.round(u0=self._reload(windows, 0), u1=self._reload(windows, 1))
            jobs[0][0] = []
        for phase in range(len(jobs)):
            if phase:
                again = {f"u{user}": self._reload(windows, user) for user in range(self.users)}
                yield self.round(**again)
            yield from self._together(windows, dict(enumerate(jobs[phase])))

    def _jobs(self, params: SharedSheetParams) -> list[list[list[Ask]]]:
        """What each user does in each phase: cells of one row, which no other has in this phase."""
        parts = [self.part(params, user) for user in range(self.users)]
        if self.goal == "common":
            return [parts]
        phases = range(self.users)
        return [
            [[parts[user][(phase + user) % self.users]] for user in range(self.users)]
            for phase in phases
        ]

    def _together(self, windows: Windows, jobs: Mapping[int, Sequence[Ask]]) -> Iterator[Round]:
        """Each enters its cells and saves their row, all at once."""
        plans = {user: self._plan(windows, user, cells) for user, cells in jobs.items() if cells}
        while plans:
            acting: dict[str, Action | Demo] = {}
            for user, plan in list(plans.items()):
                step = next(plan, None)
                if step is None:
                    del plans[user]
                else:
                    acting[f"u{user}"] = step
            if acting:
                yield self.round(**acting)

    def _plan(self, windows: Windows, user: int, cells: Sequence[Ask]) -> Iterator[Demo]:
        device = windows.devices[user]
        for row, column, value in cells:
            thought = f'Row {row + 1}, column {column + 1}: "{value}".'
            yield Demo(click(device, f"#cell-{row}-{column}"), thought)
            yield Demo(Type(value, clear=True), thought)
        yield Demo(click(device, f"#save-{cells[0][0]}"), "Save the row.")

    def _reload(self, windows: Windows, user: int) -> Demo:
        return Demo(click(windows.devices[user], "#reload"), "See what the others have changed.")

    def _other(self, value: str, column: int, rng: Generator) -> str:
        known = list(COLUMNS.values())[column]
        return pick(rng, [one for one in known if one != value])
