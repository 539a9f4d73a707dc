"""Files: renaming, moving or deleting one among others like it; making a folder."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ui_gym.android import facts, moves
from ui_gym.android.checks import ShellCheck, exists
from ui_gym.android.content import records, scenes, texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.facts import EXCESSES
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract import words
from ui_gym.contract.action import Action
from ui_gym.contract.draws import Rng, between, other, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register


def show(device: AndroidDevice, folder: str) -> Iterator[Action]:
    """Open a folder of the shared storage (``Documents/Taxes``) from the list of places."""
    yield from moves.path(device, *folder.split("/"))


def choose(device: AndroidDevice, folder: str, name: str) -> Iterator[Action]:
    """Select a file."""
    yield from moves.launch(device, "Files")
    yield from show(device, folder)
    yield from moves.hold(device, name)


def menu(device: AndroidDevice, item: str) -> Iterator[Action]:
    """Take an item of the menu."""
    yield from moves.path(device, "More options", item)


APPS = ("com.android.documentsui",)


@dataclass(frozen=True)
class FileChangeParams:
    folder: str
    """The folder of the shared storage in which the files lie."""
    files: tuple[tuple[str, str], ...]
    """(name, text) of the files there."""
    target: str
    """The one that is meant."""
    twin: str
    """Another folder, where a file of the same name lies."""
    value: str
    """The new name, or the folder where it is to go; empty where it is to be deleted."""
    scene: StartScene
    phrasing: int

    @property
    def path(self) -> str:
        return f"/sdcard/{self.folder}/{self.target}"

    @property
    def text(self) -> str:
        return dict(self.files)[self.target]

    @property
    def siblings(self) -> list[str]:
        return [name for name, _ in self.files if name != self.target]


class FileChangeTask(AndroidTask[FileChangeParams]):
    """What tasks with one file share."""

    apps = APPS

    def sample(self, rng: Rng) -> FileChangeParams:
        names = texts.files(rng, between(rng, 3, 6))
        folder, twin = some(rng, texts.FOLDERS, 2)
        order = some(rng, names, len(names))
        params = FileChangeParams(
            folder=folder,
            files=tuple((name, f"{texts.note(rng)}. {texts.note(rng)}.") for name in order),
            target=names[0],
            twin=twin,
            value="",
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )
        return dataclasses.replace(params, value=self.draw_value(rng, params))

    def draw_value(self, rng: Rng, params: FileChangeParams) -> str:
        """The new name, or the folder where it is to go."""
        return ""

    def goal(self, params: FileChangeParams) -> str:
        return self.goals[params.phrasing].format(
            name=params.target, folder=params.folder, value=params.value
        )

    def prepare(self, params: FileChangeParams) -> Sequence[str]:
        lines = []
        for name, text in params.files:
            lines += records.write(f"/sdcard/{params.folder}/{name}", text)
        lines += records.write(f"/sdcard/{params.twin}/{params.target}", "another one")
        return [*lines, *params.scene.lines()]

    def misread(self, params: FileChangeParams, mistake: str, rng: Rng) -> FileChangeParams:
        """``sibling``: a file like it is taken. ``twin``: the one of its name elsewhere."""
        if mistake == "sibling":
            # No file of its name lies elsewhere: who errs in both ways stays in the folder.
            sibling = pick(rng, params.siblings)
            return dataclasses.replace(params, target=sibling, twin=params.folder)
        return dataclasses.replace(params, folder=params.twin)


@register(
    "AndroidRenameFile", suite="android", category="system", difficulty="medium", max_steps=20,
    tags=("files",),
)  # fmt: skip
class AndroidRenameFile(FileChangeTask):
    """Give a file another name.

    ## Description
    The goal names a file, its folder and its new name. Other files lie beside it, one of them
    named much like it, and one of the same name lies in another folder.

    ## Rewards
    1 if there is no file of the old name, and ``cat`` reads its text under the new one.

    ## Starting state
    The home screen or a page of the Settings.

    ## Episode end
    Termination: it has the new name.
    """

    mistakes = ("sibling", "twin", "name")
    goals = texts.goals("AndroidRenameFile")

    def draw_value(self, rng: Rng, params: FileChangeParams) -> str:
        return words.new_name(rng, *(name for name, _ in params.files))

    def prepare(self, params: FileChangeParams) -> Sequence[str]:
        gone = [f"/sdcard/{folder}/{params.value}" for folder in (params.folder, params.twin)]
        return [records.remove(*gone), *super().prepare(params)]

    def checks(self, params: FileChangeParams) -> Sequence[ShellCheck]:
        return [moved("renamed", params, f"/sdcard/{params.folder}/{params.value}")]

    def may_change(self, params: FileChangeParams) -> Sequence[AllowedChange]:
        return moves_file(params.path, f"/sdcard/{params.folder}/{params.value}")

    def oracle(self, device: AndroidDevice, params: FileChangeParams) -> Steps:
        yield from choose(device, params.folder, params.target)
        yield from menu(device, "Rename")
        yield from moves.fill(device, "Name", params.value)
        yield from moves.tap(device, "OK")

    def misread(self, params: FileChangeParams, mistake: str, rng: Rng) -> FileChangeParams:
        """As all; ``name``: it gets another name."""
        if mistake != "name":
            return super().misread(params, mistake, rng)
        taken = (*(name for name, _ in params.files), params.value)
        return dataclasses.replace(params, value=words.new_name(rng, *taken))


@register(
    "AndroidMoveFile", suite="android", category="system", difficulty="medium", max_steps=20,
    tags=("files",),
)  # fmt: skip
class AndroidMoveFile(FileChangeTask):
    """Move a file into another folder.

    ## Description
    The goal names a file, its folder and the one where it is to go, which may lie in another.
    Other files lie beside it, one of them named much like it, and one of the same name lies in a
    third folder.

    ## Rewards
    1 if the file is no more where it was, and ``cat`` reads its text in the other folder.

    ## Starting state
    The home screen or a page of the Settings.
    """

    mistakes = ("sibling", "twin", "place")
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidMoveFile")

    def draw_value(self, rng: Rng, params: FileChangeParams) -> str:
        place = other(rng, texts.FOLDERS, params.folder, params.twin)
        return f"{place}/{words.folder_names(rng, 1)[0]}" if rng.random() < 0.4 else place

    def prepare(self, params: FileChangeParams) -> Sequence[str]:
        target = f"/sdcard/{params.value}"
        lines = [f"mkdir -p {shlex.quote(target)}", records.remove(f"{target}/{params.target}")]
        return [*lines, *super().prepare(params)]

    def checks(self, params: FileChangeParams) -> Sequence[ShellCheck]:
        return [moved("moved", params, f"/sdcard/{params.value}/{params.target}")]

    def twice(self, params: FileChangeParams) -> Sequence[str]:
        copy = f"/sdcard/{params.value}/copy-{params.target}"
        return [f"cp {shlex.quote(params.path)} {shlex.quote(copy)}"]

    def may_change(self, params: FileChangeParams) -> Sequence[AllowedChange]:
        return moves_file(params.path, f"/sdcard/{params.value}/{params.target}")

    def oracle(self, device: AndroidDevice, params: FileChangeParams) -> Steps:
        yield from choose(device, params.folder, params.target)
        yield from menu(device, "Move to…")
        yield from show(device, params.value)
        yield from moves.tap(device, "Move here", role="button")

    def misread(self, params: FileChangeParams, mistake: str, rng: Rng) -> FileChangeParams:
        """As all; ``place``: it goes into another folder."""
        if mistake != "place":
            return super().misread(params, mistake, rng)
        top = params.value.partition("/")[0]
        taken = (params.folder, params.twin, top)
        return dataclasses.replace(params, value=other(rng, texts.FOLDERS, *taken))


@register(
    "AndroidDeleteFile", suite="android", category="system", difficulty="medium", max_steps=20,
    tags=("files",),
)  # fmt: skip
class AndroidDeleteFile(FileChangeTask):
    """Delete one file and no other.

    ## Description
    The goal names a file and its folder. Other files lie beside it, one of them named much like
    it, and one of the same name lies in another folder.

    ## Rewards
    1 if ``test -e`` does not find the file, but each of those beside it.

    ## Starting state
    The home screen or a page of the Settings.
    """

    mistakes = ("sibling", "twin")
    goals = texts.goals("AndroidDeleteFile")

    def checks(self, params: FileChangeParams) -> Sequence[ShellCheck]:
        folder = f"/sdcard/{params.folder}"
        twin = f"/sdcard/{params.twin}/{params.target}"
        kept = [*(f"{folder}/{name}" for name in params.siblings), twin]
        tests = [f"! test -e {shlex.quote(params.path)}"]
        tests += [f"test -e {shlex.quote(path)}" for path in kept]
        return [ShellCheck("deleted alone", " && ".join(tests), lambda r: r.code == 0)]

    def may_change(self, params: FileChangeParams) -> Sequence[AllowedChange]:
        return [AllowedChange(facts.file(params.path), gone=1, new=0)]

    def oracle(self, device: AndroidDevice, params: FileChangeParams) -> Steps:
        yield from choose(device, params.folder, params.target)
        yield from moves.tap(device, "Delete")
        yield from moves.tap(device, "Delete")


def moves_file(old: str, new: str) -> list[AllowedChange]:
    """That a file is no longer at one path, but at another."""
    return [
        AllowedChange(facts.file(old), gone=1, new=0),
        AllowedChange(facts.file(new), gone=0, new=1),
    ]


def moved(name: str, params: FileChangeParams, path: str) -> ShellCheck:
    """The file is no more where it was, and its text is read at `path`."""
    text = params.text

    def right(result: ShellResult) -> bool:
        return result.code == 0 and result.text == text

    old, new = shlex.quote(params.path), shlex.quote(path)
    return ShellCheck(name, f"! test -e {old} && cat {new} 2>/dev/null", right)


@dataclass(frozen=True)
class MkdirParams:
    folder: str
    """The folder of the shared storage in which the new one is to be."""
    name: str
    folders: tuple[str, ...]
    """Folders that are there at the start, in each of the places."""
    files: tuple[str, ...]
    scene: StartScene
    phrasing: int


@register(
    "AndroidMkdir", suite="android", category="system", difficulty="medium", max_steps=20,
    tags=("files",),
)  # fmt: skip
class AndroidMkdir(AndroidTask[MkdirParams]):
    """Create a folder of a given name in one of the folders of the shared storage.

    ## Description
    The goal names a new folder and where it is to be: in Download, Documents, Music or Pictures.
    Some folders and files are there already.

    ## Rewards
    1 if ``test -d`` finds the folder.

    ## Starting state
    The home screen or a page of the Settings; there is no such folder.
    """

    apps = ("com.android.documentsui",)
    mistakes = ("place", "name")
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidMkdir")

    def sample(self, rng: Rng) -> MkdirParams:
        name, *there = words.folder_names(rng, between(rng, 2, 4))
        return MkdirParams(
            folder=pick(rng, texts.FOLDERS),
            name=name,
            folders=tuple(there),
            files=texts.files(rng, between(rng, 0, 3)),
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def prepare(self, params: MkdirParams) -> Sequence[str]:
        places = [f"/sdcard/{folder}" for folder in texts.FOLDERS]
        lines = [records.remove(*(f"{place}/{params.name}" for place in places))]
        lines += [f"mkdir -p '{place}/{name}'" for place in places for name in params.folders]
        for name in params.files:
            lines += records.write(f"/sdcard/{params.folder}/{name}", f"{name}\n")
        return [*lines, *params.scene.lines()]

    def checks(self, params: MkdirParams) -> Sequence[ShellCheck]:
        return [exists(f"/sdcard/{params.folder}/{params.name}", kind="d")]

    def twice(self, params: MkdirParams) -> Sequence[str]:
        path = f"/sdcard/{params.folder}/{params.name}"
        return [f"mkdir -p {shlex.quote(path)} {shlex.quote(f'{path} (1)')}"]

    def may_change(self, params: MkdirParams) -> Sequence[AllowedChange]:
        return [
            AllowedChange(facts.folder(f"/sdcard/{params.folder}/{params.name}"), gone=0, new=1)
        ]

    def oracle(self, device: AndroidDevice, params: MkdirParams) -> Steps:
        yield from moves.launch(device, "Files")
        yield from show(device, params.folder)
        yield from menu(device, "New folder")
        yield from moves.fill(device, "Name", params.name)
        yield from moves.tap(device, "Create", role="button")

    def misread(self, params: MkdirParams, mistake: str, rng: Rng) -> MkdirParams:
        """``place``: the folder is made elsewhere. ``name``: it gets another name."""
        if mistake == "place":
            place = other(rng, texts.FOLDERS, params.folder)
            return dataclasses.replace(params, folder=place)
        taken = (params.name, *params.folders)
        names = [name for name in words.folder_names(rng, 6) if name not in taken]
        return dataclasses.replace(params, name=names[0])
