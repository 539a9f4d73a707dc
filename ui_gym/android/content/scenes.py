"""Scenes: what a phone is like beside what a task is about, and what it shows at the start."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass

import numpy as np

from ui_gym.android import scenery
from ui_gym.android.scenery import Scenery
from ui_gym.contract.draws import pick

KEPT = ("airplane", "wifi", "data", "auto_time")
"""Switches that stay as they are: messages and pages need a network, and the tasks with a calendar
set the clock."""

APART_SHARE = 0.5
"""How many episodes begin in another place than the home screen."""

PLACES = (
    "SETTINGS", "WIRELESS_SETTINGS", "BLUETOOTH_SETTINGS", "CONNECTED_DEVICES_SETTINGS",
    "DISPLAY_SETTINGS", "SOUND_SETTINGS", "INTERNAL_STORAGE_SETTINGS", "BATTERY_SAVER_SETTINGS",
    "MANAGE_APPLICATIONS_SETTINGS", "DATE_SETTINGS", "ACCESSIBILITY_SETTINGS", "SECURITY_SETTINGS",
    "LOCATION_SOURCE_SETTINGS", "NOTIFICATION_SETTINGS", "ZEN_MODE_SETTINGS",
    "DEVICE_INFO_SETTINGS",
)  # fmt: skip
"""Actions that open pages of the Settings, without ``android.settings.``"""


@dataclass(frozen=True)
class StartScene(Scenery):
    """A scenery, and where the phone is."""

    place: str = ""
    """The page of the Settings that is open, of `PLACES`; none is the home screen."""

    def lines(self, but: Collection[str] = KEPT) -> list[str]:
        """Shell lines that bring it about, the last of all."""
        lines = super().lines(but)
        if self.place:
            lines.append(f"am start -a android.settings.{self.place} >/dev/null")
        return lines


def quiet(rng: np.random.Generator) -> StartScene:
    """The home screen of a phone that `scenery.quiet` is about."""
    return StartScene(**asdict(scenery.quiet(rng)))


def draw(rng: np.random.Generator) -> StartScene:
    """Any scene."""
    drawn = scenery.draw(rng)
    place = pick(rng, PLACES) if rng.random() < APART_SHARE else ""
    return StartScene(**asdict(drawn), place=place)
