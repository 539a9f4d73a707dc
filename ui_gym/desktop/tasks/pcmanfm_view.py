"""Change how the file manager shows folders."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.draws import pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import keyfile, navigation
from ui_gym.desktop.content import words
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.homes import home_files
from ui_gym.desktop.tasks.filing import (
    BY_EXTENSION,
    MANAGER,
    SORT_FILES,
    VIEW,
    FilingParams,
    FilingTask,
)

CONFIG = ".config/pcmanfm/default/pcmanfm.conf"
"""Where the file manager keeps its settings, those of `_KEYS` among them."""

_KEYS = ("show_hidden", "show_statusbar", "sort")

SHOW_HIDDEN, STATUS_BAR = (140, 67), (140, 222)
ORDERS = {"ascending": (480, 89), "descending": (480, 110)}
COLUMNS = {"name": (480, 138), "size": (480, 181), "ext": BY_EXTENSION}
"""Entries of its View menu, and those of the submenu for sorting."""

TOLD: Mapping[str, str] = words.WRITTEN["folder_settings"]
"""How a goal speaks of each setting."""


@dataclass(frozen=True)
class FolderViewParams(FilingParams):
    """Folders, and how they are shown."""

    hidden: str
    """The name of a hidden file in the first folder."""
    start: tuple[str, ...]
    """Settings in the beginning."""
    wanted: str
    """One of `TOLD`."""

    @property
    def end(self) -> dict[str, str]:
        """The settings in the end, by their keys."""
        return dict(setting.split("=", 1) for setting in (*self.start, self.wanted))


@register(
    "DesktopFolderSetting", suite="desktop", category="pcmanfm", difficulty="easy", max_steps=15,
    tags=("settings",),
)  # fmt: skip
class DesktopFolderSetting(FilingTask[FolderViewParams]):
    """Change how the file manager shows folders, such as hidden files.

    ## Description
    The goal asks for hidden files to be shown or not, for the status bar, or for an order of the
    list.

    ## Rewards
    1 if the file manager's settings on the disk have it so, and the other two are as they were.

    ## Starting state
    The file manager with a folder or the home folder.
    """

    mistakes = ("other", "direction")
    goals = (
        "Make the file manager {wanted}.",
        "The file manager that is open should {wanted}. Set it so.",
        "Change the view of the file manager. It should {wanted}.",
    )

    def sample(self, rng: np.random.Generator) -> FolderViewParams:
        hidden = "show_hidden=" + pick(rng, "01")
        order = pick(rng, [setting for setting in TOLD if setting.startswith("sort")])
        start = (hidden, "show_statusbar=0", order)
        kind = pick(rng, _KEYS)
        wanted = pick(rng, [one for one in TOLD if one not in start and one.startswith(kind)])
        cabinet = self.cabinet(rng)
        name = "." + cabinet["folders"][0][1][0][0]
        return FolderViewParams(**cabinet, hidden=name, start=start, wanted=wanted)

    def told(self, params: FolderViewParams) -> Mapping[str, object]:
        return {"wanted": TOLD[params.wanted]}

    def session(self, params: FolderViewParams) -> SessionSpec:
        usual = super().session(params)
        lines = home_files("ui_gym.desktop.x11", "home")[CONFIG].decode().splitlines()
        lines = [line for line in lines if line.partition("=")[0] not in _KEYS]
        at = lines.index("[ui]") + 1
        text = "\n".join([*lines[:at], *params.start, *lines[at:], ""])
        secret = f"{params.places[0]}/{params.hidden}"
        own = {CONFIG: text.encode(), secret: b"secret\n"}
        return dataclasses.replace(usual, files={**usual.files, **own})

    def may_change(self, params: FolderViewParams) -> Sequence[AllowedChange]:
        return ()

    def judge(
        self, device: DesktopDevice, params: FolderViewParams, history: Sequence[Action]
    ) -> Verdict:
        kept = keyfile.parse(device.read(CONFIG) or b"").get("ui", {})
        wrong = [key for key, value in params.end.items() if kept.get(key) != value]
        notes = ", ".join(f"{key} is {kept.get(key)!r}" for key in wrong)
        return Verdict(0.0 if wrong else 1.0, done=not wrong, notes=notes)

    def oracle(self, device: DesktopDevice, params: FolderViewParams) -> Iterator[Action | Demo]:
        window = navigation.window(device, MANAGER)
        key, _, value = params.wanted.partition("=")
        if key != "sort":
            entry = SHOW_HIDDEN if key == "show_hidden" else STATUS_BAR
            yield from navigation.menu(window, VIEW, entry)
            return
        column, order, _ = value.split(";")
        old = dict(setting.split("=") for setting in params.start)["sort"].split(";")
        if order != old[1]:
            yield from navigation.menu(window, VIEW, SORT_FILES, ORDERS[order])
        if column != old[0]:
            yield from navigation.menu(window, VIEW, SORT_FILES, COLUMNS[column])

    def misread(
        self, params: FolderViewParams, mistake: str, rng: np.random.Generator
    ) -> FolderViewParams:
        """``other``: another setting is changed; ``direction``: the list goes the other way."""
        key = params.wanted.partition("=")[0]
        if mistake == "other":
            free = [one for one in TOLD if not one.startswith(key) and one not in params.start]
            return dataclasses.replace(params, wanted=pick(rng, free))
        ways = ("ascending", "descending")
        here, there = ways if ways[0] in params.wanted else ways[::-1]
        return dataclasses.replace(params, wanted=params.wanted.replace(here, there))
