"""Scenery: what of a phone's state has nothing to do with a task's goal, and varies all the same.

It makes first screens differ, and it is what an agent must leave alone. All of it is brought about
by shell lines that a real phone knows, too.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ui_gym.android.toggles import TOGGLES
from ui_gym.contract.tables import read_table

SHARES = {
    "airplane": 0.15, "wifi": 0.7, "bluetooth": 0.5, "data": 0.8, "dnd": 0.15, "saver": 0.15,
    "rotate": 0.4, "dark": 0.35, "auto_time": 0.8,
}  # fmt: skip
"""How often each switch is on. Airplane mode comes first, as it changes what others mean."""

NOTES: tuple[tuple[str, str], ...] = read_table("ui_gym.android.content", "words")["notifications"]
"""(title, text) of notifications. Each is posted under a tag of its own."""


@dataclass(frozen=True)
class Scenery:
    """The state of what is beside the point."""

    on: tuple[str, ...]
    """The switches (`ui_gym.android.toggles`) that are on; all others are off."""
    brightness: int
    """Of the screen, 1 to 255."""
    notes: tuple[int, ...]
    """The notifications that are posted, of `NOTES`, the oldest first."""

    def lines(self, but: Collection[str] = ()) -> list[str]:
        """Shell lines that bring it about, except for the switches `but`, and of ``brightness``
        and ``notes`` what is named there."""
        lines = [TOGGLES[name].turn(name in self.on) for name in SHARES if name not in but]
        if "brightness" not in but:
            lines += brightness_lines(self.brightness)
        if "notes" not in but:
            lines += [note_line(i) for i in self.notes]
        return lines


def draw(rng: np.random.Generator, *, most_notes: int = 3) -> Scenery:
    """A scenery, with up to `most_notes` notifications."""
    on = tuple(name for name, share in SHARES.items() if rng.random() < share)
    notes = rng.choice(len(NOTES), size=int(rng.integers(most_notes + 1)), replace=False)
    return Scenery(on, int(rng.integers(20, 240)), tuple(int(i) for i in notes))


QUIET = ("wifi", "data", "auto_time")


def quiet(rng: np.random.Generator) -> Scenery:
    """A scenery of which hardly anything is seen: the light theme, and no notification."""
    bluetooth = ("bluetooth",) if rng.random() < SHARES["bluetooth"] else ()
    return Scenery((*QUIET, *bluetooth), int(rng.integers(20, 240)), ())


def brightness_lines(level: int) -> list[str]:
    """Lines that set the screen's brightness, of 255, by hand."""
    return [
        "settings put system screen_brightness_mode 0",
        f"settings put system screen_brightness {level}",
    ]


def note_line(i: int) -> str:
    """The line that posts the notification `i` of `NOTES`."""
    title, text = NOTES[i]
    return f"cmd notification post -t {shlex.quote(title)} scene{i} {shlex.quote(text)}"
