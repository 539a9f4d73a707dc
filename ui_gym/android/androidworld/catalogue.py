"""Which tasks AndroidWorld has: what a catalogue knows of each, before anything is imported.

AndroidWorld's code is not part of this package. Where its package `android_world` can be imported
its tasks are registered; where it cannot, their ids say how to get it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ui_gym.contract.spec import Difficulty, TaskSpec
from ui_gym.contract.tables import read_table

COLLECTION = "android_world"
REMEDY = (
    "AndroidWorld is installed from its source, in an environment of its own, "
    "as docs/androidworld.md says"
)
MODULE = "ui_gym.android.androidworld.tasks"

_WRITTEN = read_table("ui_gym.android.androidworld", "catalogue")


@dataclass(frozen=True)
class WorldEntry:
    """A task of AndroidWorld."""

    name: str
    """The name of its class, there and here."""
    category: str
    """The app that it is about."""
    difficulty: Difficulty
    steps: int
    """How many steps AndroidWorld gives it: ten for each unit of its complexity."""

    @property
    def spec(self) -> TaskSpec:
        words = " ".join(re.findall(r"[A-Z][a-z0-9]*|[a-z0-9]+", self.name))
        return TaskSpec(
            name=f"AndroidWorld-{self.name}",
            suite="android",
            entry_point=f"{MODULE}:{self.name}",
            category=self.category,
            difficulty=self.difficulty,
            max_steps=self.steps,
            tags=(COLLECTION,),
            summary=f"AndroidWorld's task: {words}.",
            collection=COLLECTION,
        )


ENTRIES = {entry.name: entry for entry in (WorldEntry(*row) for row in _WRITTEN["tasks"])}
"""All 116 tasks of AndroidWorld's suite, by their names."""
