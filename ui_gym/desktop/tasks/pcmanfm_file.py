"""Rename, move, copy or delete one file among others like it, in the file manager."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import other, pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop import navigation
from ui_gym.desktop.compact_task import NAMES
from ui_gym.desktop.content import words
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.tasks.filing import (
    CompactFilingTask,
    FilingParams,
    FilingTask,
    PcmanfmTask,
    click_row,
)


@dataclass(frozen=True)
class OneFileParams(FilingParams):
    """Folders, and one file that is meant."""

    target: str
    """Its name."""
    value: str
    """Its new name, or the folder where it is to go; empty where it is to be deleted."""

    @property
    def path(self) -> str:
        return f"{self.source}/{self.target}"


class OneFileTask(FilingTask[OneFileParams]):
    """What tasks with one file share."""

    def sample(self, rng: np.random.Generator) -> OneFileParams:
        cabinet = self.cabinet(rng)
        first = dict(cabinet["folders"])[cabinet["source"]]
        elsewhere = {name for folder, held in cabinet["folders"][1:] for name, _ in held}
        names = [name for name, _ in first]
        target = pick(rng, self.choice(names, elsewhere))
        params = OneFileParams(**cabinet, target=target, value="")
        return dataclasses.replace(params, value=self.draw_value(rng, params))

    def choice(self, names: Sequence[str], elsewhere: set[str]) -> Sequence[str]:
        """The files that may be meant, of those in the folder."""
        return names

    def draw_value(self, rng: np.random.Generator, params: OneFileParams) -> str:
        """The new name, or the folder where it is to go."""
        return ""

    def misread(
        self, params: OneFileParams, mistake: str, rng: np.random.Generator
    ) -> OneFileParams:
        """``sibling``: another file of the folder is taken; ``twin``: one of its name in another
        folder, if there is one."""
        if mistake == "sibling":
            names = params.names(params.source)
            taken = (params.target, params.value)
            return dataclasses.replace(params, target=other(rng, names, *taken))
        twins = [
            folder
            for folder in params.places
            if folder not in (params.source, params.value)
            and params.target in params.names(folder)
            and params.value not in params.names(folder)
        ]
        return dataclasses.replace(params, source=pick(rng, twins)) if twins else params


@register(
    "DesktopRenameFile", suite="desktop", category="pcmanfm", difficulty="easy", max_steps=15,
    tags=("files",),
)  # fmt: skip
class DesktopRenameFile(CompactFilingTask[OneFileParams], OneFileTask):
    """Give a file another name.

    ## Description
    The goal names a file, its folder and its new name. Files of like names lie beside it and in
    other folders. With ``compact=True`` there is one folder with five files of short names, on a
    screen that a model of a million parameters can read.

    ## Rewards
    1 if the file has the new name and its old text, and all others are unchanged.

    ## Starting state
    The file manager with that folder or the home folder; compact: with the folder.

    ## Episode end
    Termination: it has the new name.

    ## Arguments
    | `compact` | False | a screen of 400x320 pixels, and six actions |
    """

    mistakes = ("sibling", "twin", "name")
    goals = (
        'Rename the file "{target}" in the folder "{source}" to "{value}".',
        'In {source} there is a file called "{target}". Change its name to "{value}".',
        'Use the file manager to rename {source}/{target} to "{value}".',
    )
    compact_goals = ("Rename {target} to {value}.", "{target} should be called {value}.")
    compact_mistakes = ("sibling", "name")
    compact_steps = 3

    def draw_value(self, rng: np.random.Generator, params: OneFileParams) -> str:
        return self._new_name(rng, params.target, *params.names(params.source))

    def after(self, params: OneFileParams) -> Mapping[str, str]:
        files = self.before(params)
        text = files.pop(params.path)
        return {**files, f"{params.source}/{params.value}": text}

    def oracle(self, device: DesktopDevice, params: OneFileParams) -> Iterator[Action | Demo]:
        if self.compact:
            yield click_row(params.target, params.names(params.source))
            yield Demo(Press("f2"), params.target)
            yield from navigation.opened(device, "Rename File")
            yield Demo(Type(params.value, enter=True), params.value)
            yield from navigation.closed(device, "Rename File")
            return
        browser = PcmanfmTask(device, params, self)
        yield from browser.show(params.source)
        yield from browser.choose(params.target)
        yield Press("f2")
        yield from browser.name_dialog("Rename File", params.value)

    def misread(
        self, params: OneFileParams, mistake: str, rng: np.random.Generator
    ) -> OneFileParams:
        """As all; ``name``: it gets another name."""
        if mistake != "name":
            return super().misread(params, mistake, rng)
        taken = (params.value, *params.names(params.source))
        return dataclasses.replace(params, value=self._new_name(rng, *taken))

    def _new_name(self, rng: np.random.Generator, *taken: str) -> str:
        return other(rng, NAMES, *taken) if self.compact else words.new_name(rng, *taken)


class CarryTask(CompactFilingTask[OneFileParams], OneFileTask):
    """What tasks share that take a file to another folder."""

    how = "ctrl+x"
    compact_places = 3
    compact_steps = 5

    def choice(self, names: Sequence[str], elsewhere: set[str]) -> Sequence[str]:
        return [name for name in names if name not in elsewhere]

    def draw_value(self, rng: np.random.Generator, params: OneFileParams) -> str:
        free = [folder for folder in params.places if params.target not in params.names(folder)]
        return pick(rng, free)

    def oracle(self, device: DesktopDevice, params: OneFileParams) -> Iterator[Action | Demo]:
        if self.compact:
            yield click_row(params.target, params.names(params.source))
            yield Demo(Press(self.how), params.target)
            yield Demo(Press("alt+up"), params.source)
            yield click_row(params.value, params.places, count=2)
            yield Demo(Press("ctrl+v"), params.value)
            return
        browser = PcmanfmTask(device, params, self)
        yield from browser.carry(params.source, [params.target], params.value, self.how)

    def misread(
        self, params: OneFileParams, mistake: str, rng: np.random.Generator
    ) -> OneFileParams:
        """``sibling``: another file is taken; ``place``: it goes into another folder."""
        free = [folder for folder in params.places if folder != params.source]
        if mistake == "place":
            others = [folder for folder in free if folder != params.value]
            return dataclasses.replace(params, value=pick(rng, others)) if others else params
        there = params.names(params.value)
        names = [name for name in params.names(params.source) if name not in there]
        names.remove(params.target)
        return dataclasses.replace(params, target=pick(rng, names)) if names else params


@register(
    "DesktopMoveFile", suite="desktop", category="pcmanfm", difficulty="medium", max_steps=20,
    tags=("files",),
)  # fmt: skip
class DesktopMoveFile(CarryTask):
    """Move a file into another folder.

    ## Description
    The goal names a file, its folder and the one where it is to go. Files of like names lie beside
    it and in other folders. With ``compact=True`` the names are short, and the screen is one
    that a model of a million parameters can read; the folder with five files shows, and the other
    two are found in the one above.

    ## Rewards
    1 if the file is in the other folder and no more in its own, and all others are unchanged.

    ## Starting state
    The file manager with the file's folder or the home folder; compact: with the file's folder.

    ## Arguments
    | `compact` | False | a screen of 400x320 pixels, and ten actions |
    """

    mistakes = ("sibling", "place")
    goals = (
        'Move the file "{target}" from the folder "{source}" to "{value}".',
        'The file "{target}" in {source} belongs in {value}. Move it there.',
        "Use the file manager to move {source}/{target} into the folder {value}.",
    )
    compact_goals = (
        "Move {target} to {value}.",
        "Take {target} to {value}.",
        "Put {target} into {value}.",
    )

    def after(self, params: OneFileParams) -> Mapping[str, str]:
        files = self.before(params)
        text = files.pop(params.path)
        return {**files, f"{params.value}/{params.target}": text}


@register(
    "DesktopCopyFile", suite="desktop", category="pcmanfm", difficulty="medium", max_steps=20,
    tags=("files", "clipboard"),
)  # fmt: skip
class DesktopCopyFile(CarryTask):
    """Copy a file into another folder.

    ## Description
    The goal names a file, its folder and the one where its copy is to go. Files of like names lie
    beside it and in other folders. With ``compact=True`` the names are short, and the screen is one
    that a model of a million parameters can read; the folder with five files shows, and the other
    two are found in the one above.

    ## Rewards
    1 if the file is in both folders, and all others are unchanged.

    ## Starting state
    The file manager with the file's folder or the home folder; compact: with the file's folder.

    ## Arguments
    | `compact` | False | a screen of 400x320 pixels, and ten actions |
    """

    how = "ctrl+c"
    mistakes = ("sibling", "place")
    goals = (
        'Copy the file "{target}" from the folder "{source}" to "{value}".',
        'Put a copy of {source}/{target} into the folder "{value}". The original stays.',
        'The file "{target}" of {source} is needed in {value}, too. Copy it there.',
    )
    compact_goals = (
        "Copy {target} to {value}.",
        "Put {target} into {value}, too.",
        "Put a copy of {target} into {value}.",
    )

    def after(self, params: OneFileParams) -> Mapping[str, str]:
        files = self.before(params)
        return {**files, f"{params.value}/{params.target}": files[params.path]}


@register(
    "DesktopDeleteFile", suite="desktop", category="pcmanfm", difficulty="easy", max_steps=15,
    tags=("files",),
)  # fmt: skip
class DesktopDeleteFile(OneFileTask):
    """Delete one file and no other.

    ## Description
    The goal names a file and its folder. Files of like names lie beside it and in other folders.

    ## Rewards
    1 if the file is gone, into the trash or for ever, and all others are unchanged.

    ## Starting state
    The file manager with that folder or the home folder.
    """

    mistakes = ("sibling", "twin")
    goals = (
        'Delete the file "{target}" in the folder "{source}".',
        "Please remove {target} from {source}, and keep all other files.",
        "Use the file manager to move {source}/{target} to the trash.",
    )

    def after(self, params: OneFileParams) -> Mapping[str, str]:
        files = self.before(params)
        del files[params.path]
        return files

    def oracle(self, device: DesktopDevice, params: OneFileParams) -> Iterator[Action | Demo]:
        browser = PcmanfmTask(device, params, self)
        yield from browser.show(params.source)
        yield from browser.choose(params.target)
        yield Press("delete")
        yield from navigation.opened(device, "Confirm")
        yield Press("enter")
        yield from navigation.closed(device, "Confirm")
