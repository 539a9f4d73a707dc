"""The screen of a call that goes on, and of the calls with one number."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.call_log import history, kind_name
from ui_gym_phone.apps.dates import duration_text, moment, near_day, time_of, today
from ui_gym_phone.apps.dialer.main import APP, DETAILS
from ui_gym_phone.apps.faces import CONTACTS, EDITOR, PERSON, face
from ui_gym_phone.apps.support import write_to
from ui_gym_phone.state import calling, calls
from ui_gym_phone.state.calling import ANSWER_MS, IN_CALL, current_call, dial
from ui_gym_phone.state.calls import MISSED, PhoneCall
from ui_gym_phone.state.contacts import name_of, person_with, same_number
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm
from ui_gym_phone.ui.widgets import Button, Divider, Empty, Icon, IconButton, Item, Text

RED = "#d93025"
SWITCHES = (
    ("microphone-off", "Mute"), ("volume-high", "Speaker"), ("pause", "Hold"),
)  # fmt: skip


@APP.screen(IN_CALL)
def in_call(ui: Ui) -> AppPage:
    """The call of the extra `call`, until it is hung up."""
    number = ui.extra("number")
    name = name_of(ui.phone, number)
    going = ui.extra_number("call") and ui.extra_number("call") == current_call(ui.phone)
    head = VStack(
        Text(_status(ui) if going else "Call ended", "body", "dim", align="center", id="status"),
        Text(name, "headline", align="center", lines=2, id="contact_name"),
        Text(number, "body", "dim", align="center", lines=1) if name != number else None,
        gap=6, pad=(16, 16, 16, 16),
    )  # fmt: skip
    body = ScrollView(ui, "call", VStack(head, face(name, 96), Space(24)))
    if not going:
        return AppPage(
            body,
            bottom=HStack(
                Space(weight=1), Button("Close", ui.close), Space(weight=1), pad=(16, 12, 16, 16)
            ),
        )
    toggles: list[Widget] = [_toggle(ui, icon, name) for icon, name in SWITCHES]
    red = Tap(
        Surface(Icon("phone-hangup", 30, "#ffffff"), RED, radius=32, pad=(34, 14, 34, 14)),
        partial(_hang_up, ui), cls="android.widget.Button", desc="End call", id="end_call",
    )  # fmt: skip
    bottom = VStack(HStack(*toggles, align="start"), HStack(Space(weight=1), red, Space(weight=1)),
                    gap=20, pad=(16, 12, 16, 20))  # fmt: skip
    return AppPage(body, bottom=bottom)


def _status(ui: Ui) -> str:
    passed = ui.phone.clock.ms - ui.extra_number("ms")
    if passed < ANSWER_MS:
        return "Calling…"
    seconds = (passed - ANSWER_MS) // 1000
    if ui.state.get("Hold"):
        return "On hold"
    return f"{seconds // 60:02d}:{seconds % 60:02d}"


def _toggle(ui: Ui, icon: str, name: str) -> Widget:
    on = bool(ui.state.get(name))
    mark = Surface(Icon(icon, 24, "on_primary" if on else "text"), "primary" if on else "container",
                 radius=26, pad=14)  # fmt: skip
    label = Text(name, "small", "dim", lines=1, tell=False)
    return Tap(
        VStack(mark, label, gap=6, align="center"), ui.setter(name, not on), text=name, weight=1,
        cls="android.widget.ToggleButton", checkable=True, checked=on,
    )  # fmt: skip


def _hang_up(ui: Ui) -> None:
    calling.end(ui.phone)
    before = ui.extra("from")
    if ui.phone.at_home and before:  # the call was begun in another app: back to it
        ui.phone.launch(before)


# -- the calls with one number --


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
        IconButton("phone", "Call", partial(dial, ui.phone, number)),
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
