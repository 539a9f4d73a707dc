"""Shell commands, in both versions of the service.

Version 2 (AOSP ``adb/shell_protocol.h``) sends packets of an id (u8), a length (u32, little-endian)
and data, and tells errors and the exit code apart. Before Android 7 there was only a raw stream.
"""

from __future__ import annotations

import re
import struct

from ui_gym.android.adb.stream import MAX_OUTPUT, AdbConnection, AdbStream
from ui_gym.android.device import ShellResult
from ui_gym.errors import DeviceError, DeviceLost

HEADER = struct.Struct("<BI")
STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)
MAX_PACKET = 16 << 20
"""No shell sends more at once, in bytes."""

_MARK = "ui-gym-exit:"
_MARKED = re.compile(rb"(.*)" + _MARK.encode() + rb"(\d+)\s*\Z", re.DOTALL)


def run(connection: AdbConnection, line: str, timeout: float) -> ShellResult:
    """Run a line in the device's shell, with an empty standard input.

    Where the device knows version 1 only, errors are part of the output.

    Raises:
        DeviceTimeout: it took longer than `timeout` seconds; it may still be running.
        DeviceLost: the device went away.
    """
    if "shell_v2" not in connection.features:
        return _run_v1(connection, line, timeout)
    with connection.open(f"shell,v2,raw:{line}", timeout) as stream:
        stream.write(HEADER.pack(CLOSE_STDIN, 0))
        return _result(stream)


def execute(connection: AdbConnection, line: str, timeout: float) -> bytes:
    """All that a line writes, raw; no exit code, errors among it."""
    with connection.open(f"exec:{line}", timeout) as stream:
        return stream.read_all()


def _result(stream: AdbStream) -> ShellResult:
    pieces: dict[int, list[bytes]] = {STDOUT: [], STDERR: []}
    total = 0
    while True:
        kind, length = HEADER.unpack(stream.read(HEADER.size))
        total += length
        if length > MAX_PACKET or total > MAX_OUTPUT:
            raise DeviceError(f"the device's shell sent more than {MAX_OUTPUT} bytes")
        data = stream.read(length)
        if kind in pieces:
            pieces[kind].append(data)
        elif kind == EXIT:
            code = data[0] if data else 255
            return ShellResult(b"".join(pieces[STDOUT]), b"".join(pieces[STDERR]), code)


def _run_v1(connection: AdbConnection, line: str, timeout: float) -> ShellResult:
    # In a subshell: `exit` must not keep the mark from being written. The service exec: has no
    # terminal between, which would make each \n a \r\n.
    said = execute(connection, f"({line}\n); echo {_MARK}$?", timeout)
    found = _MARKED.fullmatch(said)
    if found is None:
        raise DeviceLost("the device's shell ended before it told its exit code")
    return ShellResult(found[1], b"", int(found[2]))
