"""Sliders: the screen's brightness, the media volume."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ui_gym.android import moves, scenery
from ui_gym.android.answers import answered, is_percent
from ui_gym.android.checks import ShellCheck, setting
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.facts import settings_change
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.action import Action, Answer, Drag
from ui_gym.contract.device import Element
from ui_gym.contract.draws import Rng, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Verdict
from ui_gym.errors import TaskError, UserError

KNOB = 1 / 36
"""Of the screen's width: from a slider's end to the middle of its knob there."""


def slide(device: AndroidDevice, name: str, share: float) -> Iterator[Action]:
    """Drag the knob of the slider of this name to a share of its way, 0 to 1; at an end, beyond."""
    yield from moves.scroll_to(device, name, role="slider")
    found = moves.find(device, name, role="slider")
    if found is None:
        raise TaskError(f"the phone's screen shows no slider {name!r}")
    y = found.center[1]
    knob = round(KNOB * device.size[0])
    yield Drag(_place(found, _share(found), knob), y, _place(found, share, knob), y)


def _place(slider: Element, share: float, knob: int) -> int:
    """The x of a share of the way."""
    left, _, width, _ = slider.box
    if share <= 0:
        return left + 1
    if share >= 1:
        return left + width - 2
    return round(left + knob + share * (width - 2 * knob))


def _share(slider: Element) -> float:
    """Where its knob is, as far as its value tells; else in the middle."""
    value = next((state for state in slider.states if state.startswith("value=")), "")
    number = re.search(r"\d+(\.\d+)?", value)
    return min(1.0, float(number[0]) / 100) if number else 0.5


SLIDER = "Brightness level"
BRIGHTNESSES = {"max": 255, "min": 1}


def percent(level: int) -> int:
    """What the built-in phone shows of a brightness of 1 to 255."""
    return round(100 * level / 255)


@dataclass(frozen=True)
class BrightnessParams:
    level: int
    """What the brightness is to be, of 255."""
    slider: str
    """The slider that is moved."""
    phrasing: int
    scenery: Scenery


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
    goals = texts.goals("AndroidBrightness")

    def __init__(self, *, to: str | None = None) -> None:
        if to is not None and to not in BRIGHTNESSES:
            raise UserError(f"{self.spec.name}: to is 'max' or 'min', not {to!r}")
        self.to = to

    def sample(self, rng: Rng) -> BrightnessParams:
        drawn = ("max", "min")[int(rng.integers(2))]
        return BrightnessParams(
            level=BRIGHTNESSES[self.to or drawn],
            slider=SLIDER,
            phrasing=int(rng.integers(len(self.goals))),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: BrightnessParams) -> str:
        words = ("minimum", "dim", "left") if params.level == 1 else ("maximum", "bright", "right")
        end, word, side = words
        return self.goals[params.phrasing].format(end=end, word=word, side=side)

    def prepare(self, params: BrightnessParams) -> Sequence[str]:
        return params.scenery.lines()

    def checks(self, params: BrightnessParams) -> Sequence[ShellCheck]:
        return [setting("system", "screen_brightness", str(params.level))]

    def may_change(self, params: BrightnessParams) -> Sequence[AllowedChange]:
        return settings_change("system screen_brightness")

    def oracle(self, device: AndroidDevice, params: BrightnessParams) -> Steps:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Display")
        yield from slide(device, params.slider, (params.level - 1) / 254)

    def misread(self, params: BrightnessParams, mistake: str, rng: Rng) -> BrightnessParams:
        """``other_end``: the slider goes the other way. ``short``: it stops before its end."""
        if mistake == "other_end":
            return dataclasses.replace(params, level=256 - params.level)
        return dataclasses.replace(params, level=40 if params.level == 1 else 215)


@dataclass(frozen=True)
class BrightnessReadParams:
    level: int
    """The brightness, of 255."""
    said: int
    """The percentage that the oracle answers."""
    phrasing: int
    scenery: Scenery


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
    goals = texts.goals("AndroidBrightnessRead")

    def sample(self, rng: Rng) -> BrightnessReadParams:
        drawn = scenery.draw(rng)
        return BrightnessReadParams(
            level=drawn.brightness,
            said=percent(drawn.brightness),
            phrasing=int(rng.integers(len(self.goals))),
            scenery=drawn,
        )

    def prepare(self, params: BrightnessReadParams) -> Sequence[str]:
        return params.scenery.lines()

    def judge(
        self, device: AndroidDevice, params: BrightnessReadParams, history: Sequence[Action]
    ) -> Verdict:
        value = percent(params.level)
        return answered(history, lambda text: is_percent(text, value), f"{value}%")

    def may_change(self, params: BrightnessReadParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: BrightnessReadParams) -> Steps:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Display")
        yield from moves.scroll_to(device, SLIDER)
        yield Answer(f"{params.said}%")

    def misread(self, params: BrightnessReadParams, mistake: str, rng: Rng) -> BrightnessReadParams:
        """``of_255``: the setting's value is taken for a percentage. ``off_by_one``: misread."""
        said = params.level if mistake == "of_255" else params.said + 1
        return dataclasses.replace(params, said=said)


VOLUME = "cmd media_session volume --stream 3"
"""The line that asks for the media volume (``--get``) and sets it (``--set N``)."""

SHARES = {"max": 1.0, "mute": 0.0}
"""The share of the slider's way."""

GOALS: Mapping[str, tuple[str, ...]] = texts.GOALS["AndroidMediaVolume"]


@dataclass(frozen=True)
class MediaVolumeParams:
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
class AndroidMediaVolume(CompactTask[MediaVolumeParams]):
    """Set the media volume to its maximum, or mute it.

    ## Description
    One of five sliders in Settings, under Sound & vibration. The volume keys do it, too.

    ## Rewards
    1 if ``cmd media_session volume --stream 3 --get`` tells the end of its range that is asked for.

    ## Starting state
    The home screen; the volume is neither 0 nor the maximum.

    ## Arguments
    | `to` | either | "max" or "mute": what is asked for |
    | `compact` | False | a screen of 256x320 pixels |
    """

    mistakes = ("other_slider", "short")
    compact_steps = 7

    def __init__(self, *, to: str | None = None, compact: bool = False) -> None:
        super().__init__(compact=compact)
        if to is not None and to not in SHARES:
            raise UserError(f"{self.spec.name}: to is 'max' or 'mute', not {to!r}")
        self.to = to

    def sample(self, rng: Rng) -> MediaVolumeParams:
        drawn = ("max", "mute")[int(rng.integers(2))]
        return MediaVolumeParams(
            share=SHARES[self.to or drawn],
            slider="Media volume",
            start=int(rng.integers(2, 14)),
            phrasing=int(rng.integers(len(self.goals) or 3)),
            scenery=self.scenery(rng),
        )

    def goal(self, params: MediaVolumeParams) -> str:
        if self.compact:
            end = "maximum" if params.share else "minimum"
            return self.goals[params.phrasing].format(volume="Media volume", end=end)
        return GOALS["max" if params.share else "mute"][params.phrasing]

    def prepare(self, params: MediaVolumeParams) -> Sequence[str]:
        return [*params.scenery.lines(), f"{VOLUME} --set {params.start}"]

    def checks(self, params: MediaVolumeParams) -> Sequence[ShellCheck]:
        def at_end(result: ShellResult) -> bool:
            told = re.search(r"volume is (\d+) in range \[(\d+)\.\.(\d+)\]", result.text)
            return told is not None and told[1] == told[3 if params.share else 2]

        return [ShellCheck("media volume", f"{VOLUME} --get", at_end)]

    def may_change(self, params: MediaVolumeParams) -> Sequence[AllowedChange]:
        return settings_change("system volume_music")

    def oracle(self, device: AndroidDevice, params: MediaVolumeParams) -> Steps:
        yield from moves.launch(device, "Settings")
        yield from moves.path(device, "Sound & vibration")
        yield from slide(device, params.slider, params.share)

    def misread(self, params: MediaVolumeParams, mistake: str, rng: Rng) -> MediaVolumeParams:
        """``other_slider``: another volume is set. ``short``: the slider stops before its end."""
        if mistake == "other_slider":
            others = ("Call volume", "Ring volume", "Notification volume", "Alarm volume")
            return dataclasses.replace(params, slider=pick(rng, others))
        return dataclasses.replace(params, share=0.85 if params.share else 0.15)
