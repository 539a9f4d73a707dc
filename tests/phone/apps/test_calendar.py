"""Calendar: events are added, found, moved and deleted by touch."""

from __future__ import annotations

from datetime import datetime, timezone

from driving import back, find, has, scroll_to, seen, tap, write
from gallery_calendar import DAY, MIDNIGHT, open_calendar

from ui_gym_phone.state import calendar
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

HOUR = 3_600_000


def rows(phone: Phone, columns: str = "title, dtstart, dtend, allDay") -> list[tuple[object, ...]]:
    """What a reader of the database sees of the events, in the order in which they were added."""
    sql = f"SELECT {columns} FROM Events WHERE deleted = 0 ORDER BY _id"
    return phone.databases.connection("calendar.db").execute(sql).fetchall()


def utc(*when: int) -> int:
    """A moment UTC in milliseconds."""
    return int(datetime(*when, tzinfo=timezone.utc).timestamp() * 1000)  # type: ignore[arg-type]  # noqa: UP017


def test_an_event_is_added_on_a_day_at_an_hour(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    write(screen, "Add title", "Chess club")
    write(screen, "Add location", "Library")
    write(screen, "Add description", "Bring clocks")
    back(screen)
    tap(screen, "Start date")
    tap(screen, "Next month")
    tap(screen, "9 November 2023")
    tap(screen, "OK")
    tap(screen, "Start time")
    tap(screen, "19 hours")
    tap(screen, "30 minutes")
    tap(screen, "OK")
    tap(screen, "Save")
    start = utc(2023, 11, 9, 19, 30)
    assert rows(phone) == [("Chess club", start, start + HOUR, 0)]
    assert rows(phone, "eventLocation, description") == [("Library", "Bring clocks")]
    assert phone.activity.cls == ".AllInOneActivity"
    assert has(screen, "Chess club")


def test_a_time_is_typed_to_the_minute(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    write(screen, "Add title", "Tea")
    back(screen)
    tap(screen, "Start time")
    tap(screen, "Switch to text input")
    screen.text("8")
    tap(screen, "minute")
    screen.text("99")
    assert not find(screen, "OK").enabled, "there is no such minute"
    tap(screen, "minute")
    screen.text("07")
    tap(screen, "OK")
    tap(screen, "Save")
    assert [row[1] for row in rows(phone)] == [utc(2023, 10, 15, 8, 7)]


def test_hours_to_twelve_have_their_half_of_the_day(phone: Phone, screen: PhoneScreen) -> None:
    phone.put("system", "time_12_24", "12")
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    tap(screen, "Start time")
    tap(screen, "12 o'clock")
    tap(screen, "15 minutes")
    tap(screen, "AM")
    tap(screen, "OK")
    assert has(screen, "12:15 AM")
    tap(screen, "Save")
    assert [row[1] for row in rows(phone)] == [utc(2023, 10, 15, 0, 15)]


def test_an_event_of_all_day_lies_at_midnight_utc(phone: Phone, screen: PhoneScreen) -> None:
    phone.clock.offset_minutes = 120
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    write(screen, "Add title", "Holiday")
    back(screen)
    tap(screen, "is_all_day")
    tap(screen, "End date")
    tap(screen, "17 October 2023")
    tap(screen, "OK")
    tap(screen, "Save")
    assert rows(phone) == [("Holiday", MIDNIGHT, MIDNIGHT + 3 * DAY, 1)]
    assert [text for text in seen(screen) if text.startswith("Holiday,")] == [
        "Holiday, Sunday 15 October", "Holiday, Monday 16 October", "Holiday, Tuesday 17 October",
    ]  # fmt: skip


def test_the_end_keeps_its_distance_and_may_not_precede_the_start(
    phone: Phone, screen: PhoneScreen
) -> None:
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    tap(screen, "End time")
    tap(screen, "20 hours")
    tap(screen, "OK")
    tap(screen, "Start time")
    tap(screen, "10 hours")
    tap(screen, "OK")
    assert find(screen, "End time").text == "14:00", "four hours later, as before"
    tap(screen, "End time")
    tap(screen, "9 hours")
    tap(screen, "OK")
    tap(screen, "Save")
    assert rows(phone) == []
    assert phone.toasting == "The event ends before it starts"


def test_an_event_is_moved_and_keeps_the_rest(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "Brunch with Ada")
    tap(screen, "Edit")
    tap(screen, "Start date")
    tap(screen, "22 October 2023")
    tap(screen, "OK")
    tap(screen, "Save")
    found = next(e for e in calendar.events(phone) if e.title == "Brunch with Ada")
    assert (found.start_ms, found.end_ms) == (utc(2023, 10, 22, 10), utc(2023, 10, 22, 11))
    assert (found.location, found.reminders) == ("Café Analytica", (10,))
    assert has(screen, "Sunday, October 22, 2023\n10:00 – 11:00")


def test_a_deleted_event_is_gone_and_its_namesake_stays(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    scroll_to(screen, "Stand-up")
    tap(screen, "Stand-up")
    tap(screen, "Delete")
    tap(screen, "Cancel")
    assert [row[0] for row in rows(phone)].count("Stand-up") == 2
    tap(screen, "Delete")
    tap(screen, "Delete")
    left = [row for row in rows(phone) if row[0] == "Stand-up"]
    assert [row[1] for row in left] == [MIDNIGHT + 4 * DAY + 8 * HOUR]


def test_the_list_begins_today_and_shows_the_past_when_asked(
    phone: Phone, screen: PhoneScreen
) -> None:
    open_calendar(phone, screen)
    assert not has(screen, "Dentist")
    tap(screen, "Show earlier events")
    assert has(screen, "Dentist")


def test_a_day_of_the_month_opens_what_is_planned_on_it(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "Month")
    tap(screen, "19 October: Stand-up")
    assert has(screen, "Stand-up, 08:00 – 09:00")
    assert not has(screen, "Autumn break")
    tap(screen, "Previous day")
    assert has(screen, "Autumn break"), "it lasts up to the 18th"


def test_an_hour_that_is_touched_begins_an_event_there(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "Day")
    tap(screen, "Next day")
    tap(screen, "New event at 12:00")
    write(screen, "Add title", "Lunch")
    tap(screen, "Save")
    assert rows(phone)[-1][:2] == ("Lunch", MIDNIGHT + DAY + 12 * HOUR)


def test_a_far_date_is_gone_to(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "Go to date")
    tap(screen, "Change year")
    tap(screen, "2024")
    tap(screen, "29 October 2024")
    tap(screen, "OK")
    assert has(screen, "Oct 2024")
    assert has(screen, "Nothing planned")
    tap(screen, "Today")
    assert has(screen, "Brunch with Ada")


def test_a_reminder_is_chosen(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    tap(screen, "30 minutes before")
    tap(screen, "1 day before")
    tap(screen, "Save")
    sql = "SELECT minutes FROM Reminders"
    reminders = phone.databases.connection("calendar.db").execute(sql).fetchall()
    assert reminders == [(1440,)]


def test_dates_beyond_all_years_are_shown_without_harm(phone: Phone, screen: PhoneScreen) -> None:
    id = calendar.add_event(phone, "Never", 10**18, 10**18 + HOUR)
    phone.start("com.android.calendar", ".EventInfoActivity", {"id": id})
    assert has(screen, "Never")
    tap(screen, "Edit")
    assert has(screen, "Start date")
