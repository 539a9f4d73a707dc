"""The Phone app's screens, each brought about as a person would."""

from __future__ import annotations

from collections.abc import Callable

from driving import tap, write

from ui_gym_phone.state import calls, contacts
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

HOUR = 3_600_000


def open_phone(phone: Phone, screen: PhoneScreen) -> None:
    """Contacts, and calls with them and with others."""
    now = phone.clock.ms
    for name, number in (
        ("Ada Lovelace", "+1 555-010-4477"),
        ("Barbara Liskov", "+1 555-010-9080"),
        ("Maximilian von Hohenlohe-Langenburg", "+49 30 5550 0142"),
    ):
        contacts.star(phone, contacts.add(phone, name, number))
    contacts.add(phone, "Alan Turing", "+1 555-010-2231")
    for ago, number, kind, seconds in (
        (300, "5550199123", calls.OUTGOING, 0),
        (28, "+15550109080", calls.INCOMING, 3725),
        (5, "+493055500142", calls.INCOMING, 301),
        (2, "+15550104477", calls.OUTGOING, 64),
        (1, "+15550104477", calls.MISSED, 0),
    ):
        calls.add(phone, number, kind, seconds=seconds, ms=now - ago * HOUR)
    phone.launch("com.android.dialer")


def _empty(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("com.android.dialer")


def _favourites(phone: Phone, screen: PhoneScreen) -> None:
    open_phone(phone, screen)
    tap(screen, "Favourites")


def _people(phone: Phone, screen: PhoneScreen) -> None:
    open_phone(phone, screen)
    tap(screen, "Contacts")


def _search(phone: Phone, screen: PhoneScreen) -> None:
    open_phone(phone, screen)
    write(screen, "Search contacts", "555010")


def _pad(phone: Phone, screen: PhoneScreen) -> None:
    open_phone(phone, screen)
    tap(screen, "Key pad")
    for sign in "5550104":
        tap(screen, sign)


def _pad_unknown(phone: Phone, screen: PhoneScreen) -> None:
    _empty(phone, screen)
    tap(screen, "Key pad")
    for sign in "0800#777*1234567":
        tap(screen, sign)


def _calling(phone: Phone, screen: PhoneScreen) -> None:
    open_phone(phone, screen)
    tap(screen, "Call Barbara Liskov")
    tap(screen, "Speaker")


def _talking(phone: Phone, screen: PhoneScreen) -> None:
    _calling(phone, screen)
    phone.clock.advance(70)


def _details(phone: Phone, screen: PhoneScreen) -> None:
    open_phone(phone, screen)
    tap(screen, "Ada Lovelace")


def _delete(phone: Phone, screen: PhoneScreen) -> None:
    _details(phone, screen)
    tap(screen, "Delete history")


def _menu(phone: Phone, screen: PhoneScreen) -> None:
    open_phone(phone, screen)
    tap(screen, "More options")


def _clear(phone: Phone, screen: PhoneScreen) -> None:
    _menu(phone, screen)
    tap(screen, "Clear call history")


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "phone recents": open_phone,
    "phone empty": _empty,
    "phone favourites": _favourites,
    "phone contacts": _people,
    "phone search": _search,
    "phone key pad": _pad,
    "phone key pad unknown": _pad_unknown,
    "phone calling": _calling,
    "phone talking": _talking,
    "phone call details": _details,
    "phone delete history": _delete,
    "phone menu": _menu,
    "phone clear history": _clear,
}
