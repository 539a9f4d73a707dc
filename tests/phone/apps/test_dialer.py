"""Phone: calls are made, ended, listed and forgotten by touch."""

from __future__ import annotations

from driving import back, has, long_press, seen, tap, write
from gallery_dialer import SCENES, open_phone

from ui_gym_phone.state import contacts
from ui_gym_phone.state.phone import Phone

OUTGOING = 2


def log(phone: Phone) -> list[tuple[object, ...]]:
    """What a reader of the database sees: (number, type, duration), the newest first."""
    sql = "SELECT number, type, duration FROM calls ORDER BY date DESC, _id DESC"
    return phone.databases.connection("calllog.db").execute(sql).fetchall()


def test_a_dialled_number_is_called_and_the_call_is_logged(phone, screen):
    phone.launch("com.android.dialer")
    tap(screen, "Key pad")
    for sign in "5550*#":
        tap(screen, sign)
    long_press(screen, "0")
    tap(screen, "Backspace", "Call")
    assert phone.activity.cls == ".InCallActivity"
    assert {"5550*#", "Calling…"} <= set(seen(screen))
    assert log(phone) == [("5550*#", OUTGOING, 0)]
    phone.clock.advance(60)
    tap(screen, "End call")
    assert phone.activity.cls == ".DialtactsActivity"
    [(number, kind, seconds)] = log(phone)
    assert (number, kind) == ("5550*#", OUTGOING)
    assert 50 <= int(str(seconds)) <= 60


def test_nothing_is_called_without_a_number(phone, screen):
    phone.launch("com.android.dialer")
    tap(screen, "Key pad", "Call")
    assert log(phone) == []
    assert phone.activity.cls == ".DialtactsActivity"


def test_a_number_is_called_from_its_calls(phone, screen):
    SCENES["phone call details"](phone, screen)
    tap(screen, "Call")
    assert phone.activity.cls == ".InCallActivity"


def test_the_pad_finds_contacts_by_their_digits(phone, screen):
    open_phone(phone, screen)
    tap(screen, "Key pad")
    for sign in "2231":
        tap(screen, sign)
    assert has(screen, "Alan Turing")
    assert not has(screen, "Ada Lovelace")
    back(screen)
    assert has(screen, "Search contacts")


def test_a_call_goes_on_in_the_shade_until_it_is_ended(phone, screen):
    open_phone(phone, screen)
    tap(screen, "Call Barbara Liskov")
    phone.home()
    phone.shade = "notifications"
    tap(screen, "Ongoing call")
    assert phone.activity.cls == ".InCallActivity"
    tap(screen, "End call")
    assert phone.notifications == []
    assert phone.activity.cls == ".DialtactsActivity"


def test_a_favourite_is_called_by_one_touch(phone, screen):
    open_phone(phone, screen)
    tap(screen, "Favourites", "Ada Lovelace")
    assert log(phone)[0][:2] == ("+1 555-010-4477", OUTGOING)


def test_a_call_from_contacts_leads_back_to_contacts(phone, screen):
    contacts.add(phone, "Ada Lovelace", "5550104477")
    phone.launch("com.android.contacts")
    tap(screen, "Ada Lovelace", "Call", "End call")
    assert phone.activity.package == "com.android.contacts"


def test_airplane_mode_allows_no_call(phone, screen):
    open_phone(phone, screen)
    before = log(phone)
    phone.put("global", "airplane_mode_on", 1)
    tap(screen, "Call Barbara Liskov")
    assert log(phone) == before
    assert phone.toasting == "Turn off airplane mode to make a call"


def test_one_call_is_deleted_from_the_log(phone, screen):
    open_phone(phone, screen)
    tap(screen, "Ada Lovelace", "Delete call of Today, 14:34")
    assert ("+15550104477", OUTGOING, 64) in log(phone)
    assert len(log(phone)) == 4


def test_all_calls_with_a_number_are_deleted(phone, screen):
    open_phone(phone, screen)
    tap(screen, "Ada Lovelace", "Delete history", "Delete")
    assert "+15550104477" not in [row[0] for row in log(phone)]
    assert len(log(phone)) == 3


def test_the_history_is_cleared_only_when_it_is_confirmed(phone, screen):
    open_phone(phone, screen)
    tap(screen, "More options", "Clear call history", "Cancel")
    assert len(log(phone)) == 5
    tap(screen, "More options", "Clear call history", "Clear")
    assert log(phone) == []


def test_a_number_that_is_searched_for_can_be_called(phone, screen):
    phone.launch("com.android.dialer")
    write(screen, "Search contacts", "5550177")
    tap(screen, "Call 5550177")
    assert log(phone)[0][0] == "5550177"


def test_a_tel_link_waits_in_the_pad(phone, screen):
    phone.start("com.android.dialer", ".DialtactsActivity", {"number": "5550123"})
    assert has(screen, "5550123")
    assert log(phone) == []
