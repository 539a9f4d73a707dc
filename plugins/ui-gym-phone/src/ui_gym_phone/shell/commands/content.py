"""content: reads and writes content providers (AOSP ``cmds/content``)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from ui_gym_phone.shell import providers
from ui_gym_phone.shell.framework import usage
from ui_gym_phone.shell.providers import NoProvider, ProviderTable, Values, table_of
from ui_gym_phone.shell.registry import CommandContext, command

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
        raise ctx.ended(f"[ERROR] {error}\n\n{usage('content')}") from None
    try:
        _VERBS[verb](ctx, table_of(words["--uri"]), words, values)
    except (NoProvider, sqlite3.Error, TypeError, ValueError, OverflowError) as error:
        kind = "android.database.sqlite.SQLiteException: "
        if not isinstance(error, sqlite3.Error):
            kind = "" if isinstance(error, NoProvider) else "java.lang.IllegalArgumentException: "
        authority = words["--uri"].removeprefix("content://").split("/")[0]
        complaint = f"Error while accessing provider:{authority}\n{kind}{error}\n"
        raise ctx.ended(complaint) from None


def _words(argv: list[str]) -> tuple[dict[str, str], Values]:
    """The options of a call with their values, and the columns that it binds."""
    found, values = dict[str, str](), dict[str, Any]()
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


_KINDS: dict[str, Callable[[str], Any]] = {
    "i": int, "l": int, "f": float, "d": float, "s": str, "n": lambda value: None,
    "b": lambda value: int(value.lower() == "true"),
}  # fmt: skip


def _binding(text: str) -> tuple[str, Any]:
    """What ``NAME:KIND:VALUE`` binds."""
    name, _, rest = text.partition(":")
    kind, colon, value = rest.partition(":")
    if name and colon and kind not in _KINDS:
        raise _Usage(f"Unsupported type: {kind}")
    try:
        if name and colon:
            return name, _KINDS[kind](value)
    except ValueError:
        pass
    raise _Usage(f"Binding not well formed: {text}")


def _query(
    ctx: CommandContext, source: ProviderTable, words: dict[str, str], values: Values
) -> None:
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


_VERBS: dict[str, Callable[[CommandContext, ProviderTable, dict[str, str], Values], None]] = {
    "query": _query,
    "insert": lambda ctx, source, words, values: providers.insert(ctx.phone, source, values),
    "update": lambda ctx, source, words, values: providers.update(
        ctx.phone, source, values, words.get("--where", "")
    ),
    "delete": lambda ctx, source, words, values: providers.delete(
        ctx.phone, source, words.get("--where", "")
    ),
}
