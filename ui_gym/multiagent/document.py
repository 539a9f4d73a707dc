"""SharedDocument: what several people work on, as a server holds it.

It lives in this process. Windows are given snapshots of it and send edits; each edit is answered.
Nothing here knows of browsers, so that a document is tested in a millisecond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

ClashKind = Literal["astray", "conflict", "lost", "twice"]

CLASH_WORDS: dict[str, str] = {
    "astray": "handed to somebody whom it does not concern",
    "conflict": "edits refused since somebody else's came first",
    "lost": "edits lost under somebody else's",
    "twice": "work done twice",
}


@dataclass(frozen=True)
class Clash:
    """One edit that got in the way of another: who made the later one, and on what."""

    kind: ClashKind
    user: int
    what: str


class SharedDocument:
    """The truth that the windows of `users` people show, more or less up to date.

    `edit` takes what a window sends, in the order of the agents; `snapshot` is what a window shows
    that loads the document now; `cells` are all of its values in a fixed order, by which it is
    judged; `levels` says how many values each cell may have, for `vector`.
    """

    pushes: ClassVar[bool] = False
    """Whether windows are told of a change at once; else they learn of it when they ask."""

    def __init__(self, users: int) -> None:
        self.users = users
        self.version = 0
        """Goes up with every change."""
        self.clashes: list[Clash] = []

    def snapshot(self, user: int) -> dict[str, Any]:
        """What the window of `user` shows that loads the document now: values for JSON."""
        raise NotImplementedError

    def edit(self, user: int, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Do what the window of `user` asks for; the answer, values for JSON."""
        raise NotImplementedError

    def cells(self) -> tuple[object, ...]:
        """All values, in an order that no edit changes."""
        raise NotImplementedError

    def vector(self) -> NDArray[np.float32]:
        """The document as numbers from 0 to 1, of a shape that depends on the task alone."""
        raise NotImplementedError

    def clash(self, kind: ClashKind, user: int, what: str) -> None:
        """Note that an edit of `user` got in the way of another."""
        self.clashes.append(Clash(kind, user, what))
