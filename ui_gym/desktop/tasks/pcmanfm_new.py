"""Make something new in the file manager: a folder, an empty file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press
from ui_gym.contract.draws import other, pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop import navigation
from ui_gym.desktop.content import words
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.tasks.filing import FILE, MANAGER, FilingParams, FilingTask, PcmanfmTask

CREATE_NEW, EMPTY_FILE = (60, 96), (300, 117)
"""An entry of its File menu, and one of its submenu."""


@dataclass(frozen=True)
class NewParams(FilingParams):
    """Folders, and the name of something new."""

    name: str


class NewTask(FilingTask[NewParams]):
    """What tasks with something new share."""

    mistakes = ("name", "place")

    def draw_name(self, rng: np.random.Generator, taken: Sequence[str]) -> str:
        """A name that is not taken."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator) -> NewParams:
        cabinet = self.cabinet(rng)
        names = [name for _, held in cabinet["folders"] for name, _ in held]
        taken = [*names, *(folder for folder, _ in cabinet["folders"])]
        source = pick(rng, [folder for folder, _ in cabinet["folders"]])
        return NewParams(**{**cabinet, "source": source}, name=self.draw_name(rng, taken))

    def misread(self, params: NewParams, mistake: str, rng: np.random.Generator) -> NewParams:
        """``name``: it gets another name; ``place``: it is made in another folder."""
        if mistake == "place":
            return dataclasses.replace(params, source=other(rng, params.places, params.source))
        taken = [params.name, *params.names(params.source), *params.places]
        return dataclasses.replace(params, name=self.draw_name(rng, taken))


@register(
    "DesktopNewFolder", suite="desktop", category="pcmanfm", difficulty="easy", max_steps=15,
    tags=("files",),
)  # fmt: skip
class DesktopNewFolder(NewTask):
    """Make a folder inside another.

    ## Description
    The goal gives the name of the new folder and the one in which it is to be.

    ## Rewards
    1 if the folder is there and empty, and nothing else has changed.

    ## Starting state
    The file manager with a folder or the home folder.
    """

    goals = (
        'Make a new folder called "{name}" in the folder "{source}".',
        'In {source}, create a folder named "{name}".',
        'I need an empty folder "{name}" inside "{source}". Create it in the file manager.',
    )

    def draw_name(self, rng: np.random.Generator, taken: Sequence[str]) -> str:
        drawn = words.folder_names(rng, len(taken) + 1)
        return next(name for name in drawn if name not in taken)

    def new_folders(self, params: NewParams) -> Sequence[str]:
        return [f"{params.source}/{params.name}"]

    def after(self, params: NewParams) -> Mapping[str, str]:
        return self.before(params)

    def oracle(self, device: DesktopDevice, params: NewParams) -> Iterator[Action | Demo]:
        browser = PcmanfmTask(device, params, self)
        yield from browser.show(params.source)
        yield Press("ctrl+shift+n")
        yield from browser.name_dialog("New Folder", params.name)


@register(
    "DesktopNewFile", suite="desktop", category="pcmanfm", difficulty="easy", max_steps=15,
    tags=("files",),
)  # fmt: skip
class DesktopNewFile(NewTask):
    """Make an empty file in a folder.

    ## Description
    The goal gives the name of the new file and its folder.

    ## Rewards
    1 if the file is there and empty, and nothing else has changed.

    ## Starting state
    The file manager with a folder or the home folder.
    """

    goals = (
        'Create an empty file called "{name}" in the folder "{source}".',
        'In {source}, make a new empty file and name it "{name}".',
        'Use the file manager to put an empty file "{name}" into {source}.',
    )

    def draw_name(self, rng: np.random.Generator, taken: Sequence[str]) -> str:
        return words.new_name(rng, f".{pick(rng, words.KINDS)}", *taken)

    def after(self, params: NewParams) -> Mapping[str, str]:
        return {**self.before(params), f"{params.source}/{params.name}": ""}

    def oracle(self, device: DesktopDevice, params: NewParams) -> Iterator[Action | Demo]:
        browser = PcmanfmTask(device, params, self)
        yield from browser.show(params.source)
        yield from navigation.menu(navigation.window(device, MANAGER), FILE, CREATE_NEW, EMPTY_FILE)
        yield from browser.name_dialog("Creating", params.name)
