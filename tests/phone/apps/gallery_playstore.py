"""Screens of the Play Store, each reached by touch."""

from __future__ import annotations

from driving import SELECT_ALL, Scene, scene, typing

from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

STORE = "com.android.vending"


def offline(phone: Phone, screen: PhoneScreen) -> None:
    switches.set_airplane(phone, True)
    phone.launch(STORE)


installed = scene(STORE, "Installed")
search = scene(STORE, "Search apps", typing("audio"))
own = scene(installed, "Chess")

SCENES: dict[str, Scene] = {
    "apps": scene(STORE),
    "installed": installed,
    "search": search,
    "own": own,
    "uninstall": scene(own, "Uninstall"),
    "other": scene(search, lambda screen: screen.key(*SELECT_ALL), typing("birds"), "Birdsong"),
    "offline": offline,
}
