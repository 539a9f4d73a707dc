"""The list of an app of records."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Any

from ui_gym_phone.apps.dates import today
from ui_gym_phone.apps.pickers import date_dialog, pick_date
from ui_gym_phone.apps.shelf.records import values
from ui_gym_phone.apps.shelf.records.spec import EDIT, SHOW, RecordsSpec
from ui_gym_phone.apps.support import attempt
from ui_gym_phone.state import records, shelf
from ui_gym_phone.state.databases import text, whole
from ui_gym_phone.state.records import Record
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Lazy, ListRow, Tap, Widget
from ui_gym_phone.ui.page import (
    AppPage,
    ScrollView,
    confirm,
    fab,
    search_bar,
    selection_bar,
)
from ui_gym_phone.ui.widgets import Empty, Header, IconButton, Item, Text


def page(spec: RecordsSpec, ui: Ui) -> AppPage:
    """All records. State: ``day``, from which on they are listed; ``chosen``, ids."""
    shelf.plant(ui.phone, spec.package)  # an app whose data were cleared begins anew
    found = _found(spec, ui)
    chosen = [row[spec.key] for row in found if row[spec.key] in ui.state.get("chosen", ())]
    selecting = ui.state.get("overlay") == "select" and bool(chosen)
    rows = list(_rows(spec, ui, found, chosen if selecting else []))
    body: Widget = Lazy(rows) if rows else Empty(spec.row.get("icon", "inbox"), f"No {spec.noun}s")
    made = AppPage(ScrollView(ui, "records", body, tail=96), title=spec.title)
    if spec.new:
        made.fab = fab("plus", spec.new, partial(ui.open, EDIT))
    if selecting:
        delete = IconButton("delete-outline", "Delete", partial(ui.ask, "delete"))
        made.bar, made.fab = selection_bar(ui, len(chosen), delete), None
    elif ui.state.get("overlay") == "search":
        made.bar = search_bar(ui, "Search")
    else:
        made.actions = [IconButton("magnify", "Search", ui.search)]
        if spec.days:
            go = partial(_ask_day, spec, ui)
            made.actions = [*made.actions, IconButton("calendar-today", "Go to date", go)]
    if ui.dialog == "delete" and chosen:
        what = f"{len(chosen)} {spec.noun}{'s' if len(chosen) > 1 else ''}"
        made.dialog = confirm(
            ui, f"Delete {what}?", "", "Delete", partial(_delete, spec, ui, chosen)
        )
    elif ui.dialog == "day":
        made.dialog = date_dialog(ui, "picked", partial(_go, ui))
    return made


def _found(spec: RecordsSpec, ui: Ui) -> list[Record]:
    """The records that are listed: from a day on, or those with a word."""
    found = list(spec.rows(ui.phone))
    if ui.state.get("overlay") == "search":
        wanted = ui.text("search").strip().lower()
        return [row for row in found if any(wanted in text(cell).lower() for cell in row.values())]
    if spec.days:
        first = _first_day(ui)
        days = [_day(spec, ui, row) for row in found]
        return [row for row, day in zip(found, days, strict=True) if day is None or day >= first]
    return found


def _first_day(ui: Ui) -> date:
    said = ui.state.get("day")
    return date.fromisoformat(said) if said else today(ui.phone)


def _day(spec: RecordsSpec, ui: Ui, row: Record) -> date | None:
    at = values.moment(ui.phone, spec.field_of(spec.days), row.get(spec.days))
    return at.date() if at else None


def _rows(spec: RecordsSpec, ui: Ui, found: list[Record], chosen: list[Any]) -> list[ListRow]:
    made: list[ListRow] = []
    before: date | None = None
    for row in found:
        day = _day(spec, ui, row) if spec.days else None
        if day != before and day is not None:
            told = f"{day:%A}, {day:%B} {day.day}" + (
                "" if day.year == today(ui.phone).year else f", {day.year}"
            )
            made.append(("day", partial(Header, told)))
        before = day
        subtitle = values.filled(ui.phone, spec, spec.row.get("subtitle", ""), row)
        kind = ("row", bool(subtitle))
        made.append((kind, partial(_row, spec, ui, row, subtitle, chosen)))
    return made


def _row(spec: RecordsSpec, ui: Ui, row: Record, subtitle: str, chosen: list[Any]) -> Tap:
    id = row[spec.key]
    title = values.filled(ui.phone, spec, spec.row["title"], row) or "(no title)"
    trail = values.filled(ui.phone, spec, spec.row.get("trail", ""), row)
    done = bool(spec.done and whole(row.get(spec.done)))
    act = partial(ui.toggle, id) if chosen else partial(ui.open, SHOW, id=id)
    return Item(
        title, subtitle, act, icon="check-circle" if done else spec.row.get("icon", ""), lines=1,
        trail=Text(trail, "label", "primary", lines=1) if trail else None,
        on_long_press=partial(ui.toggle, id) if spec.new else None, selected=id in chosen,
    )  # fmt: skip


def _delete(spec: RecordsSpec, ui: Ui, chosen: list[Any]) -> None:
    attempt(ui, partial(records.delete, ui.phone, spec.path, spec.table, spec.key, chosen))
    ui.close_overlay()


def _ask_day(spec: RecordsSpec, ui: Ui) -> None:
    pick_date(ui, "picked", _first_day(ui))
    ui.ask("day")


def _go(ui: Ui, day: date) -> None:
    ui.state["day"] = day.isoformat()
    ui.activity.scroll.pop("records", None)
