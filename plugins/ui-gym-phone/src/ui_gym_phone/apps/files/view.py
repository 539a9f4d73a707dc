"""View: how lists of files look, and the choices of them that the app keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ui_gym_phone.apps.files.entries import SORTS, FileEntry, kind_of
from ui_gym_phone.apps.pictures import Photo, is_picture
from ui_gym_phone.apps.support import day_text, keep, kept, size_text
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Center, GridLayout, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import Box
from ui_gym_phone.ui.scene import Handler
from ui_gym_phone.ui.widgets import Disc, Icon, ImageView, Item, Text

PACKAGE = "com.android.documentsui"
BROWSE = ".files.FilesActivity"

MOST_SHOWN = 200
THUMBNAIL = 400_000
"""Bytes up to which a picture is shown small in a list."""


@dataclass(frozen=True)
class FolderView:
    """How a person wants folders shown: `sort` is a number of `SORTS`."""

    sort: int = 0
    grid: bool = False
    hidden: bool = False


def view_of(phone: Phone) -> FolderView:
    """How it was left."""
    found = kept(phone, PACKAGE, "view", _view)
    return found[0] if found else FolderView()


def change_view(ui: Ui, **changed: Any) -> None:
    """Keep a choice."""
    keep(ui.phone, PACKAGE, "view", [asdict(replace(view_of(ui.phone), **changed))])


def _view(row: Any) -> FolderView:
    return FolderView(int(row["sort"]) % len(SORTS), bool(row["grid"]), bool(row["hidden"]))


def listing(
    ui: Ui,
    found: list[FileEntry],
    on_tap: Callable[[FileEntry], Handler],
    on_long_press: Callable[[FileEntry], Handler] | None = None,
    *,
    grid: bool = False,
    selected: frozenset[str] = frozenset(),
    place: bool = False,
) -> Widget:
    """Entries as rows, or as cells of a grid. `place` tells of each in which folder it lies."""
    shown = found[:MOST_SHOWN]
    make = _cell if grid else _row
    widgets = []
    for e in shown:
        hold = on_long_press(e) if on_long_press else None
        widgets.append(make(ui, e, on_tap(e), hold, e.path in selected, place))
    rest = len(found) - len(shown)
    more = Text(f"and {rest} more", "small", "dim", align="center") if rest else None
    if grid:
        return VStack(GridLayout(*widgets, columns=3, gap=8, pad=(12, 4, 12, 8)), more)
    return VStack(*widgets, more)


def _row(
    ui: Ui, entry: FileEntry, tap: Handler, hold: Handler | None, selected: bool, place: bool
) -> Widget:
    when = day_text(ui.phone, entry.mtime)
    told = when if entry.is_dir else f"{when} · {size_text(entry.size)}"
    if place:
        told = "in " + (entry.path.rpartition("/")[0].removeprefix("/sdcard/") or "/sdcard")
    lead: Widget = (
        Disc("primary", 40, icon="check", ink="#ffffff") if selected else _face(ui, entry)
    )
    return Item(entry.name, told, tap, lead=lead, on_long_press=hold, selected=selected, lines=1)


def _face(ui: Ui, entry: FileEntry) -> Widget:
    thumbnail = _thumbnail(ui, entry)
    if thumbnail is not None:
        return ImageView(thumbnail, 40, 40)
    _, icon, colour = kind_of(entry)
    return Disc(colour, 40, icon=icon, round=entry.is_dir)


def _thumbnail(ui: Ui, entry: FileEntry) -> Photo | None:
    if entry.is_dir or not is_picture(entry.name) or not 0 < entry.size <= THUMBNAIL:
        return None
    return Photo(ui.phone.files.read(entry.path), cover=True)


def _cell(
    ui: Ui, entry: FileEntry, tap: Handler, hold: Handler | None, selected: bool, place: bool
) -> Widget:
    thumbnail = _thumbnail(ui, entry)
    _, icon, colour = kind_of(entry)
    face: Widget
    if thumbnail is not None:
        face = ImageView(thumbnail, 200, 72)
    else:
        face = Box(Center(Icon(icon, 48, colour)), 72)
    mark = HStack(Icon("check-circle", 16, "primary")) if selected else None
    name = Text(entry.name, "caption", lines=1, align="center", tell=False)
    panel = Surface(
        VStack(face, mark, name, gap=4), "tonal" if selected else "surface", radius=12,
        pad=(4, 6, 4, 8),
    )  # fmt: skip
    return Tap(panel, tap, on_long_press=hold, text=entry.name, selected=selected)


def folder_rows(ui: Ui, rows: Sequence[tuple[str, str, str, Handler]]) -> list[Widget]:
    """Rows of (name, subtitle, icon, handler)."""
    return [
        Item(name, told, on_tap, lead=Disc("tonal", 40, icon=icon, ink="on_tonal"), lines=1)
        for name, told, icon, on_tap in rows
    ]
