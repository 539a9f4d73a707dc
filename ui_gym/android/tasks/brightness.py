"""The screen's brightness: setting it, reading it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves, scenery
from ui_gym.android.answers import answered, is_percent
from ui_gym.android.checks import ShellCheck, setting
from ui_gym.android.device import AndroidDevice
from ui_gym.android.scenery import Scenery
from ui_gym.android.sliders import slide
from ui_gym.android.task import AndroidTask
from ui_gym.contract.action import Action, Answer
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

SLIDER = "Brightness level"
LEVELS = {"max": 255, "min": 1}


def percent(level: int) -> int:
    """What the built-in phone shows of a brightness of 1 to 255."""
    return round(100 * level / 255)


@dataclass(frozen=True)
class BrightnessParams:
    """All that varies between episodes."""

    level: int
    """What the brightness is to be, of 255."""
    slider: str
    """The slider that is moved."""
    phrasing: int
    scenery: Scenery


BRIGHTNESS_GOALS = (
    "Set the brightness to its {end}.",
    "Please make the screen as {word} as it can be.",
    "Open Settings and set the screen's brightness to the {end}.",
    "Drag the brightness slider all the way to the {side}.",
)


@register(
    "AndroidBrightness", suite="android", category="settings", difficulty="medium", max_steps=12
)
class AndroidBrightness(AndroidTask[BrightnessParams]):
    """Set the screen's brightness to its maximum or minimum.

    ## Description
    A slider in Settings, under Display, and in the quick settings, has to be moved to its very end.

    ## Rewards
    1 if ``settings get system screen_brightness`` is 255, or 1 where it is the minimum.

    ## Starting state
    The home screen; the brightness lies between 20 and 239, and does not adapt by itself.

    ## Arguments
    | `to` | either | "max" or "min": what is asked for |
    """

    mistakes: tuple[str, ...] = ("other_end", "short")

    def __init__(self, *, to: str | None = None) -> None:
        if to is not None and to not in LEVELS:
            raise UserError(f"{self.spec.name}: to is 'max' or 'min', not {to!r}")
        self.to = to

    def sample(self, rng: np.random.Generator) -> BrightnessParams:
        drawn = ("max", "min")[int(rng.integers(2))]
        return BrightnessParams(
            level=LEVELS[self.to or drawn],
            slider=SLIDER,
            phrasing=int(rng.integers(len(BRIGHTNESS_GOALS))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: BrightnessParams) -> str:
        words = ("minimum", "dim", "left") if params.level == 1 else ("maximum", "bright", "right")
        end, word, side = words
        return BRIGHTNESS_GOALS[params.phrasing].format(end=end, word=word, side=side)

    def prepare(self, params: BrightnessParams) -> Sequence[str]:
        return params.scenery.lines()

    def checks(self, params: BrightnessParams) -> Sequence[ShellCheck]:
        return [setting("system", "screen_brightness", str(params.level))]

    def oracle(self, device: AndroidDevice, params: BrightnessParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Display")
        yield from slide(device, params.slider, (params.level - 1) / 254)

    def misread(
        self, params: BrightnessParams, mistake: str, rng: np.random.Generator
    ) -> BrightnessParams:
        """``other_end``: the slider goes the other way. ``short``: it stops before its end."""
        if mistake == "other_end":
            return dataclasses.replace(params, level=256 - params.level)
        return dataclasses.replace(params, level=40 if params.level == 1 else 215)


@dataclass(frozen=True)
class BrightnessReadParams:
    """All that varies between episodes."""

    level: int
    """The brightness, of 255."""
    said: int
    """The percentage that the oracle answers."""
    phrasing: int
    scenery: Scenery


READ_GOALS = (
    "What percentage is the brightness at?",
    "How bright is the screen set to be, in percent?",
    "Open the display settings and tell me the brightness level in percent.",
)


@register(
    "AndroidBrightnessRead", suite="android", category="settings", difficulty="easy", max_steps=10
)
class AndroidBrightnessRead(AndroidTask[BrightnessReadParams]):
    """Answer what percentage the brightness is at.

    ## Description
    Settings tell it beside the slider, under Display. The built-in phone's percentage is the
    slider's place; phones whose slider follows a curve of perception show another.

    ## Action space
    The percentage is given by ``answer``, or in the message of ``finish``.

    ## Rewards
    1 if the answer names the percentage and no other number; "%" may be left out.

    ## Starting state
    The home screen; the brightness lies between 20 and 239.

    ## Episode end
    Termination: something was answered.
    """

    mistakes = ("of_255", "off_by_one")

    def sample(self, rng: np.random.Generator) -> BrightnessReadParams:
        drawn = scenery.draw(rng)
        return BrightnessReadParams(
            level=drawn.brightness,
            said=percent(drawn.brightness),
            phrasing=int(rng.integers(len(READ_GOALS))),
            scenery=drawn,
        )

    def goal(self, params: BrightnessReadParams) -> str:
        return READ_GOALS[params.phrasing]

    def prepare(self, params: BrightnessReadParams) -> Sequence[str]:
        return params.scenery.lines()

    def judge(
        self, device: AndroidDevice, params: BrightnessReadParams, history: Sequence[Action]
    ) -> Verdict:
        value = percent(params.level)
        return answered(history, lambda text: is_percent(text, value), f"{value}%")

    def oracle(
        self, device: AndroidDevice, params: BrightnessReadParams
    ) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Display")
        yield from moves.scroll_to(device, SLIDER)
        yield Answer(f"{params.said}%")

    def misread(
        self, params: BrightnessReadParams, mistake: str, rng: np.random.Generator
    ) -> BrightnessReadParams:
        """``of_255``: the setting's value is taken for a percentage. ``off_by_one``: misread."""
        said = params.level if mistake == "of_255" else params.said + 1
        return dataclasses.replace(params, said=said)
