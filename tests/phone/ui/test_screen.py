"""The screen as a whole: what is seen, touched and told agree; nothing that is done breaks it."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from test_painter import wander

from ui_gym_phone.factory import factory_phone
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.ui.screen import PhoneScreen


@pytest.fixture
def screen():
    return PhoneScreen(factory_phone())


def nodes(screen: PhoneScreen) -> list[dict[str, str]]:
    screen.refresh()
    return [dict(node.attrib) for node in ElementTree.fromstring(screen.ui_tree()).iter("node")]


def middle(screen: PhoneScreen, told: str) -> tuple[int, int]:
    for node in nodes(screen):
        if told in (node["text"], node["content-desc"]):
            corners = node["bounds"].replace("][", ",").strip("[]").split(",")
            left, top, right, bottom = map(int, corners)
            return (left + right) // 2, (top + bottom) // 2
    raise AssertionError(f"{told!r} is not on the screen")


def pull_down(screen: PhoneScreen) -> None:
    screen.swipe(500, 20, 500, 1200)


def a_note(number: int = 1, **options: object) -> Notification:
    return Notification("com.example.chess", number, f"Move {number}", "Your turn", 0, **options)


def test_the_home_screen_opens_an_app_that_is_touched(screen):
    screen.tap(*middle(screen, "Settings"))
    assert screen.phone.activity.package == "com.android.settings"
    assert screen.focused_window.startswith("com.android.settings/com.android.settings.")


def test_a_swipe_up_shows_all_apps_and_search_narrows_them(screen):
    screen.swipe(500, 1500, 500, 600)
    assert {"Chess", "Stride"} <= {node["text"] for node in nodes(screen)}
    screen.tap(*middle(screen, "Search apps"))
    assert screen.keyboard_shown
    screen.text("str")
    texts = {node["text"] for node in nodes(screen)}
    assert "Stride" in texts
    assert "Chess" not in texts
    screen.key(66)
    assert screen.phone.activity.package == "com.example.stride"


def test_keys_of_the_keyboard_type_what_they_show(screen):
    screen.swipe(500, 1500, 500, 600)
    screen.tap(*middle(screen, "Search apps"))
    keys = {w.title: w for w in screen.scene.windows}["InputMethod"]

    def key(label: str) -> tuple[int, int]:
        found = [n for n in walk(keys.root) if n.desc == label]
        left, top, right, bottom = found[0].bounds
        return (left + right) // 2, (top + bottom) // 2

    for label in ("shift", "C", "h", "e", "delete", "123", "1"):
        screen.tap(*key(label))
        keys = {w.title: w for w in screen.scene.windows}["InputMethod"]
    assert screen.phone.activity.fields["search"] == "Ch1"


def walk(node):
    yield node
    for child in node.children:
        yield from walk(child)


def test_the_keyboard_is_in_no_tree(screen):
    screen.swipe(500, 1500, 500, 600)
    screen.tap(*middle(screen, "Search apps"))
    assert not [node for node in nodes(screen) if "inputmethod" in node["package"]]


def test_the_shade_lists_notifications_and_clears_those_that_are_not_ongoing(screen):
    screen.phone.notify(a_note(1))
    screen.phone.notify(a_note(2, ongoing=True))
    pull_down(screen)
    assert screen.focused_window == "NotificationShade"
    assert {"Move 1", "Move 2"} <= {node["text"] for node in nodes(screen)}
    screen.tap(*middle(screen, "Clear all"))
    assert [n.id for n in screen.phone.notifications] == [2]


def test_more_notifications_than_fit_are_scrolled_to(screen):
    for number in range(12):
        screen.phone.notify(a_note(number))
    pull_down(screen)
    assert "Clear all" not in {node["text"] for node in nodes(screen)}
    for _ in range(2):
        screen.swipe(500, 2000, 500, 900)
    screen.tap(*middle(screen, "Clear all"))
    assert screen.phone.notifications == []
    screen.swipe(500, 2000, 500, 900)  # nothing to scroll: it folds up
    assert not screen.phone.shade


def test_a_notification_is_swiped_away_or_opened(screen):
    screen.phone.notify(a_note(1))
    screen.phone.notify(a_note(2))
    pull_down(screen)
    x, y = middle(screen, "Move 1")
    screen.swipe(x, y, x + 600, y)
    assert [n.id for n in screen.phone.notifications] == [2]
    screen.tap(*middle(screen, "Move 2"))
    assert screen.phone.activity.package == "com.example.chess"
    assert screen.phone.notifications == []
    assert not screen.phone.shade


def test_tiles_turn_settings_and_show_it(screen):
    pull_down(screen)
    assert screen.phone.setting("global", "wifi_on") == "1"
    screen.tap(*middle(screen, "Wi-Fi"))
    assert screen.phone.setting("global", "wifi_on") == "0"
    tile = next(node for node in nodes(screen) if node["content-desc"] == "Wi-Fi")
    assert (tile["checked"], tile["text"]) == ("false", "Off")


def test_the_brightness_slider_reaches_both_ends(screen):
    pull_down(screen)
    for end, level in ((3000, "255"), (-500, "1")):
        slider = next(n for n in nodes(screen) if n["class"].endswith("SeekBar"))
        corners = slider["bounds"].replace("][", ",").strip("[]").split(",")
        left, top, right, bottom = map(int, corners)
        y = (top + bottom) // 2
        screen.swipe((left + right) // 2, y, min(max(end, left), right), y)
        assert screen.phone.setting("system", "screen_brightness") == level


def test_back_closes_what_lies_uppermost_first(screen):
    screen.phone.launch("com.example.chess")
    screen.refresh()
    pull_down(screen)
    screen.key(4)
    assert not screen.phone.shade
    assert screen.phone.activity.package == "com.example.chess"
    screen.key(4)
    assert screen.phone.at_home


def test_recents_open_and_close_tasks(screen):
    for package in ("com.example.chess", "com.example.stride"):
        screen.phone.launch(package)
    screen.refresh()
    screen.key(187)
    x, y = middle(screen, "Stride")
    screen.swipe(x, y, x, y - 900)
    assert [task.package for task in screen.phone.tasks] == ["com.example.chess"]
    screen.tap(*middle(screen, "Chess"))
    assert screen.phone.activity.package == "com.example.chess"
    assert not screen.phone.recents


def test_a_phone_that_sleeps_is_black_and_untouchable(screen):
    screen.key(26)
    assert not screen.phone.awake
    screen.tap(500, 2000)
    screen.swipe(500, 20, 500, 900)
    assert not screen.phone.shade
    screen.key(224)
    assert screen.phone.awake


def test_wherever_one_goes_nothing_breaks_and_the_tree_is_well_formed(screen):
    rng = np.random.default_rng(3)
    for _ in range(1500):
        wander(screen, rng)
        for node in nodes(screen) if rng.random() < 0.1 else ():
            corners = node["bounds"].replace("][", ",").strip("[]").split(",")
            left, top, right, bottom = map(int, corners)
            assert 0 <= left < right <= 1080
            assert 0 <= top < bottom <= 2400


def test_a_snapshot_is_the_same_phone_and_shares_nothing(screen):
    rng = np.random.default_rng(5)
    for _ in range(40):
        wander(screen, rng)
    saved = screen.phone.snapshot()
    twin = PhoneScreen(type(screen.phone).restore(saved))
    assert nodes(twin) == nodes(screen)
    for _ in range(40):
        wander(screen, rng)
    screen.phone.put("global", "wifi_on", 7)
    assert twin.phone.setting("global", "wifi_on") != "7"
    assert nodes(PhoneScreen(type(screen.phone).restore(saved))) == nodes(twin)
