"""What is written, as plain data: a `Change` is JSON, and applying it twice is applying it once.

Rows have ids that are derived from what they stand for (`key`), and are put by id. So changes may
be written to a file, and applied later, in their order, from any point before the last one that
the database has seen.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Table, and_, delete, update
from sqlalchemy.dialects import postgresql, sqlite

from ui_gym_agents.records.models import TABLES, Base

Row = Mapping[str, Any]
Verb = Literal["put", "ensure", "set", "drop"]

_RANK = {table.name: rank for rank, table in enumerate(Base.metadata.sorted_tables)}
_KEPT = frozenset({"id", "created_at"})
"""Columns that a later put leaves as they are."""


class Operation(NamedTuple):
    """One thing to do to a table.

    ``put`` inserts `rows` or updates the given columns of those that are there; ``ensure`` leaves
    those that are there; ``set`` gives the columns of ``rows[0]`` to the rows that match `where`;
    ``drop`` deletes these, with all that belongs to them. `where` compares columns for equality;
    a name with ``>`` behind it, for being greater.
    """

    verb: Verb
    table: str
    rows: Sequence[Row] = ()
    where: Row = {}


Change = Sequence[Operation]
"""What one event changes: applied as a whole."""


def put(table: str, *rows: Row) -> Operation:
    return Operation("put", table, rows)


def ensure(table: str, *rows: Row) -> Operation:
    return Operation("ensure", table, rows)


def set_(table: str, where: Row, **values: Any) -> Operation:
    return Operation("set", table, (values,), where)


def drop(table: str, **where: Any) -> Operation:
    return Operation("drop", table, (), where)


def key(*parts: object) -> str:
    """An id: 32 hexadecimal digits that depend on `parts` alone."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with None for numbers that JSON cannot say."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }


def to_json(change: Change) -> str:
    """A change on one line."""
    return json.dumps([list(operation) for operation in change], separators=(",", ":"))


def from_json(line: str | bytes) -> Change:
    """A change from what `to_json` gave. `ValueError` or `TypeError` where it is none."""
    return [Operation(*operation) for operation in json.loads(line)]


def apply(connection: Connection, changes: Iterable[Change]) -> None:
    """Carry out `changes` in order, within the caller's transaction.

    Puts between two other operations go together, table by table, parents first: statements are
    what costs.
    """
    waiting: dict[tuple[str, Verb, tuple[str, ...]], list[Row]] = {}
    for operation in (operation for change in changes for operation in change):
        if operation.verb in ("put", "ensure"):
            for row in operation.rows:
                kind = (operation.table, operation.verb, tuple(row))
                waiting.setdefault(kind, []).append(row)
            continue
        _flush(connection, waiting)
        table = TABLES[operation.table]
        condition = _condition(table, operation.where)
        if operation.verb == "drop":
            connection.execute(delete(table).where(condition))
        else:
            connection.execute(update(table).where(condition).values(**operation.rows[0]))
    _flush(connection, waiting)


def _flush(
    connection: Connection, waiting: dict[tuple[str, Verb, tuple[str, ...]], list[Row]]
) -> None:
    # Stable: among equal tables the order of arrival stays.
    for kind in sorted(waiting, key=lambda kind: _RANK[kind[0]]):
        rows = [dict(row) for row in waiting[kind]]
        connection.execute(_statement(connection.dialect.name, *kind), rows)
    waiting.clear()


@functools.lru_cache(maxsize=256)
def _statement(dialect: str, table: str, verb: Verb, columns: tuple[str, ...]) -> Any:
    module: Any = postgresql if dialect == "postgresql" else sqlite
    statement = module.insert(TABLES[table])
    changed = {name: statement.excluded[name] for name in columns if name not in _KEPT}
    if verb == "ensure" or not changed:
        return statement.on_conflict_do_nothing()
    return statement.on_conflict_do_update(index_elements=["id"], set_=changed)


def _condition(table: Table, where: Row) -> Any:
    return and_(
        *(
            table.c[name[:-1]] > value if name.endswith(">") else table.c[name] == value
            for name, value in where.items()
        )
    )
