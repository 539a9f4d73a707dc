"""Delete several files of a folder, in the file manager."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ui_gym.contract.action import Action, Click, Press
from ui_gym.contract.draws import between, other, pick, some
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop import compact as small
from ui_gym.desktop import navigation
from ui_gym.desktop.compact_task import NAMES as NAMES
from ui_gym.desktop.compact_task import CompactDesktopTask
from ui_gym.desktop.content import texts
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.tasks.filing import COMPACT_FILES, FilingParams, FilingTask, PcmanfmTask

FOLDER = "Shopping"
"""The compact folder."""

FILES = COMPACT_FILES
"""How many files it has."""

X, CELL = small.SIZE[0] // 2, 8
"""Where its oracle clicks in a row, and the side of the squares by which it tells heights."""

COMPACT_GOALS = ("Delete {names}.", "Remove {names}.")
"""Of few words, each of which is one token to a tiny model."""


@dataclass(frozen=True)
class DeleteParams(FilingParams):
    """Folders, and some files of one."""

    targets: tuple[str, ...]
    """The files that are meant."""
    aimless: int = 0
    """The seed of somebody who does parts of the job in any order; 0 for who does it right."""


@register(
    "DesktopDeleteFiles", suite="desktop", category="pcmanfm", difficulty="medium", max_steps=25,
    tags=("files",),
)  # fmt: skip
class DesktopDeleteFiles(CompactDesktopTask[DeleteParams], FilingTask[DeleteParams]):
    """Delete some files of a folder and no other.

    ## Description
    The goal names files and their folder. Files of like names lie beside them and in other folders.
    With ``compact=True`` there is one folder with five files of short names, on a screen that a
    model of a million parameters can read, and what is deleted goes to the trash unasked.

    ## Rewards
    1 if the files are gone, into the trash or for ever, and all others are unchanged.

    ## Starting state
    The file manager with that folder or the home folder; compact: with the folder.

    ## Arguments
    | `asked` | 2 | how many files the goal names, 1 to 3 |
    | `compact` | False | a screen of 400x320 pixels, and one action more than a file needs |
    """

    mistakes = ("sibling",)
    compact_goals = COMPACT_GOALS
    compact_mistakes = ("sibling", "aimless")
    goals: Sequence[str] = (
        'Delete these files in the folder "{source}": {names}.',
        "Please remove {names} from {source}, and keep all other files.",
        "Use the file manager to move {names}, all in {source}, to the trash.",
    )

    def __init__(self, *, asked: int = 2, compact: bool = False) -> None:
        self.asked = self.check_range("asked", asked, 1, 3)
        self.compact_steps = 2 * asked
        super().__init__(compact=compact)
        if compact:
            # Not twice as many: what is published of it was measured with these.
            self.max_steps = self.compact_steps + 1

    def sample(self, rng: np.random.Generator) -> DeleteParams:
        if self.compact:
            held = tuple((name, texts.page(rng, 1, 1)) for name in some(rng, NAMES, FILES))
            phrasing = self.phrase(rng)
            cabinet: dict[str, Any] = {
                "folders": ((FOLDER, held),), "inside": True, "source": FOLDER,
                "phrasing": phrasing,
            }  # fmt: skip
        else:
            cabinet = self.cabinet(rng)
        names = [name for name, _ in dict(cabinet["folders"])[cabinet["source"]]]
        return DeleteParams(**cabinet, targets=some(rng, names, self.asked))

    def told(self, params: DeleteParams) -> Mapping[str, object]:
        *most, last = params.targets
        return {"names": f"{', '.join(most)} and {last}" if most else last}

    def after(self, params: DeleteParams) -> Mapping[str, str]:
        gone = {f"{params.source}/{name}" for name in params.targets}
        return {path: text for path, text in self.before(params).items() if path not in gone}

    def oracle(self, device: DesktopDevice, params: DeleteParams) -> Iterator[Action | Demo]:
        if self.compact:
            yield from _Reader(params).solve()
            return
        browser = PcmanfmTask(device, params, self)
        yield from browser.show(params.source)
        for name in params.targets:
            yield from browser.choose(name)
            yield Press("delete")
            yield from navigation.opened(device, "Confirm")
            yield Press("enter")
            yield from navigation.closed(device, "Confirm")
            browser.files.remove(f"{params.source}/{name}")

    def misread(self, params: DeleteParams, mistake: str, rng: np.random.Generator) -> DeleteParams:
        """``sibling``: another file of the folder is taken for the first; ``aimless`` (compact):
        files that are named are clicked, and the key pressed, in any order."""
        if mistake == "aimless":
            return dataclasses.replace(params, aimless=between(rng, 1, 2**31 - 1))
        others = params.targets[1:]
        taken = other(rng, params.names(params.source), *params.targets)
        return dataclasses.replace(params, targets=(taken, *others))

    def blind_rate(self, params: DeleteParams) -> float:
        """As many files as are named, whichever."""
        return 1 / math.comb(len(params.names(params.source)), len(params.targets))


class _Reader:
    """Who plays the compact folder, and reads it aloud from top to bottom as far as needed."""

    def __init__(self, params: DeleteParams) -> None:
        self._rng = np.random.default_rng(params.aimless) if params.aimless else None
        self._targets = params.targets
        self._left = sorted(params.names(params.source), key=str.lower)
        self._chosen = ""

    def solve(self) -> Iterator[Demo]:
        """Delete what is named; who is aimless does not stop."""
        while waiting := [name for name in self._left if name in self._targets]:
            name = self._next(waiting)
            seen = self._lines()
            if name:
                row = self._left.index(name)
                yield Demo(Click(X, small.middle(row)), _text(seen[: row + 1]), _text(seen))
                self._chosen = name
            else:
                last = self._left.index(self._chosen) + 1 if self._chosen else len(seen)
                yield Demo(Press("delete"), _text(seen[:last]), _text(seen))
                self._left = [name for name in self._left if name != self._chosen]
                self._chosen = ""

    def _next(self, waiting: Sequence[str]) -> str:
        """The file to click; empty for the key."""
        if self._rng is not None:
            return pick(self._rng, (*waiting, ""))
        return "" if self._chosen else waiting[0]

    def _lines(self) -> list[str]:
        """All that the picture says: each file, whether it is named and chosen, and where."""

        def line(row: int, name: str) -> str:
            marks = ["named"] if name in self._targets else []
            marks += ["chosen"] if name == self._chosen else []
            return " ".join([name, *marks, f"<y{small.middle(row) // CELL}>"])

        return [line(row, name) for row, name in enumerate(self._left)]


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines)
