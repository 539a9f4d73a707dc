"""Lists: the screens of bookmarks and of downloads."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.browser import addresses, tabs
from ui_gym_phone.apps.browser.downloads import (
    PACKAGE,
    Bookmark,
    Downloaded,
    bookmarks,
    downloaded,
    set_bookmark,
)
from ui_gym_phone.apps.support import day_text, size_text
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.widgets import Disc, Empty, IconButton, Item

BOOKMARKS = ".BookmarksActivity"
FILES = "com.android.documentsui"


def bookmark_list(ui: Ui) -> AppPage:
    """The bookmarks; touching one opens it in the tab that was seen."""
    rows: list[Widget] = [
        Item(
            b.title, addresses.shown(b.url), partial(_open, ui, b), icon="star", lines=1,
            trail=IconButton("close", f"Remove {b.title}",
                             partial(set_bookmark, ui.phone, b.url, b.title, False)),
        )
        for b in bookmarks(ui.phone)[:200]
    ]  # fmt: skip
    shown = VStack(*rows) if rows else Empty("star-outline", "No bookmarks yet")
    return AppPage(ScrollView(ui, "bookmarks", shown), title="Bookmarks", back=ui.close)


def _open(ui: Ui, bookmark: Bookmark) -> None:
    url = addresses.typed(bookmark.url)
    ui.close()
    below = Ui(ui.phone, ui.phone.activity)
    if "tabs" in below.state:
        tabs.go(below, url)
    else:
        ui.start(PACKAGE, ".BrowserActivity", url=url)


def download_list(ui: Ui) -> AppPage:
    """The downloaded files; touching one opens it."""
    rows: list[Widget] = [_row(ui, one) for one in downloaded(ui.phone)[:200]]
    shown = VStack(*rows) if rows else Empty("download", "No downloads yet")
    return AppPage(ScrollView(ui, "downloads", shown), title="Downloads", back=ui.close)


def _row(ui: Ui, one: Downloaded) -> Widget:
    size = size_text(ui.phone.files.stat(one.path).size)
    told = f"{one.host} · {size} · {day_text(ui.phone, one.ms / 1000)}"
    return Item(
        one.name, told, partial(ui.start, FILES, ".ViewerActivity", path=one.path), lines=1,
        lead=Disc("tonal", 40, icon="file-download-outline", ink="on_tonal"),
    )  # fmt: skip
