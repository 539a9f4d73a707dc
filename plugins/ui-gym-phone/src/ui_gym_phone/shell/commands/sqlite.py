"""sqlite3: SQLite's command line, on the providers' databases and on files."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any

from ui_gym_phone.shell.registry import CommandContext, command, decode
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


@command("sqlite3")
def _sqlite3(ctx: CommandContext) -> None:
    call, rest, words = _SqliteCall(ctx), list[str](), ctx.words
    while words:
        word = words.pop(0)
        name = word.lstrip("-") if word.startswith("-") else ""
        if name in ("list", "csv"):
            call.set_mode(name)
        elif name in ("header", "noheader"):
            call.header = name == "header"
        elif name == "separator" and words:
            call.separator = words.pop(0)
        elif name == "version":
            ctx.out(f"{sqlite3.sqlite_version}\n")
            return
        elif name and name not in ("batch", "readonly", "bail"):
            hint = "Use -help for a list of options."
            raise ctx.ended(f"{ctx.argv[0]}: Error: unknown option: {word}\n{hint}\n")
        elif not name:
            rest.append(word)
    script = "\n".join(rest[1:]) if rest[1:] else decode(ctx.stdin)
    call.run(ctx.path(rest[0]) if rest else "", rest[0] if rest else "", script)


class _SqliteCall:
    """One call: how rows are written."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx
        self.csv = False
        self.end = "\n"
        self.header = False
        self.separator = "|"

    def set_mode(self, mode: str) -> None:
        self.csv = mode == "csv"
        self.separator = "," if self.csv else "|"

    def run(self, path: str, shown: str, script: str) -> None:
        """Run a script on a provider's database, on a file, or on none."""
        databases = self.ctx.phone.databases
        if self._is_denied(path):
            self._fail(f'Error: unable to open database "{shown}": unable to open database file')
            return
        name = databases.by_path(path)
        if name is not None:
            self._script(databases.connection(name), script, tables=False)
            return
        try:
            data = self.ctx.files.read(path) if path and self.ctx.files.exists(path) else b""
            db = connect(data)
        except OSError:
            self._fail(f'Error: unable to open database "{shown}": unable to open database file')
            return
        except sqlite3.Error as error:
            self._fail(f"Error: in prepare, {error} (26)")
            return
        try:
            self._script(db, script, tables=True)
            grown = db.execute("PRAGMA schema_version").fetchone()[0]
            after = db.serialize() if path and (db.total_changes or grown) else data
        finally:
            db.close()
        if path and after != data:
            self.ctx.write(path, after)

    def _is_denied(self, path: str) -> bool:
        """Whether the user may not look there."""
        try:
            self.ctx.files.stat(path or "/")
        except PermissionError:
            return True
        except OSError:  # it may be made
            return False
        return False

    def _script(self, db: sqlite3.Connection, script: str, *, tables: bool) -> None:
        with bounded(db, tables=tables):
            for statement in statements(script):
                if statement in (".quit", ".exit"):
                    return
                if statement.startswith("."):
                    self._dot(db, statement.split())
                    continue
                try:
                    cursor = db.execute(statement)
                    if cursor.description is not None:
                        names = [column[0] for column in cursor.description]
                        self._write(names, cursor.fetchmany(MAX_ROWS))
                except sqlite3.IntegrityError as error:
                    self._fail(f"Error: stepping, {error} (19)")
                    return
                except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
                    code = int(getattr(error, "sqlite_errorcode", 1)) & 255
                    self._fail(f"Error: in prepare, {error} ({code})")
                    return

    def _fail(self, message: str) -> None:
        self.ctx.code = 1
        self.ctx.err(f"{message}\n")

    def _dot(self, db: sqlite3.Connection, words: list[str]) -> None:
        name, value = words[0], words[1] if len(words) > 1 else ""
        if name == ".tables":
            self.ctx.out(_tables(db, value))
        elif name == ".schema":
            self.ctx.out(_schema(db, value))
        elif name in (".headers", ".header"):
            self.header = value.lower() in ("on", "1", "yes", "true")
        elif name == ".mode" and value in ("list", "csv"):
            self.set_mode(value)
            self.end = "\r\n" if self.csv else "\n"
        else:
            what = f'unknown command or invalid arguments:  "{name[1:]}"'
            self._fail(f'Error: {what}. Enter ".help" for help')

    def _write(self, names: list[str], rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        lines: list[tuple[Any, ...]] = [tuple(names)] * self.header + rows
        for row in lines:
            cells = [self._csv(cell) if self.csv else _shown(cell) for cell in row]
            self.ctx.out(self.separator.join(cells) + self.end)

    def _csv(self, cell: object) -> str:
        shown = _shown(cell)
        plain = shown and self.separator not in shown and not _QUOTED.search(shown)
        return shown if plain or cell is None else '"' + shown.replace('"', '""') + '"'


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


def _tables(db: sqlite3.Connection, pattern: str) -> str:
    """Names in columns, as the tool lays them out on 80 characters."""
    rows = db.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite_%' AND name LIKE ? ORDER BY 1",
        [pattern or "%"],
    )
    names = [str(row[0]) for row in rows]
    width = max(map(len, names), default=0)
    height = -(-len(names) // max(1, 80 // (width + 2)))
    lines = ["  ".join(n.ljust(width) for n in names[i::height]) for i in range(height)]
    return "".join(line + "\n" for line in lines)


def _schema(db: sqlite3.Connection, name: str) -> str:
    rows = db.execute(
        "SELECT sql, type FROM sqlite_master WHERE sql NOT NULL AND (? = '' OR tbl_name LIKE ?)"
        " AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name",
        [name, name],
    )
    return "".join(f"{sql};\n" for sql, _ in rows)


def _shown(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, float):
        mantissa, e, power = f"{cell:.15g}".replace("inf", "Inf").partition("e")
        return mantissa + ("" if "." in mantissa or "I" in mantissa else ".0") + e + power
    return str(cell)
