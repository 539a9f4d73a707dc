"""Apps that are installed only when asked for: look-alikes of those that benchmarks play with.

Those that are like an app of the phone's own are drawn by that app's screens; the others by the
modules of this folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ui_gym_phone.apps.phone_app import PhoneApp, ScreenFunction
from ui_gym_phone.apps.shelf import gallery, markor, recorder
from ui_gym_phone.apps.shelf.records import app_of_records
from ui_gym_phone.state import shelf
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Tap, Widget
from ui_gym_phone.ui.page import AppPage

OWN = {module.PACKAGE: module.APP for module in (gallery, markor, recorder)}
"""Those that are written by hand."""


def apps(built_in: Mapping[str, PhoneApp]) -> dict[str, PhoneApp]:
    """Every shelved app by its package; `built_in` are those of the phone's own."""
    found = {}
    for name, about in shelf.written().items():
        if name in built_in:
            continue
        app = PhoneApp(shelf.package_of(name))
        if "records" in about:
            app = app_of_records(name)
        elif name in OWN:
            app = OWN[name]
        elif "like" in about:
            other, words = built_in[about["like"]], about.get("words", {})
            screens = {**other.screens, app.package.main: other.screens[other.package.main]}
            app.screens = {
                cls: partial(_reworded, screen, words) for cls, screen in screens.items()
            }
        found[name] = app
    return found


def _reworded(screen: ScreenFunction, words: Mapping[str, str], ui: Ui) -> AppPage:
    """Another app's screen with the labels that this one has for its own."""
    page = screen(ui)
    waiting: list[Widget | None] = [page.body, page.bar, page.fab, page.bottom, *page.actions]
    while words and waiting:
        widget = waiting.pop()
        if isinstance(widget, Tap):
            desc = widget.attributes["desc"]
            widget.attributes["desc"] = words.get(desc, desc)
        waiting += getattr(widget, "children", ())
        waiting.append(getattr(widget, "child", None))
        waiting = [each for each in waiting if each is not None]
    return page
