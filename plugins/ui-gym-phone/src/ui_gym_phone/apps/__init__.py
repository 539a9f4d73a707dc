"""The apps of the built-in phone, a module or a folder each.

Each has an `APP`; all of them are imported when the first phone is made.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ui_gym_phone.apps.phone_app import PhoneApp, ScreenFunction
    from ui_gym_phone.state.phone import Phone


@cache
def built_in() -> dict[str, PhoneApp]:
    """Every built-in app by its package."""
    found: dict[str, PhoneApp] = {}
    for module in pkgutil.iter_modules(__path__):
        app = getattr(importlib.import_module(f"{__name__}.{module.name}"), "APP", None)
        if app is not None:
            found[app.package.name] = app
    return found


@cache
def shelved() -> dict[str, PhoneApp]:
    """The apps that are installed only when asked for, by their packages."""
    from ui_gym_phone.apps import shelf

    return shelf.apps(built_in())


def screen_of(package: str, cls: str) -> ScreenFunction:
    """The function that draws an activity. Apps that are only installed all look alike."""
    from ui_gym_phone.apps.phone_app import plain_screen

    app = built_in().get(package) or shelved().get(package)
    return app.screens[cls] if app is not None and cls in app.screens else plain_screen


def needs_of(package: str, cls: str) -> tuple[str, ...]:
    """The permissions that an activity asks for when it is opened."""
    from ui_gym_phone.apps.phone_app import PLAIN_NEEDS

    app = built_in().get(package) or shelved().get(package)
    return app.needs.get(cls, ()) if app is not None else PLAIN_NEEDS


def go_on(phone: Phone) -> None:
    """Let every app do what it does by itself as time passes."""
    for app in built_in().values():
        if app.goes_on is not None and app.package.name in phone.packages:
            app.goes_on(phone)
