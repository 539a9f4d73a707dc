"""input, screencap, uiautomator: the screen as it is touched and seen."""

from __future__ import annotations

import struct
import zlib
from functools import cache

from ui_gym_phone.data import table
from ui_gym_phone.shell.framework import FAILED, refused, thrown, usage
from ui_gym_phone.shell.registry import CommandContext, ShellMachine, command

RGBA_8888, SRGB = 1, 1
DUMP_FILE = "/sdcard/window_dump.xml"

_SOURCES = (
    "touchnavigation", "touchscreen", "joystick", "stylus", "touchpad", "gamepad", "dpad",
    "mouse", "keyboard", "trackball", "rotaryencoder",
)  # fmt: skip
_MODIFIERS = frozenset({57, 58, 59, 60, 113, 114, 117, 118})
_SWIPE_MS = 300
_MAX_MS = 60_000


@command("input")
def input_(ctx: CommandContext, argv: list[str]) -> int:
    words = argv[1:]
    if words and words[0] in _SOURCES:
        words = words[1:]
    if words[:1] == ["-d"]:
        words = words[2:]
    if not words:
        ctx.out(usage("input"))
        return FAILED
    name, arguments = words[0], words[1:]
    try:
        done = _perform(ctx.machine, name, arguments)
    except _NotTyped as error:
        return thrown(ctx, name, "NullPointerException", str(error))
    except (ValueError, OverflowError):
        done = None
    if done is None:
        return refused(ctx, f"Error: Invalid arguments for command: {name}\n{usage('input')}")
    if not done:
        return refused(ctx, f"Unknown command: {name}\n{usage('input')}")
    return 0


class _NotTyped(Exception):
    """Text that no key types."""


def _perform(machine: ShellMachine, name: str, arguments: list[str]) -> bool | None:
    """Do it. None for wrong arguments, False for an unknown command."""
    count = len(arguments)
    if name == "text":
        return _text(machine, arguments)
    if name == "keyevent":
        return _keys(machine, arguments)
    if name == "keycombination":
        return _combination(machine, arguments)
    if name == "motionevent":
        return _motion(machine, arguments)
    if name == "press":
        return True  # a trackball's button, of which phones have none
    if name == "roll":
        return True if count == 2 and _points(arguments) else None
    if name == "tap":
        if count != 2:
            return None
        machine.tap(*_points(arguments))
        return True
    if name in ("swipe", "draganddrop"):
        if count not in (4, 5):
            return None
        x1, y1, x2, y2 = _points(arguments[:4])
        ms = int(arguments[4]) if count == 5 else _SWIPE_MS
        machine.swipe(x1, y1, x2, y2, min(_MAX_MS, ms if ms >= 0 else _SWIPE_MS))
        return True
    return False


def _points(words: list[str]) -> list[int]:
    """Coordinates, which may have a fraction."""
    return [int(float(word)) for word in words]


def _text(machine: ShellMachine, arguments: list[str]) -> bool | None:
    if len(arguments) != 1:
        return None
    text = arguments[0].replace("%s", " ")
    if not text.isascii():  # keys type ASCII alone; Android stumbles over the rest
        raise _NotTyped("Attempt to get length of null array")
    machine.text("".join(c for c in text if c == "\n" or c >= " "))
    return True


def _keys(machine: ShellMachine, arguments: list[str]) -> bool | None:
    codes = [code_of(w) for w in arguments if w not in ("--longpress", "--doubletap", "--async")]
    if not codes:
        return None
    for code in codes * (2 if "--doubletap" in arguments else 1):
        machine.key(code)
    return True


def _combination(machine: ShellMachine, arguments: list[str]) -> bool | None:
    if arguments[:1] == ["-t"]:
        arguments = arguments[2:]
    codes = [code_of(word) for word in arguments]
    if len(codes) < 2:
        return None
    held = [code for code in codes if code in _MODIFIERS]
    others = [code for code in codes if code not in _MODIFIERS]
    for code in others or codes[-1:]:
        machine.key(code, *held)
    return True


def _motion(machine: ShellMachine, arguments: list[str]) -> bool | None:
    """A finger that goes down, moves and goes up in commands of their own."""
    kind = arguments[0].upper() if arguments else ""
    down = machine.phone.settings.setdefault("finger", {})  # out of reach of `settings`
    if kind == "CANCEL":
        down.clear()
        return True
    if kind not in ("DOWN", "UP", "MOVE") or len(arguments) != 3:
        return None
    x, y = _points(arguments[1:])
    if kind == "DOWN":
        down.update(x=str(x), y=str(y), ms=str(machine.clock.ms))
    elif kind == "UP" and down:
        ms = machine.clock.ms - int(down["ms"])
        from_x, from_y = int(down["x"]), int(down["y"])
        down.clear()
        machine.swipe(from_x, from_y, x, y, ms)
    return True


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
def screencap(ctx: CommandContext, argv: list[str]) -> int:
    png, name, words = False, "", argv[1:]
    while words:
        word = words.pop(0)
        if word == "-d":
            words = words[1:]
        elif word == "-p":
            png = True
        elif word.startswith("-"):
            ctx.err(usage("screencap"))
            return 1
        else:
            name = word
    width, height, rgba = ctx.machine.pixels()
    if png or name.endswith(".png"):
        data = to_png(width, height, rgba)
    else:
        data = struct.pack("<4I", width, height, RGBA_8888, SRGB) + rgba
    if not name:
        ctx.out(data)
        return 0
    try:
        ctx.write(name, data)
    except OSError as error:
        ctx.err(f"Error opening file: {name} ({error.strerror})\n")
        return 1
    return 0


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
def uiautomator(ctx: CommandContext, argv: list[str]) -> int:
    """``dump [PATH]``: the views of the screen."""
    if argv[1:2] != ["dump"]:
        ctx.err(usage("uiautomator"))
        return 0 if argv[1:2] == ["help"] else 1
    words = [w for w in argv[2:] if not w.startswith("--")]
    path = words[0] if words else DUMP_FILE
    try:
        ctx.write(path, ctx.machine.ui_tree().encode("utf-8", "replace"))
    except OSError:
        ctx.err(f"ERROR: could not write to {path}\n")
        return 1
    ctx.out(f"UI hierchary dumped to: {path}\n")  # spelt as Android does
    return 0
