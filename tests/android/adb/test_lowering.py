"""Actions as shell lines: scaled to the phone, quoted, refused where a phone cannot."""

from __future__ import annotations

import base64
import re
import shlex

import pytest

from ui_gym.android import opening
from ui_gym.android.lowering import MAX_DELETED, MAX_SWIPES, ScreenScale, lines
from ui_gym.contract import action as act
from ui_gym.dialects import keycodes
from ui_gym.errors import ActionError

SCREEN = ScreenScale(size=(1080, 2400), observed=(540, 1200))
OLD = ScreenScale(size=(1080, 2400), observed=(540, 1200), sdk=30)
KEYBOARD = "com.android.adbkeyboard/.AdbIME"


@pytest.mark.parametrize(
    ("action", "wanted"),
    [
        (act.Click(0, 0), ["input tap 1 1"]),
        (act.Click(539, 1199), ["input tap 1079 2399"]),
        (act.Click(100, 200, count=2), ["input tap 201 401"] * 2),
        (act.LongPress(100, 200), ["input swipe 201 401 201 401 800"]),
        (act.Drag(10, 20, 30, 40), ["input swipe 21 41 61 81 300"]),
        (act.Drag(10, 20, 30, 40, seconds=0), ["input swipe 21 41 61 81 1"]),
        (act.Wait(1.5), ["sleep 1.5"]),
        (act.Press("back"), ["input keyevent 4"]),
        (act.Press("Home"), ["input keyevent 3"]),
        (act.Press("recents"), ["input keyevent 187"]),
        (act.Press("volume_up"), ["input keyevent 24"]),
        (act.Press("KEYCODE_VOLUME_DOWN"), ["input keyevent 25"]),
        (act.Press("enter"), ["input keyevent 66"]),
        (act.Press("ctrl+a"), ["input keycombination 113 29"]),
        (act.Press("ctrl++"), ["input keycombination 113 81"]),
        (act.Press("shift"), ["input keyevent 59"]),
        (act.Type("hello"), ["input text hello"]),
        (act.Type("a b"), ["input text a%sb"]),
        (act.Type("a\nb\t", enter=True),
         ["input text a", "input keyevent 66", "input text b", "input keyevent 61",
          "input keyevent 66"]),
        (act.Type("x", clear=True),
         ["input keycombination 113 29", "input keyevent 67", "input text x"]),
        (act.Type(""), []),
    ],
    ids=str,
)  # fmt: skip
def test_actions_are_put_in_androids_words(action: act.Action, wanted: list[str]) -> None:
    assert lines(action, SCREEN) == wanted


def test_a_larger_observation_is_scaled_down() -> None:
    screen = ScreenScale(size=(320, 640), observed=(640, 1280))
    assert lines(act.Click(639, 1279), screen) == ["input tap 319 639"]
    assert lines(act.Click(0, 0), screen) == ["input tap 0 0"]


def typed(said: list[str]) -> str:
    """What a phone types: `input text` reads ``%s`` as a space, wherever it stands."""
    words = [shlex.split(line) for line in said]
    assert all(len(word) == 3 and word[:2] == ["input", "text"] for word in words)
    return "".join(word[2].replace("%s", " ") for word in words)


@pytest.mark.parametrize(
    "text",
    ['it\'s; rm -rf / && $(reboot) `x` | > "q" \\', "100%sure", "%s", "%%s %s", "% s", "-n", "~*?"],
)
def test_text_arrives_as_it_was_meant_and_runs_nothing(text: str) -> None:
    assert typed(lines(act.Type(text), SCREEN)) == text


def test_other_signs_go_through_the_input_method_that_can() -> None:
    screen = ScreenScale((1080, 2400), (540, 1200), typed=KEYBOARD)
    first, second = lines(act.Type("Grüße 你好\nok"), screen)[::2]
    encoded = re.fullmatch(r"am broadcast -a ADB_INPUT_B64 --es msg (\S+)", first)
    assert encoded is not None
    assert base64.b64decode(encoded[1]).decode() == "Grüße 你好"
    assert second == "input text ok"


@pytest.mark.parametrize("text", ["Grüße", "\u200d"])
def test_without_it_they_are_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(ActionError, match="Install the input method ADBKeyBoard") as caught:
        lines(act.Type(text), SCREEN)
    assert caught.value.kind == "runtime"


def test_an_older_phone_clears_a_field_otherwise() -> None:
    (line, _) = lines(act.Type("x", clear=True), OLD)
    assert line == "input keyevent 123" + " 67" * MAX_DELETED
    screen = ScreenScale((1080, 2400), (540, 1200), sdk=30, typed=KEYBOARD)
    assert lines(act.Type("", clear=True), screen) == ["am broadcast -a ADB_CLEAR_TEXT"]
    with pytest.raises(ActionError, match="Android 12"):
        lines(act.Press("ctrl+a"), OLD)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (act.Click(1, 1, button="right"), "knows no right button"),
        (act.Click(1, 1, keys="ctrl"), "knows no keys held down"),
        (act.Move(1, 1), "move cannot be done on a touch screen"),
    ],
)
def test_what_a_finger_cannot_do_is_refused(action: act.Action, reason: str) -> None:
    with pytest.raises(ActionError, match=reason) as caught:
        lines(action, SCREEN)
    assert caught.value.kind == "runtime"


def test_an_unknown_key_is_told_with_the_nearest() -> None:
    with pytest.raises(ActionError, match=r"no key 'volume_upp'.*'volume_up'") as caught:
        lines(act.Press("volume_upp"), SCREEN)
    assert caught.value.kind == "argument"
    assert keycodes.key("/") == 76


def swipes(action: act.Scroll) -> list[tuple[int, ...]]:
    found = [
        re.fullmatch(r"input swipe (\d+) (\d+) (\d+) (\d+) 300", x) for x in lines(action, SCREEN)
    ]
    return [tuple(map(int, match.groups())) for match in found if match]


def test_scrolling_down_moves_the_finger_up() -> None:
    assert swipes(act.Scroll(270, 600, dy=100)) == [(541, 1201, 541, 1001)]
    assert swipes(act.Scroll(270, 600, dy=-100)) == [(541, 1201, 541, 1401)]
    assert swipes(act.Scroll(270, 600, dx=50)) == [(541, 1201, 441, 1201)]


def test_a_long_scroll_is_made_of_several_swipes_that_stay_off_the_edges() -> None:
    found = swipes(act.Scroll(270, 600, dy=2000))
    assert sum(y1 - y2 for _, y1, _, y2 in found) == 4000
    assert all(x1 == x2 == 541 and y2 >= 96 for x1, _, x2, y2 in found)
    assert len(swipes(act.Scroll(270, 600, dy=100_000))) == MAX_SWIPES


def test_a_scroll_at_the_edge_has_no_room() -> None:
    assert swipes(act.Scroll(270, 0, dy=500)) == []
    assert swipes(act.Scroll(270, 600)) == []


# -- open --

INSTALLED = {
    "com.android.settings", "com.google.android.deskclock", "org.mail.client", "com.shop.phoneshop",
    "com.google.android.apps.messaging", "com.spotify.music", "com.spotify.music.beta",
}  # fmt: skip


@pytest.mark.parametrize(
    ("target", "package"),
    [
        ("com.spotify.music", "com.spotify.music"),
        ("Settings", "com.android.settings"),
        (" CLOCK ", "com.google.android.deskclock"),
        ("SMS", "com.google.android.apps.messaging"),
        ("Spotify", "com.spotify.music"),
        ("client", "org.mail.client"),
        ("Phone Shop", "com.shop.phoneshop"),
    ],
)
def test_an_app_is_found_by_its_label_or_package(target: str, package: str) -> None:
    assert opening.url_of(target) is None
    assert opening.package_of(target, INSTALLED) == package


def test_an_app_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(ActionError, match=r"no app 'Setings'. Did you mean 'settings'") as caught:
        opening.package_of("Setings", INSTALLED)
    assert caught.value.kind == "runtime"
    with pytest.raises(ActionError, match=r"no app 'com.nothing'"):
        opening.package_of("com.nothing", INSTALLED)


@pytest.mark.parametrize(
    ("target", "url"),
    [
        ("https://a.example/x?y=1&z", "https://a.example/x?y=1&z"),
        ("www.a.example", "https://www.a.example"),
        ("a.example/page", "https://a.example/page"),
        ("tel:+1555", "tel:+1555"),
        ("Settings", None),
        ("com.spotify.music", None),
    ],
)
def test_urls_are_told_from_apps(target: str, url: str | None) -> None:
    assert opening.url_of(target) == url


@pytest.mark.parametrize("target", ["file:///sdcard/x", "intent:#Intent;end", "javascript:x"])
def test_urls_that_could_do_anything_are_refused(target: str) -> None:
    with pytest.raises(ActionError, match="a URL begins with http"):
        opening.url_of(target)


def test_nothing_in_a_name_reaches_the_shell_unquoted() -> None:
    for line in (
        opening.view("http://x/';reboot'"),
        opening.launch("a;b"),
        opening.launch_by_monkey("a b"),
    ):
        words = shlex.split(line, posix=True)
        assert words[-1 if "VIEW" in line else words.index("-p") + 1] in (
            "http://x/';reboot'",
            "a;b",
            "a b",
        )
