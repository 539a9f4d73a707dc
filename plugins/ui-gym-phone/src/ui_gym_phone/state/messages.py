"""Messages: SMS, as typed functions over the telephony provider's database."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui_gym_phone.state import contacts, databases
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.contacts import same_number
from ui_gym_phone.state.databases import text, whole

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

PACKAGE = "com.android.messaging"

INBOX, SENT, DRAFT, OUTBOX, FAILED, QUEUED = 1, 2, 3, 4, 5, 6
"""Folders of a message: the column ``type``."""


@dataclass(frozen=True)
class TextMessage:
    """An SMS. `ms` is when it came or went, in milliseconds since 1970."""

    id: int
    number: str
    body: str
    ms: int
    sent: bool
    read: bool


@dataclass(frozen=True)
class MessageThread:
    """The messages with one number, of which `snippet` is the last one's text."""

    number: str
    snippet: str
    ms: int
    unread: int
    count: int


def send(phone: Phone, number: str, body: str) -> int:
    """Send an SMS; returns its id."""
    return insert(phone, number, body, SENT, creator=PACKAGE)


def receive(
    phone: Phone, number: str, body: str, ms: int | None = None, *, notify: bool = True
) -> int:
    """Let an SMS come in, at `ms` (now if None), with a notification; returns its id."""
    made = insert(phone, number, body, INBOX, ms=ms, read=False, creator=PACKAGE)
    if notify:
        name = contacts.name_of(phone, number)
        target = (".ConversationActivity", {"number": number})
        when = phone.clock.ms if ms is None else ms
        phone.notify(
            Notification(
                PACKAGE, _thread(phone, number), name, body, when, channel="messages", target=target
            )
        )
    return made


def insert(
    phone: Phone,
    number: str,
    body: str,
    folder: int,
    *,
    ms: int | None = None,
    read: bool = True,
    creator: str = "com.android.shell",
) -> int:
    """Write a message as the provider does, into the thread of its number; returns its id."""
    when = phone.clock.ms if ms is None else ms
    incoming = folder == INBOX
    return databases.insert(
        _db(phone), "sms", thread_id=_thread(phone, number), address=number, date=when,
        date_sent=when if incoming else 0, protocol=0 if incoming else None, read=int(read),
        type=folder, body=body, sub_id=1, seen=int(read), creator=creator,
    )  # fmt: skip


def all(phone: Phone) -> list[TextMessage]:
    """Every message, the oldest first."""
    return [*phone.databases.derived("mmssms.db", "all", lambda: _all(_db(phone)))]


def _all(db: sqlite3.Connection) -> list[TextMessage]:
    rows = db.execute("SELECT _id, address, body, date, type, read FROM sms")
    found = [
        TextMessage(
            whole(id),
            text(number),
            text(body),
            whole(ms),
            whole(folder) != INBOX,
            bool(whole(read)),
        )
        for id, number, body, ms, folder, read in rows
    ]
    return sorted(found, key=lambda m: (m.ms, m.id))


def conversation(phone: Phone, number: str) -> list[TextMessage]:
    """The messages with a number, the oldest first."""
    return [m for m in all(phone) if same_number(m.number, number)]


def threads(phone: Phone) -> list[MessageThread]:
    """Whom messages were exchanged with, the newest first."""
    return [*phone.databases.derived("mmssms.db", "threads", lambda: _threads(all(phone)))]


def _threads(messages: list[TextMessage]) -> list[MessageThread]:
    groups: dict[str, list[TextMessage]] = {}
    group: dict[str, str] = {}
    for message in messages:
        number = message.number
        if number not in group:
            group[number] = next((n for n in groups if same_number(n, number)), number)
        groups.setdefault(group[number], []).append(message)
    found = [
        MessageThread(
            n, ms[-1].body, ms[-1].ms, sum(not m.read and not m.sent for m in ms), len(ms)
        )
        for n, ms in groups.items()
    ]
    return sorted(found, key=lambda t: -t.ms)


def mark_read(phone: Phone, number: str) -> None:
    """Mark a conversation as read, and take its notification away."""
    unread = [m.id for m in conversation(phone, number) if not m.read]
    for id in unread:
        _db(phone).execute("UPDATE sms SET read = 1, seen = 1 WHERE _id = ?", [id])
    _withdraw(phone, number)


def delete(phone: Phone, id: int) -> None:
    """Delete one message."""
    _db(phone).execute("DELETE FROM sms WHERE _id = ?", [id])


def delete_thread(phone: Phone, number: str) -> None:
    """Delete a whole conversation."""
    _withdraw(phone, number)
    for message in conversation(phone, number):
        delete(phone, message.id)


def _withdraw(phone: Phone, number: str) -> None:
    for posted in [n for n in phone.notifications if n.package == PACKAGE]:
        if posted.target and same_number(str(posted.target[1].get("number", "")), number):
            phone.cancel(posted.key)


def _thread(phone: Phone, number: str) -> int:
    """The id of the thread with a number; it is made if there is none."""
    db = _db(phone)
    rows = db.execute(
        "SELECT t._id, a.address FROM threads t"
        " JOIN canonical_addresses a ON a._id = t.recipient_ids"
    )
    for id, address in rows.fetchall():
        if same_number(text(address), number):
            return whole(id)
    recipient = databases.insert(db, "canonical_addresses", address=number)
    return databases.insert(db, "threads", recipient_ids=str(recipient))


def _db(phone: Phone) -> sqlite3.Connection:
    return phone.databases.connection("mmssms.db")
