"""cat, head, tail, wc, tee, sort, uniq, cut, tr, md5sum, base64: what is done to text."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator

from ui_gym_phone.shell.globs import bracket_class
from ui_gym_phone.shell.registry import (
    CommandContext,
    decode,
    encode,
    lines_of,
    message_of,
    toybox,
)


@toybox("cat", flags="un")
def _cat(ctx: CommandContext) -> None:
    number = 0
    for _, data in ctx.read_each(ctx.words):
        if "n" not in ctx.options:
            ctx.out(data)
            continue
        for line in _kept_lines(data):
            number += 1
            ctx.spend()
            ctx.out(b"%6d\t" % number + line)


def _kept_lines(data: bytes) -> list[bytes]:
    """Lines with their newlines; no other character ends one."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


_COUNTS = {"lines": "n", "bytes": "c"}


def _headed(ctx: CommandContext) -> Iterator[bytes]:
    """The files' bytes, each after its name where there are several."""
    for number, (name, data) in enumerate(ctx.read_each(ctx.words)):
        if len(ctx.words) > 1 and "q" not in ctx.options:
            ctx.out("\n" * (number > 0) + f"==> {name} <==\n")
        yield data


def _part(ctx: CommandContext, data: bytes, start: int, end: int | None = None) -> bytes:
    """Some of the lines, or with ``-c`` of the bytes."""
    return data[start:end] if "c" in ctx.options else b"".join(_kept_lines(data)[start:end])


@toybox("head", flags="#n:c:q", long=_COUNTS)
def _head(ctx: CommandContext) -> None:
    size, count = ctx.number("c", 0), ctx.number("n", 10)
    if min(size, count) < 0:
        raise ctx.misused(f"-{'c' if size < 0 else 'n'} < 0")
    if "c" in ctx.options and ctx.words in (["/dev/zero"], ["/dev/urandom"], ["/dev/random"]):
        ctx.out(ctx.read(ctx.words[0], size))
        return
    for data in _headed(ctx):
        ctx.out(_part(ctx, data, 0, size if "c" in ctx.options else count))


@toybox("tail", flags="#n:c:fq", long=_COUNTS)
def _tail(ctx: CommandContext) -> None:
    text = ctx.text("c" if "c" in ctx.options else "n", "10")
    amount = ctx.parse_number(text)
    for data in _headed(ctx):
        start = max(0, amount - 1) if text.startswith("+") else -abs(amount) or len(data)
        ctx.out(_part(ctx, data, start))


@toybox("wc", flags="lwmc")
def _wc(ctx: CommandContext) -> None:
    chosen = [letter for letter in "lwmc" if letter in ctx.options] or ["l", "w", "c"]
    names, total = ctx.words, [0] * len(chosen)
    wide = len(names) > 1 or (not names and len(chosen) > 1)

    def show(counts: list[int], name: str) -> None:
        shown = " ".join(f"{count:7d}" if wide else str(count) for count in counts)
        ctx.out(f"{shown}{' ' * bool(name)}{name}\n")

    for name, data in ctx.read_each(names):
        sizes = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data)}
        sizes["m"] = len(decode(data)) if "m" in ctx.options else 0
        counts = [sizes[letter] for letter in chosen]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        show(counts, name if names else "")
    if len(names) > 1:
        show(total, "total")


@toybox("tee", flags="a")
def _tee(ctx: CommandContext) -> None:
    data = ctx.stdin
    for name in ctx.words:
        try:
            keeps = "a" in ctx.options and ctx.files.exists(ctx.path(name))
            ctx.write(name, (ctx.read(name) if keeps else b"") + data)
        except OSError as error:
            error.filename = name
            ctx.fail(message_of(error))
    ctx.out(data)


# -- sort, uniq --


@toybox("sort", flags="nruk:t:f", code=2)
def _sort(ctx: CommandContext) -> None:
    lines = [line for _, data in ctx.read_each(ctx.words) for line in lines_of(data)]
    ctx.spend(len(lines) >> 2)
    keys = [_SortKey(ctx, text) for text in ctx.options.get("k", [""])]
    if "u" not in ctx.options:
        lines.sort(key=encode, reverse="r" in ctx.options)
    for key in reversed(keys):
        lines.sort(key=key.value, reverse=key.reverse)
    last: object = None
    for line in lines:
        now = [key.value(line) for key in keys]
        if "u" not in ctx.options or now != last:
            ctx.out(line + "\n")
        last = now


class _SortKey:
    """One ``-k FIRST[,LAST]`` with its letters: which part of a line counts, compared how."""

    def __init__(self, ctx: CommandContext, text: str) -> None:
        found = re.fullmatch(r"([1-9]\d{0,5})([nrf]*)(?:,([1-9]\d{0,5})([nrf]*))?|", text)
        if found is None:
            raise ctx.fault(f"bad -k '{text}'")
        kind = (found[2] or "") + (found[4] or "") or "".join(ctx.options)
        self.reverse, self.numbers, self.folds = ("r" in kind, "n" in kind, "f" in kind)
        self.separator = ctx.text("t")
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


@toybox("uniq", flags="cdui")
def _uniq(ctx: CommandContext) -> None:
    options, groups = ctx.options, list[tuple[int, str]]()
    for line in lines_of(ctx.read([*ctx.words, "-"][0])):
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


# -- cut, tr --


@toybox("cut", flags="c:f:d:s")
def _cut(ctx: CommandContext) -> None:
    letter = next((each for each in "cf" if each in ctx.options), None)
    if letter is None:
        raise ctx.misused("Needs -fc")
    given = ctx.text("d", "\t")
    if not given:
        raise ctx.fault("bad -d ''")
    ranges = _ranges(ctx, letter)
    for _, data in ctx.read_each(ctx.words):
        for line in lines_of(data):
            ctx.spend()
            if letter == "f" and given not in line:
                ctx.out(line + "\n" if "s" not in ctx.options else "")
                continue
            fields = line.split(given) if letter == "f" else list(line)
            chosen = [
                field
                for number, field in enumerate(fields, 1)
                if any(low <= number <= high for low, high in ranges)
            ]
            ctx.out((given if letter == "f" else "").join(chosen) + "\n")


def _ranges(ctx: CommandContext, letter: str) -> list[tuple[int, int]]:
    """What ``1,3-5,7-`` means."""
    ranges = list[tuple[int, int]]()
    for each in ctx.text(letter).split(",")[:100]:
        found = re.fullmatch(r"(\d{0,9})(-?)(\d{0,9})", each, re.ASCII)
        low = int(found[1] or 1) if found else 0
        high = low if found and not found[2] else int((found and found[3]) or 1 << 30)
        if found is None or not each.strip("-") or low < 1 or high < low:
            raise ctx.fault(f"bad -{letter} '{each}'")
        ranges.append((low, high))
    return ranges


_ESCAPES = {"n": 10, "t": 9, "r": 13}


@toybox("tr", flags="cds", permute=False)
def _tr(ctx: CommandContext) -> None:
    least = 1 if ctx.given("ds") else 2
    if len(ctx.words) < least:
        raise ctx.misused(f"Needs {least} argument{'s' * (least > 1)}")
    first, second = (_byte_set(text) for text in (*ctx.words, "")[:2])
    if "c" in ctx.options:
        first = [byte for byte in range(256) if byte not in first]
    data = ctx.stdin
    ctx.spend(len(data) >> 10)
    if "d" in ctx.options:
        data = data.translate(None, bytes(set(first)))
    elif second:
        table = list(range(256))
        for index, byte in enumerate(first):
            table[byte] = second[min(index, len(second) - 1)]
        data = data.translate(bytes(table))
    if "s" in ctx.options:
        chosen = b"".join(re.escape(bytes([byte])) for byte in sorted(set(second or first)))
        data = re.sub(rb"([" + chosen + rb"])\1+", rb"\1", data) if chosen else data
    ctx.out(data)


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


@toybox("md5sum")
def _md5sum(ctx: CommandContext) -> None:
    for name, data in ctx.read_each(ctx.words):
        ctx.out(f"{hashlib.md5(data, usedforsecurity=False).hexdigest()}  {name}\n")


@toybox("base64", flags="dw:")
def _base64(ctx: CommandContext) -> None:
    width = ctx.number("w", 76)
    for _, data in ctx.read_each(ctx.words):
        if "d" in ctx.options:
            try:
                ctx.out(base64.b64decode(b"".join(data.split()), validate=True))
            except binascii.Error:
                raise ctx.fault("bad input") from None
            continue
        text = base64.b64encode(data).decode()
        step = width if width > 0 else len(text) or 1
        ctx.out("".join(text[i : i + step] + "\n" * (width > 0) for i in range(0, len(text), step)))
