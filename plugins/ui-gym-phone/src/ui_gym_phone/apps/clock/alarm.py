"""The alarms: a list of cards, of which one can be unfolded."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ui_gym_phone.apps.dates import time_text
from ui_gym_phone.apps.figures import Figures
from ui_gym_phone.apps.pickers import pick_time, time_dialog
from ui_gym_phone.state import alarms
from ui_gym_phone.state.alarms import Alarm
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import (
    Expand,
    Fitting,
    GridLayout,
    HStack,
    Space,
    Surface,
    Tap,
    VStack,
    Widget,
)
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, fab, question
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import (
    CheckItem,
    Divider,
    Empty,
    Icon,
    IconButton,
    SwitchMark,
    Text,
)

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MOST_SHOWN = 100


def page(ui: Ui) -> AppPage:
    """The tab. ``open`` is the id of the unfolded alarm, ``alarm`` that which a dialog is about."""
    found = alarms.all(ui.phone)[:MOST_SHOWN]
    if found:
        cards: list[Widget] = [_card(ui, alarm) for alarm in found]
        body: Widget = VStack(*cards, gap=10, pad=(12, 4, 12, 4))
    else:
        body = Empty("alarm", "No alarms")
    made = AppPage(ScrollView(ui, "alarms", body, tail=88), title="Alarm")
    made.fab = fab("plus", "Add alarm", partial(_ask_time, ui, None))
    if ui.dialog == "time":
        made.dialog = time_dialog(ui, "time", partial(_set_time, ui))
    elif ui.dialog == "label":
        made.dialog = _label_dialog(ui)
    return made


def days_text(phone: Phone, alarm: Alarm) -> str:
    """When an alarm rings: its weekdays, or the one day."""
    if alarm.days == 127:
        return "Every day"
    if alarm.days:
        return ", ".join(day[:3] for bit, day in enumerate(DAYS) if alarm.days >> bit & 1)
    when = alarms.next_ms(phone, alarm)
    if when is None:
        return "Not scheduled"
    return "Today" if phone.clock.of(when).date() == phone.clock.local.date() else "Tomorrow"


def _card(ui: Ui, alarm: Alarm) -> Widget:
    unfolded = ui.state.get("open") == alarm.id
    told = time_text(ui.phone, alarm.hour, alarm.minute)
    ink = "text" if alarm.enabled else "dim"
    switch = Tap(
        SwitchMark(alarm.enabled), partial(_update, ui, replace(alarm, enabled=not alarm.enabled)),
        cls="android.widget.Switch", desc=f"{told} alarm", checkable=True, checked=alarm.enabled,
        id="onoff", text="ON" if alarm.enabled else "OFF",
    )  # fmt: skip
    time = Tap(Figures(told, ink, id="digital_clock", weight=1), partial(_ask_time, ui, alarm),
               desc="" if ui.grid else f"Edit time {told}")  # fmt: skip
    fold = IconButton(
        "chevron-up" if unfolded else "chevron-down",
        "Collapse alarm" if unfolded else "Expand alarm",
        ui.setter("open", None if unfolded else alarm.id),
    )
    label = Text(alarm.label, "label", "dim", lines=1) if alarm.label and not unfolded else None
    head = HStack(Expand(time), fold, gap=8)
    foot = HStack(Expand(Text(days_text(ui.phone, alarm), "small", ink, lines=1)), switch, gap=8)
    more = _unfolded(ui, alarm) if unfolded else []
    return Surface(VStack(label, head, foot, *more, gap=4), "surface", radius=20,
                 pad=(18, 12, 10, 12))  # fmt: skip


def _unfolded(ui: Ui, alarm: Alarm) -> list[Widget]:
    def vibrate(on: bool) -> None:
        _update(ui, replace(alarm, vibrate=on))

    shown = alarm.label or ("Label" if ui.grid else "Add label")
    label = Tap(
        HStack(
            Icon("tag", 24),
            Expand(Text(shown, "body", lines=1, tell=False)),
            gap=16,
            pad=(0, 12, 0, 12),
        ),
        partial(_ask_label, ui, alarm),
        text=shown,
        desc="Label",
        id="edit_label",
    )
    delete = Tap(
        HStack(Icon("delete-outline", 24), Expand(Text("Delete", "body", tell=False)), gap=16,
            pad=(0, 12, 0, 12)),
        partial(_delete, ui, alarm), text="Delete", cls="android.widget.Button", id="delete",
    )  # fmt: skip
    days = [_day(ui, alarm, bit) for bit in range(7)]
    return [
        Space(2),
        Fitting(GridLayout(*days, columns=7, cell=38, gap=2, pad=(0, 0, 8, 0))),
        label,
        VStack(CheckItem("Vibrate", alarm.vibrate, vibrate), pad=(-16, 0, 0, 0)),
        VStack(Divider(), pad=(0, 0, 8, 0)),
        delete,
    ]


def _day(ui: Ui, alarm: Alarm, bit: int) -> Widget:
    on = bool(alarm.days >> bit & 1)
    ground, ink = ("primary", "on_primary") if on else ("container", "text")
    letter = Text(DAYS[bit][0], "label", ink, lines=1, align="center", tell=False)
    face = Surface(HStack(VStack(letter, weight=1)), ground, radius=19, pad=(0, 9, 0, 9))
    change = partial(_update, ui, replace(alarm, days=alarm.days ^ 1 << bit, enabled=True))
    return Tap(face, change, cls="android.widget.CheckBox", desc=DAYS[bit], checkable=True,
               checked=on)  # fmt: skip


# -- what is done --


def _update(ui: Ui, alarm: Alarm) -> None:
    alarms.update(ui.phone, alarm)
    if alarm.enabled:
        _say_when(ui, alarm)


def _say_when(ui: Ui, alarm: Alarm) -> None:
    when = alarms.next_ms(ui.phone, alarm)
    if when is None:
        return
    hours, minutes = divmod(max(1, round((when - ui.phone.clock.ms) / 60_000)), 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes, "minute")]
    told = [f"{n} {unit}{'s' if n > 1 else ''}" for n, unit in parts if n]
    ui.say(f"Alarm set for {' and '.join(told)} from now.")


def _ask_time(ui: Ui, alarm: Alarm | None) -> None:
    pick_time(ui, "time", *((alarm.hour, alarm.minute) if alarm else (8, 0)))
    ui.ask("time", alarm=alarm.id if alarm else None)


def _set_time(ui: Ui, hour: int, minute: int) -> None:
    id = ui.state.get("alarm")
    old = alarms.get(ui.phone, id) if isinstance(id, int) else None
    if old is None:
        id = alarms.add(ui.phone, hour, minute)
        ui.state["open"] = id
        old = alarms.get(ui.phone, id)
        assert old is not None
    _update(ui, replace(old, hour=hour, minute=minute, enabled=True))


def _ask_label(ui: Ui, alarm: Alarm) -> None:
    ui.ask_text("label", "label", alarm.label, alarm=alarm.id)


def _label_dialog(ui: Ui) -> Dialog:
    def save() -> None:
        id = ui.state.get("alarm")
        old = alarms.get(ui.phone, id) if isinstance(id, int) else None
        ui.dismiss()
        if old is not None:
            alarms.update(ui.phone, replace(old, label=ui.text("label").strip()))

    field = TextField(ui, "label", "Label", on_enter=save)
    return question(ui, "Label", field, "OK", save)


def _delete(ui: Ui, alarm: Alarm) -> None:
    alarms.delete(ui.phone, alarm.id)
    ui.say("Alarm deleted")
