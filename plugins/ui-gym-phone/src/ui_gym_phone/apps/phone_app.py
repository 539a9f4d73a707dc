"""PhoneApp: how an app of the built-in phone is written.

A screen is a function of what is open: ``screen(ui) -> AppPage``. It is called anew whenever
something was touched, and keeps nothing itself: what it remembers lies in the activity
(``ui.state``, ``ui.text(key)``) or in the phone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ui_gym_phone.state.packages import Package
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.page import AppPage

ScreenFunction = Callable[[Ui], AppPage]


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
