"""Screens of the Play Store, each reached by touch."""

from __future__ import annotations

from collections.abc import Callable

from driving import tap

from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import Screen

STORE = "com.android.vending"


def opened(phone: Phone, screen: Screen) -> None:
    phone.launch(STORE)
    screen.refresh()


def installed(phone: Phone, screen: Screen) -> None:
    opened(phone, screen)
    tap(screen, "Installed")


def search(phone: Phone, screen: Screen) -> None:
    opened(phone, screen)
    tap(screen, "Search apps")
    screen.text("audio")


def own(phone: Phone, screen: Screen) -> None:
    installed(phone, screen)
    tap(screen, "Chess")


def uninstall(phone: Phone, screen: Screen) -> None:
    own(phone, screen)
    tap(screen, "Uninstall")


def other(phone: Phone, screen: Screen) -> None:
    search(phone, screen)
    screen.key(29, 113)
    screen.text("birds")
    tap(screen, "Birdsong")


def offline(phone: Phone, screen: Screen) -> None:
    switches.set_airplane(phone, True)
    opened(phone, screen)


SCENES: dict[str, Callable[[Phone, Screen], None]] = {
    "apps": opened,
    "installed": installed,
    "search": search,
    "own": own,
    "uninstall": uninstall,
    "other": other,
    "offline": offline,
}
