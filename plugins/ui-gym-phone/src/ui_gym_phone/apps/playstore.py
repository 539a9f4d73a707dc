"""The Play Store: a small catalogue of apps to install, and what is installed."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache, partial

from ui_gym_phone import data
from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.apps.support import online, size_text
from ui_gym_phone.state.packages import Package
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Space, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm, search_bar, tabs
from ui_gym_phone.ui.widgets import Button, Card, Disc, Empty, IconButton, Item, Text

MAIN = ".AssetBrowserActivity"
DETAILS = ".AppDetailsActivity"

APP = app_of("com.android.vending")


def _known(ui: Ui, name: str) -> Package | None:
    return ui.phone.packages.get(name) or catalogue().get(name)


@APP.screen(MAIN)
def store(ui: Ui) -> AppPage:
    """The tabs Apps and Installed, or a search through both."""
    if ui.state.get("overlay") == "search":
        return _search(ui)
    tab = int(ui.state.get("tab", 0))
    head = tabs([("Apps", ui.setter("tab", 0)), ("Installed", ui.setter("tab", 1))], tab)
    body = _installed(ui) if tab else _offers(ui, [offer.package for offer in APPS])
    search = IconButton("magnify", "Search apps", ui.search)
    return AppPage(VStack(head, body), title="Play Store", actions=[search])


def _search(ui: Ui) -> AppPage:
    words = ui.text("search").strip().lower()
    found = [
        offer.package
        for offer in APPS
        if words in f"{catalogue()[offer.package].label} {offer.category} {offer.about}".lower()
    ]
    body = (
        _offers(ui, found) if found else ScrollView(ui, "none", Empty("magnify", "No apps found"))
    )
    return AppPage(body, bar=search_bar(ui, "Search apps"))


def _offers(ui: Ui, names: list[str]) -> Widget:
    if not online(ui.phone):
        return ScrollView(ui, "offline", Empty("cloud-off-outline", "You're offline"))
    rows = []
    for name in names:
        package, offer = catalogue()[name], store_app(name)
        told = f"{offer.category} · {offer.rating} of 5"
        mark = Text("Installed", "caption", "dim", lines=1) if name in ui.phone.packages else None
        rows.append(_row(ui, package, told, mark))
    return ScrollView(ui, "apps", VStack(*rows), tail=16)


def _installed(ui: Ui) -> Widget:
    mine = sorted((p for p in ui.phone.packages if not p.system), key=lambda p: p.label.lower())
    total = size_text(sum(p.size for p in mine))
    head = HStack(Text(f"{len(mine)} apps · {total}", "small", "dim"), pad=(16, 12, 16, 4))
    rows = [_row(ui, p, size_text(p.size), None) for p in mine[:200]]
    shown: Widget = VStack(head, *rows) if rows else Empty("apps", "No apps are installed")
    return ScrollView(ui, "installed", shown, tail=16)


def _row(ui: Ui, package: Package, told: str, mark: Widget | None) -> Widget:
    disc = Disc(package.colour, 44, icon=package.icon, round=False)
    return Item(package.label, told, partial(ui.open, DETAILS, package=package.name), lead=disc,
                trail=mark, lines=1)  # fmt: skip


@APP.screen(DETAILS)
def details(ui: Ui) -> AppPage:
    """The page of the app of the extra ``package``."""
    name = ui.extra("package")
    package = _known(ui, name)
    if package is None:
        return AppPage(Empty("apps", "This app was not found"), title="Play Store", back=ui.close)
    offer, installed = store_app(name), name in ui.phone.packages
    head = HStack(
        Disc(package.colour, 72, icon=package.icon, round=False),
        Expand(VStack(Text(package.label, "title", lines=2),
                      Text(offer.maker, "label", "primary", lines=1), gap=2)),
        gap=16, pad=(16, 8, 16, 8),
    )  # fmt: skip
    facts = HStack(
        _fact(f"{offer.rating} of 5", "Rating"),
        _fact(size_text(package.size), "Size"),
        _fact(package.version, "Version"),
        gap=4,
        pad=(8, 4, 8, 4),
    )
    body = VStack(
        head, facts, _buttons(ui, package, installed),
        Card(Text("About this app", "strong"), Space(6), Text(offer.about, "body", "dim"),
             Space(8), Text(offer.category, "label", "primary")),
        gap=4,
    )  # fmt: skip
    page = AppPage(ScrollView(ui, "details", body), title="", back=ui.close)
    if ui.dialog == "uninstall":
        page.dialog = confirm(ui, package.label, "Do you want to uninstall this app?", "Uninstall",
                              partial(_uninstall, ui, package))  # fmt: skip
    return page


def _fact(value: str, name: str) -> Widget:
    return VStack(
        Text(value, "label", lines=1, align="center"),
        Text(name, "caption", "dim", lines=1, align="center"),
        gap=2, weight=1,
    )  # fmt: skip


def _buttons(ui: Ui, package: Package, installed: bool) -> Widget:
    cells: list[Widget] = []
    if not installed:
        cells.append(Button("Install", partial(_install, ui, package), weight=1))
    else:
        if not package.system:
            ask = partial(ui.ask, "uninstall")
            cells.append(Button("Uninstall", ask, style="outlined", weight=1))

        def open_() -> None:
            ui.phone.launch(package.name)

        can_open = package.launchable and package.enabled
        cells.append(Button("Open", open_, weight=1, enabled=can_open))
    return HStack(*cells, gap=12, pad=(16, 8, 16, 8))


def _install(ui: Ui, package: Package) -> None:
    if not online(ui.phone):
        ui.say("You're offline")
        return
    ui.phone.install(replace(package, permissions=dict(package.permissions), refusals={}, once={}))
    ui.say(f"{package.label} installed")


def _uninstall(ui: Ui, package: Package) -> None:
    if ui.phone.uninstall(package.name):
        ui.say(f"{package.label} uninstalled")


# -- the catalogue --


@dataclass(frozen=True)
class StoreApp:
    """What the store says of an app. `rating` is of 5 stars."""

    package: str
    maker: str
    category: str
    rating: str
    about: str


APPS = tuple(
    StoreApp(*(app[field.name] for field in fields(StoreApp)))
    for app in data.table("store")["apps"]
)


@cache
def catalogue() -> dict[str, Package]:
    """Every app that can be installed, by its package, as it is when it is new."""
    from ui_gym_phone.factory import store_package  # which imports the apps itself

    found = {}
    for app in data.table("store")["apps"]:
        version, size = ("2.4.1", app["sizes"][0]) if "sizes" in app else ("3.1.0", app["size"])
        found[app["package"]] = store_package(app, version, (size, 0, 0), granted=False)
    return found


def store_app(name: str) -> StoreApp:
    """What the store says of a package, which it may never have heard of."""
    none = StoreApp(name, "Unknown developer", "App", "0.0", "This app is not from the store.")
    return next((app for app in APPS if app.package == name), none)
