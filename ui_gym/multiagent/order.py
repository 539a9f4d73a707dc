"""The order form, which tells all windows of each change, and asks how amounts are merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ui_gym.browser.content.boards import somebody
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action, Type
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.task import Round, TeamTask, Windows, numbers

THEMES = 6
MOST = 99
"""Of one product."""
GOODS = (
    ("Copy paper", 489), ("Ballpoint pens", 620), ("Staplers", 1250), ("Envelopes", 715),
    ("Sticky notes", 340), ("Ring binders", 295), ("Markers", 880), ("Notebooks", 435),
    ("Scissors", 560), ("Glue sticks", 210), ("Folders", 375), ("Whiteboards", 4990),
)  # fmt: skip
"""Names, and prices in cents."""

COMMON = (
    "You are {me}. With {others}, set the order to {lines}. Share the work: no line should be "
    "entered by two of you.",
    "{others} and you ({me}) see to this order. Between you, make it {lines}, and change nothing "
    "else.",
    "This order is yours and {others}'s; you are {me}. It shall say {lines}; any of you may "
    "enter a line, but only once.",
)
SPLIT = (
    "You are {me}. Add {lines} to what is on the order. Other amounts are added to the same lines "
    "by {others}; none may be lost.",
    "As {me}, you need {lines} on top of what is ordered already. The same lines are also changed "
    "by {others}.",
    "Your part of the order ({me}): add {lines}. What else is needed is up to {others}.",
)


@dataclass(frozen=True)
class SharedOrderParams:
    """All that varies between episodes."""

    goods: tuple[tuple[str, int], ...]
    """Names, and prices in cents."""
    amounts: tuple[int, ...]
    """Of each, what is on the order at the start."""
    people: tuple[str, ...]
    """Who the agents are."""
    asked: tuple[tuple[int, int, int], ...]
    """What is added: a line, for which user, and how many."""
    theme: int
    phrasing: int


class OrderDocument(SharedDocument):
    """Lines with amounts. All windows are told of a change after the round. A window saves a line
    with the amount from which it was changed; where the line has another amount by now, the user is
    asked which of the two shall stand, or whether both are added."""

    pushes: ClassVar[bool] = True

    def __init__(self, users: int, amounts: Sequence[int]) -> None:
        super().__init__(users)
        self._amounts = list(amounts)
        self._setters = [-1] * len(amounts)

    @property
    def amounts(self) -> Sequence[int]:
        """Of each line."""
        return tuple(self._amounts)

    def snapshot(self, user: int) -> dict[str, Any]:
        return {"version": self.version, "amounts": list(self._amounts)}

    def edit(self, user: int, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        line, amount, base = int(data["line"]), int(data["amount"]), int(data["base"])
        amount, now = min(max(amount, 0), MOST), self._amounts[line]
        others = self._setters[line] not in (user, -1)
        if now == base:
            if data.get("how") == "mine" and others and amount != now:
                self.clash("lost", user, f"line {line}")
            self._set(user, line, amount)
        elif now == amount:
            self.clash("twice", user, f"line {line}")
        else:
            self.clash("conflict", user, f"line {line}")
            merge = {"mine": amount, "theirs": now, "both": min(max(now + amount - base, 0), MOST)}
            return {
                "kind": "merge",
                "line": line,
                "choices": merge,
                "document": self.snapshot(user),
            }
        return {"kind": "saved", "line": line, "document": self.snapshot(user)}

    def _set(self, user: int, line: int, amount: int) -> None:
        if amount != self._amounts[line]:
            self.version += 1
            self._amounts[line] = amount
            self._setters[line] = user

    def cells(self) -> tuple[object, ...]:
        return tuple(self._amounts)

    def vector(self) -> NDArray[np.float32]:
        return numbers(self._amounts, MOST)


class SharedOrder(TeamTask[SharedOrderParams]):
    """Amounts of an order are entered.

    The server tells all windows of a change after the round, but for a line that is being changed
    there. Where a line is saved that somebody else has changed meanwhile, a dialog asks whether
    this amount or the other shall stand, or both together. With a split goal all users add to the
    same lines.
    """

    name = "shared_board_v0:order"
    page = "order.html"
    mistakes = ("double", "overwrite", "twice")

    def __init__(self, *, users: int = 2, goal: str = "common", lines: int = 7) -> None:
        """`lines` of the order, of which as many are changed as there are users."""
        super().__init__(users=users, goal=goal)
        most = len(GOODS)
        if isinstance(lines, bool) or not isinstance(lines, int) or not users < lines <= most:
            raise UserError(f"{self.name}: lines must be {users + 1} to {most}, not {lines!r}")
        self.lines = lines
        self.max_cycles = 8 * users

    def sample(self, rng: Generator) -> SharedOrderParams:
        goods = [GOODS[int(i)] for i in rng.permutation(len(GOODS))[: self.lines]]
        amounts = [int(rng.integers(0, 10)) for _ in goods]
        picked = [int(i) for i in rng.choice(self.lines, self.users, replace=False)]
        asked = [
            (line, user, int(rng.integers(1, 9))) for line in picked for user in range(self.users)
        ]
        if self.goal == "common":
            asked = [ask for i, ask in enumerate(asked) if i // self.users == ask[1]]
        return SharedOrderParams(
            goods=tuple(goods),
            amounts=tuple(amounts),
            people=tuple(somebody(self.users, rng)),
            asked=tuple(asked),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def goals(self, params: SharedOrderParams) -> tuple[str, ...]:
        told = []
        for user, me in enumerate(params.people):
            others = listing([name for name in params.people if name != me])
            lines = [
                f"{params.amounts[line] + added if self.goal == 'common' else added} "
                f"{params.goods[line][0].lower()}"
                for line, owner, added in params.asked
                if self.goal == "common" or owner == user
            ]
            goals = COMMON if self.goal == "common" else SPLIT
            told.append(goals[params.phrasing].format(me=me, others=others, lines=listing(lines)))
        return tuple(told)

    def open(self, params: SharedOrderParams) -> OrderDocument:
        return OrderDocument(self.users, params.amounts)

    def page_params(self, params: SharedOrderParams, user: int) -> dict[str, Any]:
        return {
            "goods": params.goods,
            "people": params.people,
            "user": user,
            "theme": params.theme,
            "most": MOST,
        }

    def wanted(self, params: SharedOrderParams) -> tuple[object, ...]:
        amounts = list(params.amounts)
        for line, _, added in params.asked:
            amounts[line] += added
        return tuple(amounts)

    def state_size(self) -> int:
        return self.lines

    def oracle(
        self, windows: Windows, params: SharedOrderParams, mistake: str = ""
    ) -> Iterator[Round]:
        """Each adds its amounts, one line after another, and no two to one line at a time.

        ``twice``: a second user enters the first line as well, with the same amount.
        ``overwrite``: with another amount, which it lets stand. ``double``: it adds both.
        """
        parts = [
            [(line, n) for line, u, n in params.asked if u == user] for user in range(self.users)
        ]
        if mistake:
            line, added = parts[0][0]
            right = params.amounts[line] + added
            wrong = right if mistake == "twice" else right + 1
            yield from self._together(windows, {0: (line, right), 1: (line, wrong)})
            if mistake != "twice":
                how = "mine" if mistake == "overwrite" else "both"
                yield self.round(u1=click(windows.devices[1], f"#{how}"))
            parts[0] = [part for part in parts[0] if part[0] != line]
        lines = sorted({line for line, *_ in params.asked})
        for phase in range(len(lines)):
            now = windows.document.cells()
            jobs: dict[int, tuple[int, int]] = {}
            for user, part in enumerate(parts):
                line = lines[(phase + user) % len(lines)]
                for added in (n for at, n in part if at == line):
                    jobs[user] = (line, int(str(now[line])) + added)
            yield from self._together(windows, jobs)

    def _together(self, windows: Windows, jobs: Mapping[int, tuple[int, int]]) -> Iterator[Round]:
        """Each enters an amount and saves the line, all at once."""
        for step in range(3 if jobs else 0):
            acting: dict[str, Action | Demo] = {}
            for user, (line, amount) in jobs.items():
                device = windows.devices[user]
                moves = (
                    lambda: click(device, f"#amount-{line}"),  # noqa: B023  # asked for here
                    lambda: Type(str(amount), clear=True),  # noqa: B023
                    lambda: click(device, f"#save-{line}"),  # noqa: B023
                )
                acting[f"u{user}"] = Demo(moves[step](), f"Line {line + 1} becomes {amount}.")
            yield self.round(**acting)
