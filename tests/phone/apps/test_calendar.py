"""Calendar: events are added, found, moved and deleted by touch."""

from __future__ import annotations

from datetime import datetime, timezone

from driving import back, find, has, scroll_to, seen, tap, write
from gallery_calendar import DAY, MIDNIGHT, open_calendar

from ui_gym_phone.state import calendar
from ui_gym_phone.state.phone import Phone

HOUR = 3_600_000


def rows(phone: Phone, columns: str = "title, dtstart, dtend, allDay") -> list[tuple[object, ...]]:
    """What a reader of the database sees of the events, in the order in which they were added."""
    sql = f"SELECT {columns} FROM Events WHERE deleted = 0 ORDER BY _id"
    return phone.databases.connection("calendar.db").execute(sql).fetchall()


def utc(*when: int) -> int:
    """A moment UTC in milliseconds."""
    return int(datetime(*when, tzinfo=timezone.utc).timestamp() * 1000)  # type: ignore[arg-type]  # noqa: UP017


def test_an_event_is_added_on_a_day_at_an_hour(phone, screen):
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    write(screen, "Add title", "Chess club")
    write(screen, "Add location", "Library")
    write(screen, "Add description", "Bring clocks")
    back(screen)
    tap(screen, "Start date", "Next month", "9 November 2023", "OK", "Start time", "19 hours")
    tap(screen, "30 minutes", "OK", "Save")
    start = utc(2023, 11, 9, 19, 30)
    assert rows(phone) == [("Chess club", start, start + HOUR, 0)]
    assert rows(phone, "eventLocation, description") == [("Library", "Bring clocks")]
    assert phone.activity.cls == ".AllInOneActivity"
    assert has(screen, "Chess club")


def test_a_time_is_typed_to_the_minute(phone, screen):
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    write(screen, "Add title", "Tea")
    back(screen)
    tap(screen, "Start time", "Switch to text input")
    screen.text("8")
    tap(screen, "minute")
    screen.text("99")
    assert not find(screen, "OK").enabled, "there is no such minute"
    tap(screen, "minute")
    screen.text("07")
    tap(screen, "OK", "Save")
    assert [row[1] for row in rows(phone)] == [utc(2023, 10, 15, 8, 7)]


def test_hours_to_twelve_have_their_half_of_the_day(phone, screen):
    phone.put("system", "time_12_24", "12")
    phone.launch("com.android.calendar")
    tap(screen, "New event", "Start time", "12 o'clock", "15 minutes", "AM", "OK")
    assert has(screen, "12:15 AM")
    tap(screen, "Save")
    assert [row[1] for row in rows(phone)] == [utc(2023, 10, 15, 0, 15)]


def test_an_event_of_all_day_lies_at_midnight_utc(phone, screen):
    phone.clock.offset_minutes = 120
    phone.launch("com.android.calendar")
    tap(screen, "New event")
    write(screen, "Add title", "Holiday")
    back(screen)
    tap(screen, "is_all_day", "End date", "17 October 2023", "OK", "Save")
    assert rows(phone) == [("Holiday", MIDNIGHT, MIDNIGHT + 3 * DAY, 1)]
    assert [text for text in seen(screen) if text.startswith("Holiday,")] == [
        "Holiday, Sunday 15 October", "Holiday, Monday 16 October", "Holiday, Tuesday 17 October",
    ]  # fmt: skip


def test_the_end_keeps_its_distance_and_may_not_precede_the_start(phone, screen):
    phone.launch("com.android.calendar")
    tap(screen, "New event", "End time", "20 hours", "OK", "Start time", "10 hours", "OK")
    assert find(screen, "End time").text == "14:00", "four hours later, as before"
    tap(screen, "End time", "9 hours", "OK", "Save")
    assert rows(phone) == []
    assert phone.toasting == "The event ends before it starts"


def test_an_event_is_moved_and_keeps_the_rest(phone, screen):
    open_calendar(phone, screen)
    tap(screen, "Brunch with Ada", "Edit", "Start date", "22 October 2023", "OK", "Save")
    found = next(e for e in calendar.events(phone) if e.title == "Brunch with Ada")
    assert (found.start_ms, found.end_ms) == (utc(2023, 10, 22, 10), utc(2023, 10, 22, 11))
    assert (found.location, found.reminders) == ("Café Analytica", (10,))
    assert has(screen, "Sunday, October 22, 2023\n10:00 – 11:00")


def test_a_deleted_event_is_gone_and_its_namesake_stays(phone, screen):
    open_calendar(phone, screen)
    scroll_to(screen, "Stand-up")
    tap(screen, "Stand-up", "Delete", "Cancel")
    assert [row[0] for row in rows(phone)].count("Stand-up") == 2
    tap(screen, "Delete", "Delete")
    left = [row for row in rows(phone) if row[0] == "Stand-up"]
    assert [row[1] for row in left] == [MIDNIGHT + 4 * DAY + 8 * HOUR]


def test_the_list_begins_today_and_shows_the_past_when_asked(phone, screen):
    open_calendar(phone, screen)
    assert not has(screen, "Dentist")
    tap(screen, "Show earlier events")
    assert has(screen, "Dentist")


def test_a_day_of_the_month_opens_what_is_planned_on_it(phone, screen):
    open_calendar(phone, screen)
    tap(screen, "Month", "19 October: Stand-up")
    assert has(screen, "Stand-up, 08:00 – 09:00")
    assert not has(screen, "Autumn break")
    tap(screen, "Previous day")
    assert has(screen, "Autumn break"), "it lasts up to the 18th"


def test_an_hour_that_is_touched_begins_an_event_there(phone, screen):
    open_calendar(phone, screen)
    tap(screen, "Day", "Next day", "New event at 12:00")
    write(screen, "Add title", "Lunch")
    tap(screen, "Save")
    assert rows(phone)[-1][:2] == ("Lunch", MIDNIGHT + DAY + 12 * HOUR)


def test_a_far_date_is_gone_to(phone, screen):
    open_calendar(phone, screen)
    tap(screen, "Go to date", "Change year", "2024", "29 October 2024", "OK")
    assert has(screen, "Oct 2024")
    assert has(screen, "Nothing planned")
    tap(screen, "Today")
    assert has(screen, "Brunch with Ada")


def test_a_reminder_is_chosen(phone, screen):
    phone.launch("com.android.calendar")
    tap(screen, "New event", "30 minutes before", "1 day before", "Save")
    sql = "SELECT minutes FROM Reminders"
    reminders = phone.databases.connection("calendar.db").execute(sql).fetchall()
    assert reminders == [(1440,)]


def test_dates_beyond_all_years_are_shown_without_harm(phone, screen):
    id = calendar.add_event(phone, "Never", 10**18, 10**18 + HOUR)
    phone.start("com.android.calendar", ".EventInfoActivity", {"id": id})
    assert has(screen, "Never")
    tap(screen, "Edit")
    assert has(screen, "Start date")
