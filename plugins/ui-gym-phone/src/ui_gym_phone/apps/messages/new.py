"""Whom a new conversation is with: a number that is typed, or a contact."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.faces import face, matching
from ui_gym_phone.apps.messages.inbox import APP, CONVERSATION, NEW
from ui_gym_phone.state.contacts import KINDS, digits
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Lazy, Surface, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Disc, Empty, Header, Item, Text

FEWEST = 3
"""Digits of the shortest number that can be written to."""


@APP.screen(NEW)
def new(ui: Ui) -> AppPage:
    """A field for a name or a number, and who is meant by it."""
    wanted = ui.text("to")
    rows: list[Widget] = []
    plain = not any(sign.isalpha() for sign in wanted)
    number = wanted.strip() if plain and len(digits(wanted)) >= FEWEST else ""
    if number:
        rows.append(
            Item(f"Send to {number}", "", partial(_write, ui, number), lines=1,
                 lead=Disc("#5f6368", 40, icon="message-text"))
        )  # fmt: skip
    people = [person for person in matching(ui.phone, wanted) if person.numbers]
    if people:
        rows.append(Header("Contacts"))

    def row(name: str, other: str, kind: int) -> Widget:
        told = f"{other} · {KINDS.get(kind, 'Other')}"
        return Item(name, told, partial(_write, ui, other), lines=1, lead=face(name))

    numbers = [(person.name, *each) for person in people for each in person.numbers]
    if numbers:
        rows.append(Lazy([("number", partial(row, *each)) for each in numbers]))
    if not rows:
        hint = "No contacts match" if wanted else "Nobody to suggest"
        rows.append(Empty("account", hint))

    def enter() -> None:
        if number:
            _write(ui, number)
        elif people:
            _write(ui, people[0].number)

    field = TextField(ui, "to", "Type a name or phone number", framed=False, weight=1,
                      on_enter=enter, id="recipient_text_view")  # fmt: skip
    bar = Surface(HStack(Text("To", "body", "dim"), field, gap=8, pad=(16, 2, 12, 2)), "container",
                  radius=24)  # fmt: skip
    body = VStack(VStack(bar, pad=(16, 0, 16, 8)), ScrollView(ui, "people", VStack(*rows), tail=24))
    return AppPage(body, title="New conversation", back=ui.close)


def _write(ui: Ui, number: str) -> None:
    ui.close()
    ui.start(APP.package.name, CONVERSATION, number=number, body=ui.extra("body"))
