"""The Clock: an alarm, a timer."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.facts import EXCESSES
from ui_gym.android.task import Steps
from ui_gym.contract.draws import Rng, between, other, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register

DATABASE = "/data/user_de/0/com.google.android.deskclock/databases/alarms.db"

ALARMS = f"su 0 sqlite3 {DATABASE} 'SELECT hour, minutes, enabled, label FROM alarm_templates'"

Alarm = tuple[int, int, str]
"""(hour of 24, minute, label)"""


@dataclass(frozen=True)
class AlarmAddParams:
    alarm: Alarm
    others: tuple[Alarm, ...]
    """Alarms that are set already."""
    twelve: bool
    """Whether the phone and the goal count hours to twelve, with AM and PM."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidAlarmAdd", suite="android", category="app", difficulty="medium", max_steps=25,
    tags=("clock",),
)  # fmt: skip
class AndroidAlarmAdd(CompactTask[AlarmAddParams]):
    """Set an alarm with a label.

    ## Description
    The goal gives a time of day and a label. Other alarms are set. The phone counts hours to
    twelve, or to 24.

    ## Rewards
    1 if the table ``alarm_templates`` of the Clock's database has an alarm of that time and label
    that is on. ``sqlite3`` reads it by ``su``, which a real phone must allow.

    ## Starting state
    The home screen or a page of the Settings.

    ## Arguments
    | `compact` | False | a screen of 256x320 pixels |
    """

    apps = ("com.google.android.deskclock",)
    mistakes = ("hour", "half", "label")
    compact_steps = 13
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidAlarmAdd")

    def __init__(self, *, compact: bool = False) -> None:
        super().__init__(compact=compact)
        self.labels = texts.THINGS_SHORT if compact else texts.ALARMS

    def sample(self, rng: Rng) -> AlarmAddParams:
        labels = some(rng, self.labels, 1 if self.compact else between(rng, 1, 4))
        times = [(between(rng, 0, 23), self._minute(rng)) for _ in labels]
        alarm, *others = [(*at, label) for at, label in zip(times, labels, strict=True)]
        return AlarmAddParams(
            alarm=alarm,
            others=tuple(others),
            twelve=self.compact or bool(rng.random() < 0.4),
            scene=self.scene(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def _minute(self, rng: Rng) -> int:
        round_ = self.compact or rng.random() < 0.6
        return 5 * between(rng, 0, 11) if round_ else between(rng, 0, 59)

    def goal(self, params: AlarmAddParams) -> str:
        hour, minute, label = params.alarm
        time = f"{hour:02}:{minute:02}"
        if params.twelve:
            half = "am" if hour < 12 else "pm"
            time = f"{(hour - 1) % 12 + 1}:{minute:02} {half.upper() if self.compact else half}"
        return self.goals[params.phrasing].format(time=time, label=label)

    def prepare(self, params: AlarmAddParams) -> Sequence[str]:
        hour, minute, _ = params.alarm
        where = shlex.quote(f"DELETE FROM alarm_templates WHERE hour={hour} AND minutes={minute}")
        lines = [
            f"settings put system time_12_24 {12 if params.twelve else 24}",
            f"su 0 sqlite3 {DATABASE} {where}",
        ]
        lines += map(_set_alarm, params.others)
        return [*lines, *params.scene.lines()]

    def checks(self, params: AlarmAddParams) -> Sequence[ShellCheck]:
        hour, minute, label = params.alarm

        def is_set(result: ShellResult) -> bool:
            rows = [row.split("|", 3) for row in result.text.splitlines()]
            return [str(hour), str(minute), "1", label] in rows

        return [ShellCheck("alarm", ALARMS, is_set)]

    def twice(self, params: AlarmAddParams) -> Sequence[str]:
        return 2 * [_set_alarm(params.alarm)]

    def may_change(self, params: AlarmAddParams) -> Sequence[AllowedChange]:
        return [AllowedChange("alarm *", gone=0, new=1)]

    def oracle(self, device: AndroidDevice, params: AlarmAddParams) -> Steps:
        hour, minute, label = params.alarm
        yield from moves.launch(device, "Clock")
        if moves.find(device, "Add alarm") is None:
            yield from moves.tap(device, "Alarm")
        yield from moves.tap(device, "Add alarm")
        yield from moves.pick_time(device, hour, minute)
        yield from moves.tap(device, "Label")
        yield from moves.fill(device, "Label", label)
        yield from moves.tap(device, "OK")

    def misread(self, params: AlarmAddParams, mistake: str, rng: Rng) -> AlarmAddParams:
        """``hour``: an hour too late. ``half``: twelve hours off. ``label``: another label."""
        hour, minute, label = params.alarm
        if mistake == "label":
            label = other(rng, self.labels, label)
        else:
            hour = (hour + (1 if mistake == "hour" else 12)) % 24
        return dataclasses.replace(params, alarm=(hour, minute, label))


def _set_alarm(alarm: Alarm) -> str:
    """The line that sets an alarm."""
    hour, minute, label = alarm
    extra = "android.intent.extra.alarm"
    return (
        f"am start -a android.intent.action.SET_ALARM --ei {extra}.HOUR {hour}"
        f" --ei {extra}.MINUTES {minute} --es {extra}.MESSAGE {shlex.quote(label)}"
        f" --ez {extra}.SKIP_UI true >/dev/null"
    )


UNITS = ("hour", "minute", "second")


@dataclass(frozen=True)
class TimerSetParams:
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
class AndroidTimerSet(CompactTask[TimerSetParams]):
    """Enter the time of a timer, and do not start it.

    ## Description
    The goal gives hours, minutes and seconds, of which some may be none.

    ## Rewards
    1 if ``uiautomator dump`` tells the text of the time, as in ``00h 05m 30s``.

    ## Starting state
    The home screen or a page of the Settings; no timer is set.

    ## Arguments
    | `compact` | False | a screen of 256x320 pixels |
    """

    apps = ("com.google.android.deskclock",)
    mistakes = ("units", "digit")
    goals = texts.goals("AndroidTimerSet")
    compact_steps = 8

    def sample(self, rng: Rng) -> TimerSetParams:
        hours = between(rng, 1, 12) if rng.random() < 0.4 and not self.compact else 0
        minutes = between(rng, 1, 59)
        seconds = between(rng, 1, 59) if rng.random() < 0.6 else 0
        return TimerSetParams(
            hours, minutes, seconds, self.scene(rng), between(rng, 0, len(self.goals) - 1)
        )

    def goal(self, params: TimerSetParams) -> str:
        if self.compact:
            time = f"{params.minutes}m {params.seconds:02}s"
            return self.goals[params.phrasing].format(time=time)
        values = (params.hours, params.minutes, params.seconds)
        parts = [
            f"{value} {unit}{'' if value == 1 else 's'}"
            for value, unit in zip(values, UNITS, strict=True)
            if value
        ]
        *most, last = parts
        time = f"{', '.join(most)} and {last}" if most else last
        return self.goals[params.phrasing].format(time=time)

    def prepare(self, params: TimerSetParams) -> Sequence[str]:
        return params.scene.lines()

    def checks(self, params: TimerSetParams) -> Sequence[ShellCheck]:
        line = f"uiautomator dump /dev/tty | grep -c 'text=\"{params.shown}\"'"
        return [ShellCheck("timer", line, "1")]

    def may_change(self, params: TimerSetParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: TimerSetParams) -> Steps:
        yield from moves.launch(device, "Clock")
        yield from moves.tap(device, "Timer")
        for digit in params.digits:
            yield from moves.tap(device, digit, role="button")

    def misread(self, params: TimerSetParams, mistake: str, rng: Rng) -> TimerSetParams:
        """``units``: minutes for seconds, or for hours. ``digit``: one digit is wrong."""
        hours, minutes, seconds = params.hours, params.minutes, params.seconds
        if mistake == "units":
            wrong = dataclasses.replace(params, hours=0, minutes=hours, seconds=minutes)
            if not hours and minutes != seconds and seconds:
                wrong = dataclasses.replace(params, minutes=seconds, seconds=minutes)
        else:
            wrong = dataclasses.replace(params, minutes=(minutes + between(rng, 1, 58)) % 60)
        # Who types it comes by what was typed before: that must not be the time that is asked for.
        passes = wrong.digits.startswith(params.digits)
        return params if passes or not wrong.digits else wrong
