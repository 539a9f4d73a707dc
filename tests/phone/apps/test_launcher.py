"""What is held on the home screen and in the shade shows what can be done with it."""

from __future__ import annotations

import pytest
from driving import back, has, long_press, seen, tap

from ui_gym_phone.ui.systemui import TILES


def drawer(screen) -> None:
    screen.swipe(500, 1500, 500, 600)


def test_a_held_icon_has_a_menu_that_leads_to_the_app_s_page(screen):
    long_press(screen, "Settings")
    assert has(screen, "App info")
    assert not has(screen, "Uninstall")  # an app of the system stays
    tap(screen, "App info")
    assert screen.phone.activity.cls.endswith("AppInfoActivity")
    assert has(screen, "Settings")


def test_an_installed_app_is_uninstalled_from_its_icon(screen):
    drawer(screen)
    long_press(screen, "Chess")
    tap(screen, "Uninstall")
    assert has(screen, "Do you want to uninstall this app?")
    tap(screen, "Cancel")
    assert "com.example.chess" in screen.phone.packages
    long_press(screen, "Chess")
    tap(screen, "Uninstall", "OK")
    assert "com.example.chess" not in screen.phone.packages
    assert not has(screen, "Chess")


def test_the_menu_is_closed_by_back_and_by_a_touch_beside_it(screen):
    drawer(screen)
    long_press(screen, "Chess")
    back(screen)
    assert has(screen, "Search apps")
    assert not has(screen, "App info")
    long_press(screen, "Chess")
    screen.tap(900, 2100)
    assert not has(screen, "App info")
    assert screen.phone.at_home


@pytest.mark.parametrize("icon", ["Browser", "Phone", "Transit"])
def test_the_menu_lies_on_the_screen_wherever_the_icon_is(screen, icon):
    drawer(screen)
    long_press(screen, icon)
    for window in screen.scene.windows:
        for node in window.root.children:
            left, top, right, bottom = node.bounds
            assert 0 <= left < right <= 1080
            assert 0 <= top < bottom <= 2400
    assert "App info" in seen(screen)


@pytest.mark.parametrize("name", TILES)
def test_a_held_tile_leads_to_its_page_and_turns_nothing(screen, name):
    tile = TILES[name]
    screen.phone.shade = "settings"
    before = tile.is_on(screen.phone)
    long_press(screen, tile.label)
    assert not screen.phone.shade
    assert screen.phone.activity.cls.startswith(f".Settings${tile.page}")
    assert tile.is_on(screen.phone) is before
    assert has(screen, tile.label) or name in ("cell", "rotation", "dark", "airplane")
