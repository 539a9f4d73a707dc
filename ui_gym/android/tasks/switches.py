"""Switches: Wi-Fi, Bluetooth, airplane mode, Do Not Disturb, Battery Saver, the dark theme, ..."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice
from ui_gym.android.facts import settings_change
from ui_gym.android.scenery import Scenery
from ui_gym.android.switching import SwitchParams, SwitchTask
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.android.toggles import TOGGLES, switch_to, touch
from ui_gym.contract.action import Action
from ui_gym.contract.draws import Rng
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Verdict


@register("AndroidWifi", suite="android", category="settings", difficulty="easy", max_steps=12)
class AndroidWifi(CompactTask[SwitchParams], SwitchTask):
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
    | `compact` | False | a screen of 256x320 pixels |
    """

    switch = "wifi"
    neighbour = "bluetooth"
    compact_steps = 7

    def __init__(self, *, to: str | None = None, compact: bool = False) -> None:
        CompactTask.__init__(self, compact=compact)
        SwitchTask.__init__(self, to=to)

    def sample(self, rng: Rng) -> SwitchParams:
        params = super().sample(rng)
        if not self.compact:
            return params
        return dataclasses.replace(params, by_tile=False, scenery=self.scenery(rng))


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


def in_order(device: AndroidDevice, names: Sequence[str]) -> bool:
    """Whether each of these switches was turned for the last time before the next one was; True
    where the phone does not remember."""
    log = device.settings_log() or ()
    last = {setting: place for place, setting in enumerate(log)}
    places = [last.get(TOGGLES[name].name, -1) for name in names]
    return places == sorted(places)


@dataclass(frozen=True)
class TwoRadiosParams:
    parts: tuple[tuple[str, bool], ...]
    """(switch, whether it is to be on), in the order of the goal."""
    phrasing: int
    by_tile: bool
    """Whether the quick settings are the way that the oracle takes, rather than Settings."""
    scenery: Scenery


TWO_GOALS = texts.goals("AndroidWifiOffBluetoothOn")


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
    is 1. Half, too, if Bluetooth was turned before Wi-Fi, as far as the phone remembers: the
    built-in one does, and one that is debuggable, by ``dumpsys settings``.

    ## Starting state
    The home screen; Wi-Fi is on, Bluetooth off, airplane mode off.
    """

    mistakes = ("forgotten", "opposite", "order")

    def sample(self, rng: Rng) -> TwoRadiosParams:
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

    def judge(
        self, device: AndroidDevice, params: TwoRadiosParams, history: Sequence[Action]
    ) -> Verdict:
        verdict = super().judge(device, params, history)
        if not verdict.success or in_order(device, ("wifi", "bluetooth")):
            return verdict
        told = {**verdict.details, "order": False}
        return Verdict(0.5, notes="both are as asked, in the wrong order", details=told)

    def may_change(self, params: TwoRadiosParams) -> Sequence[AllowedChange]:
        return settings_change(*(TOGGLES[name].name for name, _ in params.parts))

    def oracle(self, device: AndroidDevice, params: TwoRadiosParams) -> Steps:
        for i, (name, on) in enumerate(params.parts):
            # The shade is still open when the second tile is touched.
            if i and params.by_tile:
                yield from touch(device, TOGGLES[name], on)
            else:
                yield from switch_to(device, TOGGLES[name], on, by_tile=params.by_tile)

    def misread(self, params: TwoRadiosParams, mistake: str, rng: Rng) -> TwoRadiosParams:
        """``forgotten``: only one of the two is done. ``opposite``: the second is mistaken.
        ``order``: the second is done first."""
        if mistake == "order":
            return dataclasses.replace(params, parts=params.parts[::-1])
        if mistake == "forgotten":
            kept = int(rng.integers(2))
            return dataclasses.replace(params, parts=(params.parts[kept],))
        *first, (name, on) = params.parts
        return dataclasses.replace(params, parts=(*first, (name, not on)))


@register(
    "AndroidDoNotDisturb", suite="android", category="settings", difficulty="medium", max_steps=12
)
class AndroidDoNotDisturb(SwitchTask):
    """Turn on Do Not Disturb.

    ## Description
    The switch is in Settings, on a page of its own under Notifications and under Sound &
    vibration, and in the quick settings.

    ## Rewards
    1 if ``settings get global zen_mode`` is 1, 2 or 3, whatever may interrupt it (0, where it is to
    be off).

    ## Starting state
    The home screen; Do Not Disturb is not as asked.

    ## Arguments
    | `to` | "on" | "on" or "off": what is asked for; None draws it |
    """

    switch = "dnd"
    neighbour = "saver"

    def __init__(self, *, to: str | None = "on") -> None:
        super().__init__(to=to)


@register(
    "AndroidBatterySaver", suite="android", category="settings", difficulty="medium", max_steps=12
)
class AndroidBatterySaver(SwitchTask):
    """Turn on Battery Saver.

    ## Description
    The switch is in Settings, on a page of its own under Battery, and in the quick settings.

    ## Rewards
    1 if ``settings get global low_power`` is 1 (0, where it is to be off).

    ## Starting state
    The home screen; the battery is in use, and Battery Saver is not as asked.

    ## Arguments
    | `to` | "on" | "on" or "off": what is asked for; None draws it |
    """

    switch = "saver"
    neighbour = "dnd"

    def __init__(self, *, to: str | None = "on") -> None:
        super().__init__(to=to)

    def prepare(self, params: SwitchParams) -> Sequence[str]:
        # A phone that is charged over its USB cable would refuse it.
        return ["dumpsys battery unplug", *super().prepare(params)]


@register(
    "AndroidDarkTheme", suite="android", category="settings", difficulty="medium", max_steps=12
)
class AndroidDarkTheme(SwitchTask):
    """Use the dark theme, or the light one.

    ## Description
    The switch is in Settings, under Display, and in the quick settings.

    ## Rewards
    1 if ``settings get secure ui_night_mode`` is 2 (1, which is light, where it is to be off).

    ## Starting state
    The home screen, in the other theme.

    ## Arguments
    | `to` | either | "on" or "off": what is asked for |
    """

    switch = "dark"
    neighbour = "rotate"
    states = ("light", "dark")
    goals = texts.goals("AndroidDarkTheme")


@register(
    "AndroidAutoRotate", suite="android", category="settings", difficulty="easy", max_steps=12
)
class AndroidAutoRotate(SwitchTask):
    """Turn auto-rotate on or off.

    ## Description
    The switch is in Settings, under Display, and in the quick settings.

    ## Rewards
    1 if ``settings get system accelerometer_rotation`` is 1, or 0 where it is to be off.

    ## Starting state
    The home screen; auto-rotate is not as asked.

    ## Arguments
    | `to` | either | "on" or "off": what is asked for |
    """

    switch = "rotate"
    neighbour = "dark"


@register(
    "AndroidAutoTimeOff", suite="android", category="settings", difficulty="medium", max_steps=12
)
class AndroidAutoTimeOff(SwitchTask):
    """Turn off automatic date and time.

    ## Description
    The switch is in Settings, under System and Date & time, beside one for the time zone.

    ## Rewards
    1 if ``settings get global auto_time`` is 0 (1, where it is to be on).

    ## Starting state
    The home screen; the switch is not as asked.

    ## Arguments
    | `to` | "off" | "on" or "off": what is asked for; None draws it |
    """

    switch = "auto_time"
    neighbour = "auto_zone"
    goals = texts.goals("AndroidAutoTimeOff")

    def __init__(self, *, to: str | None = "off") -> None:
        super().__init__(to=to)
