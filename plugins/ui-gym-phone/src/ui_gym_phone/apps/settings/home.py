"""The first page of Settings, and the search: what a person may look for, and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ui_gym_phone import data
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.applications import INFO, shown_apps
from ui_gym_phone.apps.settings.declared import line
from ui_gym_phone.apps.settings.parts import app_icon
from ui_gym_phone.apps.settings.states import developing
from ui_gym_phone.state.packages import Package
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Disc, Empty, Icon, IconButton, Item, Text

SEARCH = ".SearchActivity"


@APP.screen(".Settings")
def home(ui: Ui) -> AppPage:
    """The first page."""
    rows: list[Widget] = [
        Item(there["title"], line(ui, there["text"]), partial(ui.open, PREFIX + there["to"]),
             lead=Disc(there["colour"], 40, icon=there["icon"]))
        for there in data.table("settings_pages")["home"]
    ]  # fmt: skip
    heading = VStack(Text("Settings", "headline"), pad=(20, 16, 16, 4))
    return AppPage(
        ScrollView(ui, "dashboard", VStack(heading, _search_box(ui), *rows, pad=(0, 0, 0, 24)))
    )


def _search_box(ui: Ui) -> Widget:
    hint = Text("Search settings", "body", "dim", tell=False)
    face = Surface(
        HStack(Icon("magnify", 22), Expand(hint), gap=12),
        "container", radius=26, pad=(16, 14, 16, 14),
    )  # fmt: skip
    box = Tap(face, partial(_open_search, ui), cls="android.widget.TextView",
              text="Search settings", id="search_action_bar")  # fmt: skip
    return VStack(box, pad=(16, 8, 16, 12))


def _open_search(ui: Ui) -> None:
    ui.open(SEARCH)
    ui.phone.activity.focus = "query"


@APP.screen(SEARCH)
def search_page(ui: Ui) -> AppPage:
    """The search: what holds all words of the query, each with its path, and apps of that name."""
    query = ui.text("query").strip()
    arrow = IconButton("arrow-left", "Navigate up", ui.close, colour="text")
    field = TextField(ui, "query", "Search settings", framed=False, weight=1, id="search_src_text")

    def empty() -> None:
        ui.fill("query", "")
        ui.focus("query")

    clear = IconButton("close", "Clear text", empty) if query else None
    bar = HStack(arrow, field, clear, gap=4, pad=(4, 8, 8, 8))
    found = search(query, developer=developing(ui.phone))
    rows: list[Widget] = [_result(ui, entry) for entry in found]
    if query:
        named = [p for p in shown_apps(ui.phone) if p.label.lower().startswith(query.lower())]
        rows += [_app(ui, package) for package in named]
    if query and not rows:
        rows.append(Empty("magnify", "No results"))
    return AppPage(ScrollView(ui, "results", VStack(*rows, pad=(0, 4, 0, 16))), bar=bar)


def _result(ui: Ui, entry: SettingsEntry) -> Widget:
    path = " > ".join(entry.path) or "Settings"
    return Item(entry.title, path, partial(ui.open, entry.cls), icon="magnify")


def _app(ui: Ui, package: Package) -> Widget:
    opened = partial(ui.open, INFO, package=package.name)
    return Item(package.label, "App info", opened, lead=app_icon(package, 24))


# -- what is searched --

DEVELOPER = PREFIX + "DevelopmentSettingsDashboardActivity"


@dataclass(frozen=True)
class SettingsEntry:
    """Something to be found: its title, the path of the page that has it, that page's class."""

    title: str
    path: tuple[str, ...]
    cls: str
    words: str
    """All that a search looks into, in small letters."""


def _entries() -> list[SettingsEntry]:
    """Each page by its title, and what is on it. A row that only leads to a page is that page,
    found by the row's words, too."""
    found: dict[tuple[str, tuple[str, ...]], SettingsEntry] = {}
    pages = data.table("settings_index").items()
    lines = [(page["path"][-1], "", tuple(page["path"][:-1]), name) for name, page in pages]
    lines += [
        (title, words, tuple(page["path"]), name)
        for name, page in pages
        for title, words in page["on"].items()
    ]
    for title, words, path, name in lines:
        if path[-1:] == (title,):
            path = path[:-1]
        known = found.get((title, path), SettingsEntry(title, path, PREFIX + name, _plain(title)))
        words = f"{known.words} {_plain(words)}".strip()
        found[title, path] = SettingsEntry(title, path, known.cls, words)
    return list(found.values())


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("colour", "color")


ENTRIES = _entries()


def search(query: str, *, developer: bool = False) -> list[SettingsEntry]:
    """The entries that hold every word of a query, those with it in their titles first.

    Each word may be the beginning of one. `developer` tells whether developer options are shown.
    """
    words = _plain(query).split()
    if not words:
        return []

    def holds(text: str) -> bool:
        parts = text.replace("&", " ").split()
        return all(any(part.startswith(word) for part in parts) for word in words)

    hits = [e for e in ENTRIES if holds(e.words) and (developer or e.cls != DEVELOPER)]
    return sorted(hits, key=lambda e: (not holds(_plain(e.title)), len(e.path)))
