"""URIs of content providers, and the tables that they name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from ui_gym_phone.state import contacts, messages


class NoSource(Exception):
    """There is no provider, or it does not know the URI; the message is Android's."""


@dataclass(frozen=True)
class Source:
    """A table that a URI names. `rows` is a table, a view or a query in parentheses."""

    provider: str
    database: str
    rows: str
    where: str = ""
    """What all its rows fulfil."""
    table: str = ""
    """Where rows are updated and deleted, if not in `rows`."""
    fixed: tuple[tuple[str, int], ...] = ()
    """What rows that are inserted get."""
    order: str = ""
    """How its rows are sorted unless told otherwise."""


_NEWEST = "date DESC, _id DESC"

PHONES = """(SELECT d._id, r.contact_id AS person, d.data1 AS number, d.data2 AS type,
  d.data3 AS label, d.is_primary AS isprimary, r.display_name AS name, r.display_name,
  r.phonetic_name, NULL AS notes, r.starred, d.raw_contact_id
  FROM data d JOIN raw_contacts r ON r._id = d.raw_contact_id
  WHERE r.deleted = 0 AND d.mimetype_id = 5 ORDER BY d._id)"""
PEOPLE = """(SELECT c._id, r.display_name AS name, r.display_name, r.phonetic_name, c.starred,
  (SELECT data1 FROM data d WHERE d.raw_contact_id = r._id AND d.mimetype_id = 5 LIMIT 1) AS number
  FROM contacts c JOIN raw_contacts r ON r._id = c.name_raw_contact_id)"""

_FOLDERS = {
    "inbox": messages.INBOX, "sent": messages.SENT, "draft": messages.DRAFT,
    "outbox": messages.OUTBOX, "failed": messages.FAILED, "queued": messages.QUEUED,
}  # fmt: skip

_TABLES: dict[tuple[str, str], Source] = {
    ("contacts", "phones"): Source("contacts", "contacts2.db", PHONES, table="data"),
    ("contacts", "people"): Source("contacts", "contacts2.db", PEOPLE, table="contacts"),
    ("com.android.contacts", "contacts"): Source(
        "com.android.contacts", "contacts2.db", "view_contacts", table="contacts"
    ),
    ("com.android.contacts", "raw_contacts"): Source(
        "com.android.contacts", "contacts2.db", "view_raw_contacts", table="raw_contacts"
    ),
    ("com.android.contacts", "data"): Source(
        "com.android.contacts", "contacts2.db", "view_data", table="data"
    ),
    ("com.android.contacts", "data/phones"): Source(
        "com.android.contacts", "contacts2.db", "view_data",
        f"mimetype = '{contacts.PHONE}'", table="data",
    ),
    ("com.android.contacts", "data/emails"): Source(
        "com.android.contacts", "contacts2.db", "view_data",
        f"mimetype = '{contacts.EMAIL}'", table="data",
    ),
    ("call_log", "calls"): Source("call_log", "calllog.db", "calls", order=_NEWEST),
    ("com.android.calendar", "events"): Source(
        "com.android.calendar", "calendar.db", "Events", "deleted = 0"
    ),
    ("com.android.calendar", "calendars"): Source(
        "com.android.calendar", "calendar.db", "Calendars"
    ),
    ("com.android.calendar", "reminders"): Source(
        "com.android.calendar", "calendar.db", "Reminders"
    ),
    ("com.android.calendar", "attendees"): Source(
        "com.android.calendar", "calendar.db", "Attendees"
    ),
    ("sms", ""): Source("sms", "mmssms.db", "sms", order=_NEWEST),
    ("sms", "conversations"): Source(
        "sms", "mmssms.db",
        "(SELECT snippet, message_count AS msg_count, _id AS thread_id FROM threads)",
    ),
    ("mms-sms", "conversations"): Source("mms-sms", "mmssms.db", "threads", order=_NEWEST),
    ("mms-sms", "canonical-addresses"): Source("mms-sms", "mmssms.db", "canonical_addresses"),
    **{
        ("sms", name): Source(
            "sms", "mmssms.db", "sms", f"type = {kind}", "", (("type", kind),), _NEWEST
        )
        for name, kind in _FOLDERS.items()
    },
}  # fmt: skip

_INSTANCES = """(SELECT i._id AS instance_id, i.event_id, i.begin, i.end, i.startDay, i.endDay,
  i.startMinute, i.endMinute, e.* FROM Instances i JOIN Events e ON e._id = i.event_id
  WHERE i.end >= {begin} AND i.begin <= {end} ORDER BY i.begin)"""

_SETTINGS = ("system", "secure", "global")
MEDIA = {"images": "image/", "audio": "audio/", "video": "video/", "file": "", "downloads": ""}


def source_of(uri: str) -> Source:
    """The table of a ``content:`` URI. Raises `NoSource`."""
    parts = urlsplit(uri)
    authority, path = parts.netloc, unquote(parts.path).strip("/")
    where = ""
    first = path.split("/")
    if authority == "com.android.calendar" and path.startswith("instances/when/"):
        if len(first) == 4 and _number(first[2]) and _number(first[3]):
            rows = _INSTANCES.format(begin=int(first[2]), end=int(first[3]))
            return Source(authority, "calendar.db", rows)
    elif authority == "settings" and first[0] in _SETTINGS:
        named = f"name = {quoted(first[1])}" if len(first) > 1 else ""
        return Source(authority, "", first[0], named)
    elif authority == "media" and len(first) > 1 and first[1] in MEDIA:
        where = f"_id = {int(first[-1])}" if _number(first[-1]) else ""
        return Source(authority, "", "media/" + first[1], where)
    elif _number(first[-1]):
        path = "/".join(first[:-1])
        column = "thread_id" if (authority, path) == ("sms", "conversations") else "_id"
        where = f"{column} = {int(first[-1])}"
    found = _TABLES.get((authority, path))
    if found is None:
        known = {name for name, _ in _TABLES} | {"settings", "media"}
        if authority in known:
            raise NoSource(f"java.lang.IllegalArgumentException: Unknown URL {uri}")
        raise NoSource(f"java.lang.IllegalStateException: Could not find provider: {authority}")
    if where:
        both = f"{found.where} AND {where}" if found.where else where
        return replace(found, where=both)
    return found


def _number(part: str) -> bool:
    return part.isdecimal() and len(part) < 19


def quoted(text: str) -> str:
    """A text, quoted for SQL."""
    return "'" + text.replace("'", "''") + "'"
