"""The picker of a time: a clock's dial, or two fields, or buttons that count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ui_gym_phone.apps.dates import twelve_hours
from ui_gym_phone.apps.pickers.common import Dial, DialMark, Mark, remember, small, steps
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import (
    Fitting,
    GridLayout,
    HStack,
    Space,
    Surface,
    Tap,
    VStack,
    Widget,
)
from ui_gym_phone.ui.page import Dialog, question
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import IconButton, Text


def pick_time(ui: Ui, key: str, hour: int, minute: int) -> None:
    """Set what a time picker begins with: `hour` is 0 to 23."""
    ui.state[key] = {"hour": hour, "minute": minute, "part": "hour", "typed": False}


def picked_time(ui: Ui, key: str) -> tuple[int, int]:
    """(hour, minute) of a time picker; the hour is 0 to 23."""
    state = _time(ui, key)
    return int(state["hour"]), int(state["minute"])


def time_picker(ui: Ui, key: str) -> VStack:
    """The body of a dialog that picks a time: a dial, or fields, or where the screen is small,
    buttons to count up and down."""
    if small(ui):
        return _time_steps(ui, key)
    state = _time(ui, key)
    other = ("clock-outline", "Switch to the dial") if state["typed"] else (
        "keyboard", "Switch to text input")  # fmt: skip
    toggle = Fitting(IconButton(other[0], other[1], partial(_toggle_typing, ui, key)))
    if state["typed"]:
        head = _time_fields(ui, key)
        return VStack(head, HStack(toggle), gap=4, pad=(16, 0, 16, 0))
    return VStack(
        _time_head(ui, key), Space(16), _dial(ui, key), HStack(toggle), pad=(16, 0, 16, 0)
    )


def time_dialog(
    ui: Ui, key: str, on_pick: Callable[[int, int], None], title: str = "Select time"
) -> Dialog:
    """The whole dialog; `on_pick` is called with hour and minute when OK is touched."""

    def accept() -> None:
        hour, minute = picked_time(ui, key)
        ui.dismiss()
        on_pick(hour, minute)

    shown = "" if small(ui) or ui.grid else title
    return question(ui, shown, time_picker(ui, key), "OK", accept, ready=_valid(ui, key))


def _time(ui: Ui, key: str) -> dict[str, Any]:
    if key not in ui.state:
        now = ui.phone.clock.local
        pick_time(ui, key, now.hour, now.minute)
    state: dict[str, Any] = ui.state[key]
    return state


def _shown_hour(ui: Ui, hour: int) -> int:
    return (hour - 1) % 12 + 1 if twelve_hours(ui.phone) else hour


def _real_hour(ui: Ui, key: str, shown: int) -> int:
    """The hour 0 to 23 of one that is shown, in the half of the day that is set."""
    if not twelve_hours(ui.phone):
        return shown
    return shown % 12 + (12 if _time(ui, key)["hour"] >= 12 else 0)


def _time_head(ui: Ui, key: str) -> HStack:
    hour, minute = picked_time(ui, key)
    part = _time(ui, key)["part"]
    shown = _shown_hour(ui, hour)
    hours = _head_box(
        f"{shown:02d}",
        "" if ui.grid else "Hour",
        part == "hour",
        partial(remember, ui, key, part="hour"),
    )
    minutes = _head_box(
        f"{minute:02d}",
        "" if ui.grid else "Minute",
        part == "minute",
        partial(remember, ui, key, part="minute"),
    )
    return HStack(hours, Text(":", "display"), minutes, _halves(ui, key), gap=6)


def _head_box(text: str, desc: str, chosen: bool, on_tap: Callable[[], None]) -> Tap:
    ground, ink = ("tonal", "on_tonal") if chosen else ("container", "text")
    face = Surface(
        Text(text, "display", ink, align="center", lines=1, tell=False), ground, radius=10,
        pad=(4, 4, 4, 4),
    )  # fmt: skip
    return Tap(face, on_tap, cls="android.widget.RadioButton", text=text, desc=desc,
               selected=chosen, weight=1)  # fmt: skip


def _halves(ui: Ui, key: str) -> Widget | None:
    """AM and PM, where hours are counted to twelve."""
    if not twelve_hours(ui.phone):
        return None
    hour = picked_time(ui, key)[0]
    cells: list[Widget] = []
    for name, chosen, real in (("AM", hour < 12, hour % 12), ("PM", hour >= 12, hour % 12 + 12)):
        ground, ink = ("tonal", "on_tonal") if chosen else ("", "dim")
        face = Surface(Text(name, "label", ink, align="center", tell=False), ground, radius=8,
                     pad=(10, 8, 10, 8))  # fmt: skip
        cells.append(
            Tap(face, partial(remember, ui, key, hour=real), cls="android.widget.RadioButton",
                text=name, selected=chosen)
        )  # fmt: skip
    return Surface(VStack(*cells), "container", radius=8)


def _dial(ui: Ui, key: str) -> Widget:
    hour, minute = picked_time(ui, key)
    if _time(ui, key)["part"] == "minute":
        marks = [(f"{m:02d}", f"{m} minutes", m // 5, 0) for m in range(0, 60, 5)]
        hand = (minute * 6, 0)
        return _numbers(ui, marks, hand, lambda i: remember(ui, key, minute=i * 5))
    if twelve_hours(ui.phone):
        marks = [(str(h), f"{h} o'clock", h % 12, 0) for h in (12, *range(1, 12))]
        values = [12, *range(1, 12)]
        hand = (hour % 12 * 30, 0)
    else:
        marks = [(f"{h:02d}" if h == 0 else str(h), f"{h} hours", h % 12, h // 12)
                 for h in range(24)]  # fmt: skip
        values = list(range(24))
        hand = (hour % 12 * 30, hour // 12)

    def take(i: int) -> None:
        remember(ui, key, hour=_real_hour(ui, key, values[i]), part="minute")

    return _numbers(ui, marks, hand, take)


def _numbers(
    ui: Ui, marks: Sequence[DialMark], hand: tuple[int, int], on_pick: Callable[[int], None]
) -> Widget:
    """The numbers around a clock's face, or where all lies on a grid, in rows."""
    if not ui.grid:
        return Dial(marks, hand, on_pick)
    cells: list[Widget] = []
    for i, (text, _, at, of) in enumerate(marks):
        chosen = (at * 30, of) == hand
        face = Mark(text, "body", "on_primary" if chosen else "text", "primary" if chosen else "")
        cells.append(Tap(face, partial(on_pick, i), cls="android.view.View", text=text,
                         selected=chosen))  # fmt: skip
    return GridLayout(*cells, columns=4 if len(cells) <= 12 else 6)


class _Digits(TextField):
    """Two digits: touching the field selects them, so that what is typed takes their place."""

    def _tap(self, x: int, y: int) -> None:
        self.ui.focus(self.key)
        self.ui.select_all()


def _time_fields(ui: Ui, key: str) -> HStack:
    def changed(part: str, highest: int, text: str) -> None:
        name = f"{key}.{part}"
        kept = text[-2:]
        if kept != text:
            ui.fill(name, kept)
        number = int(kept) if kept.isdigit() else -1
        if 0 <= number <= highest:
            remember(ui, key, **{part: _real_hour(ui, key, number) if part == "hour" else number})

    def column(part: str, label: str, highest: int) -> VStack:
        field = _Digits(
            ui, f"{key}.{part}", label, kind="number", on_change=partial(changed, part, highest),
            id=part, style="headline",
        )  # fmt: skip
        return VStack(field, Text(label, "caption", "dim"), gap=4, weight=1)

    most = 12 if twelve_hours(ui.phone) else 23
    colon = VStack(Text(":", "headline"), Space(20))
    return HStack(column("hour", "Hour", most), colon, column("minute", "Minute", 59),
               _halves(ui, key), gap=8)  # fmt: skip


def _valid(ui: Ui, key: str) -> bool:
    """Whether what is typed is a time."""
    if not _time(ui, key)["typed"]:
        return True
    hour, minute = ui.text(f"{key}.hour"), ui.text(f"{key}.minute")
    if not (hour.isdigit() and minute.isdigit() and int(minute) < 60):
        return False
    return 1 <= int(hour) <= 12 if twelve_hours(ui.phone) else int(hour) < 24


def _toggle_typing(ui: Ui, key: str) -> None:
    typed = not _time(ui, key)["typed"]
    hour, minute = picked_time(ui, key)
    remember(ui, key, typed=typed, part="hour")
    ui.unfocus()
    if typed:
        ui.fill(f"{key}.hour", f"{_shown_hour(ui, hour):02d}")
        ui.fill(f"{key}.minute", f"{minute:02d}")
        ui.focus(f"{key}.hour")
        ui.select_all()


def _time_steps(ui: Ui, key: str) -> VStack:
    hour, minute = picked_time(ui, key)

    def turn(part: str, value: int, size: int, by: int) -> None:
        remember(ui, key, **{part: (value + by) % size})

    shown = f"{_shown_hour(ui, hour):02d}"
    if twelve_hours(ui.phone):
        shown += " PM" if hour >= 12 else " AM"
    return VStack(
        steps("Hour", shown, partial(turn, "hour", hour, 24)),
        steps("Minute", f"{minute:02d}", partial(turn, "minute", minute, 60), 5),
        pad=(8, 0, 8, 0),
    )
