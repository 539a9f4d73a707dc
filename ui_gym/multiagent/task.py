"""TeamTask: what several agents are to do to one document, how it starts, and how it is judged.

What `ui_gym.contract.task.Task` is for one agent: all that varies is drawn in `sample`, and the
rest are functions of the params, the document and the team's windows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ui_gym.browser.content.choices import changed_share
from ui_gym.browser.device import BrowserDevice
from ui_gym.contract.action import Action, Wait
from ui_gym.contract.task import Demo, Split, Verdict, split_of
from ui_gym.errors import TaskError, UserError, nearest
from ui_gym.multiagent.document import CLASH_WORDS, SharedDocument

P = TypeVar("P")

PAGES = Path(__file__).with_name("pages")

CLASH = 0.1
"""What each clash costs of the score."""

GOALS = ("common", "split")

Round = Sequence[Action | Demo]
"""What all agents do at once, one action each, in their order."""


class Windows:
    """What an oracle may look at: the agents' browsers, and which of them are behind."""

    document: SharedDocument
    devices: Sequence[BrowserDevice]

    def is_stale(self, user: int) -> bool:
        """Whether the document has changed since the window of `user` was told of it."""
        raise NotImplementedError


class TeamTask(Generic[P]):
    """Base class of what teams do; `P` is its params, a frozen dataclass of plain values.

    Args:
        users: How many agents, 2 to 4.
        goal: ``"common"``: all are told the whole job. ``"split"``: each is told its own part.
    """

    name: ClassVar[str]
    page: ClassVar[str]
    """A file of ``ui_gym/multiagent/pages``."""
    viewport: tuple[int, int] = (1280, 800)
    mistakes: ClassVar[tuple[str, ...]] = ()
    """What a careless team does, see `oracle`: each comes close, and none reaches the goal."""
    max_cycles: int = 40

    def __init__(self, *, users: int = 2, goal: str = "common") -> None:
        if isinstance(users, bool) or not isinstance(users, int) or not 2 <= users <= 4:
            raise UserError(f"{self.name}: users must be 2 to 4, not {users!r}")
        if goal not in GOALS:
            raise UserError(f"there is no goal {goal!r}. {nearest(str(goal), GOALS)}")
        self.users = users
        self.goal = goal

    # -- what a task says --

    def sample(self, rng: np.random.Generator) -> P:
        """All that varies, drawn from `rng` alone."""
        raise NotImplementedError

    def goals(self, params: P) -> tuple[str, ...]:
        """The sentences that each agent reads."""
        raise NotImplementedError

    def open(self, params: P) -> SharedDocument:
        """The document as it is at the start."""
        raise NotImplementedError

    def page_params(self, params: P, user: int) -> dict[str, Any]:
        """What the window of `user` is given beside the document; nothing that gives the answer."""
        raise NotImplementedError

    def wanted(self, params: P) -> tuple[object, ...]:
        """The cells of the document when all is as asked."""
        raise NotImplementedError

    def state_size(self) -> int:
        """The length of the document's `vector`, the same for all params."""
        raise NotImplementedError

    def oracle(self, windows: Windows, params: P, mistake: str = "") -> Iterator[Round]:
        """Rounds of a team that solves it, or makes a `mistake`.

        ``twice``: two do the same work. ``overwrite``: one undoes what another has done.
        """
        raise NotImplementedError

    # -- what the base class gives --

    def judge(self, document: SharedDocument, params: P) -> Verdict:
        """The team's score.

        The share of the way from the start to what is asked, less for each cell that was changed
        without need, less `CLASH` for every clash. Done when every cell is as asked.
        """
        before, wanted, now = self.open(params).cells(), self.wanted(params), document.cells()
        missing = sum(n != w != b for b, w, n in zip(before, wanted, now, strict=True))
        harm = sum(n != b == w for b, w, n in zip(before, wanted, now, strict=True))
        counts = dict.fromkeys(CLASH_WORDS, 0)
        for clash in document.clashes:
            counts[clash.kind] += 1
        share = changed_share(before, wanted, now)
        score = max(0.0, share - CLASH * len(document.clashes))
        notes = [f"asked changes that are missing: {missing}" if missing else "all is as asked"]
        notes += [f"changes that nobody asked for: {harm}"] if harm else []
        notes += [f"{CLASH_WORDS[kind]}: {n}" for kind, n in counts.items() if n]
        details = {"missing": missing, "harm": harm, **counts}
        return Verdict(round(score, 6), now == wanted, "; ".join(notes), details)

    def draw(self, seed: int, split: Split | None = None) -> P:
        """The params of `seed` within `split`; the same seed always gives the same params."""
        rng = np.random.default_rng(seed)
        for _ in range(1000):
            params = self.sample(rng)
            if split is None or split_of(params) == split:
                return params
        raise TaskError(
            f"{self.name}: 1,000 draws of seed {seed} gave nothing in the split {split!r}; "
            "its params vary too little"
        )

    def draw_mistake(self, rates: Mapping[str, float], seed: int) -> str:
        """The first mistake, by name, that happens in the episode of `seed`; mostly none.

        Each has a generator of its own, so that one's rate never changes another's draw.
        """
        for mistake, rate in sorted(rates.items()):
            digest = hashlib.sha256(f"{mistake}:{seed}".encode()).digest()
            rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
            if rng.random() < rate:
                return mistake
        return ""

    def round(self, **acting: Action | Demo) -> Round:
        """A round in which the users ``u0``, ``u1``... act as told, and all others wait."""
        return [acting.get(f"u{user}", Wait(REST)) for user in range(self.users)]


REST = 0.5
"""Seconds of its page's time for which an oracle waits that has nothing to do."""


def numbers(values: Sequence[int], most: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Whole numbers from 0 to `most` as numbers from 0 to 1."""
    return np.asarray(values, np.float32) / np.float32(max(1, most))
