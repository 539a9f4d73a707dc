"""sqlite3: SQLite's command line, on the providers' databases and on files."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ui_gym_phone.shell.machine import phone_of
from ui_gym_phone.shell.registry import Context, command, decode
from ui_gym_phone.state.databases import bounded, connect

MAX_ROWS = 20_000

_TOKEN = re.compile(
    r"""'(?:[^']|'')*(?:'|\Z)|"(?:[^"]|"")*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z)"""
    r"""|--[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|;|[^'"`\[;/\-\n]+|.""",
    re.DOTALL,
)
"""A quoted word, a comment, the end of a statement, or what lies between."""
_DOT = re.compile(r"\.[^\n]*")
_BLANK = re.compile(r"[ \t\r\n;]*")

_QUOTED = re.compile("[\\x00-\\x20\"'\\x7f-\U0010ffff]")
"""Signs for which the tool quotes a cell of CSV."""

_MODES = ("list", "csv", "line", "column", "tabs")


@dataclass
class _Look:
    """How rows are written."""

    mode: str = "list"
    header: bool = False
    separator: str = "|"
    null: str = ""
    end: str = "\n"
    """Of a row of CSV."""
    failed: bool = False


@command("sqlite3")
def sqlite3_(ctx: Context, argv: list[str]) -> int:
    look, rest, words = _Look(), [], argv[1:]
    while words:
        word = words.pop(0)
        name = word.lstrip("-") if word.startswith("-") else ""
        if name in _MODES:
            _set_mode(look, name)
        elif name in ("header", "noheader"):
            look.header = name == "header"
        elif name in ("separator", "nullvalue", "cmd") and words:
            value = words.pop(0)
            if name == "cmd":
                rest.append(value)
            elif name == "separator":
                look.separator = value
            else:
                look.null = value
        elif name == "version":
            ctx.out(f"{sqlite3.sqlite_version}\n")
            return 0
        elif name and name not in ("batch", "readonly", "bail", "interactive", "init"):
            ctx.err(f"{argv[0]}: Error: unknown option: {word}\nUse -help for a list of options.\n")
            return 1
        elif not name:
            rest.append(word)
    path, lines = (ctx.path(rest[0]) if rest else ""), rest[1:]
    script = "\n".join(lines) if lines else decode(ctx.stdin)
    return _run(ctx, path, rest[0] if rest else "", script, look)


def _run(ctx: Context, path: str, shown: str, script: str, look: _Look) -> int:
    databases = phone_of(ctx).databases
    name = databases.by_path(path)
    if name is not None:
        _script(ctx, databases.connection(name), script, look, path, tables=False)
        return int(look.failed)
    try:
        data = ctx.files.read(path) if path and ctx.files.exists(path) else b""
        db = connect(data)
    except OSError:
        ctx.err(f'Error: unable to open database "{shown}": unable to open database file\n')
        return 1
    except sqlite3.Error as error:
        ctx.err(f"Error: in prepare, {error} (26)\n")
        return 1
    try:
        _script(ctx, db, script, look, path, tables=True)
        after = db.serialize() if path and (db.total_changes or _grown(db)) else data
    finally:
        db.close()
    if path and after != data:
        ctx.write(path, after)
    return int(look.failed)


def _grown(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA schema_version").fetchone()[0])


def _script(
    ctx: Context, db: sqlite3.Connection, script: str, look: _Look, path: str, *, tables: bool
) -> None:
    with bounded(db, tables=tables):
        for statement in statements(script):
            if statement.startswith("."):
                if not _dot(ctx, db, statement.split(), look, path):
                    return
                continue
            try:
                cursor = db.execute(statement)
                if cursor.description is not None:
                    names = [column[0] for column in cursor.description]
                    _write(ctx, names, cursor.fetchmany(MAX_ROWS), look)
            except sqlite3.IntegrityError as error:
                _fail(ctx, look, f"Error: stepping, {error} (19)")
                return
            except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
                _fail(ctx, look, f"Error: in prepare, {error} ({_code(error)})")
                return


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", 1)) & 255


def _fail(ctx: Context, look: _Look, message: str) -> None:
    look.failed = True
    ctx.err(f"{message}\n")


def statements(script: str) -> Iterator[str]:
    """The statements of a script, and its dot commands, which are lines of their own."""
    start = at = 0
    while True:
        if at == start:
            blank = _BLANK.match(script, at)
            assert blank is not None, "it matches nothing, too"
            start = at = blank.end()
        if at == len(script):
            break
        line = _DOT.match(script, at) if at == start else None
        found = line or _TOKEN.match(script, at)
        assert found is not None, "every sign is a token"
        at = found.end()
        if line is not None or found[0] == ";":
            yield script[start:at].strip()
            start = at
    if at > start:
        yield script[start:].strip()


def _set_mode(look: _Look, mode: str) -> None:
    look.mode = mode
    if mode in ("list", "csv", "tabs"):
        look.separator = {"list": "|", "csv": ",", "tabs": "\t"}[mode]


def _dot(ctx: Context, db: sqlite3.Connection, words: list[str], look: _Look, path: str) -> bool:
    """A dot command. False where the script ends."""
    name, value = words[0], words[1] if len(words) > 1 else ""
    if name in (".quit", ".exit", ".q"):
        return False
    if name == ".tables":
        ctx.out(_tables(db, value))
    elif name in (".schema", ".indices", ".indexes"):
        ctx.out(_schema(db, value))
    elif name in (".headers", ".header"):
        look.header = value.lower() in ("on", "1", "yes", "true")
    elif name == ".mode" and value in _MODES:
        _set_mode(look, value)
        look.end, look.header = "\r\n", look.header or value == "column"
    elif name == ".separator" and value:
        look.separator = value
    elif name == ".nullvalue":
        look.null = value
    elif name == ".databases":
        ctx.out(f"main: {path} r/w\n")
    else:
        _fail(ctx, look, f"Error: unknown command or invalid arguments:  \"{name[1:]}\"."
              ' Enter ".help" for help')  # fmt: skip
    return True


def _tables(db: sqlite3.Connection, pattern: str) -> str:
    """Names in columns, as the tool lays them out on 80 characters."""
    rows = db.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite_%' AND name LIKE ? ORDER BY 1",
        [pattern or "%"],
    )
    names = [str(row[0]) for row in rows]
    if not names:
        return ""
    width = max(map(len, names))
    columns = max(1, 80 // (width + 2))
    height = -(-len(names) // columns)
    lines = ["  ".join(n.ljust(width) for n in names[i::height]) for i in range(height)]
    return "".join(line + "\n" for line in lines)


def _schema(db: sqlite3.Connection, name: str) -> str:
    rows = db.execute(
        "SELECT sql, type FROM sqlite_master WHERE sql NOT NULL AND (? = '' OR tbl_name LIKE ?)"
        " AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name",
        [name, name],
    )
    return "".join(f"{sql};\n" for sql, _ in rows)


def _write(ctx: Context, names: list[str], rows: list[tuple[Any, ...]], look: _Look) -> None:
    if not rows:
        return
    cells = [[_shown(cell, look) for cell in row] for row in rows]
    if look.mode == "line":
        width = max(5, *map(len, names))
        lines = [[f"{n:>{width}} = {c}\n" for n, c in zip(names, r, strict=True)] for r in cells]
        ctx.out("\n".join("".join(line) for line in lines))
        return
    if look.mode == "column":
        ctx.out(_columns(names, cells, look.header))
        return
    end = "\n"
    if look.mode == "csv":
        end = look.end
        pairs = zip(cells, rows, strict=True)
        cells = [[_csv(c, raw, look) for c, raw in zip(*pair, strict=True)] for pair in pairs]
        names = [_csv(name, name, look) for name in names]
    if look.header:
        cells.insert(0, names)
    ctx.out("".join(look.separator.join(row) + end for row in cells))


def _columns(names: list[str], cells: list[list[str]], header: bool) -> str:
    parted = [zip_longest(*(cell.split("\n") for cell in row), fillvalue="") for row in cells]
    lines = [tuple(line) for row in parted for line in row]
    widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]
    if header:
        lines = [tuple(names), tuple("-" * width for width in widths), *lines]
    return "".join(
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + "\n" for line in lines
    )


def _shown(cell: object, look: _Look) -> str:
    if cell is None:
        return look.null
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, float):
        mantissa, e, power = f"{cell:.15g}".replace("inf", "Inf").partition("e")
        return mantissa + ("" if "." in mantissa or "I" in mantissa else ".0") + e + power
    return str(cell)


def _csv(shown: str, cell: object, look: _Look) -> str:
    if cell is None:
        return shown
    plain = shown and look.separator not in shown and not _QUOTED.search(shown)
    return shown if plain else '"' + shown.replace('"', '""') + '"'
