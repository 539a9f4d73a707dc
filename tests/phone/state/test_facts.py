"""What the phone holds and how it is set, as facts: what a change makes different."""

from __future__ import annotations

from collections import Counter

import pytest

from ui_gym_phone.handset import Handset
from ui_gym_phone.state import facts, messages
from ui_gym_phone.state.phone import Phone


def changed(*lines: str) -> list[str]:
    """The names of facts that these lines change."""
    handset = Handset()
    before = Counter(facts.of(handset.phone))
    for line in lines:
        assert handset.shell(line).code == 0
    after = Counter(facts.of(handset.phone))
    return sorted({name for name, _ in [*(before - after), *(after - before)]})


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("settings put global wifi_on 0", ["setting global wifi_on"]),
        ("settings put system font_scale 1.3", ["setting system font_scale"]),
        ("pm revoke com.example.transit android.permission.ACCESS_FINE_LOCATION",
         ["permission com.example.transit ACCESS_FINE_LOCATION"]),
        ("am force-stop com.example.chess", ["stopped com.example.chess"]),
        ("pm clear --cache-only com.example.chess", ["cache com.example.chess"]),
        ("mkdir /sdcard/Music/New", ["folder /sdcard/Music/New"]),
        ("echo hi > /sdcard/Music/new.txt", ["file /sdcard/Music/new.txt"]),
        ("content insert --uri content://sms/sent --bind address:s:555 --bind body:s:Hi",
         ["text sent 555", "texts ever: number 1"]),
        ("content insert --uri content://sms/draft --bind address:s:555 --bind body:s:Hi",
         ["texts ever: number 1"]),
        ("cmd notification post -t Title tag text", []),
        ("input keyevent 3", []),
        ("logcat -c", []),
        ("touch /sdcard/Music", []),
    ],
)  # fmt: skip
def test_what_changes_has_another_fact(line: str, names: list[str]) -> None:
    assert changed(line) == names


def test_a_text_that_was_sent_and_deleted_leaves_a_fact() -> None:
    phone = Handset().phone
    before = Counter(facts.of(phone))
    messages.delete(phone, messages.send(phone, "555", "Hi"))
    assert list(Counter(facts.of(phone)) - before) == [("texts ever: number 1", "")]


def test_a_snapshot_has_the_facts_of_its_phone() -> None:
    phone = Handset().phone
    messages.send(phone, "555", "Hi")
    phone.put("global", "zen_mode", 1)
    assert facts.of(Phone.restore(phone.snapshot())) == facts.of(phone)
    assert [change.key for change in phone.settings_log] == ["zen_mode"]


def test_a_namespaces_last_twenty_changes_are_remembered_in_their_order() -> None:
    handset = Handset()
    phone = handset.phone
    phone.put("global", "wifi_on", 0)
    phone.put("system", "volume_music", 3)
    phone.put("system", "volume_music", 3)  # is no change
    for level in range(19):
        phone.put("system", "screen_brightness", level)
    handset.shell("settings put system volume_music 4; settings delete secure location_mode")
    assert [change[1:] for change in phone.settings_log] == [
        ("update", "global", "wifi_on"),
        *[("update", "system", "screen_brightness")] * 19,
        ("update", "system", "volume_music"), ("delete", "secure", "location_mode"),
    ]  # fmt: skip


def test_dumpsys_tells_the_settings_and_what_was_done_to_them_the_newest_first() -> None:
    handset = Handset()
    handset.shell("settings put system font_scale 1.3; sleep 2; settings delete system font_scale")
    handset.shell("setprop persist.sys.timezone Europe/Berlin; settings put global wifi_on 0")
    told = handset.shell("dumpsys settings").text
    assert [line for line in told.split("\n") if "SETTINGS" in line] == [
        f"{name} SETTINGS (user 0)" for name in ("CONFIG", "GLOBAL", "SECURE", "SYSTEM")
    ]
    assert " name:wifi_on pkg:android value:0 default:1 defaultSystemSet:true\n" in told
    assert "\n\nHistorical operations\n2023-10-15 17:34:02 update wifi_on\n\n\nSECURE" in told
    assert told.endswith(
        "\n\nHistorical operations\n"
        "2023-10-15 17:34:02 delete font_scale\n2023-10-15 17:34:00 update font_scale"
    )
