"""The compact board, which a model of a million parameters can read.

A board of two columns as a list of check boxes: a card that is ticked is done. It is drawn as the
compact page of `CheckboxSet`, on a grid of 32 pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ui_gym.browser.content import words
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.task import Round, TeamTask, Windows, numbers

SIZE = (320, 256)
ROWS = 6
"""Cards that the page has room for, below its title and above the button."""
PATCH = 32
"""The height of a row, in pixels."""

GOALS = ("Choose {names}. Press Save.", "Click {names}. Press Save.")


@dataclass(frozen=True)
class SharedChecklistParams:
    """All that varies between episodes."""

    labels: tuple[str, ...]
    """The cards, from top to bottom in the window of the first user."""
    asked: tuple[int, ...]
    """The cards to be ticked, in the goals' order."""
    shares: tuple[int, ...]
    """The user whose part each of these is."""
    top: int
    """What is free above the cards, in pixels."""
    phrasing: int


class ChecklistDocument(SharedDocument):
    """Cards that are done or not. A window saves those that its user has changed; a card is refused
    that somebody else has changed since, and the window then shows what the server has."""

    def __init__(self, users: int, cards: int) -> None:
        super().__init__(users)
        self._done = [False] * cards
        self._changed = [(0, -1)] * cards
        """In which version each card was last changed, and by whom."""

    def snapshot(self, user: int) -> dict[str, Any]:
        return {"version": self.version, "done": list(self._done)}

    def edit(self, user: int, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        refused = False
        for card, done in data.get("cards", ()):
            version, who = self._changed[card]
            if version > data["seen"] and who != user:
                refused = True
                same = self._done[card] == done
                self.clash("twice" if same else "conflict", user, f"card {card}")
            elif self._done[card] != done:
                self.version += 1
                self._done[card] = bool(done)
                self._changed[card] = (self.version, user)
        return {"kind": "conflict" if refused else "saved", "document": self.snapshot(user)}

    def cells(self) -> tuple[object, ...]:
        return tuple(self._done)

    def vector(self) -> NDArray[np.float32]:
        return numbers([int(done) for done in self._done], 1)


class SharedChecklist(TeamTask[SharedChecklistParams]):
    """Cards are ticked and saved, on a page of 320x256 pixels with people's short names.

    "Save" sends the cards that were changed in this window. A card is refused that somebody else
    has changed since the window was told of the list; each save brings the whole list. Each user
    has an order of its own, see `order`.
    """

    name = "shared_board_v0:kanban-compact"
    page = "checklist.html"
    viewport = SIZE
    mistakes = ("overwrite", "twice", "unsaved")

    def __init__(
        self, *, users: int = 2, goal: str = "common", cards: int = 4, asked: int = 1
    ) -> None:
        """`cards` on the list, and how many of them are `asked` of each user."""
        super().__init__(users=users, goal=goal)
        for value, low, high, what in (
            (asked, 1, ROWS // users, "asked"),
            (cards, users * asked, ROWS, "cards"),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise UserError(f"{self.name}: {what} must be {low} to {high}, not {value!r}")
        self.cards = cards
        self.asked = asked
        self.max_cycles = 2 * (asked + 1)

    def sample(self, rng: Generator) -> SharedChecklistParams:
        labels = tuple(str(name) for name in rng.permutation(words.FIRST_SHORT)[: self.cards])
        asked = rng.choice(self.cards, size=self.users * self.asked, replace=False)
        return SharedChecklistParams(
            labels=labels,
            asked=tuple(int(i) for i in asked),
            shares=tuple(i % self.users for i in range(len(asked))),
            top=PATCH * int(rng.integers(ROWS - self.cards + 1)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goals(self, params: SharedChecklistParams) -> tuple[str, ...]:
        told = []
        for user in range(self.users):
            names = [
                params.labels[card]
                for card, share in zip(params.asked, params.shares, strict=True)
                if self.goal == "common" or share == user
            ]
            told.append(GOALS[params.phrasing].format(names=", ".join(names)))
        return tuple(told)

    def open(self, params: SharedChecklistParams) -> ChecklistDocument:
        return ChecklistDocument(self.users, self.cards)

    def page_params(self, params: SharedChecklistParams, user: int) -> dict[str, Any]:
        return {"labels": params.labels, "order": self.order(user), "top": params.top}

    def order(self, user: int) -> list[int]:
        """The cards as the list of `user` has them: every other user's runs from bottom to top.

        Without that all agents would see the same in a common goal, and no rule could tell them
        apart: now each may begin at its top.
        """
        cards = list(range(self.cards))
        return cards[::-1] if user % 2 else cards

    def wanted(self, params: SharedChecklistParams) -> tuple[object, ...]:
        return tuple(card in params.asked for card in range(self.cards))

    def state_size(self) -> int:
        return self.cards

    def oracle(
        self, windows: Windows, params: SharedChecklistParams, mistake: str = ""
    ) -> Iterator[Round]:
        """Each ticks its own cards, and saves; of a common job, those that it has at its top.

        ``twice``: a second user ticks the first user's cards too. ``overwrite``: the second user
        saves, is shown a card of the first, unticks it and saves again. ``unsaved``: the second
        does not save.
        """
        own = [self._part(params, user) for user in range(self.users)]
        plans = [[*(f"#box-{card}" for card in cards), "#save"] for cards in own]
        if mistake == "twice":
            plans[1] = [f"#box-{card}" for card in own[0]] + plans[1]
        elif mistake == "overwrite":
            undo = [f"#box-{own[0][0]}", "#save"]
            plans[1] = [*[""] * len(own[0]), "#save", *undo]
        elif mistake == "unsaved":
            plans[1].pop()
        for turn in range(max(map(len, plans))):
            acting: dict[str, Action | Demo] = {
                f"u{user}": self._click(windows, params, user, plan[turn])
                for user, plan in enumerate(plans)
                if turn < len(plan) and plan[turn]
            }
            yield self.round(**acting)

    def _part(self, params: SharedChecklistParams, user: int) -> list[int]:
        """The cards that `user` sees to."""
        if self.goal == "split" or self.users > 2:
            return [c for c, u in zip(params.asked, params.shares, strict=True) if u == user]
        return [card for card in self.order(user) if card in params.asked][: self.asked]

    def _click(
        self, windows: Windows, params: SharedChecklistParams, user: int, selector: str
    ) -> Demo:
        thought = "Save" if selector == "#save" else params.labels[int(selector[5:])]
        ticked = windows.devices[user].state()["ticked"]
        caption = "\n".join(
            f"{params.labels[card]} {'on' if card in ticked else 'off'}"
            for card in self.order(user)
        )
        return Demo(click(windows.devices[user], selector), thought, caption)
