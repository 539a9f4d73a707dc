"""The Clock app, by touch."""

from __future__ import annotations

from driving import back, has, seen, tap
from gallery_clock import CLOCK

from ui_gym_phone.state import alarms
from ui_gym_phone.ui.screen import PhoneScreen


def add_alarm(screen: PhoneScreen, hour: str, minute: str) -> None:
    """Set a new alarm with the time picker's fields."""
    tap(screen, "Add alarm", "Switch to text input")
    screen.text(hour)
    tap(screen, "minute")
    screen.text(minute)
    tap(screen, "OK")


def test_an_alarm_is_set_with_the_time_picker_and_labelled(phone, screen):
    phone.launch(CLOCK)
    add_alarm(screen, "07", "45")
    tap(screen, "edit_label")
    screen.text("Gym")
    tap(screen, "OK")
    rows = phone.databases.connection("alarms.db").execute(
        "SELECT hour, minutes, label, enabled, daysofweek FROM alarm_templates"
    )
    assert rows.fetchall() == [(7, 45, "Gym", 1, 0)]
    assert has(screen, "07:45")


def test_setting_an_alarm_tells_how_long_it_is_until_then(phone, screen):
    phone.launch(CLOCK)
    add_alarm(screen, "16", "34")
    assert phone.toasting == "Alarm set for 1 hour from now."


def test_a_cancelled_time_picker_sets_no_alarm(phone, screen):
    phone.launch(CLOCK)
    tap(screen, "Add alarm", "Cancel")
    assert alarms.all(phone) == []


def test_weekdays_are_switched_one_by_one(phone, screen):
    id = alarms.add(phone, 6, 0)
    phone.launch(CLOCK)
    tap(screen, "Expand alarm", "Tuesday", "Sunday")
    assert alarms.get(phone, id).days == alarms.TUESDAY | alarms.SUNDAY
    assert has(screen, "Tue, Sun")
    tap(screen, "Tuesday")
    assert alarms.get(phone, id).days == alarms.SUNDAY


def test_a_switch_turns_one_alarm_off_and_leaves_the_other(phone, screen):
    first, second = alarms.add(phone, 6, 0), alarms.add(phone, 9, 30)
    phone.launch(CLOCK)
    tap(screen, "09:30 alarm")
    assert alarms.get(phone, first).enabled
    assert not alarms.get(phone, second).enabled
    assert has(screen, "Not scheduled")


def test_the_time_of_an_alarm_is_changed_and_its_label_stays(phone, screen):
    id = alarms.add(phone, 6, 0, "Tea")
    phone.launch(CLOCK)
    tap(screen, "Edit time 06:00", "9 hours", "15 minutes", "OK")
    changed = alarms.get(phone, id)
    assert (changed.hour, changed.minute, changed.label) == (9, 15, "Tea")


def test_an_alarm_is_deleted_and_its_sibling_stays(phone, screen):
    alarms.add(phone, 6, 0, "first")
    alarms.add(phone, 7, 0, "second")
    phone.launch(CLOCK)
    tap(screen, "Expand alarm", nth=1)
    tap(screen, "Delete")
    assert [a.label for a in alarms.all(phone)] == ["first"]


def test_the_keypad_fills_a_timer_from_the_right(phone, screen):
    phone.launch(CLOCK)
    tap(screen, "Timer")
    assert has(screen, "00h 00m 00s")
    for key in ("5", "3", "0"):
        tap(screen, key)
    assert has(screen, "00h 05m 30s")
    tap(screen, "Delete")
    assert has(screen, "00h 00m 53s")


def test_a_timer_without_digits_cannot_be_started(phone, screen):
    phone.launch(CLOCK)
    tap(screen, "Timer", "Start")
    assert has(screen, "00h 00m 00s")


def test_a_timer_runs_pauses_and_is_reset_on_the_phones_clock(phone, screen):
    phone.launch(CLOCK)
    tap(screen, "Timer")
    for key in ("2", "00"):
        tap(screen, key)
    tap(screen, "Start")
    phone.clock.advance(29)
    assert has(screen, "01:30")
    tap(screen, "Pause")
    phone.clock.advance(600)
    assert has(screen, "01:30")
    assert has(screen, "Paused")
    tap(screen, "Reset")
    assert has(screen, "02:00")


def test_a_timer_that_went_off_says_so_until_it_is_stopped(phone, screen):
    phone.launch(CLOCK)
    tap(screen, "Timer", "5", "Start")
    phone.clock.advance(10)
    assert has(screen, "Time's up")
    tap(screen, "Stop")
    assert has(screen, "00:05")


def test_timers_outlive_the_app_and_a_change_of_the_time_of_day(phone, screen):
    phone.launch(CLOCK)
    tap(screen, "Timer")
    for key in ("1", "00", "00"):
        tap(screen, key)
    tap(screen, "Start")
    phone.force_stop(CLOCK)
    phone.clock.set(phone.clock.ms + 86_400_000)
    phone.launch(CLOCK)
    tap(screen, "Timer")
    assert has(screen, "Running")
    assert has(screen, "59:58")


def test_the_stopwatch_shows_pause_and_lap_while_it_runs(phone, screen):
    phone.launch(CLOCK)
    tap(screen, "Stopwatch")
    assert not has(screen, "Lap")
    tap(screen, "Start")
    assert {"Pause", "Lap"} <= set(seen(screen))
    phone.clock.advance(9)
    tap(screen, "Lap", "Pause")
    assert has(screen, "00:11.00")
    assert has(screen, "# 1")
    tap(screen, "Reset")
    assert has(screen, "00:00.00")
    assert not has(screen, "# 1")


def test_a_city_is_searched_added_and_removed(phone, screen):
    phone.launch(CLOCK)
    tap(screen, "Clock", "Add city", "search")
    screen.text("tok")
    tap(screen, "Tokyo")
    back(screen)
    back(screen)
    assert has(screen, "00:34")
    assert has(screen, "Tomorrow, 9 hrs ahead")
    tap(screen, "Remove Tokyo")
    assert not has(screen, "Tokyo")


def test_an_intent_about_timers_opens_their_tab(phone, screen):
    main = phone.packages[CLOCK].main
    phone.start(CLOCK, main, {"action": "android.intent.action.SHOW_TIMERS"})
    assert has(screen, "00h 00m 00s")


def test_records_that_a_shell_has_spoilt_are_left_out(phone, screen):
    folder = f"/data/data/{CLOCK}/files"
    phone.files.mkdir(folder, parents=True)
    phone.files.write(f"{folder}/timers.json", b'[{"id": 1}, 7, {"id": 2, "length": 1e999}]')
    phone.files.write(f"{folder}/stopwatch.json", b"[" * 100_000)
    phone.launch(CLOCK)
    tap(screen, "Timer")
    assert has(screen, "00h 00m 00s")
    tap(screen, "Stopwatch")
    assert has(screen, "00:00.00")
