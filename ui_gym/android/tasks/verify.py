"""Verify: goals that are reached already, which an agent must see and say rather than undo."""

from __future__ import annotations

from collections.abc import Sequence

from ui_gym.android.device import AndroidDevice
from ui_gym.android.scenery import brightness_lines
from ui_gym.android.switching import SwitchVerifyTask, verified
from ui_gym.android.tasks.sliders import AndroidBrightness, BrightnessParams
from ui_gym.android.tasks.switches import AndroidDarkTheme
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Verdict


@register(
    "AndroidWifiVerify", suite="android", category="settings", difficulty="easy", max_steps=12
)
class AndroidWifiVerify(SwitchVerifyTask):
    """Make sure that Wi-Fi is on or off, where it is so already.

    ## Description
    As AndroidWifi, with the goal reached from the start: the agent looks it up and says
    that it is finished.

    ## Rewards
    1 if the agent finishes with success, and ``settings get global wifi_on`` is as asked then.

    ## Starting state
    The home screen; Wi-Fi is as asked.

    ## Arguments
    | `to` | either | "on" or "off": what is asked for |
    """

    switch = "wifi"
    neighbour = "bluetooth"


@register(
    "AndroidBluetoothVerify", suite="android", category="settings", difficulty="easy", max_steps=12
)
class AndroidBluetoothVerify(SwitchVerifyTask):
    """Make sure that Bluetooth is on or off, where it is so already.

    ## Description
    As AndroidBluetooth, with the goal reached from the start: the agent looks it up and says
    that it is finished.

    ## Rewards
    1 if the agent finishes with success, and ``settings get global bluetooth_on`` is as asked then.

    ## Starting state
    The home screen; Bluetooth is as asked.

    ## Arguments
    | `to` | either | "on" or "off": what is asked for |
    """

    switch = "bluetooth"
    neighbour = "wifi"


@register(
    "AndroidDarkThemeVerify", suite="android", category="settings", difficulty="easy", max_steps=12
)
class AndroidDarkThemeVerify(SwitchVerifyTask):
    """Make sure that the dark or the light theme is used, where it is so already.

    ## Description
    As AndroidDarkTheme, with the goal reached from the start: the agent looks it up and says
    that it is finished.

    ## Rewards
    1 if the agent finishes with success, and ``settings get secure ui_night_mode`` is as asked
    then.

    ## Starting state
    The home screen, in the theme that is asked for.

    ## Arguments
    | `to` | either | "on" or "off": what is asked for |
    """

    switch = "dark"
    neighbour = "wifi"
    states = AndroidDarkTheme.states
    goals = AndroidDarkTheme.goals


@register(
    "AndroidBrightnessVerify", suite="android", category="settings", difficulty="easy", max_steps=12
)
class AndroidBrightnessVerify(AndroidBrightness):
    """Make sure that the screen is as bright or as dim as can be, where it is so already.

    ## Description
    As AndroidBrightness, with the goal reached from the start: the agent looks it up and says that
    it is finished.

    ## Rewards
    1 if the agent finishes with success, and ``settings get system screen_brightness`` is 255 or 1,
    as asked, then.

    ## Starting state
    The home screen; the brightness is as asked.

    ## Arguments
    | `to` | either | "max" or "min": what is asked for |
    """

    mistakes = ("other_end",)

    def prepare(self, params: BrightnessParams) -> Sequence[str]:
        return [*params.scenery.lines(but=("brightness",)), *brightness_lines(params.level)]

    def judge(
        self, device: AndroidDevice, params: BrightnessParams, history: Sequence[Action]
    ) -> Verdict:
        return verified(super().judge(device, params, history), history)
