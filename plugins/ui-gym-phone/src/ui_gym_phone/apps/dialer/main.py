"""The first screen: favourites, recent calls and contacts, with a search over them."""

from __future__ import annotations

from functools import partial
from itertools import groupby

from ui_gym_phone.apps.call_log import history, kind_line
from ui_gym_phone.apps.dates import lately
from ui_gym_phone.apps.dialer.pad import dialpad
from ui_gym_phone.apps.faces import CONTACTS, EDITOR, PERSON, face, matching
from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.state import calls, contacts
from ui_gym_phone.state.calling import DIALER, dial
from ui_gym_phone.state.calls import MISSED, PhoneCall
from ui_gym_phone.state.contacts import KINDS, Contact, digits, name_of
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, GridLayout, HStack, Lazy, Tap, VStack, Widget
from ui_gym_phone.ui.page import (
    AppPage,
    ScrollView,
    bottom_nav,
    confirm,
    fab,
    more_menu,
    search_pill,
)
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import AtLeast, Disc, Empty, Header, IconButton, Item, Text

MAIN = ".DialtactsActivity"
DETAILS = ".CallDetailsActivity"

APP = app_of(DIALER)

FAVOURITES, RECENTS, PEOPLE = range(3)


@APP.screen(MAIN)
def main(ui: Ui) -> AppPage:
    """The tabs, or the dial pad; the extra `number` of a ``tel:`` intent is put into the pad."""
    if "tab" not in ui.state:
        ui.state["tab"] = RECENTS
        if number := ui.extra("number"):
            ui.fill("digits", number)
            ui.state["overlay"] = "dialpad"
    if ui.state.get("overlay") == "dialpad":
        return dialpad(ui)
    tab = int(ui.state["tab"])
    searching = bool(ui.text("search") or ui.activity.focus)
    body = _found(ui) if ui.text("search") else (_favourites, _recents, _people)[tab](ui)
    nav = bottom_nav(
        [("star", "Favourites", partial(_turn, ui, FAVOURITES)),
         ("history", "Recents", partial(_turn, ui, RECENTS)),
         ("account-multiple", "Contacts", partial(_turn, ui, PEOPLE))], tab,
    )  # fmt: skip
    clear = confirm(ui, "Clear call history?", "All calls will be deleted from your history.",
                    "Clear", partial(_clear, ui))  # fmt: skip
    return AppPage(
        ScrollView(ui, f"tab {tab}", body, tail=88), bar=_search_bar(ui),
        bottom=None if searching else nav,
        menu=more_menu(ui, [("Clear call history", partial(ui.ask, "clear"))]),
        fab=None if searching else fab("dialpad", "Key pad", partial(_dial, ui)),
        dialog=clear if ui.dialog == "clear" else None,
    )  # fmt: skip


def _turn(ui: Ui, tab: int) -> None:
    ui.fill("search", "")
    ui.unfocus()
    ui.state["tab"] = tab


def _dial(ui: Ui) -> None:
    ui.unfocus()
    ui.state["overlay"] = "dialpad"


def _search_bar(ui: Ui) -> Widget:
    field = TextField(ui, "search", "Search contacts", framed=False, weight=1)
    more = IconButton("dots-vertical", "More options", ui.setter("overlay", "menu"))
    return search_pill(field, more)


def _clear(ui: Ui) -> None:
    calls.clear(ui.phone)
    ui.say("Call history cleared")


# -- the tabs --


def _favourites(ui: Ui) -> Widget:
    starred = [person for person in contacts.all(ui.phone) if person.starred]
    if not starred:
        return Empty("star-outline", "No favourites yet. Star a contact to find it here")
    cells: list[Widget] = []
    for person in starred:
        touch = (
            partial(dial, ui.phone, person.number)
            if person.numbers
            else partial(ui.start, CONTACTS, PERSON, id=person.id)
        )
        tile = VStack(
            face(person.name, 72),
            Text(person.name, "small", lines=2, align="center", tell=False),
            gap=8, pad=(4, 12, 4, 12),
        )  # fmt: skip
        cells.append(Tap(tile, touch, text=person.name, desc=f"Call {person.name}"))
    return GridLayout(*cells, columns=3, pad=(12, 4, 12, 0))


def _recents(ui: Ui) -> Widget:
    log = history(ui.phone)
    if not log:
        return Empty("history", "Your call history is empty")
    groups = [list(group) for _, group in groupby(log, key=lambda call: call.number)]
    return Lazy([("call", partial(_recent, ui, group)) for group in groups])


def _recent(ui: Ui, group: list[PhoneCall]) -> Widget:
    last, name = group[0], name_of(ui.phone, group[0].number)
    ink = "error" if last.kind == MISSED else "text"
    texts = VStack(
        Text(name, "body", ink, lines=1),
        kind_line(last, lately(ui.phone, last.ms), len(group)), gap=2,
    )  # fmt: skip
    call = IconButton("phone", f"Call {name}", partial(dial, ui.phone, last.number))
    line = HStack(face(name), Expand(texts), call, gap=16, pad=(16, 8, 4, 8))
    return Tap(AtLeast(line, 64), partial(ui.open, DETAILS, number=last.number))


def _people(ui: Ui) -> Widget:
    create = Item("Create new contact", "", partial(ui.start, CONTACTS, EDITOR),
                  lead=Disc("#1a73e8", 40, icon="account-plus"))  # fmt: skip

    def row(person: Contact) -> Widget:
        return Item(person.name or "(No name)", person.number, lead=face(person.name), lines=1,
                    on_tap=partial(ui.start, CONTACTS, PERSON, id=person.id))  # fmt: skip

    people = contacts.all(ui.phone)
    return VStack(create, Lazy([(bool(p.number), partial(row, p)) for p in people]))


def _found(ui: Ui) -> Widget:
    wanted = ui.text("search").strip()
    rows: list[Widget] = []
    if digits(wanted) and not any(sign.isalpha() for sign in wanted):
        rows.append(
            Item(f"Call {wanted}", "", partial(dial, ui.phone, wanted),
                 lead=Disc("#188038", 40, icon="phone"))
        )  # fmt: skip
    people = matching(ui.phone, wanted)
    if people:
        rows.append(Header("Contacts"))

    def row(name: str, number: str, kind: int) -> Widget:
        told = f"{number} · {KINDS.get(kind, 'Other')}"
        return Item(name, told, partial(dial, ui.phone, number), lines=1, lead=face(name))

    numbers = [(person.name, *each) for person in people for each in person.numbers]
    rows.append(Lazy([("number", partial(row, *each)) for each in numbers]))
    return VStack(*rows) if len(rows) > 1 else Empty("magnify", "No contacts found")
