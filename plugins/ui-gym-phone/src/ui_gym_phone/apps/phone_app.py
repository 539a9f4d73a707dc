"""PhoneApp: how an app of the built-in phone is written.

A screen is a function of what is open: ``screen(ui) -> AppPage``. It is called anew whenever
something was touched, and keeps nothing itself: what it remembers lies in the activity
(``ui.state``, ``ui.text(key)``) or in the phone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ui_gym_phone import data
from ui_gym_phone.state.packages import Package
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui import prompt
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Space, VStack
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.widgets import Button, Card, Disc, Empty, Header, Item, Text

ScreenFunction = Callable[[Ui], AppPage]


def app_of(package: str) -> PhoneApp:
    """The built-in app of a package as ``data/apps.toml`` has it, without its screens."""
    about = data.table("apps")[package]
    permissions = dict(about.get("permissions", {}))
    return PhoneApp(Package(package, **{**about, "permissions": permissions}))


@dataclass
class PhoneApp:
    """An app that is built in: its package, and a function for each of its screens."""

    package: Package
    screens: dict[str, ScreenFunction] = field(default_factory=dict)
    needs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The permissions without which a screen shows nothing: it asks for them."""
    goes_on: Callable[[Phone], None] | None = None
    """What the app does by itself as time passes."""

    def screen(self, cls: str, *needs: str) -> Callable[[ScreenFunction], ScreenFunction]:
        """Decorator: this function draws the activity `cls` (``.Settings``), which `needs`
        permissions: while it has not all of them, it asks, and then says that it has not."""

        def decorate(function: ScreenFunction) -> ScreenFunction:
            self.screens[cls] = partial(_guarded, function, needs) if needs else function
            self.needs[cls] = needs
            self.package.activities = (*self.package.activities, cls)
            return function

        return decorate


def _guarded(function: ScreenFunction, needs: tuple[str, ...], ui: Ui) -> AppPage:
    package = ui.phone.packages[ui.activity.package]
    missing = [name for name in needs if package.permissions.get(name) is False]
    if not missing:
        return function(ui)
    if prompt.asked(ui.phone, ui.activity, needs):
        return AppPage(Space(), title=package.label)
    to = data.table("permission_prompts")[missing[0]]["to"]
    _, icon = data.table("permissions")[missing[0]]

    def settings() -> None:
        ui.phone.start("com.android.settings", INFO, {"package": package.name})

    body = VStack(
        Empty(icon, f"{package.label} has no permission to {to}."),
        HStack(Space(weight=1), Button("Open settings", settings, style="tonal"), Space(weight=1)),
        gap=8,
    )
    return AppPage(ScrollView(ui, "refused", body), title=package.label)


INFO = ".Settings$AppInfoActivity"
"""The page of Settings of one app."""

PLAIN_NEEDS = ("POST_NOTIFICATIONS",)
"""What an installed app that is no built-in one asks for when it is opened."""

ROWS = ("Today", "Favourites", "History", "Account", "Help")


def plain_screen(ui: Ui) -> AppPage:
    """The only screen of an installed app that is no built-in one: its name, and a few rows."""
    package = ui.phone.packages[ui.activity.package]
    chosen = str(ui.state.get("row", ""))
    rows = [
        Item(row, "Nothing new" if row == chosen else "", ui.setter("row", row)) for row in ROWS
    ]
    head = Card(
        VStack(
            Disc(package.colour, 56, icon=package.icon),
            Text(f"Welcome to {package.label}", "title", align="center"),
            Text(f"Version {package.version}", "small", "dim", align="center"),
            gap=8,
            align="center",
        )
    )
    return AppPage(
        ScrollView(ui, "rows", VStack(head, Header("Start"), *rows)), title=package.label
    )
