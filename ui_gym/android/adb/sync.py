"""Files of the device: the service ``sync:`` (AOSP ``adb/SYNC.TXT`` and ``file_sync_protocol.h``).

Everything is a four-letter name and a 32-bit little-endian number, which mostly is a length.
"""

from __future__ import annotations

import stat as modes
import struct
import time
from dataclasses import dataclass

from ui_gym.android.adb.stream import MAX_OUTPUT, AdbConnection, AdbStream
from ui_gym.errors import DeviceError, DeviceLost

WORD = struct.Struct("<4sI")
STAT_V1 = struct.Struct("<3I")
"""Mode, size, time of the last change."""
STAT_V2 = struct.Struct("<IQQIIIIQqqq")
"""Error, device, inode, mode, links, uid, gid, size, times of access, change, status change."""
DENT_V1 = struct.Struct("<4I")
DENT_V2 = struct.Struct(STAT_V2.format + "I")
MAX_CHUNK = 64 << 10
"""The most bytes of a file in one ``DATA``."""
MAX_PATH = 1024
"""The longest path, in bytes."""


@dataclass(frozen=True)
class SyncStat:
    """`mode` with the bits of the type (`stat.S_IFREG`...), `size` in bytes, `mtime` in seconds."""

    mode: int
    size: int
    mtime: int

    @property
    def is_dir(self) -> bool:
        return modes.S_ISDIR(self.mode)


def stat(connection: AdbConnection, path: str, timeout: float) -> SyncStat | None:
    """What lies at `path`, links followed where the device can; None for nothing."""
    with connection.open("sync:", timeout) as stream:
        if "stat_v2" in connection.features:
            _ask(stream, b"STA2", path)
            _expect(stream.read(4), b"STA2")
            error, _, _, mode, _, _, _, size, _, mtime, _ = STAT_V2.unpack(
                stream.read(STAT_V2.size)
            )
            return None if error else SyncStat(mode, size, mtime)
        _ask(stream, b"STAT", path)
        _expect(stream.read(4), b"STAT")
        mode, size, mtime = STAT_V1.unpack(stream.read(STAT_V1.size))
        return SyncStat(mode, size, mtime) if mode else None


def pull(connection: AdbConnection, path: str, timeout: float) -> bytes:
    """The bytes of a file. `DeviceError` with the device's reason where it cannot be read."""
    pieces: list[bytes] = []
    total = 0
    with connection.open("sync:", timeout) as stream:
        _ask(stream, b"RECV", path)
        while True:
            name, number = WORD.unpack(stream.read(WORD.size))
            if name == b"DONE":
                return b"".join(pieces)
            if name == b"FAIL":
                raise _failure(stream, number, f"cannot pull {path!r}")
            _expect(name, b"DATA")
            total += number
            if number > MAX_CHUNK or total > MAX_OUTPUT:
                raise DeviceError(f"cannot pull {path!r}: more than {MAX_OUTPUT} bytes")
            pieces.append(stream.read(number))


def push(
    connection: AdbConnection,
    data: bytes,
    path: str,
    timeout: float,
    *,
    mode: int = 0o644,
    mtime: int | None = None,
) -> None:
    """Write a file; its folders are made. `mtime` in seconds, now if None.

    Raises:
        DeviceError: the device's reason why it cannot be written.
    """
    with connection.open("sync:", timeout) as stream:
        _ask(stream, b"SEND", f"{path},{modes.S_IFREG | mode}")
        # Small files in one go; a large one needs not be copied as a whole.
        waiting = bytearray()
        for start in range(0, len(data), MAX_CHUNK):
            chunk = data[start : start + MAX_CHUNK]
            waiting += WORD.pack(b"DATA", len(chunk)) + chunk
            if len(waiting) > 8 * MAX_CHUNK:
                stream.write(bytes(waiting))
                waiting.clear()
        waiting += WORD.pack(b"DONE", int(time.time()) if mtime is None else mtime)
        stream.write(bytes(waiting))
        name, number = WORD.unpack(stream.read(WORD.size))
        if name == b"FAIL":
            raise _failure(stream, number, f"cannot push {path!r}")
        _expect(name, b"OKAY")


def _ask(stream: AdbStream, name: bytes, path: str) -> None:
    encoded = path.encode()
    if len(encoded) > MAX_PATH:
        raise DeviceError(f"a path of {len(encoded)} bytes; devices take at most {MAX_PATH}")
    stream.write(WORD.pack(name, len(encoded)) + encoded)


def _expect(name: bytes, wanted: bytes) -> None:
    if name != wanted:
        raise DeviceLost(f"the device answered {name!r} where {wanted!r} was due")


def _failure(stream: AdbStream, length: int, what: str) -> DeviceError:
    reason = stream.read(min(length, 4096)).decode(errors="replace").strip()
    return DeviceError(f"{what}: remote: {reason}")
