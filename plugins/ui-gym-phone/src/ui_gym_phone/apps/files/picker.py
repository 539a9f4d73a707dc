"""Picker: where a person chooses the folder that files are moved or copied to."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.files import entries as store
from ui_gym_phone.apps.files.entries import STORAGE, shown_name
from ui_gym_phone.apps.files.view import listing, view_of
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Space, Surface, VStack
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, question
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Button, Disc, Empty, Header, IconButton, Item

PICK = ".picker.PickActivity"


def pick(ui: Ui) -> AppPage:
    """Extras: ``what`` (move or copy), ``paths``, and the ``folder`` that is looked at.

    Each folder is a screen of its own, so that the back key leads up.
    """
    moving = ui.extras.get("what") == "move"
    verb = "Move" if moving else "Copy"
    given = ui.extras.get("paths")
    paths = [str(path) for path in given] if isinstance(given, list) else []
    folder = ui.extra("folder")
    if not (store.within_storage(folder) and ui.phone.files.is_dir(folder)):
        folder = ""
    act = partial(_finish, ui, moving, paths, folder)
    buttons = HStack(
        Button("Cancel", partial(_leave, ui), style="text"), Space(weight=1),
        Button(f"{verb} here", act, enabled=bool(folder)), gap=8, pad=(12, 8, 12, 8),
    )  # fmt: skip
    page = AppPage(
        _folders(ui, folder) if folder else _places(ui),
        title=shown_name(folder) if folder else f"{verb} {store.counted(paths)} to…",
        back=ui.close, bottom=Surface(buttons, "container"),
    )  # fmt: skip
    if folder:
        page.actions = [
            IconButton("folder-plus", "New folder", partial(ui.ask_text, "folder", "name"))
        ]
    if ui.dialog == "folder":
        page.dialog = _name_dialog(ui, folder)
    return page


def _places(ui: Ui) -> ScrollView:
    rows = [
        Item(name, "", partial(_look, ui, f"{STORAGE}/{name}"),
             lead=Disc("tonal", 40, icon=icon, ink="on_tonal"), lines=1)
        for name, icon in store.ROOTS
        if ui.phone.files.is_dir(f"{STORAGE}/{name}")
    ]  # fmt: skip
    storage = Item("Internal storage", "", partial(_look, ui, STORAGE),
                   lead=Disc("tonal", 40, icon="cellphone", ink="on_tonal"))  # fmt: skip
    return ScrollView(ui, "places", VStack(Header("Folders"), *rows, storage), tail=12)


def _folders(ui: Ui, folder: str) -> ScrollView:
    """The folders here to be opened, and the files, which only help to find one's way."""
    found = store.entries(ui.phone, folder, view_of(ui.phone).sort)
    if not found:
        return ScrollView(ui, "folders", Empty("folder-outline", "No items"))
    folders = [e for e in found if e.is_dir]
    rows = listing(ui, folders, lambda e: partial(_look, ui, e.path))
    files = [
        Item(e.name, "", lead=Disc("container", 40, icon="file-outline", ink="disabled"),
             enabled=False, lines=1)
        for e in found[len(folders) : len(folders) + 50]
    ]  # fmt: skip
    return ScrollView(ui, "folders", VStack(rows, *files), tail=12)


def _look(ui: Ui, folder: str) -> None:
    ui.open(PICK, **{**ui.extras, "folder": folder})


def _leave(ui: Ui) -> None:
    while ui.phone.activity.cls == PICK:
        ui.phone.finish()


def _finish(ui: Ui, moving: bool, paths: list[str], folder: str) -> None:
    _leave(ui)
    (store.move if moving else store.copy)(ui, paths, folder)


def _name_dialog(ui: Ui, folder: str) -> Dialog:
    def accept() -> None:
        name = ui.text("name").strip()
        if store.make_folder(ui, folder, name):
            ui.dismiss()
            _look(ui, f"{folder}/{name}")

    field = TextField(ui, "name", "Name", on_enter=accept)
    return question(ui, "New folder", field, "Create", accept)
