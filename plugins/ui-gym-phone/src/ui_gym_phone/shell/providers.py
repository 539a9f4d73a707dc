"""Content providers: what stands behind the URIs that `content` takes."""

from __future__ import annotations

import mimetypes
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from ui_gym_phone.shell.uris import MEDIA, NoProvider, ProviderTable
from ui_gym_phone.state import contacts, messages
from ui_gym_phone.state.databases import bounded, connect
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.state.schemas import MIMETYPES

Values = dict[str, Any]
"""Columns that a command writes."""


def query(
    phone: Phone, source: ProviderTable, columns: str, where: str, order: str, most: int
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """(names, rows) of what a source holds, `most` rows at the most. Raises `sqlite3.Error`."""
    made = None if source.database else _virtual(phone, source.rows)
    db = made or phone.databases.connection(source.database)
    rows = "rows" if made else source.rows
    order = order or source.order
    line = f"SELECT {columns} FROM {rows}{_where(source, where)}"
    try:
        with bounded(db):
            cursor = db.execute(line + (f" ORDER BY {order}" if order else ""))
            return [c[0] for c in cursor.description], cursor.fetchmany(most)
    finally:
        if made is not None:
            made.close()


def insert(phone: Phone, source: ProviderTable, values: Values) -> None:
    """Write a row, as the provider does. Raises `NoProvider` or `sqlite3.Error`."""
    values = values | ({} if source.type is None else {"type": source.type})
    if source.provider == "settings":
        phone.put(source.rows, str(values.get("name")), str(values.get("value")))
        return
    if not source.database or not source.inserts:
        raise NoProvider("java.lang.UnsupportedOperationException: Cannot insert into this URL")
    special = _SPECIAL.get(source.table)
    if special is not None:
        special(phone, values)
        return
    db = phone.databases.connection(source.database)
    names = ", ".join(map(identifier, values))
    marks = ", ".join("?" * len(values))
    into = f"({names}) VALUES ({marks})" if values else "DEFAULT VALUES"
    with bounded(db):
        db.execute(f"INSERT INTO {source.table} {into}", [*values.values()])


def update(phone: Phone, source: ProviderTable, values: Values, where: str) -> None:
    """Change the rows that match. Raises `NoProvider` or `sqlite3.Error`."""
    if source.provider == "settings":
        for name in _ids(phone, source, where, "name"):
            phone.put(source.rows, str(name), str(values.get("value")))
        return
    table, ids = _written(source), _ids(phone, source, where, "_id")
    cells = ", ".join(f"{identifier(name)} = ?" for name in values)
    db = phone.databases.connection(source.database)
    with bounded(db):
        for id in ids if values else ():
            db.execute(f"UPDATE {table} SET {cells} WHERE _id = ?", [*values.values(), id])
    if table == "data":
        _refresh(phone, ids)


def delete(phone: Phone, source: ProviderTable, where: str) -> None:
    """Delete the rows that match. Raises `NoProvider` or `sqlite3.Error`."""
    if source.provider == "settings":
        for name in _ids(phone, source, where, "name"):
            phone.settings[source.rows].pop(str(name), None)
        return
    table, ids = _written(source), _ids(phone, source, where, "_id")
    db = phone.databases.connection(source.database)
    raws = _raws(phone, ids) if table == "data" else []
    column = "contact_id" if table == "contacts" else "_id"
    table = "raw_contacts" if table == "contacts" else table
    with bounded(db):
        for id in ids:
            db.execute(f"DELETE FROM {table} WHERE {column} = ?", [id])
    for raw in raws:
        contacts.refresh(phone, raw)


def identifier(name: str) -> str:
    """A column's name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _where(source: ProviderTable, where: str) -> str:
    parts = [f"({part})" for part in (source.where, where) if part]
    return " WHERE " + " AND ".join(parts) if parts else ""


def _written(source: ProviderTable) -> str:
    if not source.database or not source.table:
        raise NoProvider("java.lang.UnsupportedOperationException: Cannot change this URL")
    return source.table


def _ids(phone: Phone, source: ProviderTable, where: str, column: str) -> list[Any]:
    return [row[0] for row in query(phone, source, column, where, "", 100_000)[1]]


def _raws(phone: Phone, data: Iterable[Any]) -> list[int]:
    """The raw contacts that rows of data belong to."""
    db = phone.databases.connection("contacts2.db")
    found = set()
    for id in data:
        row = db.execute("SELECT raw_contact_id FROM data WHERE _id = ?", [id]).fetchone()
        if row is not None:
            found.add(int(row[0]))
    return sorted(found)


def _refresh(phone: Phone, data: Iterable[Any]) -> None:
    for raw in _raws(phone, data):
        contacts.refresh(phone, raw)


# -- rows that need more than an INSERT --


def _insert_sms(phone: Phone, values: Values) -> None:
    body, folder = str(values.get("body", "")), int(values.get("type", messages.INBOX))
    made = messages.insert(
        phone, str(values.get("address", "")), body, folder, read=folder != messages.INBOX
    )
    rest = {k: v for k, v in values.items() if k not in ("address", "body", "type")}
    _set(phone, "mmssms.db", "sms", made, rest)


def _insert_raw_contact(phone: Phone, values: Values) -> None:
    made = contacts.new_raw(phone)
    kept = {"starred", "sourceid", "aggregation_mode", "send_to_voicemail"}
    _set(
        phone, "contacts2.db", "raw_contacts", made, {k: v for k, v in values.items() if k in kept}
    )


def _insert_data(phone: Phone, values: Values) -> None:
    kind, raw = str(values.get("mimetype", "")), values.get("raw_contact_id")
    db = phone.databases.connection("contacts2.db")
    if raw is None or not db.execute("SELECT 1 FROM raw_contacts WHERE _id = ?", [raw]).fetchone():
        raise NoProvider("java.lang.IllegalArgumentException: raw_contact_id is required")
    if kind not in MIMETYPES:
        raise NoProvider(f"java.lang.IllegalArgumentException: mimetype is required, not {kind}")
    contacts.new_data(phone, int(raw), kind, values)


def _insert_event(phone: Phone, values: Values) -> None:
    missing = next((n for n in ("calendar_id", "dtstart", "eventTimezone") if n not in values), "")
    if missing:
        raise NoProvider(
            f"java.lang.IllegalArgumentException: Event values must include an {missing}"
        )
    db = phone.databases.connection("calendar.db")
    made = db.execute("INSERT INTO Events (organizer, isOrganizer) VALUES ('Phone', 1)").lastrowid
    assert made is not None
    try:
        _set(phone, "calendar.db", "Events", made, values | {"lastDate": values.get("dtend")})
    except sqlite3.Error:
        db.execute("DELETE FROM Events WHERE _id = ?", [made])
        raise


def _set(phone: Phone, database: str, table: str, id: int, values: Values) -> None:
    db = phone.databases.connection(database)
    cells = ", ".join(f"{identifier(name)} = ?" for name in values)
    if values:
        with bounded(db):
            db.execute(f"UPDATE {table} SET {cells} WHERE _id = ?", [*values.values(), id])


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
    prefix = MEDIA[kind]
    root = "/sdcard/Download" if kind == "downloads" else "/sdcard"
    for number, path in enumerate(phone.files.walk(root), 1000):
        mime = mimetypes.guess_type(path)[0] or "application/octet-stream"
        if not phone.files.is_file(path) or not mime.startswith(prefix):
            continue
        told = phone.files.stat(path)
        folder, _, name = path.removeprefix("/sdcard/").rpartition("/")
        yield (
            number, "/storage/emulated/0" + path.removeprefix("/sdcard"), name,
            name.rpartition(".")[0] or name, mime, told.size, int(told.mtime), int(told.mtime),
            folder + "/", folder.rpartition("/")[2],
        )  # fmt: skip
