"""The form in which a record is made or changed."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from ui_gym_phone.apps import dates
from ui_gym_phone.apps.pickers import date_dialog, pick_date, pick_time, time_dialog
from ui_gym_phone.apps.shelf.records import values
from ui_gym_phone.apps.shelf.records.spec import RecordField, RecordsSpec
from ui_gym_phone.apps.support import attempt
from ui_gym_phone.state import records
from ui_gym_phone.state.databases import text
from ui_gym_phone.state.records import Record
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, choices, discard
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Button, Icon, IconButton, SwitchItem, Text

TYPED = ("text", "lines", "number", "money")
"""The kinds of fields that are typed into."""


def page(spec: RecordsSpec, ui: Ui) -> AppPage:
    """A new record, or the one of the extra ``id``."""
    old = spec.find(ui.phone, ui.extras["id"]) if "id" in ui.extras else None
    _begin(spec, ui, old)
    form = [_entry(spec, ui, about) for about in spec.fields if about.form]
    title = f"Edit {spec.noun}" if old else spec.new
    bar = HStack(
        IconButton("close", "Close", partial(_leave, spec, ui), colour="text"),
        Expand(Text(title, "title", lines=1)),
        Button(spec.save, partial(_save, spec, ui, old), id="save"),
        gap=4, pad=(4, 8, 16, 8),
    )  # fmt: skip
    body = ScrollView(ui, "form", VStack(*form, gap=12, pad=(16, 8, 16, 24)))
    return AppPage(body, bar=bar, dialog=_dialog(spec, ui))


def _begin(spec: RecordsSpec, ui: Ui, old: Record | None) -> None:
    """Fill the form in when it is first seen."""
    if "before" in ui.state:
        return
    for about in spec.fields:
        value = old.get(about.column) if old else None
        ui.fill(about.column, _typed(ui, about, value) if old else _first(ui, about))
    ui.state["before"] = _entered(spec, ui)
    if not old:
        ui.focus(spec.fields[0].column)


def _typed(ui: Ui, about: RecordField, value: Any) -> str:
    if about.kind == "money":
        return values.money_text(value)
    if about.kind == "moment":
        at = values.moment(ui.phone, about, value)
        return at.replace(tzinfo=None).isoformat() if at else _first(ui, about)
    return text(value)


def _first(ui: Ui, about: RecordField) -> str:
    """What a new record's field begins with."""
    if about.kind != "moment":
        return about.start
    hour = ui.phone.clock.local.replace(minute=0, second=0, microsecond=0, tzinfo=None)
    return (hour + timedelta(hours=1 + int(about.start or 0))).isoformat()


def _entered(spec: RecordsSpec, ui: Ui) -> list[str]:
    return [ui.text(about.column) for about in spec.fields]


def _entry(spec: RecordsSpec, ui: Ui, about: RecordField) -> Widget:
    """A field of the form."""
    if about.kind == "choice":
        told = about.choices.get(ui.text(about.column), ui.text(about.column))
        return _chooser(ui, about.label, told, partial(ui.ask, f"choice {about.column}"))
    if about.kind == "flag":
        on = ui.text(about.column) == "1"
        return SwitchItem(about.label, on, lambda now: ui.fill(about.column, str(int(now))))
    if about.kind == "moment":
        at = datetime.fromisoformat(ui.text(about.column))
        told_time = dates.time_text(ui.phone, at.hour, at.minute)
        day = _chooser(ui, f"{about.label} date", values.day_text(at), partial(_ask_day, ui, about))
        time = _chooser(ui, f"{about.label} time", told_time, partial(_ask_time, ui, about))
        return HStack(Expand(day, 3), Expand(time, 2), gap=8)
    return TextField(
        ui, about.column, about.label, lines=4 if about.kind == "lines" else 1,
        kind="number" if about.kind in ("money", "number") else "text",
        on_enter=partial(_next, spec, ui, about),
    )  # fmt: skip


def _next(spec: RecordsSpec, ui: Ui, about: RecordField) -> None:
    """Go to the next field that is typed into; from the last one the keyboard goes."""
    typed = [each.column for each in spec.fields if each.form and each.kind in TYPED]
    after = typed[typed.index(about.column) + 1 :]
    if after:
        ui.focus(after[0])
    else:
        ui.unfocus()


def _chooser(ui: Ui, label: str, told: str, on_tap: Any) -> Tap:
    face = HStack(
        Expand(
            VStack(
                Text(label, "caption", "dim", tell=False), Text(told, "body", lines=1, tell=False)
            )
        ),
        Icon("chevron-down", 20, "dim"), gap=8, pad=(14, 6, 12, 6),
    )  # fmt: skip
    return Tap(
        Surface(face, "surface", radius=8, border="outline"), on_tap,
        cls="android.widget.Spinner", text=told, desc=label,
    )  # fmt: skip


def _ask_day(ui: Ui, about: RecordField) -> None:
    pick_date(ui, "picked", datetime.fromisoformat(ui.text(about.column)).date())
    ui.ask(f"day {about.column}")


def _ask_time(ui: Ui, about: RecordField) -> None:
    at = datetime.fromisoformat(ui.text(about.column))
    pick_time(ui, "picked_time", at.hour, at.minute)
    ui.ask(f"time {about.column}")


def _dialog(spec: RecordsSpec, ui: Ui) -> Dialog | None:
    if ui.dialog == "discard":
        return discard(ui)
    what, _, column = ui.dialog.partition(" ")
    if not column:
        return None
    about = spec.field_of(column)
    if what == "choice":
        options = [(told, partial(ui.fill, column, value)) for value, told in about.choices.items()]
        chosen = (
            list(about.choices).index(ui.text(column)) if ui.text(column) in about.choices else -1
        )
        return choices(ui, about.label, options, chosen)
    if what == "day":
        return date_dialog(ui, "picked", partial(_set_day, spec, ui, column))
    return time_dialog(ui, "picked_time", partial(_set_time, spec, ui, column))


def _set_day(spec: RecordsSpec, ui: Ui, column: str, day: date) -> None:
    at = datetime.fromisoformat(ui.text(column))
    _set(spec, ui, column, datetime.combine(day, at.time()))


def _set_time(spec: RecordsSpec, ui: Ui, column: str, hour: int, minute: int) -> None:
    at = datetime.fromisoformat(ui.text(column))
    _set(spec, ui, column, at.replace(hour=hour, minute=minute))


def _set(spec: RecordsSpec, ui: Ui, column: str, at: datetime) -> None:
    """Set a moment; those after it in the form move along."""
    moved = at - datetime.fromisoformat(ui.text(column))
    ui.fill(column, at.isoformat())
    moments = [about.column for about in spec.fields if about.kind == "moment" and about.form]
    for later in moments[moments.index(column) + 1 :]:
        ui.fill(later, (datetime.fromisoformat(ui.text(later)) + moved).isoformat())


def _leave(spec: RecordsSpec, ui: Ui) -> None:
    if _entered(spec, ui) == ui.state["before"]:
        ui.close()
    else:
        ui.ask("discard")


def _save(spec: RecordsSpec, ui: Ui, old: Record | None) -> None:
    phone, cells = ui.phone, dict[str, Any]()
    fields = [about for about in spec.fields if about.form]
    if not ui.text(fields[0].column).strip():
        ui.say(f"{fields[0].label} must not be empty")
        return
    try:
        for about in fields:
            cells[about.column] = values.written(phone, about, ui.text(about.column))
    except ValueError as error:
        ui.say(str(error))
        return
    cells.update(dict.fromkeys(spec.stamps.get("changed", ()), phone.clock.ms))

    def write() -> None:
        more = [(spec.after, {"id": old[spec.key] if old else None})] if spec.after else []
        if old:
            records.update(phone, spec.path, spec.table, spec.key, old[spec.key], cells, *more)
            return
        made = dict.fromkeys(spec.stamps.get("made", ()), phone.clock.ms)
        id = records.insert(phone, spec.path, spec.table, {**spec.defaults, **made, **cells})
        if spec.after:
            records.change(phone, spec.path, (spec.after, {"id": id}))

    if attempt(ui, write):
        ui.close()
