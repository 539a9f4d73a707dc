"""Call log: the calls as lists tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui_gym_phone.state import calls
from ui_gym_phone.state.calls import INCOMING, MISSED, OUTGOING, REJECTED, PhoneCall
from ui_gym_phone.ui.layout import Expand, HStack, Widget
from ui_gym_phone.ui.widgets import Icon, Text

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

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
