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
    assert phone.settings_log == ["global zen_mode"]


def test_changes_of_settings_are_remembered_in_their_order_and_no_longer_than_twenty() -> None:
    phone = Handset().phone
    phone.put("system", "volume_music", 3)
    phone.put("system", "volume_music", 3)  # is no change
    for level in range(30):
        phone.put("system", "screen_brightness", level)
    phone.put("global", "wifi_on", 0)
    assert phone.settings_log == [*["system screen_brightness"] * 19, "global wifi_on"]
