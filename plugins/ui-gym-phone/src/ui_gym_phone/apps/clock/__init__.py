"""The Clock app: alarms, a world clock, timers and a stopwatch."""

from __future__ import annotations

from ui_gym_phone.apps.clock import alarm, ringing, stopwatch, timer, world
from ui_gym_phone.apps.clock.records import PACKAGE
from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.page import AppPage, bottom_nav

MAIN = ringing.MAIN

APP = app_of(PACKAGE)
APP.goes_on = ringing.go_on

TABS = (
    ("alarm", "Alarm", alarm.page),
    ("clock-outline", "Clock", world.page),
    ("timer-sand", "Timer", timer.page),
    ("timer-outline", "Stopwatch", stopwatch.page),
)


@APP.screen(MAIN)
def clock(ui: Ui) -> AppPage:
    """The four tabs; an intent about timers opens theirs."""
    labels = [label for _, label, _ in TABS]
    asked = "Timer" if "TIMER" in str(ui.extras.get("action", "")) else "Alarm"
    chosen = str(ui.state.get("tab") or asked)
    at = labels.index(chosen) if chosen in labels else 0
    page = TABS[at][2](ui)
    page.bottom = bottom_nav(
        [(icon, label, ui.setter("tab", label)) for icon, label, _ in TABS], at
    )
    return page


APP.screen(world.CITIES)(world.cities)
