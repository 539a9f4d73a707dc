"""Which MiniWoB++ tasks there are: what a catalogue knows of each, before anything is imported.

The pages are not part of this package. Where the distribution `miniwob` is installed its tasks are
registered; where it is not, their ids say how to get it.
"""

from __future__ import annotations

import importlib.util
import math
import re
from dataclasses import dataclass
from pathlib import Path

from ui_gym.contract.spec import Difficulty, TaskSpec
from ui_gym.contract.tables import read_table
from ui_gym.errors import UserError

COLLECTION = "miniwob"
REMEDY = "pip install 'ui-gym[miniwob]'"

STEP_TIME = 0.5
"""Page time of a step, in seconds: menus have slid open and hints have appeared when it is over."""

STEP_TIMES = {"click-pie": 1.5, "stock-market": 0.1}
"""Of tasks whose animations take longer, or that change faster than that."""

_WRITTEN = read_table("ui_gym.browser.miniwob", "catalogue")

LEFTOVERS = frozenset(_WRITTEN["leftovers"])
"""Tasks whose pages remember something of an episode when the next one starts in them."""

MODULE = "ui_gym.browser.miniwob.tasks"


@dataclass(frozen=True)
class Entry:
    """A task of MiniWoB++."""

    subdomain: str
    """MiniWoB's own name of it, which is also its file's: ``click-button``, ``flight.AA``."""
    category: str
    difficulty: Difficulty
    seconds: int
    """How long an episode may take, in page time."""
    summary: str

    @property
    def name(self) -> str:
        """``ClickButton``: the name of its class, there and here."""
        parts = re.split(r"[-.]", self.subdomain)
        return "".join(part[0].upper() + part[1:] for part in parts)

    @property
    def is_flight(self) -> bool:
        """Whether it is one of the three large pages of airlines."""
        return self.subdomain.startswith("flight.")

    @property
    def restarts(self) -> bool:
        """Whether the next episode may start in the page of the one before."""
        return not (self.is_flight or self.subdomain in LEFTOVERS)

    @property
    def path(self) -> str:
        """The page's file in the folder of pages."""
        if self.is_flight:
            return f"{self.subdomain.replace('.', '/', 1)}/wrapper.html"
        return f"miniwob/{self.subdomain}.html"

    @property
    def step_time(self) -> float:
        return STEP_TIMES.get(self.subdomain, STEP_TIME)

    @property
    def spec(self) -> TaskSpec:
        return TaskSpec(
            name=f"MiniWoB-{self.name}",
            suite="browser",
            entry_point=f"{MODULE}:{self.name}",
            category=self.category,
            difficulty=self.difficulty,
            max_steps=math.ceil(self.seconds / self.step_time),
            tags=(COLLECTION, "flight") if self.is_flight else (COLLECTION,),
            summary=self.summary,
            collection=COLLECTION,
        )


ENTRIES = {entry.name: entry for entry in (Entry(*row) for row in _WRITTEN["tasks"])}
"""All tasks that `miniwob` 1.1.0 registers, by their names."""


def html_folder() -> Path | None:
    """Where the installed distribution keeps its pages; None where there is none.

    The distribution is found, not imported: importing it registers its own envs and may print.
    """
    found = importlib.util.find_spec("miniwob")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "html"
    return folder if folder.is_dir() else None


def need_html_folder() -> Path:
    """`html_folder`, or a `UserError` that says how to get it."""
    folder = html_folder()
    if folder is None:
        raise UserError(f"the distribution miniwob, whose pages are played, is missing: {REMEDY}")
    return folder
