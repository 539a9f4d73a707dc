"""content: reads and writes content providers (AOSP ``cmds/content``)."""

from __future__ import annotations

import sqlite3
from typing import Any

from ui_gym_phone.shell import providers
from ui_gym_phone.shell.machine import phone_of
from ui_gym_phone.shell.providers import Values
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.shell.uris import NoSource, Source, source_of

USAGE = """usage: adb shell content [subcommand] [options]

usage: adb shell content insert --uri <URI> [--user <USER_ID>] --bind <BINDING> [--bind <BINDING>...] [--extra <BINDING>...]
  <URI> a content provider URI.
  <BINDING> binds a typed value to a column and is formatted:
  <COLUMN_NAME>:<TYPE>:<COLUMN_VALUE> where:
  <TYPE> specifies data type such as:
  b - boolean, s - string, i - integer, l - long, f - float, d - double, n - null

usage: adb shell content update --uri <URI> [--user <USER_ID>] [--where <WHERE>] [--extra <BINDING>...]

usage: adb shell content delete --uri <URI> [--user <USER_ID>] --bind <BINDING> [--bind <BINDING>...] [--where <WHERE>] [--extra <BINDING>...]

usage: adb shell content query --uri <URI> [--user <USER_ID>] [--projection <PROJECTION>] [--where <WHERE>] [--sort <SORT_ORDER>] [--extra <BINDING>...]
  <PROJECTION> is a list of colon separated column names and is formatted:
  <COLUMN_NAME>[:<COLUMN_NAME>...]
  <SORT_ORDER> is the order in which rows in the result should be sorted.
"""  # noqa: E501 - as Android prints it

MAX_ROWS = 20_000

_VALUED = ("--uri", "--user", "--projection", "--where", "--sort", "--extra")


class _Usage(Exception):
    """The words are wrong; the message says which."""


@command("content")
def content(ctx: Context, argv: list[str]) -> int:
    verb = argv[1] if len(argv) > 1 else ""
    if verb in ("", "help", "--help", "-h"):
        ctx.out(USAGE)
        return 0
    try:
        if verb not in _VERBS:
            raise _Usage(f"Unsupported operation: {verb}")
        words, values = _words(argv[2:])
    except _Usage as error:
        ctx.err(f"[ERROR] {error}\n\n{USAGE}")
        return 1
    uri = words["--uri"]
    authority = uri.removeprefix("content://").split("/")[0]
    try:
        _VERBS[verb](ctx, source_of(uri), words, values)
    except NoSource as error:
        return _wrong(ctx, authority, str(error))
    except sqlite3.Error as error:
        return _wrong(ctx, authority, f"android.database.sqlite.SQLiteException: {error}")
    except (TypeError, ValueError, OverflowError) as error:
        return _wrong(ctx, authority, f"java.lang.IllegalArgumentException: {error}")
    return 0


def _words(argv: list[str]) -> tuple[dict[str, str], Values]:
    found: dict[str, str] = {}
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


def _query(ctx: Context, source: Source, words: dict[str, str], values: Values) -> None:
    columns = ", ".join(words.get("--projection", "*").split(":"))
    where, order = words.get("--where", ""), words.get("--sort", "")
    names, rows = providers.query(phone_of(ctx), source, columns, where, order, MAX_ROWS)
    for number, row in enumerate(rows):
        cells = ", ".join(f"{n}={_shown(cell)}" for n, cell in zip(names, row, strict=True))
        ctx.out(f"Row: {number} {cells}\n")
    if not rows:
        ctx.out("No result found.\n")


def _shown(cell: object) -> str:
    if cell is None:
        return "NULL"
    return "BLOB" if isinstance(cell, bytes) else str(cell)


def _insert(ctx: Context, source: Source, words: dict[str, str], values: Values) -> None:
    providers.insert(phone_of(ctx), source, values)


def _update(ctx: Context, source: Source, words: dict[str, str], values: Values) -> None:
    providers.update(phone_of(ctx), source, values, words.get("--where", ""))


def _delete(ctx: Context, source: Source, words: dict[str, str], values: Values) -> None:
    providers.delete(phone_of(ctx), source, words.get("--where", ""))


_VERBS = {"query": _query, "insert": _insert, "update": _update, "delete": _delete}


def _wrong(ctx: Context, authority: str, message: str) -> int:
    ctx.err(f"Error while accessing provider:{authority}\n{message}\n")
    return 1
