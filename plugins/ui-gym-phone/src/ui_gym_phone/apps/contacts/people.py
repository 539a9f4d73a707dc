"""The list of everybody, with a search and a selection."""

from __future__ import annotations

from collections import Counter
from functools import partial

from ui_gym_phone.apps.faces import CONTACTS, EDITOR, PERSON, face, matching
from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.state import contacts
from ui_gym_phone.state.contacts import Contact
from ui_gym_phone.state.packages import Package
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Lazy, ListRow, Widget
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
from ui_gym_phone.ui.widgets import Empty, Header, Icon, IconButton, Item

PEOPLE = ".activities.PeopleActivity"
DUPLICATES = ".activities.DuplicatesActivity"

APP = PhoneApp(
    Package(
        CONTACTS, "Contacts", PEOPLE, icon="contacts", colour="#1a73e8",
        permissions={"READ_CONTACTS": True, "CALL_PHONE": True, "READ_SMS": False},
    )
)  # fmt: skip


@APP.screen(PEOPLE)
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
