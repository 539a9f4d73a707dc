"""All calls with one number."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.calling import history, kind_name, place_call, write_to
from ui_gym_phone.apps.dates import duration_text, moment, near_day, time_of, today
from ui_gym_phone.apps.dialer.main import APP, DETAILS
from ui_gym_phone.apps.faces import CONTACTS, EDITOR, PERSON, face, name_of, person_with
from ui_gym_phone.state import calls
from ui_gym_phone.state.calls import MISSED, PhoneCall
from ui_gym_phone.state.contacts import same_number
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm
from ui_gym_phone.ui.widgets import Divider, Empty, Icon, IconButton, Item, Text


@APP.screen(DETAILS)
def details(ui: Ui) -> AppPage:
    """The calls with the extra `number`; each can be deleted, or all of them."""
    number = ui.extra("number")
    name = name_of(ui.phone, number)
    log = [call for call in history(ui.phone) if same_number(call.number, number)]
    known = Text(number, "small", "dim", lines=1) if name != number else None
    head = HStack(
        face(name, 56),
        Expand(VStack(Text(name, "subtitle", lines=2), known, gap=2)),
        IconButton("phone", "Call", partial(place_call, ui.phone, number)),
        gap=16, pad=(16, 12, 8, 16),
    )  # fmt: skip
    rows: list[Widget] = [head, *_ways(ui, number), Divider()]
    rows += [_row(ui, call) for call in log]
    if not log:
        rows.append(Empty("history", "No calls with this number"))
    trash = IconButton("delete-outline", "Delete history", partial(ui.ask, "delete"))
    asked = confirm(ui, "Delete this call history?", f"All calls with {name} will be deleted.",
                    "Delete", partial(_delete_all, ui, log))  # fmt: skip
    return AppPage(
        ScrollView(ui, "calls", VStack(*rows), tail=24), title="Call details", back=ui.close,
        actions=[trash] if log else [], dialog=asked if ui.dialog == "delete" else None,
    )  # fmt: skip


def _ways(ui: Ui, number: str) -> list[Widget]:
    person = person_with(ui.phone, number)
    if person is None:
        who = Item("Add contact", "", partial(ui.start, CONTACTS, EDITOR, phone=number),
                   icon="account-plus")  # fmt: skip
    else:
        who = Item("Contact details", "", partial(ui.start, CONTACTS, PERSON, id=person.id),
                   icon="account")  # fmt: skip
    return [
        Item("Send a message", "", partial(write_to, ui, number), icon="message-text"),
        who,
        Item("Copy number", "", partial(ui.copy, number, "Number copied"), icon="content-copy"),
    ]


def _row(ui: Ui, call: PhoneCall) -> Widget:
    day = near_day(moment(ui.phone, call.ms).date(), today(ui.phone))
    when = f"{day}, {time_of(ui.phone, call.ms)}"
    told = when if call.kind == MISSED else f"{when} · {duration_text(call.seconds)}"
    icon = {"Incoming": "phone-incoming", "Outgoing": "phone-outgoing"}.get(
        kind_name(call), "phone-missed"
    )
    drop = IconButton("close", f"Delete call of {when}", partial(calls.delete, ui.phone, call.id))
    lead = Icon(icon, 22, "error" if call.kind == MISSED else "dim")
    return Item(f"{kind_name(call)} call", told, lead=lead, trail=drop)


def _delete_all(ui: Ui, log: list[PhoneCall]) -> None:
    for call in log:
        calls.delete(ui.phone, call.id)
    ui.close()
    ui.say("Call history deleted")
