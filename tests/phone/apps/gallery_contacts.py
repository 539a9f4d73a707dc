"""The Contacts app's screens, each brought about as a person would."""

from __future__ import annotations

from driving import Scene, holding, scene, typing

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


people_menu = scene(open_contacts, "More options")
selection = scene(open_contacts, holding("Alan Turing"), "Barbara Liskov")
duplicates = scene(people_menu, "Merge duplicates")
person = scene(open_contacts, "Ada Lovelace")
menu = scene(person, "More options")
create = scene(open_contacts, "Create contact")

SCENES: dict[str, Scene] = {
    "contacts": open_contacts,
    "contacts empty": scene("com.android.contacts"),
    "contacts search": scene(open_contacts, typing("bo l", "Search contacts")),
    "contacts selection": selection,
    "contacts delete several": scene(selection, "Delete"),
    "contacts duplicates": duplicates,
    "contacts merge": scene(duplicates, "Merge"),
    "contact": person,
    "contact with a long name": scene(
        open_contacts, typing("wolf", "Search contacts"), PEOPLE[-1][0]
    ),
    "contact menu": menu,
    "contact delete": scene(menu, "Delete"),
    "contact create": create,
    "contact edit": scene(person, "Edit contact", "Note"),
    "contact label": scene(create, "Phone label"),
}
