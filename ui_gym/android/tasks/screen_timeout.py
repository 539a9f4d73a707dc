"""After what time the screen turns off."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck, setting
from ui_gym.android.device import AndroidDevice
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError

TIMEOUTS = {
    "15 seconds": 15_000, "30 seconds": 30_000, "1 minute": 60_000, "2 minutes": 120_000,
    "5 minutes": 300_000, "10 minutes": 600_000, "30 minutes": 1_800_000,
}  # fmt: skip
"""Milliseconds by what Android's list of timeouts says."""

TIMEOUT_GOALS = (
    "Set the screen timeout to {time}.",
    "Please let the screen turn off after {time} of inactivity.",
    "In the display settings, change the screen timeout to {time}.",
    "The screen should stay on for {time} when I do not touch it.",
)


@dataclass(frozen=True)
class ScreenTimeoutParams:
    """All that varies between episodes."""

    time: str
    """What is asked for, of `TIMEOUTS`."""
    start: str
    """What it is at the start."""
    phrasing: int
    scenery: Scenery


@register(
    "AndroidScreenTimeout", suite="android", category="settings", difficulty="medium", max_steps=12
)
class AndroidScreenTimeout(AndroidTask[ScreenTimeoutParams]):
    """Set after what time the screen turns off.

    ## Description
    A list of seven times, on a page of its own in Settings, under Display.

    ## Rewards
    1 if ``settings get system screen_off_timeout`` is the time that was asked for, in milliseconds.

    ## Starting state
    The home screen; the timeout is another of the seven.

    ## Arguments
    | `to` | any | the time that is asked for, such as "30 seconds" |
    """

    mistakes = ("next",)

    def __init__(self, *, to: str | None = None) -> None:
        if to is not None and to not in TIMEOUTS:
            raise UserError(f"{self.spec.name}: to is one of {', '.join(TIMEOUTS)}, not {to!r}")
        self.to = to

    def sample(self, rng: np.random.Generator) -> ScreenTimeoutParams:
        names = list(TIMEOUTS)
        time = names[int(rng.integers(len(names)))] if self.to is None else self.to
        others = [name for name in names if name != time]
        return ScreenTimeoutParams(
            time=time,
            start=others[int(rng.integers(len(others)))],
            phrasing=int(rng.integers(len(TIMEOUT_GOALS))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: ScreenTimeoutParams) -> str:
        return TIMEOUT_GOALS[params.phrasing].format(time=params.time)

    def prepare(self, params: ScreenTimeoutParams) -> Sequence[str]:
        start = f"settings put system screen_off_timeout {TIMEOUTS[params.start]}"
        return [*params.scenery.lines(), start]

    def checks(self, params: ScreenTimeoutParams) -> Sequence[ShellCheck]:
        return [setting("system", "screen_off_timeout", str(TIMEOUTS[params.time]))]

    def oracle(self, device: AndroidDevice, params: ScreenTimeoutParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Display", "Screen timeout", params.time)

    def misread(
        self, params: ScreenTimeoutParams, mistake: str, rng: np.random.Generator
    ) -> ScreenTimeoutParams:
        """``next``: the time beside it in the list is taken."""
        names = list(TIMEOUTS)
        at = names.index(params.time)
        return dataclasses.replace(params, time=names[at - 1 if at else 1])
