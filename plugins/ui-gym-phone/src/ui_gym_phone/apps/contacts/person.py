"""One contact: how to reach the person, and what is noted."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.contacts.people import APP
from ui_gym_phone.apps.faces import EDITOR, PERSON, face
from ui_gym_phone.apps.support import write_to
from ui_gym_phone.state import contacts
from ui_gym_phone.state.calling import dial
from ui_gym_phone.state.contacts import KINDS, Contact
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, confirm, more_menu
from ui_gym_phone.ui.scene import Handler
from ui_gym_phone.ui.widgets import Card, Empty, Icon, IconButton, Item, Text


@APP.screen(PERSON)
def person(ui: Ui) -> AppPage:
    """The contact of the extra `id`."""
    who = contacts.get(ui.phone, ui.extra_number("id"))
    if who is None:
        return AppPage(Empty("account", "This contact no longer exists"), back=ui.close)
    star, desc = ("star", "Remove from") if who.starred else ("star-outline", "Add to")
    turn = partial(contacts.star, ui.phone, who.id, not who.starred)
    actions = [
        IconButton("pencil", "Edit contact", partial(ui.open, EDITOR, id=who.id)),
        IconButton(star, f"{desc} favourites", turn, colour="primary" if who.starred else "dim"),
        IconButton("dots-vertical", "More options", ui.setter("overlay", "menu")),
    ]  # fmt: skip
    head = VStack(
        face(who.name, 112),
        Text(who.name or "(No name)", "headline", align="center", lines=3, id="large_title"),
        HStack(*_ways(ui, who), align="start"),
        gap=16, pad=(16, 16, 16, 8), align="stretch",
    )  # fmt: skip
    return AppPage(
        ScrollView(ui, "person", VStack(head, _numbers(ui, who), _note(who)), tail=24),
        back=ui.close, actions=actions, dialog=_asked(ui, who),
        menu=more_menu(ui, [("Delete", partial(ui.ask, "delete"))]),
    )  # fmt: skip


def _ways(ui: Ui, who: Contact) -> list[Widget]:
    """Round buttons: call, text."""
    number = who.number
    mail = partial(ui.say, "No email app is installed")
    return [
        _way("phone", "Call", partial(dial, ui.phone, number) if number else None),
        _way("message-text", "Text", partial(write_to, ui, number) if number else None),
        _way("email", "Email", mail if who.emails else None),
    ]  # fmt: skip


def _way(icon: str, name: str, on_tap: Handler | None) -> Tap:
    ink, ground = ("on_tonal", "tonal") if on_tap else ("disabled", "container")
    mark = Surface(Icon(icon, 24, ink), ground, radius=26, pad=14)
    label = Text(name, "label", "text" if on_tap else "disabled", tell=False, lines=1)
    return Tap(
        VStack(mark, label, gap=6, align="center"), on_tap, text=name, weight=1,
        enabled=on_tap is not None, cls="android.widget.Button",
    )  # fmt: skip


def _numbers(ui: Ui, who: Contact) -> Widget:
    rows: list[Widget] = [HStack(Text("Contact info", "label", "dim"), pad=(8, 4, 8, 4))]
    for number, kind in who.numbers:
        text = IconButton("message-text", f"Text {number}", partial(write_to, ui, number))
        call = partial(dial, ui.phone, number)
        rows.append(
            Item(number, KINDS.get(kind, "Other"), call, icon="phone", trail=text)
        )  # fmt: skip
    rows += [
        Item(email, "Email", partial(ui.say, "No email app is installed"), icon="email-outline")
        for email in who.emails
    ]
    if len(rows) == 1:
        rows.append(Item("Add phone number", "", partial(ui.open, EDITOR, id=who.id), icon="phone"))
    return Card(*rows, pad=(8, 12, 4, 8), colour="container")


def _note(who: Contact) -> Widget | None:
    if not who.note:
        return None
    return Card(Text("Note", "label", "dim"), Text(who.note), colour="container")


def _asked(ui: Ui, who: Contact) -> Dialog | None:
    if ui.dialog != "delete":
        return None

    def delete() -> None:
        contacts.delete(ui.phone, who.id)
        ui.close()
        ui.say("1 contact deleted")

    title = f"Delete {who.name}?" if len(who.name) < 40 else "Delete this contact?"
    return confirm(ui, title, "The contact will be removed from this phone.", "Delete", delete)
