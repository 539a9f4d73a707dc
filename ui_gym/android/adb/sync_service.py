"""The device's side of ``sync:``: `adb push`, `pull` and `ls`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Protocol

from ui_gym.android.adb.stream import MAX_OUTPUT, AdbStream
from ui_gym.android.adb.sync import (
    DENT_V1,
    DENT_V2,
    MAX_CHUNK,
    MAX_PATH,
    STAT_V1,
    STAT_V2,
    WORD,
    SyncStat,
)
from ui_gym.errors import DeviceLost

_ENOENT = 2


class SyncFiles(Protocol):
    """What has files. A refusal is an `OSError`, whose `strerror` the client is told."""

    def stat(self, path: str) -> SyncStat | None:
        """What lies at `path`, if anything."""

    def list(self, path: str) -> Sequence[tuple[str, SyncStat]]:
        """What a folder holds; nothing where there is no folder."""

    def read(self, path: str) -> bytes:
        """The bytes of a file."""

    def write(self, path: str, data: bytes, mode: int, mtime: int) -> None:
        """Write a file and make its folders. `mode` are the permissions, `mtime` is in seconds."""


def serve_sync(files: SyncFiles, stream: AdbStream) -> None:
    """Answer requests until the client has no more."""
    while True:
        name, length = WORD.unpack(stream.read(WORD.size))
        if name == b"QUIT":
            return
        if length > MAX_PATH:
            raise DeviceLost(f"a sync request with a path of {length} bytes")
        path = stream.read(length).decode(errors="replace")
        if name in (b"STAT", b"STA2", b"LST2"):
            stream.write(name + _stat(files, name, path))
        elif name in (b"LIST", b"LIS2"):
            _send_list(files, path, stream, v2=name == b"LIS2")
        elif name == b"RECV":
            _send_file(files, path, stream)
        elif name == b"SEND":
            _take_file(files, path, stream)
        else:
            _fail(stream, f"unknown command {name.hex()}")
            return


def _stat(files: SyncFiles, name: bytes, path: str) -> bytes:
    found, why = None, _ENOENT
    try:
        found = files.stat(path)
    except OSError as error:
        why = error.errno or _ENOENT
    if name == b"STAT":
        return _v1(found) if found else STAT_V1.pack(0, 0, 0)
    return _v2(found) if found else STAT_V2.pack(why, *[0] * 10)


def _v1(stat: SyncStat) -> bytes:
    return STAT_V1.pack(stat.mode, min(stat.size, 0xFFFFFFFF), stat.mtime & 0xFFFFFFFF)


def _v2(stat: SyncStat) -> bytes:
    when = stat.mtime
    return STAT_V2.pack(0, 0, 0, stat.mode, 1, 0, 0, stat.size, when, when, when)


def _send_list(files: SyncFiles, path: str, stream: AdbStream, *, v2: bool) -> None:
    entries: Sequence[tuple[str, SyncStat]] = ()
    with contextlib.suppress(OSError):
        entries = files.list(path)
    answer = bytearray()
    for name, stat in entries:
        encoded = name.encode()
        answer += (b"DNT2" + _v2(stat)) if v2 else (b"DENT" + _v1(stat))
        answer += len(encoded).to_bytes(4, "little") + encoded
    stream.write(bytes(answer) + b"DONE" + bytes((DENT_V2 if v2 else DENT_V1).size))


def _send_file(files: SyncFiles, path: str, stream: AdbStream) -> None:
    try:
        data = files.read(path)
    except OSError as error:
        _fail(stream, _reason(error))
        return
    answer = bytearray()
    for start in range(0, len(data), MAX_CHUNK):
        chunk = data[start : start + MAX_CHUNK]
        answer += WORD.pack(b"DATA", len(chunk)) + chunk
        if len(answer) > 8 * MAX_CHUNK:
            stream.write(bytes(answer))
            answer.clear()
    stream.write(bytes(answer) + WORD.pack(b"DONE", 0))


def _take_file(files: SyncFiles, request: str, stream: AdbStream) -> None:
    path, _, mode = request.rpartition(",")
    data = bytearray()
    refusal = "" if mode.isdecimal() and path else f"bad request {request!r}"
    # Whatever is wrong: the client has to be heard out before it listens.
    while True:
        name, number = WORD.unpack(stream.read(WORD.size))
        if name == b"DONE":
            break
        if name != b"DATA" or number > MAX_CHUNK:
            raise DeviceLost("a file came in parts that the protocol does not know")
        chunk = stream.read(number)
        if len(data) + len(chunk) > MAX_OUTPUT:
            refusal = os.strerror(27)  # EFBIG
        if not refusal:
            data += chunk
    if not refusal:
        try:
            files.write(path, bytes(data), int(mode) & 0o7777, number)
        except OSError as error:
            refusal = _reason(error)
    if refusal:
        _fail(stream, refusal)
    else:
        stream.write(WORD.pack(b"OKAY", 0))


def _fail(stream: AdbStream, reason: str) -> None:
    encoded = reason.encode()[:1024]
    stream.write(WORD.pack(b"FAIL", len(encoded)) + encoded)


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or "I/O error"
