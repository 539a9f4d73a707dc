"""screencap: the screen's pixels, raw or as a PNG (AOSP ``cmds/screencap``)."""

from __future__ import annotations

import struct
import zlib

from ui_gym_phone.shell.machine import machine_of
from ui_gym_phone.shell.registry import Context, command

USAGE = """usage: screencap [-hp] [-d display-id] [FILENAME]
   -h: this message
   -p: save the file as a png.
   -d: specify the display ID to capture
If FILENAME ends with .png it will be saved as a png.
If FILENAME is not given, the results will be printed to stdout.
"""

RGBA_8888, SRGB = 1, 1


@command("screencap")
def screencap(ctx: Context, argv: list[str]) -> int:
    png, name, words = False, "", argv[1:]
    while words:
        word = words.pop(0)
        if word == "-d":
            words = words[1:]
        elif word == "-p":
            png = True
        elif word.startswith("-"):
            ctx.err(USAGE)
            return 1
        else:
            name = word
    width, height, rgba = machine_of(ctx).pixels()
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
