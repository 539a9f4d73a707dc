"""What an installed app shows that is no built-in one: its name, and a few rows."""

from __future__ import annotations

from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.widgets import Card, Disc, Header, Item, Text

ROWS = ("Today", "Favourites", "History", "Account", "Help")


def screen(ui: Ui) -> AppPage:
    """The only screen of such an app."""
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
