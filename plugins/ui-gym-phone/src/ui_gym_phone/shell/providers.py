"""Content providers: the tables that URIs name (``data/providers.toml``), and how they change."""

from __future__ import annotations

import mimetypes
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from ui_gym_phone.data import table
from ui_gym_phone.state import contacts, messages
from ui_gym_phone.state.databases import bounded, connect
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.state.schemas import MIMETYPES

SETTINGS = ("system", "secure", "global")
MEDIA = {"images": "image/", "audio": "audio/", "video": "video/", "file": "", "downloads": ""}

Values = dict[str, Any]
"""Columns that a command writes."""


class NoProvider(Exception):
    """There is no provider, or it does not do that; the message is Android's."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"java.lang.{kind}Exception: {why}")


@dataclass(frozen=True)
class ProviderTable:
    """A table that a URI names. `rows` is a table, a view or a query in parentheses."""

    provider: str
    database: str
    rows: str
    where: str = ""
    """What all its rows fulfil."""
    table: str = ""
    """Where rows are updated and deleted, if not in `rows`; empty where they cannot be."""
    inserts: bool = True
    """Whether it takes new rows."""
    type: int | None = None
    """What rows that are inserted have in their column of that name."""
    order: str = ""
    """How its rows are sorted unless told otherwise."""


@cache
def _tables() -> dict[tuple[str, str], ProviderTable]:
    queries, found = table("providers")["queries"], {}
    for uri, told in table("providers")["tables"].items():
        provider, _, path = uri.partition("/")
        kind, rows = told.get("type"), told["rows"]
        found[provider, path] = ProviderTable(
            provider, told["database"], queries.get(rows, rows),
            told.get("where", "" if kind is None else f"type = {kind}"),
            told.get("table", "" if rows in queries else rows), rows not in queries, kind,
            "date DESC, _id DESC" if told.get("newest") else "",
        )  # fmt: skip
    return found


def table_of(uri: str) -> ProviderTable:
    """The table of a ``content:`` URI. Raises `NoProvider`."""
    parts = urlsplit(uri)
    authority, path = parts.netloc, unquote(parts.path).strip("/")
    steps, where = path.split("/"), ""
    number = steps[-1] if steps[-1].isdecimal() and len(steps[-1]) < 19 else ""
    if authority == "com.android.calendar" and path.startswith("instances/when/"):
        if len(steps) == 4 and number and steps[2].isdecimal():
            query: str = table("providers")["queries"]["instances"]
            rows = query.format(begin=int(steps[2]), end=int(number))
            return ProviderTable(authority, "calendar.db", rows, inserts=False)
    elif authority == "settings" and steps[0] in SETTINGS:
        name = "".join(steps[1:2]).replace("'", "''")
        return ProviderTable(authority, "", steps[0], f"name = '{name}'" if name else "")
    elif authority == "media" and len(steps) > 1 and steps[1] in MEDIA:
        where = f"_id = {int(number)}" if number else ""
        return ProviderTable(authority, "", "media/" + steps[1], where)
    elif number:
        path = "/".join(steps[:-1])
        column = "thread_id" if (authority, path) == ("sms", "conversations") else "_id"
        where = f"{column} = {int(number)}"
    found = _tables().get((authority, path))
    if found is None:
        if authority in {name for name, _ in _tables()} | {"settings", "media"}:
            raise NoProvider("IllegalArgument", f"Unknown URL {uri}")
        raise NoProvider("IllegalState", f"Could not find provider: {authority}")
    return replace(found, where=" AND ".join(filter(None, (found.where, where))))


# -- what is done to tables --


def query(
    phone: Phone, source: ProviderTable, columns: str, where: str, order: str, most: int
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """(names, rows) of what a source holds, `most` rows at the most. Raises `sqlite3.Error`."""
    made = None if source.database else _virtual(phone, source.rows)
    db = made or phone.databases.connection(source.database)
    wheres = [f"({part})" for part in (source.where, where) if part]
    line = f"SELECT {columns} FROM {'rows' if made else source.rows}"
    line += " WHERE " + " AND ".join(wheres) if wheres else ""
    line += f" ORDER BY {order or source.order}" if order or source.order else ""
    try:
        with bounded(db):
            cursor = db.execute(line)
            return [c[0] for c in cursor.description], cursor.fetchmany(most)
    finally:
        if made is not None:
            made.close()


def insert(phone: Phone, source: ProviderTable, values: Values) -> None:
    """Write a row, as the provider does. Raises `NoProvider` or `sqlite3.Error`."""
    values = values | ({} if source.type is None else {"type": source.type})
    if source.provider == "settings":
        phone.put(source.rows, str(values.get("name")), str(values.get("value")))
    elif not source.database or not source.inserts:
        raise NoProvider("UnsupportedOperation", "Cannot insert into this URL")
    elif source.table in _SPECIAL:
        _SPECIAL[source.table](phone, values)
    else:
        db = phone.databases.connection(source.database)
        names = ", ".join(map(identifier, values))
        marks = ", ".join("?" * len(values))
        into = f"({names}) VALUES ({marks})" if values else "DEFAULT VALUES"
        with bounded(db):
            db.execute(f"INSERT INTO {source.table} {into}", [*values.values()])


def update(phone: Phone, source: ProviderTable, values: Values, where: str) -> None:
    """Change the rows that match. Raises `NoProvider` or `sqlite3.Error`."""
    if source.provider == "settings":
        for name in _column(phone, source, where, "name"):
            phone.put(source.rows, str(name), str(values.get("value")))
    elif cells := _cells(values):
        _write(phone, source, where, f"UPDATE {source.table} SET {cells} WHERE _id = ?", values)


def delete(phone: Phone, source: ProviderTable, where: str) -> None:
    """Delete the rows that match. Raises `NoProvider` or `sqlite3.Error`."""
    if source.provider == "settings":
        for name in _column(phone, source, where, "name"):
            phone.delete(source.rows, str(name))
    elif source.provider == "media":
        for path in _column(phone, source, where, "_data"):
            phone.files.remove(str(path))
    elif source.table == "contacts":
        _write(phone, source, where, "DELETE FROM raw_contacts WHERE contact_id = ?", {})
    else:
        _write(phone, source, where, f"DELETE FROM {source.table} WHERE _id = ?", {})


def identifier(name: str) -> str:
    """A column's name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _cells(values: Values) -> str:
    return ", ".join(f"{identifier(name)} = ?" for name in values)


def _column(phone: Phone, source: ProviderTable, where: str, column: str) -> list[Any]:
    return [row[0] for row in query(phone, source, column, where, "", 100_000)[1]]


def _write(phone: Phone, source: ProviderTable, where: str, line: str, values: Values) -> None:
    """Run a line for the id of each row that matches."""
    if not source.database or not source.table:
        raise NoProvider("UnsupportedOperation", "Cannot change this URL")
    ids = _column(phone, source, where, "_id")
    db, raws = phone.databases.connection(source.database), set[int]()
    for id in ids if source.table == "data" else ():
        raws |= {
            row[0] for row in db.execute("SELECT raw_contact_id FROM data WHERE _id = ?", [id])
        }
    with bounded(db):
        for id in ids:
            db.execute(line, [*values.values(), id])
    for raw in sorted(raws):
        contacts.refresh(phone, raw)


# -- rows that need more than an INSERT --


def _set(phone: Phone, database: str, table: str, id: int, values: Values) -> None:
    db = phone.databases.connection(database)
    if values:
        with bounded(db):
            line = f"UPDATE {table} SET {_cells(values)} WHERE _id = ?"
            db.execute(line, [*values.values(), id])


def _insert_sms(phone: Phone, values: Values) -> None:
    body, folder = str(values.get("body", "")), int(values.get("type", messages.INBOX))
    made = messages.insert(
        phone, str(values.get("address", "")), body, folder, read=folder != messages.INBOX
    )
    rest = {k: v for k, v in values.items() if k not in ("address", "body", "type")}
    _set(phone, "mmssms.db", "sms", made, rest)


def _insert_raw_contact(phone: Phone, values: Values) -> None:
    kept = {"starred", "sourceid", "aggregation_mode", "send_to_voicemail"}
    values = {k: v for k, v in values.items() if k in kept}
    _set(phone, "contacts2.db", "raw_contacts", contacts.new_raw(phone), values)


def _insert_data(phone: Phone, values: Values) -> None:
    kind, raw = str(values.get("mimetype", "")), values.get("raw_contact_id")
    db = phone.databases.connection("contacts2.db")
    if raw is None or not db.execute("SELECT 1 FROM raw_contacts WHERE _id = ?", [raw]).fetchone():
        raise NoProvider("IllegalArgument", "raw_contact_id is required")
    if kind not in MIMETYPES:
        raise NoProvider("IllegalArgument", f"mimetype is required, not {kind}")
    contacts.new_data(phone, int(raw), kind, values)


def _insert_event(phone: Phone, values: Values) -> None:
    missing = next((n for n in ("calendar_id", "dtstart", "eventTimezone") if n not in values), "")
    if missing:
        raise NoProvider("IllegalArgument", f"Event values must include an {missing}")
    db = phone.databases.connection("calendar.db")
    made = db.execute("INSERT INTO Events (organizer, isOrganizer) VALUES ('Phone', 1)").lastrowid
    assert made is not None
    try:
        _set(phone, "calendar.db", "Events", made, values | {"lastDate": values.get("dtend")})
    except sqlite3.Error:
        db.execute("DELETE FROM Events WHERE _id = ?", [made])
        raise


_SPECIAL: dict[str, Callable[[Phone, Values], None]] = {
    "sms": _insert_sms, "raw_contacts": _insert_raw_contact, "data": _insert_data,
    "Events": _insert_event,
}  # fmt: skip


# -- tables that are drawn from the phone's state --


def _virtual(phone: Phone, kind: str) -> sqlite3.Connection:
    """A database whose table ``rows`` is a namespace of settings, or the media files."""
    db = connect()
    if kind.startswith("media/"):
        db.execute(
            "CREATE TABLE rows (_id INTEGER, _data TEXT, _display_name TEXT, title TEXT,"
            " mime_type TEXT, _size INTEGER, date_added INTEGER, date_modified INTEGER,"
            " relative_path TEXT, bucket_display_name TEXT)"
        )
        db.executemany("INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?)", _media(phone, kind[6:]))
    else:
        db.execute("CREATE TABLE rows (_id INTEGER PRIMARY KEY, name TEXT, value TEXT)")
        rows = sorted(phone.settings[kind].items())
        db.executemany("INSERT INTO rows (name, value) VALUES (?, ?)", rows)
    return db


def _media(phone: Phone, kind: str) -> Iterable[tuple[Any, ...]]:
    root = "/sdcard/Download" if kind == "downloads" else "/sdcard"
    for number, path in enumerate(phone.files.walk(root), 1000):
        mime = mimetypes.guess_type(path)[0] or "application/octet-stream"
        if not phone.files.is_file(path) or not mime.startswith(MEDIA[kind]):
            continue
        told, below = phone.files.stat(path), path.removeprefix("/sdcard")
        folder, _, name = below[1:].rpartition("/")
        yield (
            number, "/storage/emulated/0" + below, name, name.rpartition(".")[0] or name, mime,
            told.size, int(told.mtime), int(told.mtime), folder + "/", folder.rpartition("/")[2],
        )  # fmt: skip
