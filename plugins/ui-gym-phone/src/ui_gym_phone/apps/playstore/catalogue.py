"""The catalogue: the apps that the store has, and what it says of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

from ui_gym_phone import data
from ui_gym_phone.state.packages import Package


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
