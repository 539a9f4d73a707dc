"""A look-alike of Markor: notes that are text files, in folders, below ``/sdcard/Documents``."""

from __future__ import annotations

import posixpath
from functools import partial

from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.apps.support import attempt, moment, size_text
from ui_gym_phone.state import shelf
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Tap, VStack, Widget
from ui_gym_phone.ui.page import (
    AppPage,
    Dialog,
    ScrollView,
    confirm,
    fab,
    more_menu,
    question,
    search_bar,
    selection_bar,
)
from ui_gym_phone.ui.textfield import MOST_CHARACTERS, TextField
from ui_gym_phone.ui.widgets import Button, Empty, IconButton, Item, Text

PACKAGE = "net.gsantner.markor"
MAIN = "net.gsantner.markor.activity.MainActivity"
DOCUMENT = ".activity.DocumentActivity"
HOME = "/sdcard/Documents/Markor"
EDITOR = "document__fragment__edit__highlighting_editor"
MOST_SHOWN = 300

APP = PhoneApp(shelf.package_of(PACKAGE))


# -- the files --


def _entries(phone: Phone, folder: str) -> list[str]:
    """Paths of what a folder holds, folders first, each by name."""
    if not phone.files.is_dir(folder):
        return []
    paths = [f"{folder}/{name}" for name in phone.files.list(folder) if not name.startswith(".")]
    return sorted(paths, key=lambda p: (not phone.files.is_dir(p), p.lower()))


def _told(phone: Phone, path: str) -> str:
    """When it was changed, and how large it is."""
    about = phone.files.stat(path)
    when = moment(phone, about.mtime)
    day = f"{when:%Y-%m-%d %H:%M}" if when else "?"
    return day if about.is_dir else f"{day}, {size_text(about.size)}"


@APP.screen(MAIN)
def browse(ui: Ui) -> AppPage:
    """A folder's notes. State: ``folder``; ``chosen``, the paths that are selected."""
    folder = str(ui.state.get("folder") or HOME)
    found = _entries(ui.phone, folder)
    chosen = [path for path in ui.state.get("chosen", ()) if path in found]
    selecting = ui.state.get("overlay") == "select" and bool(chosen)
    if ui.state.get("overlay") == "search":
        wanted = ui.text("search").strip().lower()
        found = [path for path in found if wanted in posixpath.basename(path).lower()]
    rows = [_row(ui, path, chosen if selecting else []) for path in found[:MOST_SHOWN]]
    body: Widget = Empty("folder-outline", "Empty") if not rows else VStack(*rows)
    page = AppPage(
        ScrollView(ui, f"notes {folder}", body, tail=96),
        title=posixpath.basename(folder),
        back=None if folder == HOME else partial(_go, ui, posixpath.dirname(folder)),
        fab=fab("plus", "Create a new file or folder", partial(_ask_new, ui)),
    )
    if selecting:
        page.bar, page.fab = _chosen_bar(ui, chosen), None
    elif ui.state.get("overlay") == "search":
        page.bar = search_bar(ui, "Search")
    else:
        page.actions = [IconButton("magnify", "Search", ui.search)]
    page.dialog = _browse_dialog(ui, folder, chosen)
    return page


def _row(ui: Ui, path: str, chosen: list[str]) -> Tap:
    is_dir = ui.phone.files.is_dir(path)
    if chosen:
        act = partial(ui.toggle, path)
    elif is_dir:
        act = partial(_go, ui, path)
    else:
        act = partial(ui.open, DOCUMENT, path=path)
    return Item(
        posixpath.basename(path), _told(ui.phone, path), act,
        icon="folder" if is_dir else "file-document-outline", selected=path in chosen, lines=1,
        on_long_press=partial(ui.toggle, path), id="opoc_filesystem_item__title",
    )  # fmt: skip


def _go(ui: Ui, folder: str) -> None:
    ui.state["folder"] = folder


def _chosen_bar(ui: Ui, chosen: list[str]) -> Widget:
    every = _entries(ui.phone, posixpath.dirname(chosen[0]))
    one = len(chosen) == 1
    actions = [
        IconButton("select-all", "Select all", ui.setter("chosen", every)),
        IconButton("pencil", "Rename", partial(_ask_name, ui, chosen[0])) if one else None,
        IconButton("folder", "Move", partial(_ask_place, ui)),
        IconButton("delete-outline", "Delete", partial(ui.ask, "delete")),
    ]
    return selection_bar(ui, len(chosen), *[action for action in actions if action])


def _ask_new(ui: Ui) -> None:
    ui.fill("extension", ".md")
    ui.ask_text("new", "name")


def _ask_name(ui: Ui, path: str) -> None:
    ui.ask_text("rename", "name", posixpath.basename(path))


def _ask_place(ui: Ui) -> None:
    ui.ask("move", place=HOME)


def _browse_dialog(ui: Ui, folder: str, chosen: list[str]) -> Dialog | None:
    if ui.dialog == "new":
        fields = VStack(
            TextField(ui, "name", "Name", id="new_file_dialog__name"),
            TextField(ui, "extension", "Extension", id="new_file_dialog__ext"),
            gap=12, pad=(16, 0, 16, 0),
        )  # fmt: skip
        buttons = [
            Button("CANCEL", ui.dismiss, style="text"),
            Button("FOLDER", partial(_make_folder, ui, folder), style="text"),
            Button("OK", partial(_make_note, ui, folder), style="text"),
        ]
        return Dialog("Create new document", fields, buttons, ui.dismiss)
    if ui.dialog == "rename" and chosen:
        field = VStack(TextField(ui, "name", "Name"), pad=(16, 0, 16, 0))
        return question(ui, "Rename", field, "OK", partial(_rename, ui, chosen[0]), no="CANCEL")
    if ui.dialog == "delete" and chosen:
        names = "\n".join(posixpath.basename(path) for path in chosen[:10])
        return confirm(ui, "Confirm delete", names, "OK", partial(_delete, ui, chosen), no="CANCEL")
    return _place_dialog(ui, chosen) if ui.dialog == "move" and chosen else None


def _place_dialog(ui: Ui, chosen: list[str]) -> Dialog:
    place = str(ui.state.get("place", HOME))
    inside = [path for path in _entries(ui.phone, place) if ui.phone.files.is_dir(path)]
    rows: list[Widget] = [
        Item(posixpath.basename(path), "", ui.setter("place", path), icon="folder", lines=1)
        for path in inside
        if path not in chosen
    ]
    if place != HOME:
        up = ui.setter("place", posixpath.dirname(place))
        rows.insert(0, Item("..", "", up, icon="arrow-up", lines=1))
    title = f"Move to {posixpath.basename(place)}"
    move = partial(_move, ui, chosen, place)
    return question(ui, title, VStack(*rows), "Select this folder", move, no="CANCEL")


# -- what is done to files --


def _name(ui: Ui, name: str) -> str:
    """A name for a file, or nothing where it cannot be one, which a toast says."""
    if not name or "/" in name or name.startswith("."):
        ui.say("Enter a name without / that begins with no full stop")
        return ""
    return name


def _make_folder(ui: Ui, folder: str) -> None:
    name = _name(ui, ui.text("name").strip())
    if name and attempt(ui, partial(ui.phone.files.mkdir, f"{folder}/{name}", parents=True)):
        ui.dismiss()


def _make_note(ui: Ui, folder: str) -> None:
    """An empty note, which is opened; a name that has the extension does not get it twice."""
    name, extension = ui.text("name").strip(), ui.text("extension").strip()
    if not posixpath.splitext(name)[1]:
        name += extension
    path = f"{folder}/{name}"
    if not _name(ui, name):
        return

    def write() -> None:
        ui.phone.files.mkdir(folder, parents=True)
        if not ui.phone.files.exists(path):
            ui.phone.files.write(path, b"")

    if attempt(ui, write):
        ui.dismiss()
        ui.open(DOCUMENT, path=path)
        ui.phone.activity.focus = "text"


def _rename(ui: Ui, path: str) -> None:
    name = _name(ui, ui.text("name").strip())
    new = f"{posixpath.dirname(path)}/{name}"
    if name and new != path and ui.phone.files.exists(new):
        ui.say(f"{name} already exists")
    elif name and attempt(ui, partial(ui.phone.files.rename, path, new)):
        ui.dismiss()
        ui.close_overlay()


def _delete(ui: Ui, chosen: list[str]) -> None:
    for path in chosen:
        attempt(ui, partial(ui.phone.files.rmtree, path))
    ui.close_overlay()


def _move(ui: Ui, chosen: list[str], place: str) -> None:
    for path in chosen:
        attempt(ui, partial(ui.phone.files.rename, path, f"{place}/{posixpath.basename(path)}"))
    ui.dismiss()
    ui.close_overlay()


# -- a note --


@APP.screen(DOCUMENT)
def document(ui: Ui) -> AppPage:
    """A note to write. The extra ``path`` says which. It is saved as it is written."""
    path = ui.extra("path")
    ui.once("text", _content(ui.phone, path))
    viewing = bool(ui.state.get("view"))
    save = partial(_save, ui, path)
    body: Widget = VStack(Text(ui.text("text") or " ", "body"), pad=16)
    if not viewing:
        field = TextField(
            ui, "text", "", lines=22, framed=False, on_change=lambda _: save(), id=EDITOR
        )
        body = VStack(field, pad=(12, 4, 12, 16))
    look = ("pencil", "Edit mode") if viewing else ("eye", "View mode")
    page = AppPage(
        ScrollView(ui, "note", body),
        title=posixpath.splitext(posixpath.basename(path))[0],
        back=ui.close,
        actions=[
            IconButton("check", "Save", save),
            IconButton(*look, partial(_turn, ui, not viewing)),
            IconButton("dots-vertical", "More options", partial(ui.ask, "menu")),
        ],
    )
    text = ui.text("text")
    page.menu = more_menu(
        ui,
        [
            ("Paste", partial(_paste, ui)),
            ("Copy all", partial(ui.copy, text, "Copied to clipboard")),
            ("File info", partial(ui.ask, "info")),
        ],
    )
    if ui.dialog == "info" and ui.phone.files.exists(path):
        told = f"{posixpath.basename(path)}\n{_told(ui.phone, path)}"
        close = [Button("OK", ui.dismiss, style="text")]
        page.dialog = Dialog("Info", Text(told, "body", "dim"), close, ui.dismiss)
    return page


def _content(phone: Phone, path: str) -> str:
    try:
        return phone.files.read(path).decode("utf-8", "replace")[:MOST_CHARACTERS]
    except OSError:
        return ""


def _save(ui: Ui, path: str) -> None:
    text = ui.text("text")
    if text != _content(ui.phone, path) or not ui.phone.files.exists(path):
        attempt(ui, partial(ui.phone.files.write, path, text.encode("utf-8", "replace")))


def _turn(ui: Ui, view: bool) -> None:
    ui.unfocus()
    ui.state["view"] = view


def _paste(ui: Ui) -> None:
    ui.fill("text", (ui.text("text") + ui.phone.clipboard)[:MOST_CHARACTERS])
