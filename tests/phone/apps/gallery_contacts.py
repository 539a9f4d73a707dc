"""The Contacts app's screens, each brought about as a person would."""

from __future__ import annotations

from collections.abc import Callable

from driving import long_press, tap, write

from ui_gym_phone.state import contacts
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

PEOPLE = (
    ("Ada Lovelace", "+1 555-010-4477"), ("Alan Turing", "+1 555-010-2231"),
    ("Amélie Øvergård", "+47 22 85 50 50"), ("Barbara Liskov", "+1 555-010-9080"),
    ("Bo Li", "+86 10 5555 0142"), ("Bo Li", "+86 10 5555 0987"), ("Δημήτρης Νικολάου", "5550137"),
    ("Wolfeschlegelsteinhausenbergerdorff Maximilian the Third of the Northern Isles", "5550121"),
)  # fmt: skip


def open_contacts(phone: Phone, screen: PhoneScreen) -> None:
    """Everybody, two of them starred."""
    for name, number in PEOPLE:
        contacts.add(phone, name, number)
    first = contacts.find(phone, "Ada Lovelace")
    assert first is not None
    contacts.update(phone, first.id, first.name, first.number, email="ada@analytical.example",
                    note="Met at the engine's unveiling. Prefers letters to calls.")  # fmt: skip
    contacts.star(phone, first.id)
    phone.launch("com.android.contacts")


def _empty(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("com.android.contacts")


def _search(phone: Phone, screen: PhoneScreen) -> None:
    open_contacts(phone, screen)
    write(screen, "Search contacts", "bo l")


def _selection(phone: Phone, screen: PhoneScreen) -> None:
    open_contacts(phone, screen)
    long_press(screen, "Alan Turing")
    tap(screen, "Barbara Liskov")


def _selection_delete(phone: Phone, screen: PhoneScreen) -> None:
    _selection(phone, screen)
    tap(screen, "Delete")


def _duplicates(phone: Phone, screen: PhoneScreen) -> None:
    open_contacts(phone, screen)
    tap(screen, "More options")
    tap(screen, "Merge duplicates")


def _merge(phone: Phone, screen: PhoneScreen) -> None:
    _duplicates(phone, screen)
    tap(screen, "Merge")


def _person(phone: Phone, screen: PhoneScreen) -> None:
    open_contacts(phone, screen)
    tap(screen, "Ada Lovelace")


def _person_long(phone: Phone, screen: PhoneScreen) -> None:
    open_contacts(phone, screen)
    write(screen, "Search contacts", "wolf")
    tap(screen, PEOPLE[-1][0])


def _menu(phone: Phone, screen: PhoneScreen) -> None:
    _person(phone, screen)
    tap(screen, "More options")


def _delete(phone: Phone, screen: PhoneScreen) -> None:
    _menu(phone, screen)
    tap(screen, "Delete")


def _create(phone: Phone, screen: PhoneScreen) -> None:
    open_contacts(phone, screen)
    tap(screen, "Create contact")


def _edit(phone: Phone, screen: PhoneScreen) -> None:
    _person(phone, screen)
    tap(screen, "Edit contact")
    tap(screen, "Note")


def _label(phone: Phone, screen: PhoneScreen) -> None:
    _create(phone, screen)
    tap(screen, "Phone label")


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "contacts": open_contacts,
    "contacts empty": _empty,
    "contacts search": _search,
    "contacts selection": _selection,
    "contacts delete several": _selection_delete,
    "contacts duplicates": _duplicates,
    "contacts merge": _merge,
    "contact": _person,
    "contact with a long name": _person_long,
    "contact menu": _menu,
    "contact delete": _delete,
    "contact create": _create,
    "contact edit": _edit,
    "contact label": _label,
}
