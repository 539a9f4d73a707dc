"""Tabs: each has the pages that were visited in it, and where among them it is."""

from __future__ import annotations

from functools import partial
from typing import Any

from ui_gym_phone.apps.browser import addresses
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, fab
from ui_gym_phone.ui.widgets import IconButton, Text

MOST_TABS = 20
MOST_PAGES = 50

Tab = dict[str, Any]
"""``urls``, the visited ones, and ``at``, the number of that which is seen."""


def all(ui: Ui) -> list[Tab]:
    """The tabs of this window."""
    tabs: list[Tab] = ui.state["tabs"]
    return tabs


def settle(ui: Ui) -> None:
    """Open the first tab, and go back a page where the back key was pressed.

    That key takes ``overlay`` away, which is ``page`` while there is a page to go back to: what
    it was when the screen was last made lies in ``was``.
    """
    if "tabs" not in ui.state:
        url = addresses.typed(str(ui.extras.get("url") or addresses.HOME))
        ui.state.update(tabs=[{"urls": [url], "at": 0}], tab=0)
    if "overlay" not in ui.state and ui.state.get("was") == "page":
        _step(ui, -1)
    if ui.state.get("overlay") != "tabs":
        if can_back(ui):
            ui.state["overlay"] = "page"
        else:
            ui.state.pop("overlay", None)
    ui.state["was"] = ui.state.get("overlay", "")


def _tab(ui: Ui) -> Tab:
    return all(ui)[int(ui.state["tab"])]


def current(ui: Ui) -> str:
    """The address of the page that is seen."""
    tab = _tab(ui)
    return str(tab["urls"][tab["at"]])


def go(ui: Ui, url: str) -> None:
    """Open a page in this tab; those that one could have gone forward to are forgotten."""
    ui.unfocus()
    tab = _tab(ui)
    if url == current(ui):
        return
    urls = [*tab["urls"][: tab["at"] + 1], url][-MOST_PAGES:]
    tab.update(urls=urls, at=len(urls) - 1)
    ui.activity.scroll.pop(scroll_key(ui), None)


def scroll_key(ui: Ui) -> str:
    """Under which it is remembered how far the page that is seen is scrolled."""
    return f"web_view_{ui.state['tab']}_{_tab(ui)['at']}"


def can_back(ui: Ui) -> bool:
    return bool(_tab(ui)["at"] > 0)


def can_forward(ui: Ui) -> bool:
    tab = _tab(ui)
    return bool(tab["at"] < len(tab["urls"]) - 1)


def _step(ui: Ui, by: int) -> None:
    tab = _tab(ui)
    tab["at"] = min(max(0, tab["at"] + by), len(tab["urls"]) - 1)


def back(ui: Ui) -> None:
    ui.unfocus()
    _step(ui, -1)


def forward(ui: Ui) -> None:
    ui.unfocus()
    _step(ui, 1)


def new(ui: Ui, url: str = addresses.HOME) -> None:
    """Open a tab and look at it."""
    tabs = all(ui)
    if len(tabs) >= MOST_TABS:
        ui.say("Close a tab first")
        return
    tabs.append({"urls": [url], "at": 0})
    _look(ui, len(tabs) - 1)


def show_switcher(ui: Ui) -> None:
    ui.unfocus()
    ui.state["overlay"] = "tabs"


def _look(ui: Ui, number: int) -> None:
    ui.unfocus()
    ui.state["tab"] = number
    ui.state.pop("overlay", None)
    ui.state["was"] = ""


def _close(ui: Ui, number: int) -> None:
    tabs = all(ui)
    del tabs[number]
    if not tabs:
        tabs.append({"urls": [addresses.HOME], "at": 0})
    ui.activity.scroll.clear()  # whose keys have the tabs' numbers
    chosen = int(ui.state["tab"])
    ui.state["tab"] = min(chosen - (number < chosen), len(tabs) - 1)


def title_of(url: str) -> str:
    """What a page is called in a list."""
    if url == addresses.HOME:
        return "New tab"
    page = addresses.document_of(url)
    return page.title if page else addresses.shown(url)


def switcher(ui: Ui) -> AppPage:
    """All tabs as cards."""
    cards: list[Widget] = []
    for number, tab in enumerate(all(ui)):
        url = str(tab["urls"][tab["at"]])
        title = title_of(url)
        chosen = number == ui.state["tab"]
        texts = VStack(
            Text(title, "strong", "on_tonal" if chosen else "text", lines=1),
            Text(addresses.shown(url) or "Home", "small", "on_tonal" if chosen else "dim", lines=1),
        )
        close = IconButton("close", f"Close {title} tab", partial(_close, ui, number))
        face = Surface(
            HStack(Expand(texts), close, gap=8),
            "tonal" if chosen else "surface", radius=16, pad=(16, 8, 4, 8),
        )  # fmt: skip
        cards.append(Tap(face, partial(_look, ui, number), selected=chosen))
    return AppPage(
        ScrollView(ui, "tabs", VStack(*cards, gap=10, pad=(12, 4, 12, 4)), tail=88), title="Tabs",
        back=partial(_look, ui, int(ui.state["tab"])), fab=fab("plus", "New tab", partial(new, ui)),
    )  # fmt: skip
