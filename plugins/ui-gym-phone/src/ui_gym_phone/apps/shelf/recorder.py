"""A look-alike of Audio Recorder: recordings are files of the shared storage."""

from __future__ import annotations

import posixpath
from functools import partial

from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.apps.support import attempt, day_text, size_text
from ui_gym_phone.state import shelf
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Space, Surface, VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, confirm
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Button, Empty, IconButton, Item, Text

PACKAGE = "com.dimowner.audiorecorder"
MAIN = "com.dimowner.audiorecorder.app.welcome.WelcomeActivity"
FOLDER = f"/sdcard/Android/data/{PACKAGE}/files/Music/records"
ENDING = ".m4a"

# An empty recording: the boxes `ftyp` and `mdat` of ISO/IEC 14496-12.
M4A = b"\0\0\0\x18ftypM4A \0\0\0\0M4A isom\0\0\0\x08mdat"

APP = PhoneApp(shelf.package_of(PACKAGE))


def _recordings(phone: Phone) -> list[str]:
    """The files' paths, the newest first."""
    if not phone.files.is_dir(FOLDER):
        return []
    paths = [f"{FOLDER}/{name}" for name in phone.files.list(FOLDER)]
    return sorted(paths, key=lambda path: (-phone.files.stat(path).mtime, path))


@APP.screen(MAIN)
def recorder(ui: Ui) -> AppPage:
    """The recordings, and the button. State: ``since``, the uptime in milliseconds at which a
    recording was begun; ``length``, of one that was stopped and has no name yet."""
    rows = [_row(ui, path) for path in _recordings(ui.phone)]
    body: Widget = VStack(*rows) if rows else Empty("microphone", "No recordings yet")
    page = AppPage(
        VStack(ScrollView(ui, "recordings", body), _controls(ui)), title="Audio Recorder"
    )
    if ui.dialog == "save":
        page.dialog = _save_dialog(ui)
    elif ui.dialog == "delete":
        path = str(ui.state["path"])
        delete = partial(attempt, ui, partial(ui.phone.files.remove, path))
        page.dialog = confirm(ui, "Delete this record?", posixpath.basename(path), "YES", delete)
    return page


def _row(ui: Ui, path: str) -> Widget:
    about = ui.phone.files.stat(path)
    told = f"{day_text(ui.phone, about.mtime)} · {size_text(about.size)}"
    delete = IconButton("delete-outline", "Delete", partial(ui.ask, "delete", path=path))
    return Item(posixpath.basename(path), told, icon="file-music-outline", trail=delete, lines=1)


def _controls(ui: Ui) -> Widget:
    """The time, and the button that begins and ends."""
    since = ui.state.get("since")
    seconds = 0 if since is None else (ui.phone.clock.uptime_ms - int(since)) // 1000
    label, icon, act = ("Record", "microphone", _begin)
    if since is not None:
        label, icon, act = ("Stop", "stop", _stop)
    button = IconButton(icon, label, partial(act, ui), colour="on_primary", ground="primary")
    time = Text(f"{seconds // 60:02}:{seconds % 60:02}", "headline", align="center")
    row = HStack(Space(weight=1), button, Space(weight=1))
    return Surface(VStack(time, row, gap=12, pad=(16, 16, 16, 20)), "container")


def _begin(ui: Ui) -> None:
    ui.state["since"] = ui.phone.clock.uptime_ms


def _stop(ui: Ui) -> None:
    ui.state["since"] = None
    number = len(_recordings(ui.phone)) + 1
    ui.ask_text("save", "name", f"Record-{number}")


def _save_dialog(ui: Ui) -> Dialog:
    """Asks for a name; a recording that is not saved is gone."""
    field = VStack(TextField(ui, "name", "Record name"), pad=(16, 0, 16, 0))
    buttons = [
        Button("DISCARD", ui.dismiss, style="text"),
        Button("SAVE", partial(_save, ui), style="text"),
    ]
    return Dialog("Save record", field, buttons, ui.dismiss)


def _save(ui: Ui) -> None:
    name = ui.text("name").strip()
    path = f"{FOLDER}/{name}{ENDING}"
    if not name or "/" in name:
        ui.say("Enter a name without /")
    elif ui.phone.files.exists(path):
        ui.say(f"{name} already exists")
    else:
        ui.phone.files.mkdir(FOLDER, parents=True)
        if attempt(ui, partial(ui.phone.files.write, path, M4A)):
            ui.dismiss()
