"""PhoneApp: how an app of the built-in phone is written.

A screen is a function of what is open: ``screen(ui) -> AppPage``. It is called anew whenever
something was touched, and keeps nothing itself: what it remembers lies in the activity
(``ui.state``, ``ui.text(key)``) or in the phone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ui_gym_phone import data
from ui_gym_phone.state.packages import Package
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.widgets import Card, Disc, Header, Item, Text

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

    def screen(self, cls: str) -> Callable[[ScreenFunction], ScreenFunction]:
        """Decorator: this function draws the activity `cls` (``.Settings``)."""

        def decorate(function: ScreenFunction) -> ScreenFunction:
            self.screens[cls] = function
            self.package.activities = (*self.package.activities, cls)
            return function

        return decorate


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
