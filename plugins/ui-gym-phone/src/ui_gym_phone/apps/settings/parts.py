"""What the pages of Settings are made of: rows, switches, sliders, dialogs that fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from ui_gym_phone.state.packages import Package
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog, Menu, ScrollView, question
from ui_gym_phone.ui.scene import Handler
from ui_gym_phone.ui.widgets import (
    Button,
    Disc,
    Icon,
    IconButton,
    Item,
    RadioItem,
    SeekBar,
    SwitchItem,
    Text,
    told_switch,
)

Value = TypeVar("Value")


def page(
    ui: Ui, title: str, *rows: Widget | None, dialog: Dialog | None = None,
    actions: Sequence[Widget] = (), menu: Menu | None = None,
) -> AppPage:  # fmt: skip
    """A page: a bar with the arrow and the title, and rows that scroll."""
    body = ScrollView(ui, "list", VStack(*rows, pad=(0, 4, 0, 24)))
    return AppPage(body, bar=title_bar(ui, title, actions), dialog=dialog, menu=menu)


def title_bar(ui: Ui, title: str, actions: Sequence[Widget] = ()) -> Widget:
    """The bar of a page; a long title takes two lines."""
    arrow = IconButton("arrow-left", "Navigate up", ui.close, colour="text")
    return HStack(arrow, Expand(Text(title, "title", lines=2)), *actions, gap=4, pad=(4, 8, 4, 8))


def link(
    ui: Ui, title: str, subtitle: str, cls: str, *, icon: str = "", **extras: object
) -> Widget:
    """A row that leads to another page."""
    return Item(title, subtitle, partial(ui.open, cls, **extras), icon=icon)


def note(text: str) -> Widget:
    """An explanation at the end of a page."""
    return VStack(
        HStack(Icon("information-outline", 20)),
        Text(text, "small", "dim"),
        gap=10,
        pad=(16, 16, 16, 8),
    )


def toggle(
    title: str, on: bool, on_change: Callable[[bool], None], subtitle: str = "", *,
    icon: str = "", enabled: bool = True,
) -> Widget:  # fmt: skip
    """A row with a switch, which says all that it has to say."""
    return SwitchItem(title, on, on_change, subtitle, icon=icon, enabled=enabled, lines=4)


def radio(title: str, on: bool, on_tap: Handler) -> Widget:
    """A row with a radio button, which says all that it has to say."""
    return RadioItem(title, on, on_tap, lines=4)


def main_switch(title: str, on: bool, on_change: Callable[[bool], None]) -> Widget:
    """The large switch that begins the page of one thing."""
    ground, ink = ("tonal", "on_tonal") if on else ("container", "text")
    face = Surface(HStack(Expand(Text(title, "subtitle", ink)), told_switch(title, on), gap=12),
                   ground, radius=26, pad=(20, 14, 16, 14))  # fmt: skip
    return VStack(Tap(face, lambda: on_change(not on), id="main_switch_bar"), pad=(16, 8, 16, 12))


def app_icon(package: Package, size: float = 36) -> Widget:
    return Disc(package.colour, size, icon=package.icon)


def slider(
    title: str, icon: str, level: int, ends: tuple[int, int], on_change: Callable[[int], None],
    *, told: str = "",
) -> Widget:  # fmt: skip
    """A titled slider over the whole numbers between two ends."""
    low, high = ends

    def change(share: float) -> None:
        on_change(round(low + share * (high - low)))

    share = (level - low) / (high - low)
    mark = SeekBar(share, change, desc=title, told=told or f"{round(share * 100)}%")
    body = HStack(Icon(icon, 24), Expand(mark), gap=12)
    return VStack(Text(title, "body", lines=2), body, pad=(16, 10, 16, 2))


def action(icon: str, text: str, on_tap: Handler, *, enabled: bool = True) -> Widget:
    """One of the large buttons side by side, of an icon over a text."""
    ink = "primary" if enabled else "disabled"
    face = VStack(
        HStack(Icon(icon, 24, ink)),
        Text(text, "label", ink, lines=2, align="center", tell=False),
        gap=4, align="center",
    )  # fmt: skip
    panel = Surface(face, "container", radius=16, pad=(4, 12, 4, 12))
    return Tap(panel, on_tap, cls="android.widget.Button", text=text, enabled=enabled, weight=1)


def actions(*buttons: Widget) -> Widget:
    """Large buttons in a row."""
    return HStack(*buttons, gap=8, pad=(16, 8, 16, 8), align="stretch")


def app_head(package: Package) -> Widget:
    """An app's icon and name, over what is told of it."""
    return VStack(
        app_icon(package, 64), Text(package.label, "title", align="center"),
        gap=8, pad=(16, 8, 16, 8), align="center",
    )  # fmt: skip


# -- dialogs --


def pick(
    ui: Ui, title: str, options: Sequence[tuple[str, Value]], chosen: Value,
    on_pick: Callable[[Value], None],
) -> Dialog:  # fmt: skip
    """A dialog of radio buttons, one for each (text, value)."""
    rows = [
        radio(text, value == chosen, ui.then(partial(on_pick, value))) for text, value in options
    ]
    buttons = [Button("Cancel", ui.dismiss, style="text")]
    return Dialog(title, VStack(*rows), buttons, ui.dismiss)


def form(
    ui: Ui, title: str, rows: Sequence[Widget], yes: str, on_yes: Handler, *, ready: bool = True
) -> Dialog:
    """A dialog with things to fill in; `on_yes` closes it when it is content."""
    body = VStack(*rows, gap=8, pad=(8, 0, 8, 0))
    return question(ui, title, body, yes, on_yes, ready=ready)


def number(text: str, otherwise: int) -> int:
    """A setting as a number; whatever it holds, a shell may have written it."""
    try:
        return int(text)
    except ValueError:
        return otherwise


def listed(options: Sequence[tuple[str, Value]], value: Value, otherwise: str = "") -> str:
    """What an option of this value is called."""
    return next((text for text, known in options if known == value), otherwise)
