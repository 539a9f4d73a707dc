"""input, screencap, uiautomator: the screen as it is touched and seen."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import cache

from ui_gym_phone.data import table
from ui_gym_phone.shell.framework import FAILED, refused, thrown, usage
from ui_gym_phone.shell.registry import CommandContext, ShellMachine, command

RGBA_8888, SRGB = 1, 1
DUMP_FILE = "/sdcard/window_dump.xml"

_MODIFIERS = frozenset({57, 58, 59, 60, 113, 114, 117, 118})
_SWIPE_MS = 300
_MAX_MS = 60_000


class _NotTyped(Exception):
    """Text that no key types."""


@command("input")
def input_(ctx: CommandContext) -> None:
    words = ctx.words
    if words and words[0] in table("shell_names")["sources"]:
        words = words[1:]
    if words[:1] == ["-d"]:
        words = words[2:]
    if not words:
        ctx.out(usage("input"))
        ctx.code = FAILED
        return
    name, *arguments = words
    if name not in _INPUTS:
        raise refused(ctx, f"Unknown command: {name}\n{usage('input')}")
    try:
        _INPUTS[name](ctx.machine, arguments)
    except (ValueError, OverflowError):
        complaint = f"Error: Invalid arguments for command: {name}\n{usage('input')}"
        raise refused(ctx, complaint) from None
    except _NotTyped:
        why = "Attempt to get length of null array"
        raise thrown(ctx, name, "NullPointerException", why) from None


def _points(words: list[str]) -> list[int]:
    """Coordinates, which may have a fraction."""
    return [int(float(word)) for word in words]


def _tap(machine: ShellMachine, arguments: list[str]) -> None:
    x, y = _points(arguments)
    machine.tap(x, y)


def _swipe(machine: ShellMachine, arguments: list[str]) -> None:
    x1, y1, x2, y2 = _points(arguments[:4])
    (ms,) = map(int, arguments[4:] or [str(_SWIPE_MS)])
    machine.swipe(x1, y1, x2, y2, min(_MAX_MS, ms if ms >= 0 else _SWIPE_MS))


def _text(machine: ShellMachine, arguments: list[str]) -> None:
    (text,) = arguments
    if not text.isascii():  # keys type ASCII alone; Android stumbles over the rest
        raise _NotTyped
    machine.text("".join(c for c in text.replace("%s", " ") if c == "\n" or c >= " "))


def _keys(machine: ShellMachine, arguments: list[str]) -> None:
    codes = [code_of(w) for w in arguments if w not in ("--longpress", "--doubletap", "--async")]
    if not codes:
        raise ValueError("no key")
    for code in codes * (2 if "--doubletap" in arguments else 1):
        machine.key(code)


def _combination(machine: ShellMachine, arguments: list[str]) -> None:
    codes = [code_of(word) for word in arguments[2 * (arguments[:1] == ["-t"]) :]]
    if len(codes) < 2:
        raise ValueError("one key is no combination")
    held = [code for code in codes if code in _MODIFIERS]
    others = [code for code in codes if code not in _MODIFIERS]
    for code in others or codes[-1:]:
        machine.key(code, *held)


def _motion(machine: ShellMachine, arguments: list[str]) -> None:
    """A finger that goes down, moves and goes up in commands of their own."""
    down = machine.phone.settings.setdefault("finger", {})  # out of reach of `settings`
    kind = [*arguments, ""][0].upper()
    if kind == "CANCEL":
        down.clear()
        return
    x, y = _points(arguments[1:])
    if kind == "DOWN":
        down.update(x=str(x), y=str(y), ms=str(machine.clock.ms))
    elif kind == "UP" and down:
        from_x, from_y, since = (int(down[name]) for name in ("x", "y", "ms"))
        down.clear()
        machine.swipe(from_x, from_y, x, y, machine.clock.ms - since)
    elif kind not in ("UP", "MOVE"):
        raise ValueError(kind)


def _roll(machine: ShellMachine, arguments: list[str]) -> None:
    """A trackball's, of which phones have none."""
    _x, _y = _points(arguments)


_INPUTS: dict[str, Callable[[ShellMachine, list[str]], None]] = {
    "text": _text, "keyevent": _keys, "keycombination": _combination, "motionevent": _motion,
    "tap": _tap, "swipe": _swipe, "draganddrop": _swipe, "roll": _roll,
    "press": lambda machine, arguments: None,
}  # fmt: skip


@cache
def _key_names() -> dict[str, int]:
    """Name without ``KEYCODE_`` -> code."""
    runs = table("shell_names")["keys"].items()
    return {name: int(at) + i for at, run in runs for i, name in enumerate(run.split())}


def code_of(word: str) -> int:
    """The code that a number or a name stands for; 0, the unknown key, for any other word."""
    if word.removeprefix("-").isdecimal() and len(word) < 10:
        return max(0, int(word))
    return _key_names().get(word.upper().removeprefix("KEYCODE_"), 0)


@command("screencap")
def screencap(ctx: CommandContext) -> None:
    png, name, words = False, "", ctx.words
    while words:
        word = words.pop(0)
        if word == "-d":
            words = words[1:]
        elif word == "-p":
            png = True
        elif word.startswith("-"):
            raise ctx.ended(usage("screencap"))
        else:
            name = word
    width, height, rgba = ctx.machine.pixels()
    if png or name.endswith(".png"):
        data = to_png(width, height, rgba)
    else:
        data = struct.pack("<4I", width, height, RGBA_8888, SRGB) + rgba
    if not name:
        ctx.out(data)
        return
    try:
        ctx.write(name, data)
    except OSError as error:
        raise ctx.ended(f"Error opening file: {name} ({error.strerror})\n") from None


def to_png(width: int, height: int, rgba: bytes) -> bytes:
    """A PNG of RGBA pixels. Rows are not filtered: a phone's screen is flat areas."""
    row = width * 4
    lines = b"".join(b"\0" + rgba[i : i + row] for i in range(0, row * height, row))
    head = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


@command("uiautomator")
def uiautomator(ctx: CommandContext) -> None:
    """``dump [PATH]``: the views of the screen."""
    if ctx.words[:1] != ["dump"]:
        raise ctx.ended(usage("uiautomator"), int(ctx.words[:1] != ["help"]))
    path = [*(w for w in ctx.words[1:] if not w.startswith("--")), DUMP_FILE][0]
    try:
        ctx.write(path, ctx.machine.ui_tree().encode("utf-8", "replace"))
        ctx.out(f"UI hierchary dumped to: {path}\n")  # spelt as Android does
    except OSError:
        raise ctx.ended(f"ERROR: could not write to {path}\n") from None
