"""Apps notify by themselves: alarms that ring, timers that end, messages that come in."""

from __future__ import annotations

import pytest
from driving import has, seen, tap

from ui_gym_phone.handset import Handset
from ui_gym_phone.state import alarms, messages

SETTINGS, CLOCK = "com.android.settings", "com.google.android.deskclock"


@pytest.fixture
def handset() -> Handset:
    handset = Handset()
    handset.phone.launch(SETTINGS)
    handset.screen.refresh()
    return handset


def alarm(handset: Handset, **options: object) -> int:
    """An alarm that rings in less than a minute: it is 15:34."""
    return alarms.add(handset.phone, 15, 35, "Tea", **options)


def posted(handset: Handset) -> list[str]:
    return [note.title for note in handset.phone.notifications]


def test_an_alarm_rings_over_what_is_open_and_is_dismissed(handset):
    id = alarm(handset)
    handset.shell("sleep 50")
    assert posted(handset) == []
    handset.shell("sleep 15")
    assert posted(handset) == ["Alarm"]
    assert "Alarm" in handset.shell("dumpsys notification --noredact").text
    assert has(handset.screen, "15:35 · Tea")
    tap(handset.screen, "Dismiss")
    assert posted(handset) == []
    assert not alarms.get(handset.phone, id).enabled


def test_an_alarm_that_repeats_stays_on(handset):
    id = alarm(handset, days=127)
    handset.shell("sleep 70")
    tap(handset.screen, "Dismiss")
    assert alarms.get(handset.phone, id).enabled
    handset.shell("sleep 60; sleep 60")
    assert posted(handset) == []


def test_an_alarm_that_is_put_off_rings_again_after_ten_minutes(handset):
    alarm(handset)
    handset.shell("sleep 70")
    tap(handset.screen, "Snooze")
    assert posted(handset) == []
    for _ in range(5):
        handset.shell("sleep 120")
    assert posted(handset) == ["Alarm"]


def test_an_alarm_that_nobody_hears_is_missed(handset):
    alarm(handset)
    handset.shell("sleep 70")
    handset.shell("sleep 600")
    assert posted(handset) == ["Missed alarm"]


def test_an_alarm_wakes_the_phone_and_one_that_is_deleted_falls_silent(handset):
    id = alarm(handset)
    handset.shell("input keyevent 26; sleep 70")
    assert handset.phone.awake
    alarms.delete(handset.phone, id)
    handset.shell("sleep 1")
    assert posted(handset) == []


def test_an_alarm_that_is_off_does_not_ring(handset):
    alarm(handset, enabled=False)
    handset.shell("sleep 70")
    assert posted(handset) == []


def test_a_notification_that_comes_up_is_swiped_into_the_shade(handset):
    alarm(handset)
    handset.shell("sleep 70; input swipe 500 200 500 20")
    assert not has(handset.screen, "Dismiss")
    handset.shell("cmd statusbar expand-notifications")
    assert has(handset.screen, "Dismiss")
    tap(handset.screen, "15:35 · Tea")
    assert handset.phone.activity.package == CLOCK
    assert posted(handset) == ["Alarm"]  # which goes on until somebody says so


def a_timer(handset: Handset) -> None:
    handset.phone.start(CLOCK, "com.android.deskclock.DeskClock", {"action": "SHOW_TIMERS"})
    tap(handset.screen, "1", "0", "Start")
    handset.shell("input keyevent 3")


def test_a_timer_that_ends_says_so_and_leads_to_the_timers(handset):
    a_timer(handset)
    handset.shell("sleep 5")
    assert posted(handset) == []
    handset.shell("sleep 10")
    assert posted(handset) == ["Time's up"]
    tap(handset.screen, "10s timer")
    assert handset.phone.activity.package == CLOCK
    assert has(handset.screen, "Time's up")
    tap(handset.screen, "Stop")
    handset.shell("input keyevent 3")
    assert posted(handset) == []


def test_a_timer_is_given_a_minute_more_from_its_notification(handset):
    a_timer(handset)
    handset.shell("sleep 15")
    tap(handset.screen, "Add 1 min")
    assert posted(handset) == []
    handset.shell("sleep 70")
    assert posted(handset) == ["Time's up"]


def test_a_snapshot_rings_as_the_phone_did(handset):
    alarm(handset)
    handset.shell("sleep 50")
    saved = handset.snapshot()
    handset.renew(saved)
    handset.shell("sleep 20")
    assert posted(handset) == ["Alarm"]


def test_clock_that_may_not_notify_rings_in_silence(handset):
    alarm(handset)
    handset.shell(f"pm revoke {CLOCK} android.permission.POST_NOTIFICATIONS; sleep 70")
    assert posted(handset) == []


def test_a_message_that_comes_in_is_posted_and_opened(handset):
    messages.receive(handset.phone, "5550142", "On my way")
    handset.shell("cmd statusbar expand-notifications")
    assert "On my way" in seen(handset.screen)
    tap(handset.screen, "On my way")
    assert handset.phone.activity.cls == ".ConversationActivity"
    assert has(handset.screen, "On my way")
    assert posted(handset) == []
