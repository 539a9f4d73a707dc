"""Verify: two things that should be so, one of which is so already and must be left alone.

Who does nothing, and who changes both, has no success: which of the two it is must be looked up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ui_gym.android import moves, scenery
from ui_gym.android.checks import ShellCheck, setting
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice
from ui_gym.android.facts import settings_change
from ui_gym.android.scenery import Scenery, brightness_lines
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.android.tasks.sliders import BRIGHTNESSES, SLIDER, slide
from ui_gym.android.toggles import TOGGLES, go_to, shown
from ui_gym.contract.action import Action, Click
from ui_gym.contract.draws import Rng
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Verdict
from ui_gym.errors import UserError

BRIGHTNESS = "brightness"


@dataclass(frozen=True)
class VerifyParams:
    things: tuple[tuple[str, bool], ...]
    """(a switch of `ui_gym.android.toggles`, or ``brightness``; whether it should be on, or at its
    maximum): the two of the goal, in its order."""
    wrong: str
    """The one that is not so at the start."""
    touched: tuple[str, ...]
    """Those that the oracle changes: the wrong one, unless it is careless."""
    phrasing: int
    by_tile: bool
    """Whether the quick settings are the way that the oracle takes to switches."""
    scenery: Scenery


class VerifyTask(AndroidTask[VerifyParams]):
    """Base class: `thing` and `partner` should be so; one of them is not."""

    thing: ClassVar[str]
    partner: ClassVar[str]
    asked: ClassVar[tuple[str, str]] = ("off", "on")
    """What `to` may be, for the two states of `thing`."""
    goals = texts.goals("AndroidVerify")
    mistakes = ("nothing", "both", "the_other")

    def __init__(self, *, to: str | None = None) -> None:
        """Choose the state that `thing` should have.

        Args:
            to: One of `asked`; drawn for each episode if None.
        """
        if to is not None and to not in self.asked:
            told = " or ".join(map(repr, reversed(self.asked)))
            raise UserError(f"{self.spec.name}: to is {told}, not {to!r}")
        self.to = to

    def sample(self, rng: Rng) -> VerifyParams:
        drawn, other, first, wrong = (bool(rng.random() < 0.5) for _ in range(4))
        things = (
            (self.thing, drawn if self.to is None else self.to == self.asked[1]),
            (self.partner, other),
        )
        name = self.thing if wrong else self.partner
        return VerifyParams(
            things=things if first else things[::-1],
            wrong=name,
            touched=(name,),
            phrasing=int(rng.integers(len(self.goals))),
            by_tile=bool(rng.random() < 0.4),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: VerifyParams) -> str:
        one, other = (_said(*thing) for thing in params.things)
        return self.goals[params.phrasing].format(one=one, other=other)

    def prepare(self, params: VerifyParams) -> Sequence[str]:
        names = [name for name, _ in params.things]
        lines = params.scenery.lines(but=names)
        for name, on in params.things:
            start = on != (name == params.wrong)
            if name != BRIGHTNESS:
                lines.append(TOGGLES[name].turn(start))
            else:
                level = params.scenery.brightness if name == params.wrong else _level(on)
                lines += brightness_lines(level)
        return lines

    def checks(self, params: VerifyParams) -> Sequence[ShellCheck]:
        return [_check(*thing) for thing in params.things]

    def judge(
        self, device: AndroidDevice, params: VerifyParams, history: Sequence[Action]
    ) -> Verdict:
        verdict = super().judge(device, params, history)
        return verdict if verdict.success else dataclasses.replace(verdict, score=0.0)

    def may_change(self, params: VerifyParams) -> Sequence[AllowedChange]:
        return settings_change(
            "system screen_brightness" if params.wrong == BRIGHTNESS else TOGGLES[params.wrong].name
        )

    def oracle(self, device: AndroidDevice, params: VerifyParams) -> Steps:
        for name, on in params.things:
            if name == BRIGHTNESS:
                yield from moves.launch(device, "Settings")
                yield from moves.path(device, "Display")
                yield from moves.scroll_to(device, SLIDER, role="slider")
                if name in params.touched:
                    # Who is careless moves what was right away from where it should be.
                    yield from slide(device, SLIDER, float(on == (name == params.wrong)))
                continue
            toggle = TOGGLES[name]
            # The shade may still be open, with both tiles.
            if not (params.by_tile and toggle.tile and moves.find(device, toggle.tile)):
                yield from go_to(device, toggle, by_tile=params.by_tile)
            if name in params.touched:
                yield Click(*shown(device, toggle).center)

    def misread(self, params: VerifyParams, mistake: str, rng: Rng) -> VerifyParams:
        """``nothing`` is changed, ``both`` are, the one that was so already first, or only that one
        is: ``the_other``."""
        things = sorted(params.things, key=lambda thing: thing[0] == params.wrong)
        names = [name for name, _ in things]
        touched = {"nothing": [], "both": names, "the_other": names[:1]}[mistake]
        return dataclasses.replace(params, things=tuple(things), touched=tuple(touched))

    def blind_rate(self, params: VerifyParams) -> float:
        """One of the two, turned without a look at either."""
        return 0.5


def _level(on: bool) -> int:
    return BRIGHTNESSES["max" if on else "min"]


def _check(name: str, on: bool) -> ShellCheck:
    if name == BRIGHTNESS:
        return setting("system", "screen_brightness", str(_level(on)))
    return TOGGLES[name].check(on)


def _said(name: str, on: bool) -> str:
    """``Wi-Fi is on``."""
    if name == BRIGHTNESS:
        return f"the brightness is at its {'maximum' if on else 'minimum'}"
    return f"{TOGGLES[name].label} is {'on' if on else 'off'}"


@register(
    "AndroidWifiVerify", suite="android", category="settings", difficulty="easy", max_steps=20,
    version=1,
)  # fmt: skip
class AndroidWifiVerify(VerifyTask):
    """Make sure that Wi-Fi is on or off, and Bluetooth too, where one is so already.

    ## Description
    The goal names two things and how they should be; just one of them is not so. Which one, the
    agent must look up: it changes that, and leaves the other alone.

    ## Rewards
    1 if ``settings get`` tells of ``global wifi_on`` and ``bluetooth_on`` what was asked
    for, else 0.

    ## Starting state
    The home screen; one of the two is as asked, the other is not.

    ## Arguments
    | `to` | either | "on" or "off": how Wi-Fi should be |

    ## Version history
    * v1: two things, of which one is not so; done as soon as both are.
    * v0: one thing, which was so already; done once the agent finished, which needed no look at it.
    """

    thing = "wifi"
    partner = "bluetooth"


@register(
    "AndroidBluetoothVerify", suite="android", category="settings", difficulty="easy", max_steps=20,
    version=1,
)  # fmt: skip
class AndroidBluetoothVerify(VerifyTask):
    """Make sure that Bluetooth is on or off, and Wi-Fi too, where one is so already.

    ## Description
    The goal names two things and how they should be; just one of them is not so. Which one, the
    agent must look up: it changes that, and leaves the other alone.

    ## Rewards
    1 if ``settings get`` tells of ``global bluetooth_on`` and ``wifi_on`` what was asked
    for, else 0.

    ## Starting state
    The home screen; one of the two is as asked, the other is not.

    ## Arguments
    | `to` | either | "on" or "off": how Bluetooth should be |

    ## Version history
    * v1: two things, of which one is not so; done as soon as both are.
    * v0: one thing, which was so already; done once the agent finished, which needed no look at it.
    """

    thing = "bluetooth"
    partner = "wifi"


@register(
    "AndroidDarkThemeVerify", suite="android", category="settings", difficulty="easy", max_steps=20,
    version=1,
)  # fmt: skip
class AndroidDarkThemeVerify(VerifyTask):
    """Make sure that the dark theme is on or off, and auto-rotate too, where one is so already.

    ## Description
    The goal names two things and how they should be; just one of them is not so. Which one, the
    agent must look up: it changes that, and leaves the other alone.

    ## Rewards
    1 if ``settings get`` tells of ``secure ui_night_mode`` and ``system
    accelerometer_rotation`` what was asked for, else 0.

    ## Starting state
    The home screen; one of the two is as asked, the other is not.

    ## Arguments
    | `to` | either | "on" or "off": how the dark theme should be |

    ## Version history
    * v1: two things, of which one is not so; done as soon as both are.
    * v0: one thing, which was so already; done once the agent finished, which needed no look at it.
    """

    thing = "dark"
    partner = "rotate"


@register(
    "AndroidBrightnessVerify", suite="android", category="settings", difficulty="easy",
    max_steps=20, version=1,
)  # fmt: skip
class AndroidBrightnessVerify(VerifyTask):
    """Make sure that the brightness is at an end, and the dark theme too, where one is so already.

    ## Description
    The goal names two things and how they should be; just one of them is not so. Which one, the
    agent must look up: it changes that, and leaves the other alone.

    ## Rewards
    1 if ``settings get`` tells of ``system screen_brightness`` and ``secure
    ui_night_mode`` what was asked for, else 0.

    ## Starting state
    The home screen; one of the two is as asked, the other is not.

    ## Arguments
    | `to` | either | "max" or "min": where the brightness should be |

    ## Version history
    * v1: two things, of which one is not so; done as soon as both are.
    * v0: one thing, which was so already; done once the agent finished, which needed no look at it.
    """

    thing = BRIGHTNESS
    partner = "dark"
    asked = ("min", "max")
