"""Databases: the providers' SQLite databases, held in memory under Android's paths.

`content query`, `sqlite3` and a pulled ``mmssms.db`` are all read from here, so that they agree
with each other and with what the apps show.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ui_gym_phone.state.schemas import SCHEMAS, script

MAX_PAGES = 4096
"""The most pages (of 4096 bytes) of one database: 16 MB."""

STEPS = 2_000_000
"""The most instructions of SQLite's machine that foreign statements may take together."""

MAX_CELL = 256 << 10
"""The most bytes of one value within a foreign statement."""

T = TypeVar("T")

_of_blank: dict[tuple[str, str], Any] = {}
"""What was drawn from databases as the factory makes them."""

_PATH = re.compile(r"/+data/+(?:data|user/+0|user_de/+0)/+([\w.]+)/+databases/+([\w.]+)")
_MAGIC = b"SQLite format 3\0"

_DATA_ONLY = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
    }
)
_TABLES = frozenset(
    {
        sqlite3.SQLITE_CREATE_TABLE,
        sqlite3.SQLITE_CREATE_INDEX,
        sqlite3.SQLITE_CREATE_VIEW,
        sqlite3.SQLITE_DROP_TABLE,
        sqlite3.SQLITE_DROP_INDEX,
        sqlite3.SQLITE_DROP_VIEW,
        sqlite3.SQLITE_ALTER_TABLE,
        sqlite3.SQLITE_REINDEX,
    }
)
_PRAGMAS = frozenset(
    {"table_info", "table_list", "table_xinfo", "index_list", "index_info", "user_version",
     "schema_version", "database_list", "integrity_check", "quick_check", "journal_mode",
     "page_size", "page_count", "encoding", "foreign_key_list"}
)  # fmt: skip
_VALUE_PRAGMAS = {"table_info", "table_xinfo", "index_list", "index_info", "foreign_key_list"}
_FUNCTIONS_REFUSED = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}


class Databases:
    """All of the phone's databases, by file name (``mmssms.db``); each is opened when first used.

    Pickled, they are SQLite's own bytes, which are taken anew only of a database that changed.
    """

    def __init__(self) -> None:
        self._bytes: dict[str, bytes] = {}
        """Those that are not as the factory made them."""
        self._open: dict[str, sqlite3.Connection] = {}
        self._seen: dict[str, tuple[int, int]] = {}
        self._derived: dict[tuple[str, str], tuple[tuple[int, int], Any]] = {}

    def connection(self, name: str) -> sqlite3.Connection:
        """A database's one connection: it commits each statement. KeyError where there is none."""
        found = self._open.get(name)
        if found is None:
            found = self._open[name] = connect(self._bytes.get(name) or _blank(name))
            self._seen[name] = _stamp(found)
        return found

    def used(self, name: str) -> bool:
        """Whether a database was opened, or is not as the factory made it."""
        return name in self._open or name in self._bytes

    def derived(self, name: str, key: str, make: Callable[[], T]) -> T:
        """What `make` draws from a database, made anew only after a change; not to be changed.

        Of a database that nobody has used it is drawn once for all phones, so that a new phone
        need not open it.
        """
        if not self.used(name):
            kept = _of_blank.get((name, key), _of_blank)
            if kept is _of_blank:
                kept = _of_blank[name, key] = make()
            blank: T = kept
            return blank
        stamp = _stamp(self.connection(name))
        found = self._derived.get((name, key))
        if found is None or found[0] != stamp:
            found = self._derived[name, key] = stamp, make()
        value: T = found[1]
        return value

    def by_path(self, path: str) -> str | None:
        """The database that a path below ``/data/data``, ``user/0`` or ``user_de/0`` names."""
        found = _PATH.fullmatch(path)
        if found is None:
            return None
        schema = SCHEMAS.get(found[2])
        return found[2] if schema is not None and schema.package == found[1] else None

    def paths(self) -> list[str]:
        """Where Android keeps them, by all the names of these places."""
        return [
            f"/data/{root}/{schema.package}/databases/{name}"
            for name, schema in SCHEMAS.items()
            for root in (("user_de/0", "data") if schema.protected else ("data", "user/0"))
        ]

    def read(self, path: str) -> bytes | None:
        """The database at a path as SQLite's bytes; None where the path is of no database."""
        name = self.by_path(path)
        return None if name is None else self.taken(name)

    def write(self, path: str, data: bytes) -> bool:
        """Replace what the database at a path holds. False where the path is of no database.

        OSError with EINVAL where `data` is no SQLite database with all tables of this one.
        """
        name = self.by_path(path)
        if name is None:
            return False
        try:
            fresh = _filled(name, data)
        except (sqlite3.Error, OverflowError):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path) from None
        self.reset(name)
        self._open[name], self._seen[name] = fresh, (-1, -1)  # its bytes are yet to be taken
        return True

    def clear(self, package: str) -> None:
        """Empty the databases of a package, as clearing its data does."""
        for name, schema in SCHEMAS.items():
            if schema.package == package:
                self.reset(name)

    def reset(self, name: str) -> None:
        """Bring one database to where the factory had it."""
        self._bytes.pop(name, None)
        self._seen.pop(name, None)
        self._derived = {k: v for k, v in self._derived.items() if k[0] != name}
        if name in self._open:
            self._open.pop(name).close()

    def taken(self, name: str) -> bytes:
        """A database as it is now, as SQLite's bytes."""
        opened = self._open.get(name)
        if opened is not None and _stamp(opened) != self._seen[name]:
            self._bytes[name] = opened.serialize()
            self._seen[name] = _stamp(opened)
        return self._bytes.get(name) or _blank(name)

    def __getstate__(self) -> dict[str, dict[str, bytes]]:
        for name in self._open:
            self.taken(name)
        return {"bytes": dict(self._bytes)}

    def __setstate__(self, state: dict[str, dict[str, bytes]]) -> None:
        self._bytes, self._open, self._seen, self._derived = state["bytes"], {}, {}, {}

    def __del__(self) -> None:
        for opened in self._open.values():
            opened.close()


def connect(data: bytes = b"") -> sqlite3.Connection:
    """A database in memory from SQLite's bytes. `sqlite3.DatabaseError` where they are none."""
    if data and not data.startswith(_MAGIC):
        raise sqlite3.DatabaseError("file is not a database")
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        if data:
            if data[18:20] == b"\2\2":  # a write-ahead log, which nothing in memory can have
                data = data[:18] + b"\1\1" + data[20:]
            made.deserialize(data)
            made.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        made.execute(f"PRAGMA max_page_count = {MAX_PAGES}")
        made.execute("PRAGMA trusted_schema = OFF")
    except sqlite3.Error:
        made.close()
        raise
    return made


@contextmanager
def bounded(connection: sqlite3.Connection, *, tables: bool = False) -> Iterator[None]:
    """Within it, what a foreign statement may do is bounded: data is read and changed, nothing is
    attached or loaded, and all of it together takes no more than `STEPS`. `tables` allows to make
    and drop tables, too.

    `sqlite3.DatabaseError` ("not authorized", "interrupted") is raised for what is not. What is not
    committed at the end is rolled back, as when the `sqlite3` tool ends.
    """
    left = STEPS // 1000
    allowed = _DATA_ONLY | _TABLES if tables else _DATA_ONLY

    def authorise(action: int, one: str | None, two: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_FUNCTION:
            fine = (two or "").lower() not in _FUNCTIONS_REFUSED
        elif action == sqlite3.SQLITE_PRAGMA:
            name = (one or "").lower()
            fine = name in _PRAGMAS and (two is None or name in _VALUE_PRAGMAS)
        elif (one or "").startswith("sqlite_") and not tables:
            fine = action in (sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT)
        else:
            fine = action in allowed
        return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

    def step() -> int:
        nonlocal left
        left -= 1
        return left < 0

    before = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL)
    connection.set_authorizer(authorise)
    connection.set_progress_handler(step, 1000)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)
        if connection.in_transaction:
            connection.rollback()


def insert(db: sqlite3.Connection, table: str, **cells: object) -> int:
    """Add a row to a table; returns its id."""
    marks = ", ".join("?" * len(cells))
    sql = f"INSERT INTO {table} ({', '.join(cells)}) VALUES ({marks})"
    made = db.execute(sql, list(cells.values())).lastrowid
    assert made is not None
    return made


def update(db: sqlite3.Connection, table: str, id: int, **cells: object) -> None:
    """Change cells of the row of an id."""
    changes = ", ".join(f"{column} = ?" for column in cells)
    db.execute(f"UPDATE {table} SET {changes} WHERE _id = ?", [*cells.values(), id])


def text(value: object) -> str:
    """A cell as text: NULL is empty, and a cell may hold what its column does not say."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def whole(value: object) -> int:
    """A cell as a whole number; 0 where it is none."""
    try:
        return int(float(text(value)))
    except (ValueError, OverflowError):
        return 0


@functools.cache
def _blank(name: str) -> bytes:
    """A database as it leaves the factory."""
    with sqlite3.connect(":memory:") as made:
        made.executescript(script(name))
    data: bytes = made.serialize()
    made.close()
    return data


def _filled(name: str, data: bytes) -> sqlite3.Connection:
    """A database with the rows of another. Its triggers and views stay its own: those of foreign
    bytes could do anything whenever an app writes a row."""
    if len(data) > MAX_PAGES * 4096:
        raise sqlite3.DatabaseError("too big")
    other, made = connect(data), connect(_blank(name))
    try:
        tables = made.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        made.execute("BEGIN")
        for (table,) in tables:
            columns = [row[1] for row in made.execute(f"PRAGMA table_info({table})")]
            cells = ", ".join(f"[{column}]" for column in columns)
            with bounded(other):
                rows = other.execute(f"SELECT {cells} FROM [{table}]").fetchall()
            made.execute(f"DELETE FROM {table}")
            marks = ", ".join("?" * len(columns))
            made.executemany(f"INSERT INTO {table} ({cells}) VALUES ({marks})", rows)
        made.execute("COMMIT")
    except BaseException:
        made.close()
        raise
    finally:
        other.close()
    return made


def _stamp(connection: sqlite3.Connection) -> tuple[int, int]:
    """Differs when the data or the tables have changed."""
    version: tuple[Any, ...] = connection.execute("PRAGMA schema_version").fetchone()
    return connection.total_changes, int(version[0])
