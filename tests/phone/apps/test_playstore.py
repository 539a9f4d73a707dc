"""The Play Store, by touch."""

from __future__ import annotations

from driving import has, scroll_to, seen, tap
from gallery_playstore import STORE

from ui_gym_phone.apps.playstore import APPS, catalogue
from ui_gym_phone.state import switches
from ui_gym_phone.state.packages import Package
from ui_gym_phone.ui.icons import ICONS


def test_an_app_is_uninstalled_only_after_a_question(phone, screen):
    phone.launch(STORE)
    tap(screen, "Installed", "Chess", "Uninstall", "Cancel")
    assert "com.example.chess" in phone.packages
    tap(screen, "Uninstall", "Uninstall")
    assert "com.example.chess" not in phone.packages
    assert has(screen, "Install")


def test_an_app_is_searched_installed_and_opened(phone, screen):
    phone.launch(STORE)
    tap(screen, "Search apps")
    screen.text("sudo")
    tap(screen, "Sudoku", "Install")
    installed = phone.packages["com.example.sudoku"]
    assert (installed.system, installed.data_size, installed.cache_size) == (False, 0, 0)
    tap(screen, "Open")
    assert phone.activity.package == "com.example.sudoku"


def test_an_app_that_is_installed_again_has_no_data_and_no_permission(phone, screen):
    phone.uninstall("com.example.tunebox")
    phone.launch(STORE)
    tap(screen, "TuneBox", "Install")
    again = phone.packages["com.example.tunebox"]
    assert again.data_size == again.cache_size == 0
    assert not any(again.permissions.values())
    again.permissions["RECORD_AUDIO"] = True
    assert not any(catalogue()["com.example.tunebox"].permissions.values())


def test_system_apps_are_not_listed(phone, screen):
    phone.launch(STORE)
    tap(screen, "Installed")
    scroll_to(screen, "Transit")
    assert not {"Clock", "Settings", "Camera"} & set(seen(screen))


def test_an_app_from_elsewhere_can_be_uninstalled_too(phone, screen):
    phone.install(Package("org.else.where", "Aardvark", system=False))
    phone.launch(STORE)
    tap(screen, "Installed", "Aardvark", "Uninstall", "Uninstall")
    assert "org.else.where" not in phone.packages
    assert has(screen, "This app was not found")


def test_offline_nothing_is_offered_but_apps_can_be_uninstalled(phone, screen):
    switches.set_airplane(phone, True)
    phone.launch(STORE)
    assert has(screen, "You're offline")
    tap(screen, "Installed")
    assert has(screen, "Chess")


def test_every_offer_is_in_the_catalogue_with_an_icon():
    assert {offer.package for offer in APPS} == set(catalogue())
    assert all(package.icon in ICONS for package in catalogue().values())
