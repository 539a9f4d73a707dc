"""Set a timer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import scenes
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice
from ui_gym.android.task import AndroidTask
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

GOALS = (
    "Set a timer for {time}, but do not start it.",
    "Enter {time} as a timer in the Clock app. Do not start it.",
    "Prepare a timer of {time} without starting it.",
)
UNITS = ("hour", "minute", "second")


@dataclass(frozen=True)
class TimerSetParams:
    """All that varies between episodes."""

    hours: int
    minutes: int
    seconds: int
    scene: StartScene
    phrasing: int

    @property
    def digits(self) -> str:
        """What is typed."""
        return f"{self.hours:02}{self.minutes:02}{self.seconds:02}".lstrip("0")

    @property
    def shown(self) -> str:
        """What the Clock then shows."""
        return f"{self.hours:02}h {self.minutes:02}m {self.seconds:02}s"


@register(
    "AndroidTimerSet", suite="android", category="app", difficulty="easy", max_steps=15,
    tags=("clock",),
)  # fmt: skip
class AndroidTimerSet(AndroidTask[TimerSetParams]):
    """Enter the time of a timer, and do not start it.

    ## Description
    The goal gives hours, minutes and seconds, of which some may be none.

    ## Rewards
    1 if ``uiautomator dump`` tells the text of the time, as in ``00h 05m 30s``.

    ## Starting state
    The home screen or a page of the Settings; no timer is set.
    """

    apps = ("com.google.android.deskclock",)
    mistakes = ("units", "digit")

    def sample(self, rng: np.random.Generator) -> TimerSetParams:
        hours = drawing.between(rng, 1, 12) if rng.random() < 0.4 else 0
        minutes = drawing.between(rng, 1, 59)
        seconds = drawing.between(rng, 1, 59) if rng.random() < 0.6 else 0
        return TimerSetParams(
            hours, minutes, seconds, scenes.draw(rng), drawing.between(rng, 0, len(GOALS) - 1)
        )

    def goal(self, params: TimerSetParams) -> str:
        values = (params.hours, params.minutes, params.seconds)
        parts = [
            f"{value} {unit}{'' if value == 1 else 's'}"
            for value, unit in zip(values, UNITS, strict=True)
            if value
        ]
        *most, last = parts
        time = f"{', '.join(most)} and {last}" if most else last
        return GOALS[params.phrasing].format(time=time)

    def prepare(self, params: TimerSetParams) -> Sequence[str]:
        return params.scene.lines()

    def checks(self, params: TimerSetParams) -> Sequence[ShellCheck]:
        line = f"uiautomator dump /dev/tty | grep -c 'text=\"{params.shown}\"'"
        return [ShellCheck("timer", line, "1")]

    def oracle(self, device: AndroidDevice, params: TimerSetParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Clock")
        yield from moves.tap(device, "Timer")
        for digit in params.digits:
            yield from moves.tap(device, digit, role="button")

    def misread(
        self, params: TimerSetParams, mistake: str, rng: np.random.Generator
    ) -> TimerSetParams:
        """``units``: minutes for seconds, or for hours. ``digit``: one digit is wrong."""
        hours, minutes, seconds = params.hours, params.minutes, params.seconds
        if mistake == "units":
            wrong = dataclasses.replace(params, hours=0, minutes=hours, seconds=minutes)
            if not hours and minutes != seconds and seconds:
                wrong = dataclasses.replace(params, minutes=seconds, seconds=minutes)
        else:
            wrong = dataclasses.replace(
                params, minutes=(minutes + drawing.between(rng, 1, 58)) % 60
            )
        # Who types it comes by what was typed before: that must not be the time that is asked for.
        passes = wrong.digits.startswith(params.digits)
        return params if passes or not wrong.digits else wrong
