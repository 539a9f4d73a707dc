"""Make a folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck, exists
from ui_gym.android.content import records, scenes, texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice
from ui_gym.android.task import AndroidTask
from ui_gym.android.tasks import filing
from ui_gym.contract import draws as drawing
from ui_gym.contract import words
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

GOALS = (
    'Create a folder called "{name}" in {folder}.',
    'In the Files app, make a new folder named "{name}" inside {folder}.',
    'I need a folder "{name}" in {folder}. Please create it.',
)


@dataclass(frozen=True)
class MkdirParams:
    """All that varies between episodes."""

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

    def sample(self, rng: np.random.Generator) -> MkdirParams:
        name, *there = words.folder_names(rng, drawing.between(rng, 2, 4))
        return MkdirParams(
            folder=drawing.pick(rng, texts.FOLDERS),
            name=name,
            folders=tuple(there),
            files=texts.files(rng, drawing.between(rng, 0, 3)),
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(GOALS) - 1),
        )

    def goal(self, params: MkdirParams) -> str:
        return GOALS[params.phrasing].format(name=params.name, folder=params.folder)

    def prepare(self, params: MkdirParams) -> Sequence[str]:
        places = [f"/sdcard/{folder}" for folder in texts.FOLDERS]
        lines = [records.remove(*(f"{place}/{params.name}" for place in places))]
        lines += [f"mkdir -p '{place}/{name}'" for place in places for name in params.folders]
        for name in params.files:
            lines += records.write(f"/sdcard/{params.folder}/{name}", f"{name}\n")
        return [*lines, *params.scene.lines()]

    def checks(self, params: MkdirParams) -> Sequence[ShellCheck]:
        return [exists(f"/sdcard/{params.folder}/{params.name}", kind="d")]

    def oracle(self, device: AndroidDevice, params: MkdirParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Files")
        yield from filing.show(device, params.folder)
        yield from filing.menu(device, "New folder")
        yield from moves.fill(device, "Name", params.name)
        yield from moves.tap(device, "Create", role="button")

    def misread(self, params: MkdirParams, mistake: str, rng: np.random.Generator) -> MkdirParams:
        """``place``: the folder is made elsewhere. ``name``: it gets another name."""
        if mistake == "place":
            place = drawing.other(rng, texts.FOLDERS, params.folder)
            return dataclasses.replace(params, folder=place)
        taken = (params.name, *params.folders)
        names = [name for name in words.folder_names(rng, 6) if name not in taken]
        return dataclasses.replace(params, name=names[0])
