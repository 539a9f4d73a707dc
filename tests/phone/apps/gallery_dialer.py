"""The Phone app's screens, each brought about as a person would."""

from __future__ import annotations

from driving import Scene, scene, typing, waiting

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


DIALER = "com.android.dialer"
calling = scene(open_phone, "Call Barbara Liskov", "Speaker")
details = scene(open_phone, "Ada Lovelace")
menu = scene(open_phone, "More options")

SCENES: dict[str, Scene] = {
    "phone recents": open_phone,
    "phone empty": scene(DIALER),
    "phone favourites": scene(open_phone, "Favourites"),
    "phone contacts": scene(open_phone, "Contacts"),
    "phone search": scene(open_phone, typing("555010", "Search contacts")),
    "phone key pad": scene(open_phone, "Key pad", *"5550104"),
    "phone key pad unknown": scene(DIALER, "Key pad", *"0800#777*1234567"),
    "phone calling": calling,
    "phone talking": scene(calling, waiting(70)),
    "phone call details": details,
    "phone delete history": scene(details, "Delete history"),
    "phone menu": menu,
    "phone clear history": scene(menu, "Clear call history"),
}
