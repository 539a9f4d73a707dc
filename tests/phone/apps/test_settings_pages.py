"""The pages of Settings: all can be reached and found, and all are fit to be seen."""

from __future__ import annotations

import pytest
from driving import back, find, has, scroll_to, seen, tap
from gallery_settings import EXTRAS, SCENES

from ui_gym_phone import data
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.home import ENTRIES, search
from ui_gym_phone.apps.support import size_text
from ui_gym_phone.factory import factory_phone
from ui_gym_phone.state.intents import SETTINGS_PAGES
from ui_gym_phone.ui.screen import PhoneScreen

TALL = 12_000
"""Pixels of a screen on which no page scrolls."""


@pytest.mark.parametrize("scale", [0.85, 1.3])
@pytest.mark.parametrize("name", SCENES)
def test_no_text_is_cut_short(name, scale):
    phone = factory_phone()
    phone.put("system", "font_scale", str(scale))
    screen = PhoneScreen(phone)
    SCENES[name](phone, screen)
    shortened = [op.what[2] for op in screen.scene.ops if op.kind == "text" and "…" in op.what[2]]
    assert shortened == []


ANSWERS = ("Cancel", "OK", "Save", "Add", "Delete", "Reset", "Pair", "Forget", "Remove")
"""What is written on the buttons of dialogs."""


@pytest.mark.parametrize("name", [name for name in SCENES if name.endswith((".dialog", "_stop"))])
def test_a_dialog_shows_all_of_its_buttons_on_a_small_screen(name):
    shown = []
    for height in (2400, 960):
        screen = PhoneScreen(factory_phone(768, height))
        SCENES[name](screen.phone, screen)
        screen.phone.activity.focus = ""  # the keyboard goes
        whole = [b for b in ANSWERS if has(screen, b) and _height(screen, b) >= 108]
        shown.append(whole)
    assert shown[0] == shown[1]
    assert shown[0] or name == "ManageApplications.dialog"  # which is a menu


def _height(screen: PhoneScreen, text: str) -> int:
    _, top, _, bottom = find(screen, text).bounds
    return bottom - top


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: "/".join((*e.path, e.title)))
def test_what_the_search_names_is_on_the_page_that_it_opens(entry):
    phone = factory_phone(1080, TALL)
    phone.put("secure", "night_display_activated", 1)
    phone.start(APP.package.name, entry.cls)
    assert entry.title in seen(PhoneScreen(phone))


def test_the_search_finds_by_words_and_opens_the_page(phone, screen):
    phone.launch(APP.package.name)
    tap(screen, "Search settings")
    screen.text("battery sav")
    tap(screen, "Use Battery Saver")
    assert phone.activity.cls == PREFIX + "BatterySaverSettingsActivity"
    back(screen)
    tap(screen, "Clear text")
    screen.text("pocket")
    tap(screen, "PocketBank")
    assert has(screen, "Uninstall")


def test_a_search_for_nothing_known_says_so(phone, screen):
    phone.launch(APP.package.name)
    tap(screen, "Search settings")
    screen.text("zebra")
    assert has(screen, "No results")


def test_developer_options_are_found_only_by_developers():
    assert search("usb debugging") == []
    assert [e.title for e in search("usb debugging", developer=True)] == ["USB debugging"]


def test_words_may_be_begun_and_spelt_either_way():
    titles = {e.title for e in search("wi-fi")}
    assert titles == {e.title for e in search("WIFI")}
    assert "Color inversion" in {e.title for e in search("colour inv")}


@pytest.mark.parametrize("title", [row["title"] for row in data.table("settings_pages")["home"]])
def test_each_row_of_the_first_page_opens_the_page_of_its_name(phone, screen, title):
    phone.launch(APP.package.name)
    scroll_to(screen, title)
    tap(screen, title)
    assert seen(screen)[:2] == ["Navigate up", title]
    tap(screen, "Navigate up")
    assert phone.activity.cls == ".Settings"


def test_every_settings_intent_has_a_page():
    assert set(SETTINGS_PAGES.values()) <= set(APP.screens)


def test_pages_of_a_thing_survive_an_intent_that_names_none(phone, screen):
    for name in EXTRAS:
        phone.start(APP.package.name, PREFIX + name)
        assert seen(screen)[0] == "Navigate up"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (899, "899 B"), (61_000_000, "61.0 MB"), (999_999_999, "1.00 GB"),
     (154_200_000, "154 MB"), (2_500, "2.50 kB")],
)  # fmt: skip
def test_sizes_are_written_in_decimal_units(size, text):
    assert size_text(size) == text
