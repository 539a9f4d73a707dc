"""content: reads and writes content providers (AOSP ``cmds/content``)."""

from __future__ import annotations

import sqlite3
from typing import Any

from ui_gym_phone.shell import providers
from ui_gym_phone.shell.framework import usage
from ui_gym_phone.shell.providers import Values
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.shell.uris import NoProvider, ProviderTable, table_of

Words = dict[str, str]
"""The options of a call with their values."""

MAX_ROWS = 20_000

_VALUED = ("--uri", "--user", "--projection", "--where", "--sort", "--extra")


class _Usage(Exception):
    """The words are wrong; the message says which."""


@command("content")
def _content(ctx: CommandContext) -> None:
    verb = [*ctx.words, "help"][0]
    if verb in ("", "help", "--help", "-h"):
        ctx.out(usage("content"))
        return
    try:
        if verb not in _VERBS:
            raise _Usage(f"Unsupported operation: {verb}")
        words, values = _words(ctx.words[1:])
    except _Usage as error:
        ctx.err(f"[ERROR] {error}\n\n{usage('content')}")
        ctx.code = 1
        return
    authority = words["--uri"].removeprefix("content://").split("/")[0]
    try:
        _VERBS[verb](ctx, table_of(words["--uri"]), words, values)
    except (NoProvider, sqlite3.Error, TypeError, ValueError, OverflowError) as error:
        kind = "android.database.sqlite.SQLiteException: "
        if not isinstance(error, sqlite3.Error):
            kind = "" if isinstance(error, NoProvider) else "java.lang.IllegalArgumentException: "
        ctx.err(f"Error while accessing provider:{authority}\n{kind}{error}\n")
        ctx.code = 1


def _words(argv: list[str]) -> tuple[Words, Values]:
    found: Words = {}
    values: Values = {}
    words = iter(argv)
    for word in words:
        if word not in _VALUED and word != "--bind":
            raise _Usage(f"Unsupported argument: {word}")
        value = next(words, None)
        if value is None:
            raise _Usage(f"No value for argument: {word}")
        if word == "--bind":
            name, cell = _binding(value)
            values[name] = cell
        else:
            found[word] = value
    if "--uri" not in found:
        raise _Usage("Content provider URI not specified. Did you specify --uri argument?")
    return found, values


def _binding(text: str) -> tuple[str, Any]:
    name, _, rest = text.partition(":")
    kind, colon, value = rest.partition(":")
    if not (name and colon):
        raise _Usage(f"Binding not well formed: {text}")
    try:
        if kind in ("i", "l"):
            return name, int(value)
        if kind in ("f", "d"):
            return name, float(value)
    except ValueError:
        raise _Usage(f"Binding not well formed: {text}") from None
    if kind == "b":
        return name, int(value.lower() == "true")
    if kind == "n":
        return name, None
    if kind == "s":
        return name, value
    raise _Usage(f"Unsupported type: {kind}")


def _query(ctx: CommandContext, source: ProviderTable, words: Words, values: Values) -> None:
    columns = ", ".join(words.get("--projection", "*").split(":"))
    where, order = words.get("--where", ""), words.get("--sort", "")
    names, rows = providers.query(ctx.phone, source, columns, where, order, MAX_ROWS)
    for number, row in enumerate(rows):
        cells = ", ".join(f"{n}={_shown(cell)}" for n, cell in zip(names, row, strict=True))
        ctx.out(f"Row: {number} {cells}\n")
    if not rows:
        ctx.out("No result found.\n")


def _shown(cell: object) -> str:
    if cell is None:
        return "NULL"
    return "BLOB" if isinstance(cell, bytes) else str(cell)


def _insert(ctx: CommandContext, source: ProviderTable, words: Words, values: Values) -> None:
    providers.insert(ctx.phone, source, values)


def _update(ctx: CommandContext, source: ProviderTable, words: Words, values: Values) -> None:
    providers.update(ctx.phone, source, values, words.get("--where", ""))


def _delete(ctx: CommandContext, source: ProviderTable, words: Words, values: Values) -> None:
    providers.delete(ctx.phone, source, words.get("--where", ""))


_VERBS = {"query": _query, "insert": _insert, "update": _update, "delete": _delete}
