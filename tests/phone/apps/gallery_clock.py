"""Screens of the Clock app, each reached by touch."""

from __future__ import annotations

from driving import SELECT_ALL, Scene, scene, tap, waiting

from ui_gym_phone.state import alarms
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

CLOCK = "com.google.android.deskclock"


def opened(phone: Phone, screen: PhoneScreen) -> None:
    alarms.add(phone, 6, 30, "Early shift", days=0b0011111)
    alarms.add(phone, 7, 45, "Take the blue tablets with a large glass of water", enabled=False)
    alarms.add(phone, 22, 5)
    phone.launch(CLOCK)


def add_cities(screen: PhoneScreen) -> None:
    tap(screen, "search")
    for city in ("Auckland", "Buenos Aires", "Delhi"):
        screen.text(city)
        tap(screen, city, nth=1)
        screen.key(*SELECT_ALL)  # the next name replaces this one
    screen.key(4)
    tap(screen, "Navigate up")


def run_laps(screen: PhoneScreen) -> None:
    for seconds in (12.3, 65, 4000):
        screen.phone.clock.advance(seconds)
        tap(screen, "Lap")


unfolded = scene(opened, "Expand alarm")
cities = scene(CLOCK, "Clock", "Add city")
keypad = scene(CLOCK, "Timer")
timer_set = scene(keypad, *"12345")
stopwatch = scene(CLOCK, "Stopwatch")

SCENES: dict[str, Scene] = {
    "alarms": opened,
    "no alarms": scene(CLOCK),
    "unfolded": unfolded,
    "time": scene(opened, "Add alarm"),
    "label": scene(unfolded, "edit_label"),
    "world": scene(cities, add_cities),
    "cities": cities,
    "keypad": keypad,
    "timer set": timer_set,
    "timers": scene(timer_set, "Start", "Add timer", *"30", "Start", waiting(40)),
    "stopwatch": stopwatch,
    "stopwatch running": scene(stopwatch, "Start", run_laps),
}
