"""Make folders, and change who may do what with a file, by commands in a terminal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.draws import between, other, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Verdict
from ui_gym.desktop.content import trees, words
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.facts import file_change
from ui_gym.desktop.terminal_task import TerminalTask, line


@dataclass(frozen=True)
class NestedFoldersParams:
    """All that varies between episodes."""

    folder: str
    twin: str
    """Another folder; either holds a file."""
    files: tuple[tuple[str, str], ...]
    made: tuple[str, ...]
    """The folders to be made, by their paths in `folder`."""
    phrasing: int


@register(
    "DesktopNestedFolders", suite="desktop", category="terminal", difficulty="medium",
    max_steps=15, tags=("shell",),
)  # fmt: skip
class DesktopNestedFolders(TerminalTask[NestedFoldersParams]):
    """Make folders in folders.

    ## Description
    The goal names a folder, and three or four paths of folders that are to be made in it.

    ## Rewards
    1 if there are these folders and no others, and all files are as they were.

    ## Starting state
    A terminal in the home folder.
    """

    mistakes = ("place", "name", "missed")
    goals = (
        'In the folder "{folder}", make these folders: {made}.',
        'Create {made} inside "{folder}". A slash means a folder in a folder.',
        'Use the terminal to make the folders {made} in "{folder}".',
    )

    def sample(self, rng: np.random.Generator) -> NestedFoldersParams:
        folder, twin = words.folder_names(rng, 2)
        return NestedFoldersParams(
            folder=folder,
            twin=twin,
            files=(*trees.files(rng, folder, 1), *trees.files(rng, twin, 1)),
            made=trees.nested(rng),
            phrasing=self.phrase(rng),
        )

    def told(self, params: NestedFoldersParams) -> Mapping[str, object]:
        *most, last = params.made
        return {"made": f"{', '.join(most)} and {last}"}

    def folders(self, params: NestedFoldersParams) -> Sequence[str]:
        return [f"{params.folder}/{path}" for path in params.made]

    def commands(self, params: NestedFoldersParams) -> Sequence[str]:
        return [line("cd", params.folder), line("mkdir", "-p", *params.made), "ls -R"]

    def misread(
        self, params: NestedFoldersParams, mistake: str, rng: np.random.Generator
    ) -> NestedFoldersParams:
        """``place``: in the other folder. ``name``: a last one's. ``missed``: all but one."""
        if mistake == "place":
            return dataclasses.replace(params, folder=params.twin, twin=params.folder)
        chosen = pick(rng, params.made)
        left = [path for path in params.made if path != chosen]
        if mistake == "name":
            taken = {part for path in params.made for part in path.split("/")}
            names = [name.lower() for name in words.FOLDERS]
            above = chosen.rpartition("/")[0]
            left.append(f"{above}/{other(rng, names, *taken)}".lstrip("/"))
        return dataclasses.replace(params, made=tuple(left))


MODES: Mapping[str, str] = words.WRITTEN["modes"]
"""Permissions as chmod takes them, in words."""


@dataclass(frozen=True)
class ChangeModeParams:
    """All that varies between episodes."""

    files: tuple[tuple[str, str], ...]
    target: str
    mode: str
    phrasing: int


@register(
    "DesktopChangeMode", suite="desktop", category="terminal", difficulty="medium", max_steps=10,
    tags=("shell",),
)  # fmt: skip
class DesktopChangeMode(TerminalTask[ChangeModeParams]):
    """Change who may read, write and execute a file.

    ## Description
    The goal names a file and its new permissions, by their number or in words. Other files lie
    beside it, one of them named much like it.

    ## Rewards
    1 if the file has just these permissions, and all else is as it was.

    ## Starting state
    A terminal in the home folder. Every file has the permissions 644.
    """

    mistakes = ("sibling", "mode", "all")
    goals = (
        'Set the permissions of "{target}" to {mode}.',
        'Change the mode of the file "{target}" to {mode}, and of no other file.',
        'Set the permissions of "{target}" so that {words}.',
        'Who may do what with "{target}" has to change: {words}. Use the terminal.',
    )

    def sample(self, rng: np.random.Generator) -> ChangeModeParams:
        files = trees.files(rng, words.folder_names(rng, 1)[0], between(rng, 3, 5))
        return ChangeModeParams(
            files=tuple(sorted(files)),
            target=files[0][0],
            mode=pick(rng, sorted(MODES)),
            phrasing=self.phrase(rng),
        )

    def told(self, params: ChangeModeParams) -> Mapping[str, object]:
        return {"words": MODES[params.mode]}

    def setup(self, device: DesktopDevice, params: ChangeModeParams) -> None:
        super().setup(device, params)
        device.run(["chmod", "644", *self.before(params)])

    def may_change(self, params: ChangeModeParams) -> Sequence[AllowedChange]:
        return file_change(params.target)

    def judge(
        self, device: DesktopDevice, params: ChangeModeParams, history: Sequence[Action]
    ) -> Verdict:
        paths = list(self.before(params))
        wanted = [params.mode if path == params.target else "644" for path in paths]
        found = device.run(["stat", "-c", "%a", *paths]).text.split("\n")
        if found != wanted:
            return Verdict(0.0, notes=f"permissions are {', '.join(found)}")
        return super().judge(device, params, history)

    def commands(self, params: ChangeModeParams) -> Sequence[str]:
        targets = self.before(params) if params.target == "" else [params.target]
        folder = params.files[0][0].rpartition("/")[0]
        return [line("chmod", params.mode, *targets), line("ls", "-l", folder)]

    def misread(
        self, params: ChangeModeParams, mistake: str, rng: np.random.Generator
    ) -> ChangeModeParams:
        """``sibling``: another file. ``mode``: other permissions. ``all``: of all files."""
        if mistake == "all":
            return dataclasses.replace(params, target="")
        if mistake == "mode":
            return dataclasses.replace(params, mode=other(rng, sorted(MODES), params.mode))
        sibling = other(rng, [path for path, _ in params.files], params.target)
        return dataclasses.replace(params, target=sibling)
