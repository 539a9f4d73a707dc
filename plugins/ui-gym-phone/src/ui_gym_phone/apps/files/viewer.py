"""Viewer: a text or a picture to look at, and what is known of a file."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.files import entries as store
from ui_gym_phone.apps.files.entries import FileEntry, entry_of, kind_of
from ui_gym_phone.apps.pictures import Zoomed, is_picture, size_of
from ui_gym_phone.apps.support import moment, size_text
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm
from ui_gym_phone.ui.textfield import Readable
from ui_gym_phone.ui.widgets import Disc, Empty, IconButton, Text

VIEWER = ".ViewerActivity"
INSPECTOR = ".inspector.InspectorActivity"

MOST_READ = 20_000
"""Characters of a text that are shown."""


def can_view(phone: Phone, entry: FileEntry) -> bool:
    """Whether it is a text or a picture."""
    if is_picture(entry.name) or kind_of(entry)[0] == "Text":
        return True
    if kind_of(entry)[0] != "File":
        return False
    start = phone.files.read(entry.path)[:1000]
    return b"\0" not in start


def viewer(ui: Ui) -> AppPage:
    """The file of the extra ``path``."""
    path = ui.extra("path")
    entry = entry_of(ui.phone, path)
    page = AppPage(Empty("file-outline", "This file is gone"), back=ui.close,
                   title=path.rpartition("/")[2])  # fmt: skip
    if entry is None or entry.is_dir:
        return page
    data = ui.phone.files.read(path)
    actions: list[Widget] = [
        IconButton("information-outline", "Get info", partial(ui.open, INSPECTOR, path=path)),
        IconButton("delete-outline", "Delete", partial(ui.ask, "delete")),
    ]
    if is_picture(path):
        seen = size_of(data) is not None
        page.body = (
            Zoomed(ui, data, entry.name) if seen else Empty("image", "Can't open this picture")
        )
    else:
        text = data[: 4 * MOST_READ].decode("utf-8", "replace")[:MOST_READ]
        told: Widget = Text("This file is empty", "small", "dim", id="text")
        if text:
            told = Readable(ui, "text", text, style="small")
        page.body = ScrollView(ui, "text", VStack(told, pad=(16, 8, 16, 24)))
        copy = partial(ui.copy, text, "Copied to clipboard")
        actions.insert(0, IconButton("content-copy", "Copy text", copy))
    page.actions = actions
    if ui.dialog == "delete":
        page.dialog = confirm(ui, f"Delete “{entry.name}”?", "This cannot be undone.", "Delete",
                              partial(_delete, ui, path))  # fmt: skip
    return page


def _delete(ui: Ui, path: str) -> None:
    store.delete(ui, [path])
    ui.close()


def inspector(ui: Ui) -> AppPage:
    """What is known of the file or folder of the extra ``path``."""
    path = ui.extra("path")
    entry = entry_of(ui.phone, path)
    if entry is None:
        return AppPage(Empty("file-outline", "This file is gone"), title="Get info", back=ui.close)
    kind, icon, colour = kind_of(entry)
    size, files = store.size_below(ui.phone, path)
    rows = [("Type", kind), ("Size", f"{size_text(size)} ({size:,} bytes)")]
    if entry.is_dir:
        rows.append(("Contains", f"{files} file{'' if files == 1 else 's'}"))
    elif is_picture(path):
        pixels = size_of(ui.phone.files.read(path))
        rows += [("Resolution", f"{pixels[0]} × {pixels[1]}")] if pixels else []
    when = moment(ui.phone, entry.mtime)
    told = f"{when:%b} {when.day}, {when.year}, {when:%H:%M}" if when else "Unknown"
    rows += [
        ("Modified", told),
        ("Path", path.replace("/sdcard", "/storage/emulated/0", 1)),
    ]
    facts = [VStack(Text(name, "caption", "dim"), Text(told, "body"), gap=2) for name, told in rows]
    head = VStack(
        Disc(colour, 72, icon=icon, round=entry.is_dir),
        Text(entry.name, "subtitle", align="center", lines=3), gap=12, align="center",
        pad=(16, 8, 16, 16),
    )  # fmt: skip
    body = VStack(head, VStack(*facts, gap=14, pad=(20, 8, 20, 24)))
    return AppPage(ScrollView(ui, "facts", body), title="Get info", back=ui.close)
