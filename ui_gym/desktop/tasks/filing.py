"""What tasks in the file manager share: folders with files, and how it is used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ui_gym.contract.action import Action, Click, Press, Type
from ui_gym.contract.draws import between, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import compact as small
from ui_gym.desktop import navigation
from ui_gym.desktop.compact_task import NAMES, PLACES, CompactDesktopTask
from ui_gym.desktop.content import texts, words
from ui_gym.desktop.device import DesktopDevice, SessionSpec, Window
from ui_gym.desktop.facts import files_change
from ui_gym.desktop.files import encoded, judge_files
from ui_gym.desktop.task import DesktopTask

MANAGER = "Pcmanfm"
"""The class of the file manager's windows."""

FILE, VIEW = (20, 14), (102, 14)
"""Where its menus are, in its window."""

SORT_FILES, BY_EXTENSION = (140, 89), (480, 222)
"""An entry of the View menu, and one of its submenu."""

_HOME = (60, 100)
"""Where its list of places has the home folder."""

_NAME = 250
_FIRST, _PITCH = 100, 28
"""Where its list has names, and its first row; pixels from a row to the next."""


_NOTICED = 0.5
"""Seconds after which it goes by a new selection: libfm looks at it every 0.2 s, and until then
does to the old one what it is told."""


COMPACT_FILES = small.ROWS - 1
"""How many files a compact folder has: one more, and the list gets a scroll bar."""


@dataclass(frozen=True)
class FilingParams:
    """All that varies between episodes."""

    folders: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """(name, files) of the folders in the home folder; a file is (name, text)."""
    inside: bool
    """Whether the file manager shows the first folder in the beginning, and not the home folder."""
    source: str
    """The folder that the goal speaks of."""
    phrasing: int

    def names(self, folder: str) -> list[str]:
        """The files of a folder."""
        return [name for name, _ in dict(self.folders)[folder]]

    @property
    def places(self) -> list[str]:
        """The folders."""
        return [name for name, _ in self.folders]


P = TypeVar("P", bound=FilingParams)


class FilingTask(DesktopTask[P]):
    """A task with files in the file manager, judged by what is in the folders.

    A subclass gives `sample`, `after` and `oracle`.
    """

    def before(self, params: P) -> dict[str, str]:
        """All files in the beginning: texts by path."""
        return {
            f"{folder}/{name}": text for folder, files in params.folders for name, text in files
        }

    def after(self, params: P) -> Mapping[str, str]:
        """All files in the end."""
        raise NotImplementedError

    def new_folders(self, params: P) -> Sequence[str]:
        """Paths of folders that there are in the end, and not in the beginning."""
        return ()

    def session(self, params: P) -> SessionSpec:
        shown = params.places[0] if params.inside else "."
        return SessionSpec(files=encoded(self.before(params)), launch=[["pcmanfm", shown]])

    def setup(self, device: DesktopDevice, params: P) -> None:
        super().setup(device, params)
        # Its cursor is on the first file or nowhere, as its window's focus came after the list of
        # files or before it; the same is seen and the arrow keys do the same only if it is told.
        device.perform(Press("ctrl+home"))

    def may_change(self, params: P) -> Sequence[AllowedChange]:
        return files_change(self.before(params), self.after(params), self.new_folders(params))

    def judge(self, device: DesktopDevice, params: P, history: Sequence[Action]) -> Verdict:
        return judge_files(
            device, self.before(params), self.after(params), folders=self.new_folders(params)
        )

    def oracle(self, device: DesktopDevice, params: P) -> Iterator[Action | Demo]:
        raise NotImplementedError

    def cabinet(self, rng: np.random.Generator) -> dict[str, Any]:
        """The fields of `FilingParams`, drawn: two to four folders, two names in all of
        them, and at least one name in the first alone."""
        folders = words.folder_names(rng, between(rng, 2, 4))
        common = words.file_names(rng, 3)
        held = []
        for i, folder in enumerate(folders):
            own = set(words.file_names(rng, between(rng, 2, 4))) - set(common)
            names = {*common[: 2 if i else 3], *own}
            order = some(rng, sorted(names), len(names))
            held.append((folder, tuple((name, texts.page(rng, 1, 3)) for name in order)))
        return {
            "folders": tuple(held),
            "inside": bool(rng.random() < 0.5),
            "source": folders[0],
            "phrasing": self.phrase(rng),
        }


class CompactFilingTask(CompactDesktopTask[P], FilingTask[P]):
    """Such a task with a compact form: the file manager shows a folder of five files."""

    compact_places = 1
    """The folders that there are."""

    def cabinet(self, rng: np.random.Generator) -> dict[str, Any]:
        """The fields as usual; compact: one file in each folder but the first."""
        if not self.compact:
            return super().cabinet(rng)
        folders = some(rng, PLACES, self.compact_places)
        names = list(some(rng, NAMES, COMPACT_FILES + len(folders) - 1))
        held = [names[:COMPACT_FILES], *([name] for name in names[COMPACT_FILES:])]
        texts_of = [tuple((name, texts.page(rng, 1, 1)) for name in one) for one in held]
        return {
            "folders": tuple(zip(folders, texts_of, strict=True)),
            "inside": True,
            "source": folders[0],
            "phrasing": self.phrase(rng),
        }


def click_row(name: str, listed: Sequence[str], *, count: int = 1) -> Demo:
    """A click on an entry of the compact list, which is read aloud."""
    row = sorted(listed, key=str.lower).index(name)
    return Demo(small.at_row(row, count=count), name)


class PcmanfmTask:
    """The file manager in an oracle's hands: remembers which folder it shows."""

    def __init__(self, device: DesktopDevice, params: FilingParams, task: FilingTask[Any]) -> None:
        self._device = device
        self.files = set(task.before(params))
        self._shown = params.places[0] if params.inside else ""
        self._order: Callable[[str], tuple[str, ...]] = _by_name

    def show(self, folder: str) -> Iterator[Action]:
        """Show a folder, by way of the home folder."""
        if folder == self._shown:
            return
        if self._shown:
            yield from self._go("", navigation.at(self._window, _HOME))
        yield from self._go(folder, self._click(folder, count=2))

    def choose(self, *names: str) -> Iterator[Action]:
        """Select entries of the folder that is shown, which are listed one after the other."""
        click = self._click(min(names, key=self._order))
        yield from navigation.insist(click, lambda: self._is_chosen(click), 1.0)
        for _ in names[1:]:
            yield Press("shift+down")
        yield from navigation.until(lambda: False, _NOTICED)

    def name_dialog(self, title: str, name: str) -> Iterator[Action]:
        """Fill in the name that a dialog asks for."""
        yield from navigation.opened(self._device, title)
        yield Press("ctrl+a")
        yield Type(name)
        yield Press("enter")
        yield from navigation.closed(self._device, title)

    def sort_by_extension(self) -> Iterator[Action]:
        """List files of a kind one after the other."""
        yield from navigation.menu(self._window, VIEW, SORT_FILES, BY_EXTENSION)
        self._order = _by_extension

    def carry(self, source: str, names: Sequence[str], target: str, how: str) -> Iterator[Action]:
        """Take files that are listed one after the other to another folder: `how` is ``ctrl+x`` or
        ``ctrl+c``."""
        yield from self.show(source)
        yield from self.choose(*names)
        yield Press(how)
        yield from self.show(target)
        yield Press("ctrl+v")
        moved = {f"{source}/{name}" for name in names}
        self.files |= {f"{target}/{name}" for name in names}
        self.files -= moved if how == "ctrl+x" else set()
        yield from navigation.until(self._is_listed)

    def _go(self, folder: str, click: Click) -> Iterator[Action]:
        self._shown = folder
        title = folder or os.path.basename(self._device.home)
        yield from navigation.insist(
            click, lambda: self._window.title == title and self._is_listed()
        )

    def _click(self, name: str, *, count: int = 1) -> Click:
        y = _FIRST + _PITCH * self._entries().index(name)
        return navigation.at(self._window, (_NAME, y), count=count)

    def _is_chosen(self, click: Click) -> bool:
        """Whether a row is dark: right of the pointer, and of the name."""
        return bool((self._device.capture().image[click.y - 6, click.x + 150] < 160).all())

    def _is_listed(self) -> bool:
        """Whether the list has as many rows as there are entries: it is read in the background.

        Looks left of the pointer, which is where rows are clicked.
        """
        left, top, _, _ = self._window.box
        picture = self._device.capture().image
        last = len(self._entries()) - 1

        def written(row: int) -> bool:
            y = top + _FIRST + _PITCH * row
            return bool((picture[y - 6 : y + 7, left + _NAME - 80 : left + _NAME - 10] < 100).any())

        return written(last) and not written(last + 1)

    @property
    def _window(self) -> Window:
        return navigation.window(self._device, MANAGER)

    def _entries(self) -> list[str]:
        """What is listed: folders come first, in the order of their names."""
        prefix = f"{self._shown}/" if self._shown else ""
        below = [path.removeprefix(prefix) for path in self.files if path.startswith(prefix)]
        folders = {path.partition("/")[0] for path in below if "/" in path}
        files = {path for path in below if "/" not in path}
        entries = [*sorted(folders, key=_by_name), *sorted(files, key=self._order)]
        return [entry for entry in entries if not entry.startswith(".")]


def _by_name(name: str) -> tuple[str, ...]:
    return (name.lower(),)


def _by_extension(name: str) -> tuple[str, ...]:
    stem, _, extension = name.rpartition(".")
    return extension, stem
