"""Set an alarm."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import scenes, texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.task import AndroidTask
from ui_gym.android.tasks import picking
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

GOALS = (
    'Set an alarm for {time} labelled "{label}".',
    'I have to be reminded at {time}: set an alarm with the label "{label}".',
    'In the Clock app, add an alarm at {time} and label it "{label}".',
)

DATABASE = "/data/user_de/0/com.google.android.deskclock/databases/alarms.db"

ALARMS = f"su 0 sqlite3 {DATABASE} 'SELECT hour, minutes, enabled, label FROM alarm_templates'"

Alarm = tuple[int, int, str]
"""(hour of 24, minute, label)"""


@dataclass(frozen=True)
class AlarmAddParams:
    """All that varies between episodes."""

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
class AndroidAlarmAdd(AndroidTask[AlarmAddParams]):
    """Set an alarm with a label.

    ## Description
    The goal gives a time of day and a label. Other alarms are set. The phone counts hours to
    twelve, or to 24.

    ## Rewards
    1 if the table ``alarm_templates`` of the Clock's database has an alarm of that time and label
    that is on. ``sqlite3`` reads it by ``su``, which a real phone must allow.

    ## Starting state
    The home screen or a page of the Settings.
    """

    apps = ("com.google.android.deskclock",)
    mistakes = ("hour", "half", "label")

    def sample(self, rng: np.random.Generator) -> AlarmAddParams:
        labels = drawing.some(rng, texts.ALARMS, drawing.between(rng, 1, 4))
        times = [(drawing.between(rng, 0, 23), self._minute(rng)) for _ in labels]
        alarm, *others = [(*at, label) for at, label in zip(times, labels, strict=True)]
        return AlarmAddParams(
            alarm=alarm,
            others=tuple(others),
            twelve=bool(rng.random() < 0.4),
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(GOALS) - 1),
        )

    def _minute(self, rng: np.random.Generator) -> int:
        return (
            5 * drawing.between(rng, 0, 11) if rng.random() < 0.6 else drawing.between(rng, 0, 59)
        )

    def goal(self, params: AlarmAddParams) -> str:
        hour, minute, label = params.alarm
        time = f"{hour:02}:{minute:02}"
        if params.twelve:
            time = f"{(hour - 1) % 12 + 1}:{minute:02} {'am' if hour < 12 else 'pm'}"
        return GOALS[params.phrasing].format(time=time, label=label)

    def prepare(self, params: AlarmAddParams) -> Sequence[str]:
        hour, minute, _ = params.alarm
        where = shlex.quote(f"DELETE FROM alarm_templates WHERE hour={hour} AND minutes={minute}")
        lines = [
            f"settings put system time_12_24 {12 if params.twelve else 24}",
            f"su 0 sqlite3 {DATABASE} {where}",
        ]
        for hour, minute, label in params.others:
            extra = "android.intent.extra.alarm"
            lines.append(
                f"am start -a android.intent.action.SET_ALARM --ei {extra}.HOUR {hour}"
                f" --ei {extra}.MINUTES {minute} --es {extra}.MESSAGE {shlex.quote(label)}"
                f" --ez {extra}.SKIP_UI true >/dev/null"
            )
        return [*lines, *params.scene.lines()]

    def checks(self, params: AlarmAddParams) -> Sequence[ShellCheck]:
        hour, minute, label = params.alarm

        def is_set(result: ShellResult) -> bool:
            rows = [row.split("|", 3) for row in result.text.splitlines()]
            return [str(hour), str(minute), "1", label] in rows

        return [ShellCheck("alarm", ALARMS, is_set)]

    def oracle(self, device: AndroidDevice, params: AlarmAddParams) -> Iterator[Action | Demo]:
        hour, minute, label = params.alarm
        yield from moves.launch(device, "Clock")
        if moves.find(device, "Add alarm") is None:
            yield from moves.tap(device, "Alarm")
        yield from moves.tap(device, "Add alarm")
        yield from picking.pick_time(device, hour, minute)
        yield from moves.tap(device, "Label")
        yield from moves.fill(device, "Label", label)
        yield from moves.tap(device, "OK")

    def misread(
        self, params: AlarmAddParams, mistake: str, rng: np.random.Generator
    ) -> AlarmAddParams:
        """``hour``: an hour too late. ``half``: twelve hours off. ``label``: another label."""
        hour, minute, label = params.alarm
        if mistake == "label":
            label = drawing.other(rng, texts.ALARMS, label)
        else:
            hour = (hour + (1 if mistake == "hour" else 12)) % 24
        return dataclasses.replace(params, alarm=(hour, minute, label))
