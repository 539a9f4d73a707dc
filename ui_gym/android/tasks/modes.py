"""Do Not Disturb, Battery Saver, the dark theme, auto-rotate, automatic time: one switch each."""

from __future__ import annotations

from collections.abc import Sequence

from ui_gym.android.switching import SwitchParams, SwitchTask
from ui_gym.contract.registry import register


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
    goals = (
        "Use the {state} theme.",
        "Please switch the phone to the {state} theme.",
        "In the display settings, choose the {state} theme.",
        "Make the screen use {state} colours.",
    )


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
    goals = (
        "Turn {state} automatic date and time.",
        "In the date and time settings, turn {state} setting the time automatically.",
        "The phone should {not_}set its time automatically. Change that.",
        "Please turn {label} {state}.",
    )

    def __init__(self, *, to: str | None = "off") -> None:
        super().__init__(to=to)
