"""Screens of the Play Store, each reached by touch."""

from __future__ import annotations

from collections.abc import Callable

from driving import tap

from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

STORE = "com.android.vending"


def opened(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch(STORE)
    screen.refresh()


def installed(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Installed")


def search(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Search apps")
    screen.text("audio")


def own(phone: Phone, screen: PhoneScreen) -> None:
    installed(phone, screen)
    tap(screen, "Chess")


def uninstall(phone: Phone, screen: PhoneScreen) -> None:
    own(phone, screen)
    tap(screen, "Uninstall")


def other(phone: Phone, screen: PhoneScreen) -> None:
    search(phone, screen)
    screen.key(29, 113)
    screen.text("birds")
    tap(screen, "Birdsong")


def offline(phone: Phone, screen: PhoneScreen) -> None:
    switches.set_airplane(phone, True)
    opened(phone, screen)


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "apps": opened,
    "installed": installed,
    "search": search,
    "own": own,
    "uninstall": uninstall,
    "other": other,
    "offline": offline,
}
