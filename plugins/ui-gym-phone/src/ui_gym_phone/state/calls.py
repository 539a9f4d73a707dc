"""Calls: the call log, as typed functions over its database."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui_gym_phone.state import contacts, databases
from ui_gym_phone.state.databases import text, whole

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

INCOMING, OUTGOING, MISSED, VOICEMAIL, REJECTED = 1, 2, 3, 4, 5
"""Kinds of a call: `CallLog.Calls.TYPE`."""


@dataclass(frozen=True)
class PhoneCall:
    """A call. `ms` is when it began, in milliseconds since 1970; `seconds` how long it was."""

    id: int
    number: str
    name: str
    ms: int
    seconds: int
    kind: int


def add(
    phone: Phone, number: str, kind: int = OUTGOING, *, seconds: int = 0, ms: int | None = None
) -> int:
    """Write a call into the log, at `ms` (now if None); returns its id."""
    when = phone.clock.ms if ms is None else ms
    name = contacts.name_of(phone, number)
    new = int(kind == MISSED)
    return databases.insert(
        _db(phone), "calls", number=number, date=when, duration=seconds, type=kind, new=new,
        name=None if name == number else name, countryiso="US", is_read=1 - new,
        last_modified=when,
    )  # fmt: skip


def all(phone: Phone) -> list[PhoneCall]:
    """Every call, the newest first. Names are those that contacts have now."""
    rows = _db(phone).execute("SELECT _id, number, date, duration, type FROM calls")
    names = {n: c.name for c in contacts.all(phone) for n, _ in c.numbers}
    found = []
    for id, number, ms, seconds, kind in rows:
        called = text(number)
        name = next((names[n] for n in names if contacts.same_number(n, called)), called)
        found.append(PhoneCall(whole(id), called, name, whole(ms), whole(seconds), whole(kind)))
    return sorted(found, key=lambda c: (-c.ms, -c.id))


def delete(phone: Phone, id: int) -> None:
    """Forget one call."""
    _db(phone).execute("DELETE FROM calls WHERE _id = ?", [id])


def clear(phone: Phone) -> None:
    """Forget all calls."""
    _db(phone).execute("DELETE FROM calls")


def _db(phone: Phone) -> sqlite3.Connection:
    return phone.databases.connection("calllog.db")
