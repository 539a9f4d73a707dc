"""base64, checksums, od, xxd, hexdump, cmp and diff."""

from __future__ import annotations

import base64
import binascii
import difflib
import hashlib
import posixpath
import re
import zlib

from ui_gym_phone.shell.options import Options, each_file, lines_of
from ui_gym_phone.shell.registry import Context, command

LONGEST_DIFF = 4000
"""Lines of the files that `diff` compares line by line."""


@command("base64", "base32")
def _base(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "diw:", long={"decode": "d"}), list[str]()
    width, wide = options.number("w", 76), posixpath.basename(argv[0]) == "base64"
    for _, data in each_file(ctx, options.arguments, failed):
        if "d" in options:
            ctx.out(_decoded(data, wide))
            continue
        text = (base64.b64encode if wide else base64.b32encode)(data).decode()
        if width <= 0:
            ctx.out(text)
        else:
            ctx.out("".join(text[i : i + width] + "\n" for i in range(0, len(text), width)))
    return int(bool(failed))


def _decoded(data: bytes, wide: bool) -> bytes:
    """What can be made of it: other characters are left out, a rest that is too short too."""
    kept = re.sub(rb"[^A-Za-z0-9+/]" if wide else rb"[^A-Z2-7]", b"", data)
    unit = 4 if wide else 8
    try:
        if wide:
            kept = kept[: len(kept) - (len(kept) % unit == 1)]
            return base64.b64decode(kept + b"=" * (-len(kept) % unit))
        return base64.b32decode(kept + b"=" * (-len(kept) % unit))
    except (binascii.Error, ValueError):
        return b""


@command("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum")
def _sum(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "bcs", long={"check": "c", "status": "s"}), list[str]()
    algorithm = posixpath.basename(argv[0]).removesuffix("sum")
    if "c" in options:
        return _check(ctx, options, algorithm)
    for name, data in each_file(ctx, options.arguments, failed):
        digest = hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()
        ctx.out(digest + "\n" if "b" in options else f"{digest}  {name}\n")
    return int(bool(failed))


def _check(ctx: Context, options: Options, algorithm: str) -> int:
    code, failed = 0, list[str]()
    for _, listed in each_file(ctx, options.arguments, failed):
        for line in lines_of(listed):
            digest, _, name = line.partition(" ")
            name = name.lstrip(" *")
            try:
                data = ctx.read(name)
                good = hashlib.new(algorithm, data, usedforsecurity=False).hexdigest() == digest
            except OSError:
                good = False
            if "s" not in options:
                ctx.out(f"{name}: {'OK' if good else 'FAILED'}\n")
            code = code if good else 1
    return code or int(bool(failed))


@command("cksum", "crc32")
def _cksum(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "HILPN"), list[str]()
    for name, data in each_file(ctx, options.arguments, failed):
        if posixpath.basename(argv[0]) == "crc32":
            ctx.out(f"{zlib.crc32(data):08x}\n")
            continue
        ctx.spend(len(data) >> 3)
        size, length = b"", len(data)
        while length:
            size += bytes([length & 255])
            length >>= 8
        tail = "" if name == "-" and not options.arguments else f" {name}"
        ctx.out(f"{_posix_crc(data + size)} {len(data)}{tail}\n")
    return int(bool(failed))


def _crc_table() -> list[int]:
    table = list[int]()
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1) ^ (0x04C11DB7 if value & 0x80000000 else 0)
        table.append(value & 0xFFFFFFFF)
    return table


_CRC = _crc_table()


def _posix_crc(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value << 8) & 0xFFFFFFFF ^ _CRC[(value >> 24) ^ byte]
    return value ^ 0xFFFFFFFF


# -- dumps --


@command("xxd")
def _xxd(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "c:l:o:g:iprs:"), list[str]()
    if "r" in options:
        return _unxxd(ctx, options)
    width = max(1, min(256, options.number("c", 30 if "p" in options else 16)))
    group = max(1, options.number("g", 2))
    start = max(0, options.number("s", 0))
    for _, data in each_file(ctx, options.arguments, failed):
        data = data[start:]
        data = data[: options.number("l", len(data))]
        ctx.spend(len(data) >> 4)
        for offset in range(0, len(data), width):
            row = data[offset : offset + width]
            if "p" in options:
                ctx.out(row.hex() + "\n")
                continue
            cells = "".join(
                f"{byte:02x}" + " " * ((index + 1) % group == 0) for index, byte in enumerate(row)
            )
            room = width * 2 + -(-width // group)
            ctx.out(f"{start + offset:08x}: {cells.ljust(room)} {_printable(row)}\n")
    return int(bool(failed))


def _printable(row: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)


def _unxxd(ctx: Context, options: Options) -> int:
    failed = list[str]()
    for _, data in each_file(ctx, options.arguments, failed):
        for line in lines_of(data):
            body = line if "p" in options else re.sub(r"^[0-9a-fA-F]+:", "", line)
            body = body if "p" in options else re.split(r"\s{2,}", body.strip())[0]
            digits = re.sub(r"[^0-9a-fA-F]", "", body)
            ctx.out(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    return int(bool(failed))


@command("hexdump", "hd")
def _hexdump(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "Cn:s:v"), list[str]()
    for _, data in each_file(ctx, options.arguments, failed):
        data = data[: options.number("n", len(data))]
        ctx.spend(len(data) >> 4)
        for offset in range(0, len(data), 16):
            row = data[offset : offset + 16]
            if "C" not in options and not argv[0].endswith("hd"):
                pairs = [row[i : i + 2].ljust(2, b"\0") for i in range(0, len(row), 2)]
                words = " ".join(f"{int.from_bytes(pair, 'little'):04x}" for pair in pairs)
                ctx.out(f"{offset:07x} {words}\n")
                continue
            cells = [f"{byte:02x}" for byte in row]
            left, right = " ".join(cells[:8]), " ".join(cells[8:])
            ctx.out(f"{offset:08x}  {left:<23}  {right:<23}  |{_printable(row)}|\n")
        if data:
            wide = "C" in options or argv[0].endswith("hd")
            ctx.out(f"{len(data):08x}\n" if wide else f"{len(data):07x}\n")
    return int(bool(failed))


_NAMED = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_SIZES = {"C": 1, "S": 2, "I": 4, "L": 8}


@command("od")
def _od(ctx: Context, argv: list[str]) -> int:
    options, failed = Options(ctx, argv, "j:N:A:t:bcdosxvw:"), list[str]()
    kinds = [_od_type(options, each) for each in options.values.get("t", [])]
    for letter, kind in (("b", ("o", 1)), ("c", ("c", 1)), ("d", ("u", 2)), ("o", ("o", 2)),
                         ("s", ("d", 2)), ("x", ("x", 2))):  # fmt: skip
        if letter in options:
            kinds.append(kind)
    kinds = kinds or [("o", 2)]
    base = options.text("A", "o")
    data = b"".join(data for _, data in each_file(ctx, options.arguments, failed))
    start = options.number("j", 0)
    data = data[start:]
    data = data[: options.number("N", len(data))]
    for offset in range(0, len(data), 16):
        ctx.spend()
        row = data[offset : offset + 16]
        for index, (form, size) in enumerate(kinds):
            lead = _address(base, start + offset) if index == 0 else " " * (7 if base != "n" else 0)
            ctx.out(lead + "".join(_od_cells(form, size, row)) + "\n")
    if base != "n" and (data or not failed):
        ctx.out(_address(base, start + len(data)) + "\n")
    return int(bool(failed))


def _od_type(options: Options, text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([acdoux])([CSIL1248]?)z?", text)
    if found is None:
        raise options.fault(f"bad -t {text}")
    size = _SIZES.get(found[2]) or int(found[2] or (1 if found[1] in "ac" else 4))
    return found[1], size


def _address(base: str, value: int) -> str:
    if base == "n":
        return ""
    return f"{value:0{7 if base != 'x' else 6}{ {'o': 'o', 'd': 'd', 'x': 'x'}.get(base, 'o') }}"


def _od_cells(kind: str, size: int, row: bytes) -> list[str]:
    cells = list[str]()
    for index in range(0, len(row), size):
        unit = row[index : index + size].ljust(size, b"\0")
        if kind in "ac":
            byte = unit[0]
            shown = _NAMED.get(byte) or (chr(byte) if 32 <= byte < 127 else f"{byte:03o}")
            cells.append(f"{shown:>4}")
            continue
        value = int.from_bytes(unit, "little", signed=kind == "d")
        digits = {"x": size * 2, "o": -(-size * 8 // 3)}.get(kind, len(str(256**size)) + 0)
        lead = {"x": " ", "o": " "}.get(kind, " ")
        if kind == "x":
            cells.append(f"{lead}{value:0{digits}x}")
        elif kind == "o":
            cells.append(f"{lead}{value:0{digits}o}")
        else:
            cells.append(f"{value:>{digits + 1 if kind == 'u' else digits + 2}}")
    return cells


# -- comparing --


@command("cmp")
def _cmp(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "lsn:")
    options.need(2)
    first, second = options.arguments[:2]
    data = list[bytes]()
    for name in (first, second):
        try:
            data.append(ctx.read(name))
        except OSError:
            if "s" not in options:
                ctx.fail(f"{name}: No such file or directory")
            return 2
    one, other = data
    if one == other:
        return 0
    if "s" in options:
        return 1
    length = min(len(one), len(other))
    place = next((i for i in range(length) if one[i] != other[i]), length)
    line = one.count(b"\n", 0, place) + 1
    if place == length:
        shorter = first if len(one) < len(other) else second
        ctx.err(f"cmp: EOF on {shorter} after byte {length}, line {line - 1}\n")
    else:
        ctx.out(f"{first} {second} differ: char {place + 1}, line {line}\n")
    return 1


@command("diff")
def _diff(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "abBdiNqrsTtuwU:", long={"brief": "q", "unified": "u"})
    options.need(2)
    first, second = options.arguments[:2]
    texts = list[list[str]]()
    for name in (first, second):
        try:
            texts.append(lines_of(ctx.read(name)))
        except OSError as error:
            return ctx.fail(f"{name}: {error.strerror}", 2)
    if texts[0] == texts[1]:
        return 0
    if "q" in options:
        ctx.out(f"Files {first} and {second} differ\n")
        return 1
    if max(map(len, texts)) > LONGEST_DIFF:
        return ctx.fail("files too long to be compared", 2)
    ctx.spend(len(texts[0]) * 4 + len(texts[1]) * 4)
    context = options.number("U", 3)
    old, new = texts
    told = difflib.unified_diff(old, new, first, second, n=max(0, context), lineterm="")
    ctx.out("".join(line + "\n" for line in told))
    return 1
