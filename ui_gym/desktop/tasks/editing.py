"""What tasks in the text editor share: files that are open in it, and how it is used."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from ui_gym.contract.action import Action, Click, Press, Type
from ui_gym.contract.draws import between, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import navigation
from ui_gym.desktop.compact_task import NAMES, PLACES, CompactDesktopTask
from ui_gym.desktop.content import texts, words
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.facts import files_change
from ui_gym.desktop.files import encoded, judge_files
from ui_gym.desktop.task import DesktopTask

EDITOR = "Mousepad"
"""The class of the editor's windows."""

EDIT, VIEW, DOCUMENT = (60, 12), (162, 12), (230, 12)
"""Where its menus are, in its window."""


@dataclass(frozen=True)
class EditorParams:
    """All that varies between episodes."""

    folder: str
    """Where the files lie."""
    files: tuple[tuple[str, tuple[str, ...]], ...]
    """(name, lines) of the files that are open, each in a tab; the last one is shown."""
    beside: tuple[tuple[str, str], ...]
    """(name, text) of files that lie beside them."""
    target: int
    """Which of the open files is meant."""
    saves: bool
    """Whether the change is to be saved, as it always is."""
    phrasing: int

    @property
    def name(self) -> str:
        return self.files[self.target][0]

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"

    @property
    def lines(self) -> tuple[str, ...]:
        return self.files[self.target][1]


P = TypeVar("P", bound=EditorParams)


class EditorTask(DesktopTask[P]):
    """A task with a file that is open in the editor, judged by what is saved.

    A subclass gives `sample`, `edited` and `edit`.
    """

    tabs: ClassVar[tuple[int, int]] = (1, 2)
    """The least and the most files that are open."""
    length: ClassVar[tuple[int, int]] = (4, 8)
    """The least and the most lines of a file."""

    def edited(self, params: P) -> Sequence[str]:
        """The lines of the file in the end."""
        raise NotImplementedError

    def edit(self, device: DesktopDevice, params: P) -> Iterator[Action | Demo]:
        """Change the file that is shown."""
        raise NotImplementedError

    def before(self, params: P) -> dict[str, str]:
        """All files in the beginning: texts by path."""
        opened = {f"{params.folder}/{name}": texts.joined(lines) for name, lines in params.files}
        return opened | {f"{params.folder}/{name}": text for name, text in params.beside}

    def after(self, params: P) -> dict[str, str]:
        """All files in the end."""
        return self.before(params) | {params.path: texts.joined(tuple(self.edited(params)))}

    def session(self, params: P) -> SessionSpec:
        opened = [f"{params.folder}/{name}" for name, _ in params.files]
        return SessionSpec(files=encoded(self.before(params)), launch=[["mousepad", *opened]])

    def may_change(self, params: P) -> Sequence[AllowedChange]:
        return files_change(self.before(params), self.after(params))

    def judge(self, device: DesktopDevice, params: P, history: Sequence[Action]) -> Verdict:
        return judge_files(device, self.before(params), self.after(params))

    def oracle(self, device: DesktopDevice, params: P) -> Iterator[Action | Demo]:
        yield from show(params, params.target)
        yield from self.edit(device, params)
        if params.saves:
            yield Press("ctrl+s")

    def misread(self, params: P, mistake: str, rng: np.random.Generator) -> P:
        """``unsaved``: it is not saved; ``twin``: it is done to the other file that is open."""
        if mistake == "unsaved":
            return dataclasses.replace(params, saves=False)
        return dataclasses.replace(params, target=(params.target + 1) % len(params.files))

    def sample_files(
        self, rng: np.random.Generator, lines: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """The fields of `EditorParams`, drawn; the target's lines may be given.

        All open files have as many lines.
        """
        count = between(rng, *self.length) if lines is None else len(lines)
        tabs = between(rng, *self.tabs)
        names = words.file_names(rng, tabs + 2, None if tabs == 1 else "txt")
        target = between(rng, 0, tabs - 1)
        drawn = [texts.lines(rng, count) for _ in range(tabs)]
        if lines is not None:
            drawn[target] = tuple(lines)
        return {
            "folder": words.folder_names(rng, 1)[0],
            "files": tuple(zip(some(rng, names[:tabs], tabs), drawn, strict=True)),
            "beside": tuple((name, texts.page(rng)) for name in names[tabs:]),
            "target": target,
            "saves": True,
            "phrasing": self.phrase(rng),
        }


class CompactEditorTask(CompactDesktopTask[P], EditorTask[P]):
    """Such a task with a compact form: one file, whose lines are a word each."""

    compact_length = (3, 5)
    """As `length`."""
    compact_steps = 3

    def sample_files(
        self, rng: np.random.Generator, lines: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """The fields as usual; compact: of one file, with another beside it."""
        if not self.compact:
            return super().sample_files(rng, lines)
        if lines is None:
            lines = some(rng, NAMES, between(rng, *self.compact_length))
        folder, name, beside = some(rng, PLACES, 3)
        return {
            "folder": folder,
            "files": ((name, tuple(lines)),),
            "beside": ((beside, f"{pick(rng, NAMES)}\n"),),
            "target": 0,
            "saves": True,
            "phrasing": self.phrase(rng),
        }

    def oracle(self, device: DesktopDevice, params: P) -> Iterator[Action | Demo]:
        if not self.compact:
            yield from super().oracle(device, params)
            return
        yield from self.edit_compact(params)
        if params.saves:
            yield Demo(Press("ctrl+s"), params.name)

    def edit_compact(self, params: P) -> Iterator[Action | Demo]:
        """Change the file on the compact screen."""
        raise NotImplementedError


def show(params: EditorParams, which: int) -> Iterator[Action]:
    """Go to the tab of an open file."""
    if len(params.files) > 1:
        yield Press(f"alt+{which + 1}")


def go_to(device: DesktopDevice, line: int) -> Iterator[Action]:
    """Put the caret at the beginning of a line, the first being 0."""
    yield Press("ctrl+l")
    yield from navigation.opened(device, "Go To")
    yield Type(str(line + 1))
    yield Press("enter")
    yield from navigation.closed(device, "Go To")


def save_as(device: DesktopDevice, path: str) -> Iterator[Action]:
    """Save what is shown under another path in the home folder."""
    yield Press("ctrl+shift+s")
    yield from navigation.opened(device, "Save As")
    yield Press("ctrl+a")
    yield Type(f"~/{path}")
    yield Press("enter")
    yield from navigation.closed(device, "Save As")


def word_at(device: DesktopDevice, row: int, column: int, length: int) -> Click:
    """A double click on a word that is shown, where there are no tabs."""
    x = 3 + round(9 * (column + length / 2))
    return navigation.at(navigation.window(device, EDITOR), (x, 39 + 18 * row), count=2)
