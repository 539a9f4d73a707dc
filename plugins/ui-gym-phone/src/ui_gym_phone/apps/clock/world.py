"""The world clock: the time here, and in the cities that were added."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from functools import partial

from ui_gym_phone import data
from ui_gym_phone.apps.clock import records
from ui_gym_phone.apps.dates import time_text
from ui_gym_phone.apps.figures import Figures
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, fab
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import CheckItem, Empty, IconButton, Text

CITIES = "com.android.deskclock.worldclock.CitySelectionActivity"

OFFSETS: Mapping[str, int] = data.table("places")["cities"]
"""Minutes east of UTC of each city's standard time: summer time is nowhere kept here."""


def page(ui: Ui) -> AppPage:
    """The tab."""
    now = ui.phone.clock.local
    here = VStack(
        Figures(time_text(ui.phone, now.hour, now.minute), id="digital_clock"),
        Text(f"{now:%A}, {now:%B} {now.day}", "body", "dim", lines=1),
        pad=(24, 8, 24, 16),
    )
    rows: list[Widget] = [_city(ui, name) for name in records.cities(ui.phone) if name in OFFSETS]
    body = ScrollView(ui, "cities", VStack(here, *rows), tail=88)
    add = fab("plus", "Add city", partial(ui.open, CITIES))
    return AppPage(body, title="Clock", fab=add)


def _there(phone: Phone, name: str) -> datetime:
    return phone.clock.local.astimezone(timezone(timedelta(minutes=OFFSETS[name])))


def _city(ui: Ui, name: str) -> Widget:
    def remove() -> None:
        left = [n for n in records.cities(ui.phone) if n != name]
        records.set_cities(ui.phone, left)

    then = _there(ui.phone, name)
    texts = VStack(
        Text(name, "strong", lines=1), Text(_apart(ui.phone, name), "small", "dim", lines=2)
    )
    time = Text(time_text(ui.phone, then.hour, then.minute), "title", lines=1)
    return VStack(
        Surface(
            HStack(Expand(texts), time, IconButton("close", f"Remove {name}", remove), gap=4),
            "surface", radius=16, pad=(16, 8, 4, 8),
        ),
        pad=(12, 5, 12, 5),
    )  # fmt: skip


def _apart(phone: Phone, name: str) -> str:
    """``Today, 3 hrs behind``."""
    days = (_there(phone, name).date() - phone.clock.local.date()).days
    day = {0: "Today", 1: "Tomorrow", -1: "Yesterday"}.get(days, "")
    minutes = OFFSETS[name] - phone.clock.offset_minutes
    if not minutes:
        return day + ", same time"
    hours, rest = divmod(abs(minutes), 60)
    told = f"{hours}:{rest:02d} hrs" if rest else f"{hours} hr{'s' if hours > 1 else ''}"
    return f"{day}, {told} {'ahead' if minutes > 0 else 'behind'}"


def cities(ui: Ui) -> AppPage:
    """All cities, with a search: those that are marked are in the world clock."""
    wanted = ui.text("search").strip().lower()
    chosen = records.cities(ui.phone)

    def mark(name: str, on: bool) -> None:
        left = [n for n in records.cities(ui.phone) if n != name]
        records.set_cities(ui.phone, [*left, name] if on else left)

    found = [name for name in OFFSETS if wanted in name.lower()]
    rows: list[Widget] = [
        CheckItem(
            name, name in chosen, partial(mark, name),
            time_text(ui.phone, (then := _there(ui.phone, name)).hour, then.minute),
        )
        for name in found
    ]  # fmt: skip
    search = VStack(TextField(ui, "search", "Search for a city"), pad=(12, 0, 12, 8))
    shown: Widget = VStack(*rows) if rows else Empty("magnify", "No city of this name")
    return AppPage(VStack(search, ScrollView(ui, "all", shown)), title="Add city", back=ui.close)
