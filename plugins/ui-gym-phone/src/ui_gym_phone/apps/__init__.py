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


@cache
def built_in() -> dict[str, PhoneApp]:
    """Every built-in app by its package."""
    found: dict[str, PhoneApp] = {}
    for module in pkgutil.iter_modules(__path__):
        app = getattr(importlib.import_module(f"{__name__}.{module.name}"), "APP", None)
        if app is not None:
            found[app.package.name] = app
    return found


def screen_of(package: str, cls: str) -> ScreenFunction:
    """The function that draws an activity. Apps that are only installed all look alike."""
    from ui_gym_phone.apps.phone_app import plain_screen

    app = built_in().get(package)
    return app.screens[cls] if app is not None and cls in app.screens else plain_screen
