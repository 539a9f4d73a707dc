"""Calling: a call goes on while its notification is posted; any app can begin one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui_gym_phone.apps.faces import name_of
from ui_gym_phone.state import calls, switches
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.calls import INCOMING, MISSED, OUTGOING, REJECTED, PhoneCall
from ui_gym_phone.ui.layout import Expand, HStack, Widget
from ui_gym_phone.ui.widgets import Icon, Text

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone
    from ui_gym_phone.ui.app import Ui

DIALER = "com.android.dialer"
IN_CALL = ".InCallActivity"
CALL = 1
"""The id of the notification of the call that goes on."""

RINGING_MS = 4_000
"""How long it rings before the other side answers."""


def place_call(phone: Phone, number: str) -> None:
    """Call a number: the screen of the call opens."""
    if switches.airplane(phone):
        phone.say("Turn off airplane mode to make a call")
        return
    end_call(phone)
    made = calls.add(phone, number)
    before = phone.front.package if phone.front is not None else ""
    extras = {"number": number, "call": made, "ms": phone.clock.ms, "from": before}
    name = name_of(phone, number)
    target = (IN_CALL, extras)
    phone.notify(
        Notification(DIALER, CALL, name, "Ongoing call", phone.clock.ms, channel="calls",
                     ongoing=True, target=target)
    )  # fmt: skip
    phone.start(DIALER, IN_CALL, extras)


def write_to(ui: Ui, number: str) -> None:
    """Open the conversation with a number."""
    ui.start("com.android.messaging", ".ConversationActivity", number=number)


def current_call(phone: Phone) -> int:
    """The id in the call log of the call that goes on; 0 if none does."""
    posted = _posted(phone)
    return int(posted.target[1]["call"]) if posted is not None and posted.target else 0


def end_call(phone: Phone) -> None:
    """Hang up: the log is told how long the call was."""
    posted = _posted(phone)
    if posted is None or posted.target is None:
        return
    phone.cancel(posted.key)
    id = posted.target[1]["call"]
    call = next((c for c in calls.all(phone) if c.id == id), None)
    talked = (phone.clock.ms - posted.when_ms - RINGING_MS) // 1000
    if call is not None and talked > 0:
        calls.delete(phone, call.id)
        calls.add(phone, call.number, call.kind, seconds=talked, ms=call.ms)


def _posted(phone: Phone) -> Notification | None:
    return next((n for n in phone.notifications if n.package == DIALER and n.id == CALL), None)


# -- calls as lists tell of them --

_KINDS = {
    INCOMING: ("phone-incoming", "Incoming", "dim"),
    OUTGOING: ("phone-outgoing", "Outgoing", "dim"),
    MISSED: ("phone-missed", "Missed", "error"),
    REJECTED: ("phone-missed", "Declined", "dim"),
}


def history(phone: Phone) -> list[PhoneCall]:
    """The call log, the newest first. A call's name may be out of date: ask `name_of`."""
    return phone.databases.derived("calllog.db", "history", lambda: calls.all(phone))


def kind_name(call: PhoneCall) -> str:
    """``Incoming``, ``Outgoing``, ``Missed``."""
    return _KINDS.get(call.kind, _KINDS[INCOMING])[1]


def kind_line(call: PhoneCall, when: str, count: int = 1) -> Widget:
    """A small arrow, how many calls it stands for, what it was, and when."""
    icon, name, ink = _KINDS.get(call.kind, _KINDS[INCOMING])
    several = f"({count}) " if count > 1 else ""
    told = Text(f"{several}{name} · {when}", "small", "dim", lines=1)
    return HStack(Icon(icon, 16, ink), Expand(told), gap=6)
