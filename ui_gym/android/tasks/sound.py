"""The media volume."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.scenery import Scenery
from ui_gym.android.sliders import slide
from ui_gym.android.task import AndroidTask
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError

VOLUME = "cmd media_session volume --stream 3"
"""The line that asks for the media volume (``--get``) and sets it (``--set N``)."""

LEVELS = {"max": 1.0, "mute": 0.0}
"""The share of the slider's way."""

GOALS = {
    "max": (
        "Set the media volume to its maximum.",
        "Turn the media volume all the way up.",
        "In the sound settings, make media as loud as possible.",
    ),
    "mute": (
        "Mute the media volume.",
        "Turn the media volume down to zero.",
        "In the sound settings, make media silent.",
    ),
}


@dataclass(frozen=True)
class MediaVolumeParams:
    """All that varies between episodes."""

    share: float
    """Where the slider is to be, 0 to 1."""
    slider: str
    """The slider that is moved."""
    start: int
    """The volume at the start, of 15."""
    phrasing: int
    scenery: Scenery


@register(
    "AndroidMediaVolume", suite="android", category="settings", difficulty="medium", max_steps=12
)
class AndroidMediaVolume(AndroidTask[MediaVolumeParams]):
    """Set the media volume to its maximum, or mute it.

    ## Description
    One of five sliders in Settings, under Sound & vibration. The volume keys do it, too.

    ## Rewards
    1 if ``cmd media_session volume --stream 3 --get`` tells the end of its range that is asked for.

    ## Starting state
    The home screen; the volume is neither 0 nor the maximum.

    ## Arguments
    | `to` | either | "max" or "mute": what is asked for |
    """

    mistakes = ("other_slider", "short")

    def __init__(self, *, to: str | None = None) -> None:
        if to is not None and to not in LEVELS:
            raise UserError(f"{self.spec.name}: to is 'max' or 'mute', not {to!r}")
        self.to = to

    def sample(self, rng: np.random.Generator) -> MediaVolumeParams:
        drawn = ("max", "mute")[int(rng.integers(2))]
        return MediaVolumeParams(
            share=LEVELS[self.to or drawn],
            slider="Media volume",
            start=int(rng.integers(2, 14)),
            phrasing=int(rng.integers(3)),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: MediaVolumeParams) -> str:
        return GOALS["max" if params.share else "mute"][params.phrasing]

    def prepare(self, params: MediaVolumeParams) -> Sequence[str]:
        return [*params.scenery.lines(), f"{VOLUME} --set {params.start}"]

    def checks(self, params: MediaVolumeParams) -> Sequence[ShellCheck]:
        def at_end(result: ShellResult) -> bool:
            told = re.search(r"volume is (\d+) in range \[(\d+)\.\.(\d+)\]", result.text)
            return told is not None and told[1] == told[3 if params.share else 2]

        return [ShellCheck("media volume", f"{VOLUME} --get", at_end)]

    def oracle(self, device: AndroidDevice, params: MediaVolumeParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Sound & vibration")
        yield from slide(device, params.slider, params.share)

    def misread(
        self, params: MediaVolumeParams, mistake: str, rng: np.random.Generator
    ) -> MediaVolumeParams:
        """``other_slider``: another volume is set. ``short``: the slider stops before its end."""
        if mistake == "other_slider":
            others = ("Call volume", "Ring volume", "Notification volume", "Alarm volume")
            return dataclasses.replace(params, slider=others[int(rng.integers(len(others)))])
        return dataclasses.replace(params, share=0.85 if params.share else 0.15)
