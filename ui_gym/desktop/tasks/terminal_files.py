"""Pack a folder, and move the largest of many files, by commands in a terminal."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.draws import another, between, other, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Verdict
from ui_gym.desktop import archives
from ui_gym.desktop.content import trees, words
from ui_gym.desktop.content.trees import Sized
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.facts import file_change
from ui_gym.desktop.files import Files, encoded
from ui_gym.desktop.terminal_task import TerminalTask, line


@dataclass(frozen=True)
class ArchiveFolderParams:
    """All that varies between episodes."""

    folder: str
    twin: str
    files: tuple[tuple[str, str], ...]
    """(path, text) of the files in both folders, and in one within `folder`."""
    archive: str
    phrasing: int
    compressed: bool = True


@register(
    "DesktopArchiveFolder", suite="desktop", category="terminal", difficulty="medium",
    max_steps=12, tags=("shell",),
)  # fmt: skip
class DesktopArchiveFolder(TerminalTask[ArchiveFolderParams]):
    """Pack a folder into a compressed archive.

    ## Description
    The goal names a folder, which has another one in it, and the archive that is to be made in the
    home folder.

    ## Rewards
    1 if there is the archive, compressed by gzip, and holds all files of the folder and no others,
    and all files are as they were.

    ## Starting state
    A terminal in the home folder.
    """

    mistakes = ("folder", "name", "plain")
    goals = (
        'Pack the folder "{folder}" with all that is in it into the archive "{archive}".',
        'Make "{archive}" in the home folder: an archive of the whole folder "{folder}".',
        'Use tar to make a compressed archive of "{folder}", named "{archive}".',
    )

    def sample(self, rng: np.random.Generator) -> ArchiveFolderParams:
        folder, twin = words.folder_names(rng, 2)
        inner = pick(rng, ("drafts", "more", "old", "parts"))
        files = trees.files(rng, folder, between(rng, 2, 3))
        files += trees.files(rng, f"{folder}/{inner}", between(rng, 1, 2))
        return ArchiveFolderParams(
            folder=folder,
            twin=twin,
            files=(*files, *trees.files(rng, twin, 2)),
            archive=_archive(rng),
            phrasing=self.phrase(rng),
        )

    def may_change(self, params: ArchiveFolderParams) -> Sequence[AllowedChange]:
        return file_change(params.archive)

    def judge(
        self, device: DesktopDevice, params: ArchiveFolderParams, history: Sequence[Action]
    ) -> Verdict:
        data = device.read(params.archive)
        if data is None or not archives.is_compressed(data):
            return Verdict(0.0, notes=f"there is no compressed {params.archive}")
        wanted = encoded(inside(self.before(params), params.folder))
        if not archives.holds(data, params.folder, device.home, wanted):
            return Verdict(0.0, notes=f"{params.archive} does not hold {params.folder} alone")
        return super().judge(device, params, history)

    def commands(self, params: ArchiveFolderParams) -> Sequence[str]:
        flags = "-czf" if params.compressed else "-cf"
        return [line("tar", flags, params.archive, params.folder), "ls -l"]

    def misread(
        self, params: ArchiveFolderParams, mistake: str, rng: np.random.Generator
    ) -> ArchiveFolderParams:
        """``folder``: the other one. ``name``: of the archive. ``plain``: not compressed."""
        if mistake == "plain":
            return dataclasses.replace(params, compressed=False)
        if mistake == "folder":
            return dataclasses.replace(params, folder=params.twin, twin=params.folder)
        archive = another(lambda: _archive(rng), params.archive)
        return dataclasses.replace(params, archive=archive)


@dataclass(frozen=True)
class MoveLargestParams:
    """All that varies between episodes."""

    folder: str
    files: tuple[Sized, ...]
    """Files in `folder` and in folders within it, in any order."""
    target: str
    places: tuple[tuple[str, str], ...]
    """(path, text) of a file in each of the folders where it might go."""
    place: str
    phrasing: int
    copied: bool = False


@register(
    "DesktopMoveLargest", suite="desktop", category="terminal", difficulty="hard", max_steps=15,
    tags=("shell",),
)  # fmt: skip
class DesktopMoveLargest(TerminalTask[MoveLargestParams]):
    """Find the largest file among those in a folder's folders, and move it.

    ## Description
    The goal names a folder, and another one where its largest file is to go, wherever within the
    first that is.

    ## Rewards
    1 if that file is there and no more where it was, and all others are as they were.

    ## Starting state
    A terminal in the home folder.

    ## Episode end
    Termination: the file was moved.
    """

    mistakes = ("second", "place", "copied")
    goals = (
        'Find the largest file in "{folder}" and the folders in it. Move it to "{place}".',
        'Move the biggest file that lies anywhere in "{folder}" into the folder "{place}".',
        'One file in "{folder}" or a folder in it is larger than all others. Move it to "{place}".',
    )

    def sample(self, rng: np.random.Generator) -> MoveLargestParams:
        folder, *places = words.folder_names(rng, 3)
        inner = [f"{folder}/{name}" for name in ("backup", "incoming", "old/2022", "shared")]
        files = trees.sized(rng, [folder, *inner], between(rng, 6, 9))
        while True:
            there = tuple(one for place in places for one in trees.files(rng, place, 1))
            if not _names(path for path, _ in there) & _names(file.path for file in files):
                break  # nothing would be overwritten
        return MoveLargestParams(
            folder=folder,
            files=tuple(sorted(files, key=lambda file: file.path)),
            target=files[0].path,
            places=there,
            place=places[0],
            phrasing=self.phrase(rng),
        )

    def before(self, params: MoveLargestParams) -> dict[str, str]:
        return {file.path: file.text for file in params.files} | dict(params.places)

    def after(self, params: MoveLargestParams) -> dict[str, str]:
        files = self.before(params)
        text = files.pop(params.target)
        return {**files, f"{params.place}/{params.target.rpartition('/')[2]}": text}

    def folders(self, params: MoveLargestParams) -> Sequence[str]:
        return [params.target.rpartition("/")[0]]

    def commands(self, params: MoveLargestParams) -> Sequence[str]:
        listing = line("find", params.folder, "-type", "f", "-printf", r"%s %p\n")
        move = "cp" if params.copied else "mv"
        return [f"{listing} | sort -n | tail -n 3", line(move, params.target, params.place)]

    def misread(
        self, params: MoveLargestParams, mistake: str, rng: np.random.Generator
    ) -> MoveLargestParams:
        """``second``: the next largest. ``place``: another. ``copied``: it stays where it was."""
        if mistake == "copied":
            return dataclasses.replace(params, copied=True)
        if mistake == "place":
            places = [path.partition("/")[0] for path, _ in params.places]
            return dataclasses.replace(params, place=other(rng, places, params.place))
        second = sorted(params.files, key=lambda file: file.size)[-2]
        return dataclasses.replace(params, target=second.path)


def inside(files: Files, folder: str) -> dict[str, str]:
    """Those of the files that lie in a folder."""
    return {path: text for path, text in files.items() if path.startswith(f"{folder}/")}


def _names(paths: Iterable[str]) -> set[str]:
    return {path.rpartition("/")[2] for path in paths}


def _archive(rng: np.random.Generator) -> str:
    return f"{pick(rng, words.STEMS)}{pick(rng, ('', '_2024', '_all', '_new'))}.tar.gz"
