"""The smallest guests: boot sectors that count aloud on the serial port.

A guest says ``[    0.000000] hello`` as a Linux kernel would, then a letter about every quarter of
a second, from ``a`` to ``z``. Then it stays silent, or switches the machine off.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

needs_qemu = pytest.mark.skipif(
    shutil.which("qemu-system-x86_64") is None or shutil.which("qemu-img") is None,
    reason="QEMU is not installed (apt-get install qemu-system-x86 qemu-utils)",
)

_HELLO = b"[    0.000000] hello\r\n\0"

# Loaded at 0x7c00 in real mode. The timer's interrupt, 18.2 times a second, ends each `hlt`.
_COUNT = bytes.fromhex(
    "31c0 8ed8 fb"  # xor ax,ax; mov ds,ax; sti
    "baf803"  # mov dx,0x3f8: the first serial port
    "be367c"  # mov si,0x7c36: the greeting
    "ac 84c0 7403 ee ebf8"  # next: lodsb; test al,al; jz +3; out dx,al; jmp next
    "b361"  # mov bl,'a'
    "88d8 ee b00a ee"  # letter: mov al,bl; out dx,al; mov al,10; out dx,al
    "b90500 f4 e2fd"  # mov cx,5; tick: hlt; loop tick
    "fec3 80fb7b 75ed"  # inc bl; cmp bl,'z'+1; jne letter
)
_STAY = bytes.fromhex("f4 ebfd")  # stay: hlt; jmp stay
_SWITCH_OFF = bytes.fromhex("ba0406 b80020 ef f4")  # mov dx,0x604; mov ax,0x2000; out dx,ax; hlt


def guest(folder: Path, *, ends: bool = False) -> Path:
    """An image of a guest that counts; `ends`: it switches itself off after the last letter."""
    code = _COUNT + (_SWITCH_OFF if ends else _STAY)
    assert len(code) <= 0x36
    sector = (code.ljust(0x36, b"\0") + _HELLO).ljust(510, b"\0") + b"\x55\xaa"
    return image(folder, sector)


def image(folder: Path, data: bytes = b"") -> Path:
    """A qcow2 image of a disk of 1 MiB that begins with `data`."""
    raw, made = folder / "guest.raw", folder / "guest.qcow2"
    raw.write_bytes(data.ljust(1 << 20, b"\0"))
    subprocess.run(
        ["qemu-img", "convert", "-f", "raw", "-O", "qcow2", raw, made], check=True, timeout=30
    )
    return made
