"""The Messages app's screens, each brought about as a person would."""

from __future__ import annotations

from collections.abc import Callable

from driving import find, long_press, tap, write

from ui_gym_phone.state import contacts, messages
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

HOUR = 3_600_000
LONG = (
    "Dear all, the meeting about the north wing moved to the small hall next to the library, "
    "because the projector there works. Please bring the drawings, and tell those who are not "
    "on this list: https://intranet.example/rooms/north-wing/small-hall?floor=2&day=monday"
)


def fill(phone: Phone) -> None:
    """Contacts, and conversations with them and with others."""
    now = phone.clock.ms
    contacts.add(phone, "Ada Lovelace", "+1 555-010-4477")
    contacts.add(phone, "Barbara Liskov", "+1 555-010-9080", kind=contacts.WORK)
    contacts.add(phone, "Δημήτρης Νικολάου", "5550137000")
    for ago, number, body in (
        (400 * 24, "22000", "Your parcel is at the counter. Code 4471."),
        (30, "5550137000", "Καλημέρα! Τα λέμε αύριο στις δέκα;"),
        (26, "+15550109080", LONG),
        (3, "+15550104477", "Are you coming tonight?"),
    ):
        messages.receive(phone, number, body, now - ago * HOUR, notify=False)
        messages.mark_read(phone, number)
    messages.insert(phone, "+15550104477", "Yes, at eight!", messages.SENT, ms=now - 2 * HOUR)
    messages.receive(phone, "+15550104477", "Lovely. Bring the cards?", now - 60_000)
    messages.receive(phone, "5550199123", "Hi, is the bike still for sale?", now - 5 * 60_000)


def _inbox(phone: Phone, screen: PhoneScreen) -> None:
    fill(phone)
    phone.launch("com.android.messaging")


def _empty(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("com.android.messaging")


def _search(phone: Phone, screen: PhoneScreen) -> None:
    _inbox(phone, screen)
    tap(screen, "Search messages")
    screen.text("parcel")


def _selection(phone: Phone, screen: PhoneScreen) -> None:
    _inbox(phone, screen)
    long_press(screen, "Ada Lovelace")
    tap(screen, "5550199123")


def _delete(phone: Phone, screen: PhoneScreen) -> None:
    _selection(phone, screen)
    tap(screen, "Delete")


def _conversation(phone: Phone, screen: PhoneScreen) -> None:
    _inbox(phone, screen)
    tap(screen, "Ada Lovelace")


def _writing(phone: Phone, screen: PhoneScreen) -> None:
    phone.clipboard = "Clip"
    _conversation(phone, screen)
    write(screen, "Text message", "I will, and the long board as well, if it fits in the bag")


def _writing_much(phone: Phone, screen: PhoneScreen) -> None:
    _conversation(phone, screen)
    write(screen, "Text message", LONG)


def _long(phone: Phone, screen: PhoneScreen) -> None:
    _inbox(phone, screen)
    tap(screen, "Barbara Liskov")
    for i in range(6):
        write(screen, "compose_message_text", f"Answer {i}")
        tap(screen, "Send SMS")


def _message(phone: Phone, screen: PhoneScreen) -> None:
    _conversation(phone, screen)
    long_press(screen, "Yes, at eight!")


def _message_delete(phone: Phone, screen: PhoneScreen) -> None:
    _message(phone, screen)
    tap(screen, "Delete")


def _menu(phone: Phone, screen: PhoneScreen) -> None:
    _conversation(phone, screen)
    tap(screen, "More options")


def _new(phone: Phone, screen: PhoneScreen) -> None:
    _inbox(phone, screen)
    tap(screen, "Start chat")


def _to_number(phone: Phone, screen: PhoneScreen) -> None:
    _new(phone, screen)
    write(screen, "Type a name or phone number", "555010")
    assert find(screen, "Send to 555010")


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "messages": _inbox,
    "messages empty": _empty,
    "messages search": _search,
    "messages selection": _selection,
    "messages delete": _delete,
    "conversation": _conversation,
    "conversation writing": _writing,
    "conversation writing much": _writing_much,
    "conversation long": _long,
    "conversation message": _message,
    "conversation message delete": _message_delete,
    "conversation menu": _menu,
    "new conversation": _new,
    "new conversation number": _to_number,
}
