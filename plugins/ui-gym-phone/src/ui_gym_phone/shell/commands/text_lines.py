"""cat, head, tail, wc, tac, rev, nl, paste, tee, strings and split lines of other kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ui_gym_phone.shell.options import Options, each_file, lines_of
from ui_gym_phone.shell.registry import Context, command, decode, encode, message_of


@command("cat")
def _cat(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "uvten"), list[str]()
    number = 0
    for _, data in each_file(ctx, options.arguments, failed):
        if not {"v", "t", "e", "n"} & options.values.keys():
            ctx.out(data)
            continue
        for line in data.splitlines(keepends=True) if b"\r" not in data else _split(data):
            number += 1
            body = line.removesuffix(b"\n")
            shown = b"".join(_visible(byte, "t" in options) for byte in body)
            shown = shown if {"v", "t", "e"} & options.values.keys() else body
            ends = b"$\n" if "e" in options else b"\n"
            lead = b"%6d\t" % number if "n" in options else b""
            ctx.spend()
            ctx.out(lead + shown + (ends if line.endswith(b"\n") else b""))
    return int(bool(failed))


def _split(data: bytes) -> list[bytes]:
    """Lines with their newlines; no other character ends one."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def _visible(byte: int, tabs: bool) -> bytes:
    """A byte as `cat -v` shows it."""
    lead = b"M-" if byte > 127 else b""
    byte &= 127
    if byte == 9 and not tabs and not lead:
        return b"\t"
    if byte < 32:
        return lead + b"^" + bytes([byte + 64])
    return lead + (b"^?" if byte == 127 else bytes([byte]))


def _old_style(argv: list[str], letters: str) -> list[str]:
    """``-5`` as ``-n 5``."""
    return [re.sub(rf"^-(\d+)([{letters}]*)$", r"-n\1", each) for each in argv]


def _headed(
    ctx: Context, names: list[str], failed: list[str], quiet: bool, always: bool
) -> Iterator[bytes]:
    """The files' bytes, each after its name where there are several."""
    for number, (name, data) in enumerate(each_file(ctx, names, failed)):
        if (len(names) > 1 and not quiet) or always:
            ctx.out("\n" * (number > 0) + f"==> {name} <==\n")
        yield data


@command("head")
def _head(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, _old_style(argv, "qv"), "n:c:qv", long={"lines": "n", "bytes": "c"})
    failed = list[str]()
    size, count = options.number("c", 0), options.number("n", 10)
    for letter, value in (("c", size), ("n", count)):
        if value < 0:
            raise options.help(f"-{letter} < 0")
    if "c" in options and options.arguments in (["/dev/zero"], ["/dev/urandom"], ["/dev/random"]):
        ctx.out(ctx.read(options.arguments[0], size))
        return 0
    for data in _headed(ctx, options.arguments, failed, "q" in options, "v" in options):
        if "c" in options:
            ctx.out(data[:size])
            continue
        end = 0
        for _ in range(count):
            end = data.find(b"\n", end) + 1 or len(data)
            if end == len(data):
                break
        ctx.out(data[:end] if count else b"")
    return int(bool(failed))


@command("tail")
def _tail(ctx: Context, argv: list[str]) -> int:
    spec = "n:c:fFqs:"
    options = Options(ctx, _old_style(argv, "f"), spec, long={"lines": "n", "bytes": "c"})
    failed = list[str]()
    letter = "c" if "c" in options else "n"
    text = options.text(letter, "10")
    amount = options.parse_number(text)
    from_start = text.startswith("+")
    for data in _headed(ctx, options.arguments, failed, "q" in options, False):
        units = _split(data) if letter == "n" else [data]
        if letter == "c":
            ctx.out(data[max(0, amount - 1) :] if from_start else data[-abs(amount) or len(data) :])
        elif from_start:
            ctx.out(b"".join(units[max(0, amount - 1) :]))
        else:
            ctx.out(b"".join(units[-abs(amount) or len(units) :]))
    return int(bool(failed))


@command("wc")
def _wc(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "lwmcL"), list[str]()
    chosen = [letter for letter in "lwmcL" if letter in options] or ["l", "w", "c"]
    total = [0] * len(chosen)
    wide = len(options.arguments) > 1 or (not options.arguments and len(chosen) > 1)
    for name, data in each_file(ctx, options.arguments, failed):
        counts = [_count(letter, data) for letter in chosen]
        total = [
            max(a, b) if letter == "L" else a + b
            for letter, a, b in zip(chosen, total, counts, strict=True)
        ]
        ctx.out(_counts(counts, wide, "" if name == "-" and not options.arguments else name))
    if len(options.arguments) > 1:
        ctx.out(_counts(total, wide, "total"))
    return int(bool(failed))


def _count(letter: str, data: bytes) -> int:
    if letter == "l":
        return data.count(b"\n")
    if letter == "w":
        return len(data.split())
    if letter == "m":
        return len(decode(data))
    if letter == "L":
        return max(map(len, lines_of(data)), default=0)
    return len(data)


def _counts(counts: list[int], wide: bool, name: str) -> str:
    shown = " ".join(f"{count:7d}" if wide else str(count) for count in counts)
    return f"{shown}{' ' * bool(name)}{name}\n"


@command("tac")
def _tac(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, ""), list[str]()
    for _, data in each_file(ctx, options.arguments, failed):
        ctx.out(b"".join(reversed(_split(data))))
    return int(bool(failed))


@command("rev")
def _rev(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, ""), list[str]()
    for _, data in each_file(ctx, options.arguments, failed):
        ctx.out("".join(line[::-1] + "\n" for line in lines_of(data)))
    return int(bool(failed))


@command("nl")
def _nl(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "v:i:s:w:b:n:El:"), list[str]()
    number, step = options.number("v", 1), options.number("i", 1)
    width, separator = options.number("w", 6), options.text("s", "\t")
    width = max(0, min(width, 256))
    for _, data in each_file(ctx, options.arguments, failed):
        for line in lines_of(data):
            ctx.spend()
            if line or options.text("b", "t") == "a":
                form = options.text("n", "rn")
                shown = str(number).ljust(width) if form == "ln" else str(number).rjust(
                    width, "0" if form == "rz" else " "
                )  # fmt: skip
                ctx.out(f"{shown}{separator}{line}\n")
                number += step
            else:
                ctx.out(" " * (width + len(separator)) + line + "\n")
    return int(bool(failed))


@command("paste")
def _paste(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "d:s"), list[str]()
    delimiters = options.text("d", "\t").replace("\\t", "\t").replace("\\n", "\n")
    delimiters = delimiters.replace("\\0", "\0")
    columns = [lines_of(data) for _, data in each_file(ctx, options.arguments, failed)]
    height = max(map(len, columns), default=0)
    rows = columns
    if "s" not in options:
        rows = [
            [column[row] if row < len(column) else "" for column in columns]
            for row in range(height)
        ]
    for row in rows:
        ctx.spend()
        line = row[0] if row else ""
        for index, text in enumerate(row[1:]):
            delimiter = delimiters[index % len(delimiters)] if delimiters else ""
            line += delimiter.replace("\0", "") + text
        ctx.out(line + "\n")
    return int(bool(failed))


@command("tee")
def _tee(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "ai")
    data, code = ctx.stdin, 0
    for name in options.arguments:
        try:
            old = b""
            if "a" in options and ctx.files.exists(ctx.path(name)):
                old = ctx.read(name)
            ctx.write(name, old + data)
        except OSError as error:
            error.filename = name
            code = ctx.fail(message_of(error))
    ctx.out(data)
    return code


@command("strings")
def _strings(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "an:fo"), list[str]()
    shortest = max(1, min(255, options.number("n", 4)))
    for _, data in each_file(ctx, options.arguments, failed):
        for found in re.findall(rb"[\t\x20-\x7e]{%d,}" % shortest, data):
            ctx.out(found + b"\n")
    return int(bool(failed))


@command("fold")
def _fold(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "w:sb"), list[str]()
    width = max(1, options.number("w", 80))
    for _, data in each_file(ctx, options.arguments, failed):
        for line in lines_of(data):
            ctx.spend(1 + len(line) // width)
            pieces = [line[start : start + width] for start in range(0, len(line), width)]
            ctx.out(encode("\n".join(pieces) + "\n"))
    return int(bool(failed))


@command("dos2unix", "unix2dos")
def _newlines(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, ""), list[str]()
    for name, data in each_file(ctx, options.arguments, failed):
        changed = data.replace(b"\r\n", b"\n")
        if argv[0].endswith("dos"):
            changed = changed.replace(b"\n", b"\r\n")
        if name == "-":
            ctx.out(changed)
        else:
            ctx.write(name, changed)
    return int(bool(failed))
