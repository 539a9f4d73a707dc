"""Screens of the Clock app, each reached by touch."""

from __future__ import annotations

from collections.abc import Callable

from driving import tap

from ui_gym_phone.state import alarms
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

CLOCK = "com.google.android.deskclock"


def opened(phone: Phone, screen: PhoneScreen) -> None:
    alarms.add(phone, 6, 30, "Early shift", days=0b0011111)
    alarms.add(phone, 7, 45, "Take the blue tablets with a large glass of water", enabled=False)
    alarms.add(phone, 22, 5)
    phone.launch(CLOCK)
    screen.refresh()


def empty(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch(CLOCK)
    screen.refresh()


def unfolded(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Expand alarm")


def time(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Add alarm")


def label(phone: Phone, screen: PhoneScreen) -> None:
    unfolded(phone, screen)
    tap(screen, "edit_label")


def world(phone: Phone, screen: PhoneScreen) -> None:
    empty(phone, screen)
    tap(screen, "Clock")
    tap(screen, "Add city")
    tap(screen, "search")
    for city in ("Auckland", "Buenos Aires", "Delhi"):
        screen.text(city)
        tap(screen, city, nth=1)
        screen.key(29, 113)  # Ctrl+A: the next name replaces this one
    screen.key(4)
    tap(screen, "Navigate up")


def cities(phone: Phone, screen: PhoneScreen) -> None:
    empty(phone, screen)
    tap(screen, "Clock")
    tap(screen, "Add city")


def timer_keypad(phone: Phone, screen: PhoneScreen) -> None:
    empty(phone, screen)
    tap(screen, "Timer")


def timer_set(phone: Phone, screen: PhoneScreen) -> None:
    timer_keypad(phone, screen)
    for digit in "12345":
        tap(screen, digit)


def timers(phone: Phone, screen: PhoneScreen) -> None:
    timer_set(phone, screen)
    tap(screen, "Start")
    tap(screen, "Add timer")
    for digit in "30":
        tap(screen, digit)
    tap(screen, "Start")
    phone.clock.advance(40)
    screen.refresh()


def stopwatch(phone: Phone, screen: PhoneScreen) -> None:
    empty(phone, screen)
    tap(screen, "Stopwatch")


def stopwatch_running(phone: Phone, screen: PhoneScreen) -> None:
    stopwatch(phone, screen)
    tap(screen, "Start")
    for seconds in (12.3, 65, 4000):
        phone.clock.advance(seconds)
        tap(screen, "Lap")


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "alarms": opened,
    "no alarms": empty,
    "unfolded": unfolded,
    "time": time,
    "label": label,
    "world": world,
    "cities": cities,
    "keypad": timer_keypad,
    "timer set": timer_set,
    "timers": timers,
    "stopwatch": stopwatch,
    "stopwatch running": stopwatch_running,
}
