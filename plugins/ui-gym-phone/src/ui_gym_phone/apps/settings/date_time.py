"""Date & time: set by the network or by hand, the zone, the format."""

from __future__ import annotations

from datetime import date, datetime
from functools import partial

from ui_gym_phone import data
from ui_gym_phone.apps.dates import today
from ui_gym_phone.apps.pickers import date_dialog, pick_date, pick_time, time_dialog
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.parts import page, toggle
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog
from ui_gym_phone.ui.systemui import clock_text
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Empty, Header, Item, RadioItem

ZONES = PREFIX + "ZonePickerActivity"

PLACES = [(place, zone, minutes) for place, zone, minutes in data.table("places")["zones"]]
"""(place, zone, minutes east of UTC)."""


def offset_text(minutes: int) -> str:
    """``GMT+05:30``."""
    hours, rest = divmod(abs(minutes), 60)
    return f"GMT{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"


def zone_line(phone: Phone) -> str:
    """The zone that the phone shows."""
    known = phone.properties.get("persist.sys.timezone", "UTC")
    place = next((place for place, zone, _ in PLACES if zone == known), known)
    return f"{offset_text(phone.clock.offset_minutes)} {place}"


@APP.screen(PREFIX + "DateTimeSettingsActivity")
def date_and_time(ui: Ui) -> AppPage:
    """Date & time. Day and time can be set while the network does not."""
    phone = ui.phone
    now = phone.clock.local
    automatic = phone.is_on("global", "auto_time")
    by_network = phone.is_on("global", "auto_time_zone")
    day = f"{now:%B} {now.day}, {now.year}"
    hours24 = phone.setting("system", "time_12_24", "24") != "12"
    return page(
        ui, "Date & time",
        toggle("Set time automatically", automatic, partial(_automatic, phone)),
        Item("Date", day, partial(_ask_date, ui), enabled=not automatic),
        Item("Time", clock_text(phone), partial(_ask_time, ui), enabled=not automatic),
        Header("Region"),
        toggle("Set time zone automatically", by_network,
               lambda on: phone.put("global", "auto_time_zone", int(on))),
        Item("Time zone", zone_line(phone), partial(ui.open, ZONES), enabled=not by_network),
        Header("Time format"),
        toggle("Use 24-hour format", hours24,
               lambda on: phone.put("system", "time_12_24", 24 if on else 12),
               "13:00" if hours24 else "1:00 PM"),
        dialog=_dialog(ui),
    )  # fmt: skip


def _automatic(phone: Phone, on: bool) -> None:
    phone.put("global", "auto_time", int(on))


def _ask_date(ui: Ui) -> None:
    pick_date(ui, "day", today(ui.phone))
    ui.ask("date")


def _ask_time(ui: Ui) -> None:
    now = ui.phone.clock.local
    pick_time(ui, "when", now.hour, now.minute)
    ui.ask("time")


def _dialog(ui: Ui) -> Dialog | None:
    clock = ui.phone.clock
    now = clock.local

    def set_day(day: date) -> None:
        clock.set(clock.to_ms(datetime.combine(day, now.time())))

    def set_time(hour: int, minute: int) -> None:
        clock.set(clock.to_ms(datetime(now.year, now.month, now.day, hour, minute)))

    if ui.dialog == "date":
        return date_dialog(ui, "day", set_day, "Set date")
    if ui.dialog == "time":
        return time_dialog(ui, "when", set_time, "Set time")
    return None


@APP.screen(ZONES)
def zones(ui: Ui) -> AppPage:
    """The zones to choose from, by place."""
    phone = ui.phone
    wanted = ui.text("zone").strip().lower()
    chosen = phone.properties.get("persist.sys.timezone", "UTC")
    rows: list[Widget] = [
        RadioItem(place, zone == chosen, partial(_set_zone, ui, zone, minutes),
                  f"{zone} ({offset_text(minutes)})")
        for place, zone, minutes in PLACES
        if wanted in f"{place} {zone}".lower()
    ]  # fmt: skip
    search = VStack(TextField(ui, "zone", "Search region"), pad=(16, 4, 16, 8))
    return page(ui, "Select time zone", search, *(rows or [Empty("earth", "No such region.")]))


def _set_zone(ui: Ui, zone: str, minutes: int) -> None:
    ui.phone.properties["persist.sys.timezone"] = zone
    ui.phone.clock.offset_minutes = minutes
    ui.close()
