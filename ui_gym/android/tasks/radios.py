"""Wi-Fi, Bluetooth, airplane mode: the phone's radios."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.device import AndroidDevice
from ui_gym.android.scenery import Scenery
from ui_gym.android.switching import SwitchTask
from ui_gym.android.task import AndroidTask
from ui_gym.android.toggles import TOGGLES, switch_to, touch
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo


@register("AndroidWifi", suite="android", category="settings", difficulty="easy", max_steps=12)
class AndroidWifi(SwitchTask):
    """Turn Wi-Fi on or off.

    ## Description
    The switch is in Settings, under Network & internet, and in the quick settings; Bluetooth,
    airplane mode, the theme, the notifications differ between episodes.

    ## Rewards
    1 if ``settings get global wifi_on`` is 1 or 2 (on in spite of airplane mode), or 0 where it is
    to be off. Airplane mode alone does not turn it off: it is 3 then.

    ## Starting state
    The home screen; Wi-Fi is not as asked.

    ## Arguments
    | `to` | either | "on" or "off": what is asked for |
    """

    switch = "wifi"
    neighbour = "bluetooth"


@register("AndroidBluetooth", suite="android", category="settings", difficulty="easy", max_steps=12)
class AndroidBluetooth(SwitchTask):
    """Turn Bluetooth on or off.

    ## Description
    The switch is in Settings, under Connected devices, and in the quick settings.

    ## Rewards
    1 if ``settings get global bluetooth_on`` is 1, or 0 where it is to be off.

    ## Starting state
    The home screen; Bluetooth is not as asked.

    ## Arguments
    | `to` | either | "on" or "off": what is asked for |
    """

    switch = "bluetooth"
    neighbour = "wifi"


@register("AndroidAirplane", suite="android", category="settings", difficulty="easy", max_steps=12)
class AndroidAirplane(SwitchTask):
    """Turn on airplane mode.

    ## Description
    The switch is in Settings, under Network & internet, and in the quick settings.

    ## Rewards
    1 if ``settings get global airplane_mode_on`` is 1 (0, where it is to be off).

    ## Starting state
    The home screen; airplane mode is not as asked.

    ## Arguments
    | `to` | "on" | "on" or "off": what is asked for; None draws it |
    """

    switch = "airplane"
    neighbour = "wifi"

    def __init__(self, *, to: str | None = "on") -> None:
        super().__init__(to=to)


@dataclass(frozen=True)
class TwoRadiosParams:
    """All that varies between episodes."""

    parts: tuple[tuple[str, bool], ...]
    """(switch, whether it is to be on), in the order of the goal."""
    phrasing: int
    by_tile: bool
    """Whether the quick settings are the way that the oracle takes, rather than Settings."""
    scenery: Scenery


TWO_GOALS = (
    "Turn {first} {one}, then turn {second} {other}.",
    "Please turn {one} {first} and after that turn {other} {second}.",
    "First turn {one} {first}, then {other} {second}.",
)


@register(
    "AndroidWifiOffBluetoothOn", suite="android", category="settings", difficulty="medium",
    max_steps=20,
)  # fmt: skip
class AndroidWifiOffBluetoothOn(AndroidTask[TwoRadiosParams]):
    """Turn Wi-Fi off, then Bluetooth on.

    ## Description
    Two switches on different pages of Settings, or side by side in the quick settings.

    ## Rewards
    The share of the two that are as asked: ``settings get global wifi_on`` is 0, ``bluetooth_on``
    is 1. Their order in time is not judged.

    ## Starting state
    The home screen; Wi-Fi is on, Bluetooth off, airplane mode off.
    """

    mistakes = ("forgotten", "opposite")

    def sample(self, rng: np.random.Generator) -> TwoRadiosParams:
        return TwoRadiosParams(
            parts=(("wifi", False), ("bluetooth", True)),
            phrasing=int(rng.integers(len(TWO_GOALS))),
            by_tile=bool(rng.random() < 0.4),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: TwoRadiosParams) -> str:
        (one, first), (other, second) = params.parts
        states = ("off", "on")
        return TWO_GOALS[params.phrasing].format(
            one=TOGGLES[one].label, first=states[first],
            other=TOGGLES[other].label, second=states[second],
        )  # fmt: skip

    def prepare(self, params: TwoRadiosParams) -> Sequence[str]:
        turned = ("airplane", "wifi", "bluetooth")
        starts = [TOGGLES[name].turn(name == "wifi") for name in turned]
        return [*starts, *params.scenery.lines(but=turned)]

    def checks(self, params: TwoRadiosParams) -> Sequence[ShellCheck]:
        return [TOGGLES["wifi"].check(False), TOGGLES["bluetooth"].check(True)]

    def oracle(self, device: AndroidDevice, params: TwoRadiosParams) -> Iterator[Action | Demo]:
        for i, (name, on) in enumerate(params.parts):
            # The shade is still open when the second tile is touched.
            if i and params.by_tile:
                yield from touch(device, TOGGLES[name], on)
            else:
                yield from switch_to(device, TOGGLES[name], on, by_tile=params.by_tile)

    def misread(
        self, params: TwoRadiosParams, mistake: str, rng: np.random.Generator
    ) -> TwoRadiosParams:
        """``forgotten``: only one of the two is done. ``opposite``: the second is mistaken."""
        if mistake == "forgotten":
            kept = int(rng.integers(2))
            return dataclasses.replace(params, parts=(params.parts[kept],))
        first, (name, on) = params.parts
        return dataclasses.replace(params, parts=(first, (name, not on)))
