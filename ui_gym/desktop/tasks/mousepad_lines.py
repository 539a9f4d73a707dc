"""Change lines of a text in the text editor: delete, write in capitals, sort."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import between, some
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop import compact as small
from ui_gym.desktop import navigation
from ui_gym.desktop.content import words
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.tasks.editing import (
    EDIT,
    EDITOR,
    CompactEditorTask,
    EditorParams,
    EditorTask,
    go_to,
)

CONVERT, TO_UPPERCASE = (90, 265), (470, 290)
"""An entry of the editor's Edit menu, and one of its submenu."""


@dataclass(frozen=True)
class LinesParams(EditorParams):
    """A file, and some of its lines."""

    first: int
    last: int
    """The lines that are meant, the file's first being 0."""

    @property
    def rows(self) -> str:
        """How a person counts them."""
        one = f"line {self.first + 1}"
        return one if self.first == self.last else f"lines {self.first + 1} to {self.last + 1}"


class LinesTask(EditorTask[LinesParams]):
    """What tasks with some lines of a file share."""

    most = 1
    """How many lines may be meant."""

    def sample(self, rng: np.random.Generator) -> LinesParams:
        files = self.sample_files(rng)
        count = len(files["files"][0][1])
        number = between(rng, 1, min(self.most, count - 1))
        first = between(rng, 0, count - number)
        return LinesParams(**files, first=first, last=first + number - 1)

    def told(self, params: LinesParams) -> Mapping[str, object]:
        return {"rows": params.rows, "line": params.lines[params.first]}

    def misread(self, params: LinesParams, mistake: str, rng: np.random.Generator) -> LinesParams:
        """``neighbour``: a line beside it is taken; as all."""
        if mistake != "neighbour":
            return super().misread(params, mistake, rng)
        step = 1 if params.last < len(params.lines) - 1 else -1
        return dataclasses.replace(params, first=params.first + step, last=params.last + step)


@register(
    "DesktopDeleteLine", suite="desktop", category="mousepad", difficulty="easy", max_steps=12,
)  # fmt: skip
class DesktopDeleteLine(CompactEditorTask[LinesParams], LinesTask):
    """Delete one line of a file.

    ## Description
    The goal names the line by its number or by its text. A second file may be open in another tab.
    With ``compact=True`` there is one, whose lines are a word each, on a screen that a model of a
    million parameters can read.

    ## Rewards
    1 if the file on the disk holds all other lines, and no empty one instead.

    ## Starting state
    The editor with one or two files, the last of them shown.

    ## Arguments
    | `compact` | False | a screen of 400x320 pixels, and six actions |
    """

    mistakes = ("neighbour", "twin", "unsaved")
    goals = (
        'Delete {rows} of "{name}" and save the file.',
        'Remove the line "{line}" from "{name}", then save.',
        '"{name}" should no longer say "{line}": take that line out and save the file.',
        "In {name}, the text of {rows} is wrong. Delete the whole line and save.",
    )
    compact_goals = ("Delete the line {line} and save.", "Remove {line} and save.")
    compact_mistakes = ("neighbour", "unsaved")

    def edited(self, params: LinesParams) -> Sequence[str]:
        return [*params.lines[: params.first], *params.lines[params.last + 1 :]]

    def edit(self, device: DesktopDevice, params: LinesParams) -> Iterator[Action | Demo]:
        yield from go_to(device, params.first)
        yield Press("ctrl+shift+delete")

    def edit_compact(self, params: LinesParams) -> Iterator[Action | Demo]:
        line = params.lines[params.first]
        yield Demo(small.at_row(params.first, top=small.TEXT_TOP), line)
        yield Demo(Press("ctrl+shift+delete"), line)


@register(
    "DesktopUpperCase", suite="desktop", category="mousepad", difficulty="medium", max_steps=25,
)  # fmt: skip
class DesktopUpperCase(LinesTask):
    """Turn some lines of a file into capital letters.

    ## Description
    The goal names one to three lines by their numbers. A second file may be open in another tab.

    ## Rewards
    1 if these lines of the file on the disk are in capitals, and the others have not changed.

    ## Starting state
    The editor with one or two files, the last of them shown.
    """

    most = 3
    mistakes = ("neighbour", "all", "twin", "unsaved")
    goals = (
        'Change {rows} of "{name}" to upper case and save the file.',
        'In "{name}", {rows} should be in capital letters only. Change that and save.',
        "Write {rows} of {name} in CAPITALS; leave the other lines alone, and save the file.",
    )

    def edited(self, params: LinesParams) -> Sequence[str]:
        chosen = range(params.first, params.last + 1)
        return [line.upper() if i in chosen else line for i, line in enumerate(params.lines)]

    def edit(self, device: DesktopDevice, params: LinesParams) -> Iterator[Action | Demo]:
        yield from go_to(device, params.first)
        for _ in range(params.last - params.first):
            yield Press("shift+down")
        yield Press("shift+end")
        yield from navigation.menu(navigation.window(device, EDITOR), EDIT, CONVERT, TO_UPPERCASE)

    def misread(self, params: LinesParams, mistake: str, rng: np.random.Generator) -> LinesParams:
        """``all``: all lines are taken; as all such tasks."""
        if mistake == "all":
            return dataclasses.replace(params, first=0, last=len(params.lines) - 1)
        return super().misread(params, mistake, rng)


@dataclass(frozen=True)
class SortParams(EditorParams):
    """A file with a list."""

    backwards: bool
    """Whether it is to go from Z to A."""


@register(
    "DesktopSortLines", suite="desktop", category="mousepad", difficulty="medium", max_steps=40,
)  # fmt: skip
class DesktopSortLines(EditorTask[SortParams]):
    """Bring the lines of a list into alphabetical order.

    ## Description
    The file is a list of five to nine words, each on a line of its own. The goal says whether it
    is to go from A to Z or from Z to A.

    ## Rewards
    1 if the file on the disk holds the same lines in that order.

    ## Starting state
    The editor with the file.
    """

    tabs = (1, 1)
    mistakes = ("order", "unsaved")
    goals = (
        'Sort the lines of "{name}" {order} and save the file.',
        'The list in "{name}" should be in alphabetical order, {order}. Rearrange and save it.',
        "Put the lines of the open file in order {order}, one word per line as now, then save.",
    )

    def sample(self, rng: np.random.Generator) -> SortParams:
        lines = some(rng, words.LISTED, between(rng, 5, 9))
        while sorted(lines) in (list(lines), list(reversed(lines))):
            lines = some(rng, words.LISTED, len(lines))
        return SortParams(**self.sample_files(rng, lines), backwards=bool(rng.random() < 0.4))

    def told(self, params: SortParams) -> Mapping[str, object]:
        return {"order": "from Z to A" if params.backwards else "from A to Z"}

    def edited(self, params: SortParams) -> Sequence[str]:
        return sorted(params.lines, reverse=params.backwards)

    def edit(self, device: DesktopDevice, params: SortParams) -> Iterator[Action | Demo]:
        yield Press("ctrl+a")
        yield Type("\n".join(self.edited(params)))

    def misread(self, params: SortParams, mistake: str, rng: np.random.Generator) -> SortParams:
        """``order``: it goes the other way; as all."""
        if mistake == "order":
            return dataclasses.replace(params, backwards=not params.backwards)
        return super().misread(params, mistake, rng)
