"""The kanban board, whose server refuses moves between columns that somebody else has changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ui_gym.browser.content.boards import BOARDS, somebody
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action, Drag
from ui_gym.contract.draws import pick
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.task import Round, TeamTask, Windows, numbers

Card = tuple[str, str, str, int]
"""Title, label, person, and the number of its column."""

COLUMNS = 3
THEMES = 6

COMMON = (
    "You are {me}. With {others}, bring the board up to date: move {moves}. Share the work: no "
    "card should be moved by two of you.",
    "{others} and you ({me}) look after this board together. Between you, move {moves}, and "
    "nothing else.",
    "This board is yours and {others}'s; you are {me}. All of this is to be moved, by any of you "
    "but only once: {moves}.",
)
SPLIT = (
    "You are {me}. Move {moves}. Other cards of this board are moved by {others} at the same time; "
    "leave those alone.",
    "As {me}, move {moves}. Take care: this board is also used by {others}.",
    "Your part of the board ({me}): move {moves}. What else there is to move is up to {others}.",
)


@dataclass(frozen=True)
class SharedKanbanParams:
    """All that varies between episodes."""

    board: str
    columns: tuple[str, ...]
    cards: tuple[Card, ...]
    people: tuple[str, ...]
    """Who the agents are."""
    asked: tuple[tuple[int, int], ...]
    """The cards to move, and the column that each goes to, as numbers."""
    shares: tuple[int, ...]
    """The user whose part each of the asked moves is."""
    theme: int
    phrasing: int


class KanbanDocument(SharedDocument):
    """Cards in columns. A move is refused if somebody else has changed one of its two columns since
    the mover's window was told of the board: where in the column the card would fall is not known
    then."""

    def __init__(self, users: int, columns: int, where: list[int]) -> None:
        super().__init__(users)
        self._columns = columns
        self._where = where
        self._order = [[c for c, at in enumerate(where) if at == n] for n in range(columns)]
        self._changed: list[dict[int, int]] = [{} for _ in range(columns)]
        """For each column, the version in which each user last changed it."""

    def snapshot(self, user: int) -> dict[str, Any]:
        return {"version": self.version, "columns": [list(cards) for cards in self._order]}

    def edit(self, user: int, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        if kind == "move":
            card, to, seen = int(data["card"]), int(data["to"]), int(data["seen"])
            if self._is_refused(user, card, to, seen):
                done = self._where[card] == to
                self.clash("twice" if done else "conflict", user, f"card {card}")
                return {"kind": "conflict", "card": card, "document": self.snapshot(user)}
            self._move(user, card, to)
        return {"kind": "board", "document": self.snapshot(user)}

    def _is_refused(self, user: int, card: int, to: int, seen: int) -> bool:
        touched = [self._changed[self._where[card]], self._changed[to]]
        return any(version > seen for by in touched for who, version in by.items() if who != user)

    def _move(self, user: int, card: int, to: int) -> None:
        source = self._where[card]
        if source == to:
            return
        self.version += 1
        self._order[source].remove(card)
        self._order[to].append(card)
        self._where[card] = to
        self._changed[source][user] = self._changed[to][user] = self.version

    def cells(self) -> tuple[object, ...]:
        return tuple(self._where)

    def vector(self) -> NDArray[np.float32]:
        return numbers(self._where, self._columns - 1)


class SharedKanban(TeamTask[SharedKanbanParams]):
    """Cards of a board are dragged to the columns that the goals name.

    A window learns of others' moves with the answer to its own, by "Refresh", and by a poll every
    two seconds of its clock, which stands still but for actions: ``wait(2)`` is such a poll. A move
    is refused if somebody else has changed one of its columns since the window was told of it; a
    dialog says so and must be closed, and the move be made again.
    """

    name = "shared_board_v0:kanban"
    page = "kanban.html"
    mistakes = ("overwrite", "stale", "twice")

    def __init__(
        self, *, users: int = 2, goal: str = "common", cards: int = 9, moves: int = 2
    ) -> None:
        """`cards` on the board, and `moves` for each user."""
        super().__init__(users=users, goal=goal)
        for value, low, high, what in (
            (moves, 1, 4, "moves"),
            (cards, users * moves + 1, 15, "cards"),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise UserError(f"{self.name}: {what} must be {low} to {high}, not {value!r}")
        self.cards = cards
        self.moves = moves
        self.max_cycles = 6 * users * moves

    def sample(self, rng: Generator) -> SharedKanbanParams:
        board = pick(rng, BOARDS)
        kept = sorted(int(i) for i in rng.choice(len(board.columns), COLUMNS, replace=False))
        people = somebody(self.users, rng)
        titles = board.titles(self.cards, False, rng)
        cards = [
            (title, pick(rng, board.labels), pick(rng, people), i % COLUMNS)
            for i, title in enumerate(titles)
        ]
        picked = [int(i) for i in rng.choice(self.cards, self.users * self.moves, replace=False)]
        asked = []
        for card in picked:
            others = [n for n in range(COLUMNS) if n != cards[card][3]]
            asked.append((card, pick(rng, others)))
        return SharedKanbanParams(
            board=board.name,
            columns=tuple(board.columns[i] for i in kept),
            cards=tuple(cards),
            people=tuple(people),
            asked=tuple(asked),
            shares=tuple(i % self.users for i in range(len(asked))),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def goals(self, params: SharedKanbanParams) -> tuple[str, ...]:
        told = []
        for user, me in enumerate(params.people):
            others = listing([name for name in params.people if name != me])
            moves = [
                f'"{params.cards[card][0]}" to "{params.columns[to]}"'
                for (card, to), share in zip(params.asked, params.shares, strict=True)
                if self.goal == "common" or share == user
            ]
            goals = COMMON if self.goal == "common" else SPLIT
            told.append(goals[params.phrasing].format(me=me, others=others, moves=listing(moves)))
        return tuple(told)

    def open(self, params: SharedKanbanParams) -> KanbanDocument:
        return KanbanDocument(self.users, COLUMNS, [column for *_, column in params.cards])

    def page_params(self, params: SharedKanbanParams, user: int) -> dict[str, Any]:
        return {
            "board": params.board,
            "columns": params.columns,
            "cards": [card[:3] for card in params.cards],
            "people": params.people,
            "user": user,
            "theme": params.theme,
        }

    def wanted(self, params: SharedKanbanParams) -> tuple[object, ...]:
        cells = [column for *_, column in params.cards]
        for card, to in params.asked:
            cells[card] = to
        return tuple(cells)

    def state_size(self) -> int:
        return self.cards

    def oracle(
        self, windows: Windows, params: SharedKanbanParams, mistake: str = ""
    ) -> Iterator[Round]:
        """In turn, each moves a card of its own; who is behind refreshes before.

        ``twice``: a second user moves the first card in the same round. ``overwrite``: a second
        user moves the first card back. ``stale``: the second does not refresh, is refused, and
        leaves it at that.
        """
        jobs = [
            deque(ask for ask, share in zip(params.asked, params.shares, strict=True) if share == u)
            for u in range(self.users)
        ]
        if mistake == "twice":
            first = jobs[0].popleft()
            both = {f"u{u}": self._drag(windows, params, u, first) for u in (0, 1)}
            yield self.round(**both)
            yield self.round(u1=click(windows.devices[1], "#ok"))
        elif mistake == "overwrite":
            card = jobs[0][0][0]
            jobs[1].appendleft((card, params.cards[card][3]))
        careless = 1 if mistake == "stale" else None
        turn = 0
        while any(jobs):
            if not jobs[turn]:
                turn = (turn + 1) % self.users
                continue
            acting: dict[str, Action | Demo] = {
                f"u{u}": click(windows.devices[u], "#refresh")
                for u in range(self.users)
                if u != careless and jobs[u] and (u != turn or windows.is_stale(u))
            }
            if f"u{turn}" not in acting:
                acting[f"u{turn}"] = self._drag(windows, params, turn, jobs[turn].popleft())
                if turn == careless:
                    jobs[turn].clear()
                turn = (turn + 1) % self.users
            yield self.round(**acting)

    def _drag(
        self, windows: Windows, params: SharedKanbanParams, user: int, ask: tuple[int, int]
    ) -> Demo:
        card, to = ask
        device = windows.devices[user]
        drag = Drag(*device.center(f"#card-{card}"), *device.center(f"#column-{to} .cards"))
        return Demo(drag, f'"{params.cards[card][0]}" goes to {params.columns[to]}')
