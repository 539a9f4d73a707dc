"""The list of everybody, with a search and a selection; and duplicates, to be merged."""

from __future__ import annotations

from collections import Counter
from functools import partial

from ui_gym_phone.apps.faces import CONTACTS, EDITOR, PERSON, face, matching
from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.state import contacts
from ui_gym_phone.state.contacts import EMAIL, HOME, PHONE, Contact, digits, same_number
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Lazy, ListRow, Space, VStack, Widget
from ui_gym_phone.ui.page import (
    AppPage,
    ScrollView,
    confirm,
    fab,
    more_menu,
    search_pill,
    selection_bar,
)
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Button, Card, Empty, Header, Icon, IconButton, Item

PEOPLE = ".activities.PeopleActivity"
DUPLICATES = ".activities.DuplicatesActivity"

APP = app_of(CONTACTS)


@APP.screen(PEOPLE, "READ_CONTACTS")
def people(ui: Ui) -> AppPage:
    """Everybody by name; touching one opens it, holding it selects it."""
    if ui.state.get("overlay") == "selection":
        return _selecting(ui)
    wanted = ui.text("search")
    found = matching(ui.phone, wanted)
    if wanted and not found:
        body: Widget = Empty("magnify", f"No contacts match “{wanted}”")
    elif not found:
        body = Empty("account-multiple", "No contacts yet")
    else:
        body = Lazy(_rows(ui, found, whole=not wanted))
    create = fab("plus", "Create contact", partial(ui.open, EDITOR))
    menu = more_menu(ui, [("Merge duplicates", partial(ui.open, DUPLICATES))])
    return AppPage(ScrollView(ui, "people", body, tail=88), bar=_search_bar(ui), fab=create,
                   menu=menu)  # fmt: skip


def _search_bar(ui: Ui) -> Widget:
    def changed(_: str) -> None:
        ui.activity.scroll.pop("people", None)

    field = TextField(ui, "search", "Search contacts", framed=False, weight=1, on_change=changed)

    def clear() -> None:
        ui.fill("search", "")
        ui.unfocus()

    more = IconButton("dots-vertical", "More options", ui.setter("overlay", "menu"))
    end = IconButton("close", "Clear search", clear) if ui.text("search") else more
    return search_pill(field, end)


def _rows(ui: Ui, found: list[Contact], *, whole: bool) -> list[ListRow]:
    """What is listed: favourites, then everybody below the first letter of the name."""
    names = Counter(person.name.casefold() for person in found)

    def row(person: Contact) -> ListRow:
        # Of those with one name, what tells them apart is told too.
        number = (person.number or "No number") if names[person.name.casefold()] > 1 else ""
        told = number if whole else person.number or "No number"
        return bool(told), partial(_row, ui, person, told)

    starred = [person for person in found if person.starred] if whole else []
    rows: list[ListRow] = [("header", partial(Header, "Favourites"))] if starred else []
    rows += [row(person) for person in starred]
    letter = ""
    for person in found:
        first = person.name[:1].upper() if person.name[:1].isalpha() else "#"
        if first != letter and whole:
            rows.append(("header", partial(Header, first)))
        letter = first
        rows.append(row(person))
    return rows


def _row(ui: Ui, person: Contact, told: str) -> Widget:
    return Item(
        person.name or "(No name)", told, partial(ui.open, PERSON, id=person.id), lines=1,
        lead=face(person.name), on_long_press=partial(_select, ui, person.id),
    )  # fmt: skip


# -- selecting --


def _select(ui: Ui, id: int) -> None:
    ui.unfocus()
    ui.state.update(overlay="selection", selected=[id])


def _toggle(ui: Ui, id: int) -> None:
    selected: list[int] = ui.state["selected"]
    left = [other for other in selected if other != id] if id in selected else [*selected, id]
    ui.state["selected"] = left
    if not left:
        ui.close_overlay()


def _selecting(ui: Ui) -> AppPage:
    selected: list[int] = ui.state["selected"]
    found = matching(ui.phone, ui.text("search"))

    def row(person: Contact) -> Widget:
        chosen = person.id in selected
        mark = Icon("check-circle", 40, "primary") if chosen else face(person.name)
        return Item(person.name or "(No name)", person.number, partial(_toggle, ui, person.id),
                    lead=mark, selected=chosen, lines=1)  # fmt: skip

    rows = [(bool(person.number), partial(row, person)) for person in found]

    def everybody() -> None:
        ui.state["selected"] = [person.id for person in found]

    def delete() -> None:
        for id in selected:
            contacts.delete(ui.phone, id)
        ui.close_overlay()
        ui.say("1 contact deleted" if len(selected) == 1 else f"{len(selected)} contacts deleted")

    bar = selection_bar(
        ui, len(selected), IconButton("select-all", "Select all", everybody),
        IconButton("delete-outline", "Delete", partial(ui.ask, "delete")),
    )  # fmt: skip
    what = "this contact" if len(selected) == 1 else f"these {len(selected)} contacts"
    asked = confirm(ui, f"Delete {what}?", "This can't be undone.", "Delete", delete)
    return AppPage(
        ScrollView(ui, "people", Lazy(rows), tail=24), bar=bar,
        dialog=asked if ui.dialog == "delete" else None,
    )  # fmt: skip


# -- those that seem to be one person --


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
