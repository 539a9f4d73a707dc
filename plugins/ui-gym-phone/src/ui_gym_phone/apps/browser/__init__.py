"""The Browser app: an address bar, tabs, bookmarks and downloads, over built-in pages.

Nothing is ever fetched from a network: hosts that are not built in cannot be reached.
"""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.browser import addresses, tabs
from ui_gym_phone.apps.browser.render import render
from ui_gym_phone.apps.browser.saved import (
    BOOKMARKS,
    DOWNLOADS,
    PACKAGE,
    bookmark_list,
    bookmarks,
    download_list,
    set_bookmark,
)
from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.apps.support import small
from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Space, Surface, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, more_menu
from ui_gym_phone.ui.scene import Handler
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import IconButton

APP = app_of(PACKAGE)

APP.screen(DOWNLOADS)(download_list)
APP.screen(BOOKMARKS)(bookmark_list)


class AddressBar(TextField):
    """The field of the address: touching it selects all, so that typing replaces it."""

    def _broken(self, theme: Theme, width: int) -> tuple[str, ...]:
        lines = super()._broken(theme, width)
        if self.ui.activity.focus == self.key:
            return lines
        face, size = theme.font(self.style)
        return (fonts.shorten(lines[0], face, size, width),)

    def _tap(self, x: int, y: int) -> None:
        if self.ui.activity.focus == self.key:
            super()._tap(x, y)
        else:
            self.ui.focus(self.key)
            self.ui.select_all()


@APP.screen(".BrowserActivity")
def browser(ui: Ui) -> AppPage:
    """A page; the extra ``url`` says which one is opened first."""
    tabs.settle(ui)
    if ui.state.get("overlay") == "tabs":
        return tabs.switcher(ui)
    url = tabs.current(ui)
    if ui.activity.focus != "url":
        ui.activity.fields["url"] = addresses.shown(url)
    page = AppPage(
        ScrollView(ui, tabs.scroll_key(ui), render(ui, url), tail=16),
        bar=_bar(ui),
        bottom=None if ui.activity.focus == "url" else _bottom(ui, url),
    )
    page.menu = more_menu(ui, _menu(ui, url))
    return page


def _bar(ui: Ui) -> Widget:
    def enter() -> None:
        text = ui.text("url")
        ui.unfocus()
        tabs.go(ui, addresses.typed(text))

    field = AddressBar(
        ui, "url", "Search or type web address", on_enter=enter, id="url_bar", style="small"
    )  # fmt: skip
    home = IconButton("home", "Home", partial(tabs.go, ui, addresses.HOME))
    refresh = IconButton("refresh", "Refresh", partial(_refresh, ui))
    more = IconButton("dots-vertical", "More options", partial(ui.ask, "menu"))
    cells: list[Widget] = [home, VStack(field, weight=1), refresh, more]
    if small(ui.phone):  # the menu leads home, too
        cells = [VStack(field, weight=1), more]
    return Surface(HStack(*cells, pad=(2 if len(cells) > 2 else 8, 6, 0, 6)), "container")


def _refresh(ui: Ui) -> None:
    ui.unfocus()
    ui.activity.scroll.pop(tabs.scroll_key(ui), None)


def _bottom(ui: Ui, url: str) -> Widget:
    marked = any(b.url == url for b in bookmarks(ui.phone))
    star = IconButton(
        "star" if marked else "star-outline", "Remove bookmark" if marked else "Bookmark this page",
        partial(_bookmark, ui, url, not marked), enabled=url != addresses.HOME,
        colour="primary" if marked else "dim",
    )  # fmt: skip
    count = len(tabs.all(ui))
    cells: list[Widget] = [
        IconButton("arrow-left", "Go back", partial(tabs.back, ui), enabled=tabs.can_back(ui)),
        IconButton("arrow-right", "Go forward", partial(tabs.forward, ui),
                   enabled=tabs.can_forward(ui)),
        star,
        IconButton("layers", f"{count} open tab{'s' if count > 1 else ''}, tap to switch tabs",
                   partial(tabs.show_switcher, ui), id="tab_switcher_button"),
    ]  # fmt: skip
    spaced: list[Widget] = [Space(weight=1)]
    for cell in cells:
        spaced += [cell, Space(weight=1)]
    return Surface(HStack(*spaced, pad=(4, 2, 4, 2)), "container")


def _bookmark(ui: Ui, url: str, on: bool) -> None:
    page = addresses.document_of(url)
    set_bookmark(ui.phone, url, page.title if page else addresses.shown(url), on)
    ui.say("Bookmarked" if on else "Bookmark removed")


def _menu(ui: Ui, url: str) -> list[tuple[str, Handler]]:
    items: list[tuple[str, Handler]] = [
        ("New tab", partial(tabs.new, ui)),
        ("Bookmarks", partial(ui.open, BOOKMARKS)),
        ("Downloads", partial(ui.open, DOWNLOADS)),
    ]
    if small(ui.phone):
        items.append(("Home", partial(tabs.go, ui, addresses.HOME)))
    elif url != addresses.HOME:
        items.append(("Copy link", partial(ui.copy, url, "Link copied")))
    return items
