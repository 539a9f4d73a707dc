"""Contacts that seem to be one person, to be merged."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.contacts.people import APP, DUPLICATES
from ui_gym_phone.apps.faces import PERSON, face
from ui_gym_phone.state import contacts
from ui_gym_phone.state.contacts import EMAIL, HOME, PHONE, Contact, digits, same_number
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Space, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm
from ui_gym_phone.ui.widgets import Button, Card, Empty, Item


@APP.screen(DUPLICATES)
def duplicates(ui: Ui) -> AppPage:
    """Those of one name or one number, together; merging keeps the first with all numbers and
    addresses of the others."""
    groups = _groups(ui.phone)
    cards: list[Widget] = [_card(ui, group) for group in groups]
    body: Widget = VStack(*cards) if cards else Empty("account-multiple", "No duplicates found")
    asked = None
    chosen = next((g for g in groups if g[0].id == ui.state.get("chosen")), None)
    if ui.dialog == "merge" and chosen is not None:
        asked = confirm(ui, f"Merge {len(chosen)} contacts?",
                        f"They become one contact, {chosen[0].name}.", "Merge",
                        partial(_merge, ui, chosen))  # fmt: skip
    content = ScrollView(ui, "duplicates", body, tail=24)
    return AppPage(content, title="Merge duplicates", back=ui.close, dialog=asked)


def _card(ui: Ui, group: list[Contact]) -> Widget:
    rows = [
        Item(who.name, who.number or "No number", partial(ui.open, PERSON, id=who.id), lines=1,
             lead=face(who.name))
        for who in group
    ]  # fmt: skip
    merge = Button("Merge", partial(ui.ask, "merge", chosen=group[0].id), style="text")
    return Card(*rows, HStack(Space(weight=1), merge), pad=(0, 4, 8, 4), colour="container")


def _groups(phone: Phone) -> list[list[Contact]]:
    """Contacts of one name, then those of one number; nobody is in two groups."""
    people = contacts.all(phone)
    by_name = _alike([(who.name.casefold(), who) for who in people])
    taken = {who.id for group in by_name for who in group}
    rest = [who for who in people if who.id not in taken]
    return by_name + _alike([(digits(who.number)[-10:], who) for who in rest])


def _alike(keyed: list[tuple[str, Contact]]) -> list[list[Contact]]:
    groups: dict[str, list[Contact]] = {}
    for key, who in keyed:
        if key:
            groups.setdefault(key, []).append(who)
    return [group for group in groups.values() if len(group) > 1]


def _merge(ui: Ui, group: list[Contact]) -> None:
    first, *others = group
    db = ui.phone.databases.connection("contacts2.db")
    sql = "SELECT name_raw_contact_id FROM contacts WHERE _id = ?"
    raw = int(db.execute(sql, [first.id]).fetchone()[0])
    numbers, emails = [n for n, _ in first.numbers], list(first.emails)
    for other in others:
        for number, kind in other.numbers:
            if not any(same_number(number, known) for known in numbers):
                numbers.append(number)
                contacts.new_data(ui.phone, raw, PHONE, {"data1": number, "data2": kind})
        for email in other.emails:
            if email not in emails:
                emails.append(email)
                contacts.new_data(ui.phone, raw, EMAIL, {"data1": email, "data2": HOME})
        if other.starred:
            contacts.star(ui.phone, first.id)
        contacts.delete(ui.phone, other.id)
    ui.say("Contacts merged")
