"""A look-alike of Simple Gallery: the pictures of the shared storage, by folder."""

from __future__ import annotations

import posixpath
from functools import partial

from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.apps.pictures import Photo, Whole, is_picture
from ui_gym_phone.apps.support import attempt
from ui_gym_phone.state import shelf
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import GridLayout, HStack, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, confirm, question
from ui_gym_phone.ui.widgets import Empty, IconButton, ImageView, Item, Text

PACKAGE = "com.simplemobiletools.gallery.pro"
MAIN = "com.simplemobiletools.gallery.pro.activities.MainActivity"
VIEW = ".activities.ViewPagerActivity"
ROOT = "/sdcard"
MOST_SHOWN = 90

APP = PhoneApp(shelf.package_of(PACKAGE))


def _folders(phone: Phone) -> dict[str, list[str]]:
    """The folders that hold pictures, and the pictures of each, the newest first."""
    found: dict[str, list[str]] = {}
    for path in phone.files.walk(ROOT):
        if is_picture(path) and phone.files.is_file(path) and "/." not in path:
            found.setdefault(posixpath.dirname(path), []).append(path)
    for paths in found.values():
        paths.sort(key=lambda path: (-phone.files.stat(path).mtime, path))
    return dict(sorted(found.items()))


@APP.screen(MAIN)
def folders(ui: Ui) -> AppPage:
    """The folders, or the pictures of one. State: ``folder``."""
    found = _folders(ui.phone)
    folder = str(ui.state.get("folder", ""))
    if folder in found:
        tiles = [_tile(ui, path) for path in found[folder][:MOST_SHOWN]]
        body: Widget = GridLayout(*tiles, columns=3, gap=6, pad=8)
        return AppPage(
            ScrollView(ui, f"pictures {folder}", body), title=posixpath.basename(folder),
            back=ui.setter("folder", ""),
        )  # fmt: skip
    rows = [
        Item(posixpath.basename(path), f"{len(paths)} pictures", ui.setter("folder", path),
             lead=_thumb(ui, paths[0], 64), lines=1)
        for path, paths in found.items()
    ]  # fmt: skip
    body = VStack(*rows) if rows else Empty("image-multiple", "No media files have been found")
    return AppPage(ScrollView(ui, "folders", body), title="Simple Gallery")


def _thumb(ui: Ui, path: str, size: float) -> ImageView:
    return ImageView(Photo(ui.phone.files.read(path), cover=True), size, size)


def _tile(ui: Ui, path: str) -> Tap:
    name = posixpath.basename(path)
    face = VStack(_thumb(ui, path, 110), Text(name, "caption", "dim", lines=1, tell=False), gap=2)
    return Tap(face, partial(ui.open, VIEW, path=path), desc=name)


@APP.screen(VIEW)
def view(ui: Ui) -> AppPage:
    """One picture: the extra ``path``."""
    path = ui.extra("path")
    name = posixpath.basename(path)
    if not ui.phone.files.is_file(path):
        return AppPage(Empty("image", "This picture is gone"), title=name, back=ui.close)
    actions = [
        IconButton("content-copy", "Copy to", partial(ui.ask, "copy", place=ROOT)),
        IconButton("delete-outline", "Delete", partial(ui.ask, "delete")),
    ]
    body = VStack(HStack(Whole(Photo(ui.phone.files.read(path)), name), align="stretch", weight=1))
    page = AppPage(body, title=name, back=ui.close, actions=actions)
    if ui.dialog == "copy":
        page.dialog = _copy_dialog(ui, path)
    elif ui.dialog == "delete":
        page.dialog = confirm(
            ui, "Delete this picture?", name, "Delete", partial(_delete, ui, path)
        )
    return page


def _copy_dialog(ui: Ui, path: str) -> Dialog:
    place = str(ui.state.get("place", ROOT))
    inside = [f"{place}/{name}" for name in ui.phone.files.list(place) if name[:1] != "."]
    rows: list[Widget] = [
        Item(posixpath.basename(folder), "", ui.setter("place", folder), icon="folder", lines=1)
        for folder in inside
        if ui.phone.files.is_dir(folder)
    ]
    if place != ROOT:
        up = ui.setter("place", posixpath.dirname(place))
        rows.insert(0, Item("..", "", up, icon="arrow-up", lines=1))
    shown = "Internal" if place == ROOT else posixpath.basename(place)
    title = f"Copy to {shown}"
    return question(ui, title, VStack(*rows), "OK", partial(_copy, ui, path, place))


def _copy(ui: Ui, path: str, place: str) -> None:
    if attempt(ui, partial(ui.phone.files.copy, path, f"{place}/{posixpath.basename(path)}")):
        ui.dismiss()
        ui.say("Files copied successfully")


def _delete(ui: Ui, path: str) -> None:
    if attempt(ui, partial(ui.phone.files.remove, path)):
        ui.close()
