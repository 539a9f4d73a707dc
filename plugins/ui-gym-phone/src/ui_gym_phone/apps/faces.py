"""Faces: the coloured discs with a letter that stand for people."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from ui_gym_phone.state import contacts
from ui_gym_phone.ui.widgets import Disc

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

COLOURS = (
    "#b3462f", "#7b5ea7", "#1a73a8", "#2e7d5b", "#a0527a", "#8a6d1f", "#4a6fb5", "#5f7a30",
)  # fmt: skip
CONTACTS = "com.android.contacts"
PERSON = ".quickcontact.QuickContactActivity"
EDITOR = ".activities.ContactEditorActivity"


def face(name: str, size: float = 40) -> Disc:
    """A person's disc: the name's first letter, on a colour that is always the same for it."""
    colour = COLOURS[zlib.crc32(name.encode()) % len(COLOURS)]
    letter = next((sign for sign in name if sign.isalpha()), "")
    if letter:
        return Disc(colour, size, letter=letter.upper())
    return Disc(colour, size, icon="account")


def matching(phone: Phone, wanted: str) -> list[contacts.Contact]:
    """The contacts whose name, number or address holds a text; all of them for an empty one."""
    asked = wanted.strip().casefold()
    dialled = contacts.digits(wanted)
    return [
        person
        for person in contacts.all(phone)
        if asked in person.name.casefold()
        or any(asked in email.casefold() for email in person.emails)
        or (dialled and any(dialled in contacts.digits(n) for n, _ in person.numbers))
    ]
