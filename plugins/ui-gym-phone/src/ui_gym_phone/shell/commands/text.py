"""cat, head, tail, wc, tee, sort, uniq, cut, tr, md5sum, base64: what is done to text."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from typing import Any

from ui_gym_phone.shell.globs import bracket_class
from ui_gym_phone.shell.options import CommandOptions, each_file, lines_of
from ui_gym_phone.shell.registry import CommandContext, command, decode, encode, message_of


@command("cat")
def _cat(ctx: CommandContext, argv: list[str]) -> int:
    options, failed, number = CommandOptions(ctx, argv, "un"), list[str](), 0
    for _, data in each_file(ctx, options.arguments, failed):
        if "n" not in options:
            ctx.out(data)
            continue
        for line in _kept_lines(data):
            number += 1
            ctx.spend()
            ctx.out(b"%6d\t" % number + line)
    return int(bool(failed))


def _kept_lines(data: bytes) -> list[bytes]:
    """Lines with their newlines; no other character ends one."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def _counted(ctx: CommandContext, argv: list[str], spec: str) -> CommandOptions:
    """Options of `head` and `tail`: ``-5`` is ``-n 5``."""
    argv = [re.sub(r"^-(\d+)$", r"-n\1", each) for each in argv]
    return CommandOptions(ctx, argv, spec, long={"lines": "n", "bytes": "c"})


def _headed(ctx: CommandContext, options: CommandOptions, failed: list[str]) -> Iterator[bytes]:
    """The files' bytes, each after its name where there are several."""
    names = options.arguments
    for number, (name, data) in enumerate(each_file(ctx, names, failed)):
        if len(names) > 1 and "q" not in options:
            ctx.out("\n" * (number > 0) + f"==> {name} <==\n")
        yield data


@command("head")
def _head(ctx: CommandContext, argv: list[str]) -> int:
    options, failed = _counted(ctx, argv, "n:c:q"), list[str]()
    size, count = options.number("c", 0), options.number("n", 10)
    if min(size, count) < 0:
        raise options.help(f"-{'c' if size < 0 else 'n'} < 0")
    if "c" in options and options.arguments in (["/dev/zero"], ["/dev/urandom"], ["/dev/random"]):
        ctx.out(ctx.read(options.arguments[0], size))
        return 0
    for data in _headed(ctx, options, failed):
        ctx.out(data[:size] if "c" in options else b"".join(_kept_lines(data)[:count]))
    return int(bool(failed))


@command("tail")
def _tail(ctx: CommandContext, argv: list[str]) -> int:
    options, failed = _counted(ctx, argv, "n:c:fq"), list[str]()
    text = options.text("c" if "c" in options else "n", "10")
    amount = options.parse_number(text)
    for data in _headed(ctx, options, failed):
        units: Any = data if "c" in options else _kept_lines(data)
        start = max(0, amount - 1) if text.startswith("+") else max(0, len(units) - abs(amount))
        ctx.out(units[start:] if "c" in options else b"".join(units[start:]))
    return int(bool(failed))


@command("wc")
def _wc(ctx: CommandContext, argv: list[str]) -> int:
    options, failed = CommandOptions(ctx, argv, "lwmc"), list[str]()
    chosen = [letter for letter in "lwmc" if letter in options] or ["l", "w", "c"]
    names, total = options.arguments, [0] * len(chosen)
    wide = len(names) > 1 or (not names and len(chosen) > 1)

    def show(counts: list[int], name: str) -> None:
        shown = " ".join(f"{count:7d}" if wide else str(count) for count in counts)
        ctx.out(f"{shown}{' ' * bool(name)}{name}\n")

    for name, data in each_file(ctx, names, failed):
        sizes = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data)}
        sizes["m"] = len(decode(data)) if "m" in options else 0
        counts = [sizes[letter] for letter in chosen]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        show(counts, name if names else "")
    if len(names) > 1:
        show(total, "total")
    return int(bool(failed))


@command("tee")
def _tee(ctx: CommandContext, argv: list[str]) -> int:
    options, data, code = CommandOptions(ctx, argv, "a"), ctx.stdin, 0
    for name in options.arguments:
        try:
            keeps = "a" in options and ctx.files.exists(ctx.path(name))
            ctx.write(name, (ctx.read(name) if keeps else b"") + data)
        except OSError as error:
            error.filename = name
            code = ctx.fail(message_of(error))
    ctx.out(data)
    return code


# -- sort, uniq --


@command("sort")
def _sort(ctx: CommandContext, argv: list[str]) -> int:
    options, failed, lines = CommandOptions(ctx, argv, "nruk:t:f", code=2), list[str](), []
    for _, data in each_file(ctx, options.arguments, failed):
        lines += lines_of(data)
    ctx.spend(len(lines) >> 2)
    general = "".join(letter for letter in "nrf" if letter in options)
    keys = [_SortKey(options, text, general) for text in options.values.get("k", [])]
    keys = keys or [_SortKey(options, "", general)]
    if "u" not in options:
        lines.sort(key=encode, reverse="r" in options)
    for key in reversed(keys):
        lines.sort(key=key.value, reverse=key.reverse)
    last: object = None
    for line in lines:
        now = [key.value(line) for key in keys]
        if "u" not in options or now != last:
            ctx.out(line + "\n")
        last = now
    return 2 if failed else 0


class _SortKey:
    """One ``-k FIRST[,LAST]`` with its letters: which part of a line counts, compared how."""

    def __init__(self, options: CommandOptions, text: str, general: str) -> None:
        found = re.fullmatch(r"([1-9]\d{0,5})([nrf]*)(?:,([1-9]\d{0,5})([nrf]*))?|", text)
        if found is None:
            raise options.fault(f"bad -k '{text}'")
        kind = (found[2] or "") + (found[4] or "") or general
        self.reverse, self.numbers, self.folds = ("r" in kind, "n" in kind, "f" in kind)
        self.separator = options.text("t")
        self.first = int(found[1] or 0)
        self.last = int(found[3]) if found[3] else None

    def value(self, line: str) -> float | bytes:
        if self.first:
            fields = line.split(self.separator) if self.separator else re.findall(r"\s*\S+", line)
            line = self.separator.join(fields[self.first - 1 : self.last])
        if self.numbers:
            found = re.match(r"\s*([-+]?\d{1,300}(?:\.\d*)?)", line, re.ASCII)
            return float(found[1]) if found else 0.0
        return encode(line.upper() if self.folds else line)


@command("uniq")
def _uniq(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "cdui")
    groups = list[tuple[int, str]]()
    for line in lines_of(ctx.read(options.arguments[0] if options.arguments else "-")):
        ctx.spend()
        last = groups[-1][1] if groups else None
        if last == line or ("i" in options and last and last.lower() == line.lower()):
            groups[-1] = (groups[-1][0] + 1, groups[-1][1])
        else:
            groups.append((1, line))
    for count, line in groups:
        if ("d" in options and count == 1) or ("u" in options and count > 1):
            continue
        ctx.out(f"{count:7d} {line}\n" if "c" in options else line + "\n")
    return 0


# -- cut, tr --


@command("cut")
def _cut(ctx: CommandContext, argv: list[str]) -> int:
    options, failed = CommandOptions(ctx, argv, "c:f:d:s"), list[str]()
    letter = next((each for each in "cf" if each in options), None)
    if letter is None:
        raise options.help("Needs -fc")
    ranges, given = _ranges(options, letter), options.text("d", "\t")
    for _, data in each_file(ctx, options.arguments, failed):
        for line in lines_of(data):
            ctx.spend()
            if letter == "f" and given not in line:
                ctx.out(line + "\n" if "s" not in options else "")
                continue
            fields = line.split(given) if letter == "f" else list(line)
            chosen = [
                field
                for number, field in enumerate(fields, 1)
                if any(low <= number <= high for low, high in ranges)
            ]
            ctx.out((given if letter == "f" else "").join(chosen) + "\n")
    return int(bool(failed))


def _ranges(options: CommandOptions, letter: str) -> list[tuple[int, int]]:
    """What ``1,3-5,7-`` means."""
    if not options.text("d", "\t"):
        raise options.fault("bad -d ''")
    ranges = list[tuple[int, int]]()
    for each in options.text(letter).split(",")[:100]:
        found = re.fullmatch(r"(\d{0,9})(-?)(\d{0,9})", each, re.ASCII)
        low = int(found[1] or 1) if found else 0
        high = low if found and not found[2] else int((found and found[3]) or 1 << 30)
        if found is None or not each.strip("-") or low < 1 or high < low:
            raise options.fault(f"bad -{letter} '{each}'")
        ranges.append((low, high))
    return ranges


_ESCAPES = {"n": 10, "t": 9, "r": 13}


@command("tr")
def _tr(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "cds", permute=False)
    options.need(1 if {"d", "s"} & options.values.keys() else 2)
    first, second = (_byte_set(text) for text in (*options.arguments, "")[:2])
    if "c" in options:
        first = [byte for byte in range(256) if byte not in first]
    data = ctx.stdin
    ctx.spend(len(data) >> 10)
    if "d" in options:
        data = data.translate(None, bytes(set(first)))
    elif second:
        table = list(range(256))
        for index, byte in enumerate(first):
            table[byte] = second[min(index, len(second) - 1)]
        data = data.translate(bytes(table))
    if "s" in options:
        chosen = b"".join(re.escape(bytes([byte])) for byte in sorted(set(second or first)))
        data = re.sub(rb"([" + chosen + rb"])\1+", rb"\1", data) if chosen else data
    ctx.out(data)
    return 0


def _byte_set(text: str) -> list[int]:
    """The bytes that a set of `tr` stands for, in order."""
    data, result, position = encode(text), list[int](), 0
    while position < len(data):
        if named := re.compile(rb"\[:(\w+):\]").match(data, position):
            found = bracket_class(f"[:{named[1].decode()}:]]", 0)
            pattern = re.compile(found[0].encode()) if found else None
            result += [byte for byte in range(256) if pattern and pattern.match(bytes([byte]))]
            position = named.end()
            continue
        low, position = _byte(data, position)
        if data[position : position + 1] == b"-" and position + 1 < len(data):
            high, position = _byte(data, position + 1)
            result += range(low, high + 1)
        else:
            result.append(low)
    return result


def _byte(data: bytes, position: int) -> tuple[int, int]:
    if octal := re.compile(rb"\\([0-7]{1,3})").match(data, position):
        return int(octal[1], 8) & 255, octal.end()
    if data[position] == 92 and position + 1 < len(data):
        return _ESCAPES.get(chr(data[position + 1]), data[position + 1]), position + 2
    return data[position], position + 1


# -- digests --


@command("md5sum")
def _md5sum(ctx: CommandContext, argv: list[str]) -> int:
    options, failed = CommandOptions(ctx, argv, ""), list[str]()
    for name, data in each_file(ctx, options.arguments, failed):
        ctx.out(f"{hashlib.md5(data, usedforsecurity=False).hexdigest()}  {name}\n")
    return int(bool(failed))


@command("base64")
def _base64(ctx: CommandContext, argv: list[str]) -> int:
    options, failed = CommandOptions(ctx, argv, "dw:"), list[str]()
    width = options.number("w", 76)
    for _, data in each_file(ctx, options.arguments, failed):
        if "d" in options:
            try:
                ctx.out(base64.b64decode(b"".join(data.split()), validate=True))
            except binascii.Error:
                return ctx.fail("bad input")
            continue
        text = base64.b64encode(data).decode()
        step = width if width > 0 else len(text) or 1
        ctx.out("".join(text[i : i + step] + "\n" * (width > 0) for i in range(0, len(text), step)))
    return int(bool(failed))
