"""Rows of apps that keep them in a SQLite file of their own, an ordinary file of the phone's.

Whoever pulls, changes and pushes such a file, as benchmarks do, finds the app showing what it
holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ui_gym_phone.state.databases import bounded, connect
from ui_gym_phone.state.phone import Phone

Record = Mapping[str, Any]
"""A row: column -> value."""

MOST = 2_000
"""The most rows that are read."""


def rows(phone: Phone, path: str, sql: str) -> tuple[Record, ...]:
    """What a query gives; nothing where there is no such database, or it has other tables."""
    try:
        return _rows(phone.files.read(path), sql)
    except (OSError, sqlite3.Error):
        return ()


@lru_cache(maxsize=64)
def _rows(data: bytes, sql: str) -> tuple[Record, ...]:
    db = connect(data)
    try:
        with bounded(db):
            cursor = db.execute(sql)
            names = [column[0] for column in cursor.description]
            return tuple(dict(zip(names, row, strict=True)) for row in cursor.fetchmany(MOST))
    finally:
        db.close()


def change(phone: Phone, path: str, *statements: tuple[str, Mapping[str, Any]]) -> int:
    """Run statements, each with its values by name, and write the file; the id of the last row
    that was inserted.

    Raises:
        OSError: the file is not there, is no database, or cannot be written.
    """
    db = None
    try:
        db = connect(phone.files.read(path))
        made = 0
        with bounded(db):
            db.execute("BEGIN")
            for sql, values in statements:
                made = db.execute(sql, values).lastrowid or made
            db.execute("COMMIT")
        data = db.serialize()
    except sqlite3.Error as error:
        raise OSError(0, f"The database cannot be written: {error}") from None
    finally:
        if db is not None:
            db.close()
    phone.files.write(path, data)
    return made


def insert(
    phone: Phone, path: str, table: str, cells: Mapping[str, Any], *more: tuple[str, Record]
) -> int:
    """Add a row, then run further statements; gives the row's id."""
    names = ", ".join(_quoted(name) for name in cells)
    marks = ", ".join(f":{name}" for name in cells)
    return change(
        phone, path, (f"INSERT INTO {_quoted(table)} ({names}) VALUES ({marks})", cells), *more
    )


def update(
    phone: Phone, path: str, table: str, key: str, id: Any, cells: Mapping[str, Any],
    *more: tuple[str, Record],
) -> None:  # fmt: skip
    """Change cells of the row whose `key` is `id`, then run further statements."""
    changed = ", ".join(f"{_quoted(name)} = :{name}" for name in cells)
    line = f"UPDATE {_quoted(table)} SET {changed} WHERE {_quoted(key)} = :_id_"
    change(phone, path, (line, {**cells, "_id_": id}), *more)


def delete(phone: Phone, path: str, table: str, key: str, ids: list[Any]) -> None:
    """Delete the rows of these ids."""
    line = f"DELETE FROM {_quoted(table)} WHERE {_quoted(key)} = :id"
    change(phone, path, *[(line, {"id": id}) for id in ids])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
