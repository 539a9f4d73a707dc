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
def content(ctx: CommandContext, argv: list[str]) -> int:
    verb = argv[1] if len(argv) > 1 else ""
    if verb in ("", "help", "--help", "-h"):
        ctx.out(usage("content"))
        return 0
    try:
        if verb not in _VERBS:
            raise _Usage(f"Unsupported operation: {verb}")
        words, values = _words(argv[2:])
    except _Usage as error:
        ctx.err(f"[ERROR] {error}\n\n{usage('content')}")
        return 1
    uri = words["--uri"]
    authority = uri.removeprefix("content://").split("/")[0]
    try:
        _VERBS[verb](ctx, table_of(uri), words, values)
    except NoProvider as error:
        return _wrong(ctx, authority, str(error))
    except sqlite3.Error as error:
        return _wrong(ctx, authority, f"android.database.sqlite.SQLiteException: {error}")
    except (TypeError, ValueError, OverflowError) as error:
        return _wrong(ctx, authority, f"java.lang.IllegalArgumentException: {error}")
    return 0


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


def _wrong(ctx: CommandContext, authority: str, message: str) -> int:
    ctx.err(f"Error while accessing provider:{authority}\n{message}\n")
    return 1
