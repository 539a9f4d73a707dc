"""URIs of content providers, and the tables that they name (``data/providers.toml``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import unquote, urlsplit

from ui_gym_phone.data import table

SETTINGS = ("system", "secure", "global")
MEDIA = {"images": "image/", "audio": "audio/", "video": "video/", "file": "", "downloads": ""}


class NoProvider(Exception):
    """There is no provider, or it does not know the URI; the message is Android's."""


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
    first, where = path.split("/"), ""
    if authority == "com.android.calendar" and path.startswith("instances/when/"):
        if len(first) == 4 and _number(first[2]) and _number(first[3]):
            query: str = table("providers")["queries"]["instances"]
            rows = query.format(begin=int(first[2]), end=int(first[3]))
            return ProviderTable(authority, "calendar.db", rows, inserts=False)
    elif authority == "settings" and first[0] in SETTINGS:
        named = f"name = {quoted(first[1])}" if len(first) > 1 else ""
        return ProviderTable(authority, "", first[0], named)
    elif authority == "media" and len(first) > 1 and first[1] in MEDIA:
        where = f"_id = {int(first[-1])}" if _number(first[-1]) else ""
        return ProviderTable(authority, "", "media/" + first[1], where)
    elif _number(first[-1]):
        path = "/".join(first[:-1])
        column = "thread_id" if (authority, path) == ("sms", "conversations") else "_id"
        where = f"{column} = {int(first[-1])}"
    found = _tables().get((authority, path))
    if found is None:
        if authority in {name for name, _ in _tables()} | {"settings", "media"}:
            raise NoProvider(f"java.lang.IllegalArgumentException: Unknown URL {uri}")
        raise NoProvider(f"java.lang.IllegalStateException: Could not find provider: {authority}")
    both = f"{found.where} AND {where}" if found.where else where
    return replace(found, where=both) if where else found


def _number(part: str) -> bool:
    return part.isdecimal() and len(part) < 19


def quoted(text: str) -> str:
    """A text, quoted for SQL."""
    return "'" + text.replace("'", "''") + "'"
