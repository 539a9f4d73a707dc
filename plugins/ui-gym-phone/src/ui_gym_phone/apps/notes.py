"""The Notes app: each note is a text file in ``/sdcard/Documents/Notes``."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.apps.support import attempt, day_text, size_text
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, Fitting, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import (
    AppPage,
    Dialog,
    ScrollView,
    confirm,
    discard,
    fab,
    more_menu,
    search_bar,
)
from ui_gym_phone.ui.scene import Handler
from ui_gym_phone.ui.textfield import MOST_CHARACTERS, Readable, TextField
from ui_gym_phone.ui.widgets import Button, Empty, IconButton, Text

APP = app_of("org.uigym.notes")

FOLDER = "/sdcard/Documents/Notes"
MOST_SHOWN = 200
MOST_READ = 20_000
"""Characters of a note that are shown."""

PREVIEW = 300
"""Bytes of a note that its card reads."""


def names(phone: Phone) -> list[str]:
    """The notes' file names, the one written last first."""
    if not phone.files.is_dir(FOLDER):
        return []
    found = [
        name
        for name in phone.files.list(FOLDER)
        if phone.files.is_file(_path(name)) and not name.startswith(".")
    ]
    return sorted(found, key=lambda name: (-phone.files.stat(_path(name)).mtime, name))


def _path(name: str) -> str:
    return f"{FOLDER}/{name}"


def _content(phone: Phone, name: str) -> str:
    try:
        return phone.files.read(_path(name)).decode("utf-8", "replace")
    except OSError:
        return ""


@APP.screen(".MainActivity")
def note_list(ui: Ui) -> AppPage:
    """All notes, or those in which a word is found."""
    found = names(ui.phone)
    wanted = ui.text("search").strip().lower()
    if ui.state.get("overlay") == "search":
        found = [n for n in found if wanted in n.lower() or wanted in _content(ui.phone, n).lower()]
        bar = search_bar(ui, "Search notes")
    else:
        find = IconButton("magnify", "Search", ui.search)
        bar = HStack(Expand(Text("Notes", "title", lines=1)), find, pad=(16, 8, 4, 8))
    if found:
        cards: list[Widget] = [_card(ui, name) for name in found[:MOST_SHOWN]]
        body: Widget = ScrollView(ui, "notes", VStack(*cards, gap=10, pad=(12, 6, 12, 6)), tail=88)
    else:
        empty = "No notes found" if ui.state.get("overlay") == "search" else "No notes yet"
        body = ScrollView(ui, "notes", Empty("notebook", empty))
    dialog = None
    if ui.dialog == "delete":
        dialog = _delete_dialog(ui, str(ui.state["name"]), partial(ui.say, "Note deleted"))
    new = fab("plus", "New note", partial(ui.open, ".EditActivity"))
    return AppPage(body, bar=bar, fab=new, dialog=dialog)


def _card(ui: Ui, name: str) -> Widget:
    try:
        data = ui.phone.files.read(_path(name))
        start = data[:PREVIEW].decode("utf-8", "replace")
        when = day_text(ui.phone, ui.phone.files.stat(_path(name)).mtime)
    except OSError:
        return Text(name)
    words = " ".join(start.split())
    face = Surface(
        VStack(
            Text(name, "strong", lines=1),
            Fitting(Text(words, "small", "dim", lines=2)) if words else None,
            Fitting(Text(when, "caption", "dim", lines=1)),
            gap=4,
        ),
        "surface", radius=16, pad=(16, 12, 16, 12),
    )  # fmt: skip
    return Tap(face, partial(ui.open, ".NoteActivity", name=name),
               on_long_press=partial(ui.ask, "delete", name=name))  # fmt: skip


def _delete_dialog(ui: Ui, name: str, after: Handler) -> Dialog:
    def delete() -> None:
        if attempt(ui, partial(ui.phone.files.remove, _path(name))):
            after()

    return confirm(ui, "Delete note?", f"{name} will be deleted.", "Delete", delete)


@APP.screen(".NoteActivity")
def note(ui: Ui) -> AppPage:
    """A note to read."""
    name = ui.extra("name")
    text = _content(ui.phone, name)
    copying = partial(ui.copy, text, "Copied to clipboard")
    copy = IconButton("content-copy", "Copy text", copying)
    edit = IconButton("pencil", "Edit", partial(ui.open, ".EditActivity", name=name))
    more = IconButton("dots-vertical", "More options", partial(ui.ask, "menu"))
    read: Widget = Text("This note is empty", "body", "dim", id="note_text")
    if text:
        read = Readable(ui, "note_text", text[:MOST_READ])
    body = VStack(
        read,
        Fitting(Text(_told(ui.phone, name), "caption", "dim")),
        gap=16, pad=(16, 8, 16, 16),
    )  # fmt: skip
    page = AppPage(
        ScrollView(ui, "note", body), title=name, back=ui.close, actions=[copy, edit, more]
    )
    page.menu = more_menu(ui, [("Copy text", copying), ("Delete", partial(ui.ask, "delete"))])
    if ui.dialog == "delete":
        page.dialog = _delete_dialog(ui, name, ui.close)
    return page


def _told(phone: Phone, name: str) -> str:
    try:
        about = phone.files.stat(_path(name))
    except OSError:
        return "Deleted"
    return f"Edited {day_text(phone, about.mtime)} · {size_text(about.size)}"


@APP.screen(".EditActivity")
def edit(ui: Ui) -> AppPage:
    """A note to write, new or an old one."""
    old = ui.extra("name")
    if old:
        ui.once("file_name", old)
        ui.once("text", _content(ui.phone, old))
    save = Button("Save", partial(_save, ui, old), style="text", id="save")
    paste = (
        IconButton("content-paste", "Paste", partial(_paste, ui)) if ui.phone.clipboard else None
    )
    body = VStack(
        TextField(ui, "file_name", "File name", on_enter=partial(ui.focus, "text")),
        TextField(ui, "text", "Text", lines=6),
        gap=12, pad=(16, 8, 16, 16),
    )  # fmt: skip
    page = AppPage(
        ScrollView(ui, "edit", body),
        title="Edit note" if old else "New note",
        back=partial(_leave, ui, old),
        actions=[action for action in (paste, save) if action is not None],
    )
    if ui.dialog == "discard":
        page.dialog = discard(ui, "What you wrote is not saved.")
    return page


def _changed(ui: Ui, old: str) -> bool:
    before = (old, _content(ui.phone, old)) if old else ("", "")
    return (ui.text("file_name"), ui.text("text")) != before


def _leave(ui: Ui, old: str) -> None:
    if _changed(ui, old):
        ui.ask("discard")
    else:
        ui.close()


def _paste(ui: Ui) -> None:
    ui.fill("text", (ui.text("text") + ui.phone.clipboard)[:MOST_CHARACTERS])


def _save(ui: Ui, old: str) -> None:
    """Write the file; a name without an ending gets ``.txt``."""
    name = ui.text("file_name").strip()
    if not name:
        ui.say("Enter a file name")
        return
    if "/" in name or name.startswith("."):
        ui.say("A file name has no / and begins with no full stop")
        return
    if "." not in name:
        name += ".txt"
    files = ui.phone.files
    if name != old and files.exists(_path(name)):
        ui.say(f"{name} already exists")
        return

    def write() -> None:
        files.mkdir(FOLDER, parents=True)
        files.write(_path(name), ui.text("text").encode("utf-8", "replace"))
        if old and old != name:
            files.remove(_path(old))

    if not attempt(ui, write):
        return
    ui.close()
    if ui.phone.activity.cls == ".NoteActivity":
        ui.phone.activity.extras["name"] = name
    ui.say("Saved")
