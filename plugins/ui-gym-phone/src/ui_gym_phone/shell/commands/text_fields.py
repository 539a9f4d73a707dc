"""sort, uniq, cut, tr and comm."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from ui_gym_phone.shell.globs import bracket_class
from ui_gym_phone.shell.options import Options, each_file, lines_of
from ui_gym_phone.shell.registry import Context, command, decode, encode

# -- sort --

_NUMBER = re.compile(r"\s*([-+]?\d*\.?\d*(?:[eE][-+]?\d{1,3})?)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_KEY = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?([a-zA-Z]*)(?:,(\d{1,6})(?:\.(\d{1,6}))?([a-zA-Z]*))?")


@command("sort")
def _sort(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "gnruk:t:fdbiMVcsxhzo:S:T:mC", code=2)
    failed, lines = list[str](), list[str]()
    for _, data in each_file(ctx, options.arguments, failed):
        lines += lines_of(data)
    ctx.spend(len(lines) >> 2)
    general = "".join(letter for letter in "gnrfdbiMVxh" if letter in options)
    keys = [_Key(options, text, general) for text in options.values.get("k", [])]
    keys = keys or [_Key(options, "1", general, whole=True)]
    decorated = [(tuple(key.value(line) for key in keys), encode(line), line) for line in lines]
    unique, stable = "u" in options, "s" in options or "u" in options

    def compare(a: Any, b: Any) -> int:
        for key, one, other in zip(keys, a[0], b[0], strict=True):
            if one != other:
                return (1 if one > other else -1) * (-1 if key.reverse else 1)
        if stable or a[1] == b[1]:
            return 0
        return (1 if a[1] > b[1] else -1) * (-1 if "r" in options else 1)

    if "c" in options or "C" in options:
        for index in range(1, len(decorated)):
            order = compare(decorated[index - 1], decorated[index])
            if order > 0 or (unique and order == 0):
                return ctx.fail(f"line {index + 1} not sorted") if "c" in options else 1
        return 0
    decorated.sort(key=cmp_to_key(compare))
    result = list[str]()
    for index, item in enumerate(decorated):
        if not unique or index == 0 or compare(decorated[index - 1], item):
            result.append(item[2])
    text = "".join(line + "\n" for line in result)
    if "o" in options:
        ctx.write(options.text("o"), encode(text))
    else:
        ctx.out(text)
    return 2 if failed else 0


class _Key:
    """One ``-k``: which part of a line counts, and how it is compared."""

    def __init__(self, options: Options, text: str, general: str, whole: bool = False) -> None:
        found = _KEY.fullmatch(text)
        if found is None or found[1].strip("0") == "":
            raise options.fault(f"bad -k '{text}'")
        own = found[3] + (found[6] or "")
        kind = own or general
        self.reverse = "r" in kind
        self.separator = options.text("t")
        self.whole = whole
        self.start = (int(found[1]), int(found[2] or 1))
        self.end = (int(found[4]), int(found[5] or 0)) if found[4] else None
        self.blanks = "b" in kind
        self.compared = _comparison(kind)

    def value(self, line: str) -> Any:
        return self.compared(line if self.whole and not self.blanks else self._part(line))

    def _part(self, line: str) -> str:
        fields = self._fields(line)
        first, char = self.start
        if first > len(fields):
            return ""
        begin = fields[first - 1][0]
        end = len(line)
        if self.end is not None and self.end[0] <= len(fields):
            start, stop = fields[self.end[0] - 1]
            end = stop if self.end[1] == 0 else start + self.end[1]
        text = line[begin:end]
        if self.blanks:
            text = text.lstrip()
        return text[char - 1 :]

    def _fields(self, line: str) -> list[tuple[int, int]]:
        if not self.separator:
            return [found.span() for found in re.finditer(r"\s*\S+", line)] or [(0, len(line))]
        spans, start = list[tuple[int, int]](), 0
        for piece in line.split(self.separator):
            spans.append((start, start + len(piece)))
            start += len(piece) + len(self.separator)
        return spans


def _comparison(kind: str) -> Callable[[str], Any]:
    """How the text of a key becomes what is compared."""
    if "n" in kind or "g" in kind:
        return _leading_number
    if "h" in kind:
        return _human_number
    if "M" in kind:
        return lambda text: (
            _MONTHS.index(text.strip()[:3].lower()) + 1
            if text.strip()[:3].lower() in _MONTHS
            else 0
        )
    if "V" in kind:
        return lambda text: [
            (1, int(part[-300:]), "") if part.isdigit() and part.isascii() else (0, 0, part)
            for part in re.findall(r"[0-9]+|[^0-9]+", text)
        ]

    def compared(text: str) -> bytes:
        if "d" in kind:
            text = "".join(char for char in text if char.isalnum() or char.isspace())
        if "i" in kind:
            text = "".join(char for char in text if char.isprintable())
        return encode(text.upper() if "f" in kind else text)

    return compared


def _leading_number(text: str) -> float:
    found = _NUMBER.match(text)
    try:
        return float(found[1]) if found else 0.0
    except ValueError:
        digits = re.match(r"\s*[-+]?\d+", text)
        return float(digits.group()) if digits else 0.0


def _human_number(text: str) -> float:
    found = re.match(r"\s*([-+]?\d+\.?\d*)\s*([kKMGTPE]?)", text)
    if found is None:
        return 0.0
    return float(found[1]) * 1024.0 ** " kMGTPE".find(found[2].replace("K", "k") or " ")


# -- uniq, comm --


@command("uniq")
def _uniq(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "cduif:s:w:z")
    data = ctx.read(options.arguments[0] if options.arguments else "-")
    fields, skipped = options.number("f", 0), options.number("s", 0)
    width = options.number("w", 1 << 30)

    def seen(line: str) -> str:
        for _ in range(fields):
            line = re.sub(r"^\s*\S*", "", line, count=1)
        line = line[skipped:][:width]
        return line.lower() if "i" in options else line

    groups = list[tuple[int, str]]()
    last: str | None = None
    for line in lines_of(data):
        ctx.spend()
        now = seen(line)
        if groups and now == last:
            groups[-1] = (groups[-1][0] + 1, groups[-1][1])
        else:
            groups.append((1, line))
        last = now
    out = list[str]()
    for count, line in groups:
        if ("d" in options and count == 1) or ("u" in options and count > 1):
            continue
        out.append(f"{count:7d} {line}\n" if "c" in options else line + "\n")
    if len(options.arguments) > 1:
        ctx.write(options.arguments[1], encode("".join(out)))
    else:
        ctx.out("".join(out))
    return 0


@command("comm")
def _comm(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "123")
    options.need(2)
    left, right = (lines_of(ctx.read(name)) for name in options.arguments[:2])
    tabs = {"1": "", "2": "\t" * ("1" not in options)}
    tabs["3"] = tabs["2"] + "\t" * ("2" not in options)
    a = b = 0
    while a < len(left) or b < len(right):
        ctx.spend()
        if b == len(right) or (a < len(left) and left[a] < right[b]):
            column, line, a = "1", left[a], a + 1
        elif a == len(left) or left[a] > right[b]:
            column, line, b = "2", right[b], b + 1
        else:
            column, line, a, b = "3", left[a], a + 1, b + 1
        if column not in options:
            ctx.out(f"{tabs[column]}{line}\n")
    return 0


# -- cut --


@command("cut")
def _cut(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "b:c:f:d:O:sDnC:F:")
    letter = next((each for each in "bcCfF" if each in options), None)
    if letter is None:
        raise options.help("Needs -CFfcb")
    ranges = _ranges(options, letter)
    failed = list[str]()
    for _, data in each_file(ctx, options.arguments, failed):
        for line in lines_of(data):
            ctx.spend()
            cut = _cut_line(options, letter, ranges, line)
            if cut is not None:
                ctx.out(cut + "\n")
    return int(bool(failed))


def _ranges(options: Options, letter: str) -> list[tuple[int, int]]:
    ranges = list[tuple[int, int]]()
    for each in options.text(letter).split(","):
        found = re.fullmatch(r"(\d{0,9})(-?)(\d{0,9})", each, re.ASCII)
        low = int(found[1] or 1) if found else 0
        high = low if found and not found[2] else int((found and found[3]) or 1 << 30)
        if found is None or not each.strip("-") or low < 1 or high < low:
            raise options.fault(f"bad -{letter} '{each}'")
        ranges.append((low, high))
    return sorted(ranges)


def _cut_line(
    options: Options, letter: str, ranges: list[tuple[int, int]], line: str
) -> str | None:
    if letter == "F":
        fields = line.split()
        given = " "
    elif letter == "f":
        given = options.text("d", "\t")
        if not given or given not in line:
            return None if "s" in options else line
        fields = line.split(given)
    else:
        given, fields = "", list(line)
        if letter == "b":
            fields = [decode(bytes([byte])) for byte in encode(line)]
    end, chosen = 0, list[str]()
    for low, high in ranges:
        low = max(low, end + 1)
        chosen += fields[low - 1 : high]
        end = max(end, high)
    joined = options.text("O", given).join(chosen)
    return decode(encode(joined)) if letter == "b" else joined


# -- tr --

_ESCAPES = {"n": 10, "t": 9, "r": 13, "\\": 92, "a": 7, "b": 8, "f": 12, "v": 11}


@command("tr")
def _tr(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "cCds", permute=False)
    if not options.arguments:
        return ctx.fail('Needs 1 argument (see "tr --help")')
    first = _byte_set(options.arguments[0])
    second = _byte_set(options.arguments[1]) if len(options.arguments) > 1 else []
    if {"c", "C"} & options.values.keys():
        inside = set(first)
        first = [byte for byte in range(256) if byte not in inside]
    data = ctx.stdin
    ctx.spend(len(data) >> 10)
    squeezed = second or first
    if "d" in options:
        data = data.translate(None, bytes(set(first)))
    elif second:
        table = list(range(256))
        for index, byte in enumerate(first):
            table[byte] = second[min(index, len(second) - 1)]
        data = data.translate(bytes(table))
    elif "s" not in options:
        return ctx.fail('Needs 2 arguments (see "tr --help")')
    if "s" in options:
        chosen = b"".join(re.escape(bytes([byte])) for byte in sorted(set(squeezed)))
        data = re.sub(rb"([" + chosen + rb"])\1+", rb"\1", data) if chosen else data
    ctx.out(data)
    return 0


def _byte_set(text: str) -> list[int]:
    """The bytes that a set of `tr` stands for, in order."""
    data, result, position = encode(text), list[int](), 0
    while position < len(data):
        named = re.compile(rb"\[:(\w+):\]").match(data, position)
        if named:
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
    octal = re.compile(rb"\\([0-7]{1,3})").match(data, position)
    if octal:
        return int(octal[1], 8) & 255, octal.end()
    if data[position] == 92 and position + 1 < len(data):
        char = chr(data[position + 1])
        return _ESCAPES.get(char, data[position + 1]), position + 2
    return data[position], position + 1
