"""The services of adbd beside shell and files: root, remount, tcpip, reverse, reboot.

Each does what Android does, or refuses in Android's words. `adb bugreport` and `install-multiple`
are lines for the shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from ui_gym.android.adb.stream import AdbStream
from ui_gym.errors import DeviceLost, UserError

MAX_REVERSED = 64
"""Ports of a device that may be told to lead to the host, at a time."""

_PORT = re.compile(r"tcp:(\d{1,5})")
_SOCKET = re.compile(r"(tcp:\d{1,5}|local\w*:.{1,100}|dev:.{1,100}|vsock:.{1,40})")


class Rooted(Protocol):
    """What adbd runs on."""

    @property
    def is_root(self) -> bool: ...

    def set_root(self, on: bool) -> None: ...

    def restart(self) -> None:
        """What ``adb reboot`` does."""


class Adbd(Protocol):
    """The server that a client is connected to."""

    def listen_also(self, port: int) -> None:
        """Listen on another port. `UserError` where it cannot be."""

    def drop(self) -> None:
        """End all connections, as when adbd restarts: clients connect anew."""


AdbService = Callable[[AdbStream], None]


class Reversed:
    """The ports of the device that lead to the host: ``adb reverse``.

    They are kept and listed as on any device. Nothing on the phone ever connects to one, as none of
    its apps is a client of anything.
    """

    def __init__(self) -> None:
        self._targets: dict[str, str] = {}

    def answer(self, request: str) -> bytes:
        """Do what the service ``reverse:<request>`` asks for."""
        verb, _, rest = request.partition(":")
        if request == "list-forward":
            lines = "".join(f"host-1 {here} {there}\n" for here, there in self._targets.items())
            return _told(lines)
        if request == "killforward-all":
            self._targets.clear()
            return b"OKAY"
        if verb == "killforward":
            if self._targets.pop(rest, None) is None:
                return _failed(f"listener '{rest}' not found")
            return b"OKAY"
        if verb == "forward":
            return self._forward(rest)
        return _failed(f"unknown reverse request {verb}")

    def _forward(self, rest: str) -> bytes:
        rebinds = not rest.startswith("norebind:")
        here, _, there = rest.removeprefix("norebind:").partition(";")
        if not _SOCKET.fullmatch(here) or not _SOCKET.fullmatch(there):
            return _failed(f"bad forward: {rest}")
        if here in self._targets and not rebinds:
            return _failed("cannot rebind existing socket")
        if len(self._targets) >= MAX_REVERSED and here not in self._targets:
            return _failed("cannot bind listener: Too many open files")
        if here != "tcp:0":
            self._targets[here] = there
            return b"OKAY"
        port = next(n for n in range(40_000, 65_536) if f"tcp:{n}" not in self._targets)
        self._targets[f"tcp:{port}"] = there
        return b"OKAY" + _told(str(port))


def service(name: str, device: Rooted, adbd: Adbd, reversed_: Reversed) -> AdbService | None:
    """What serves a stream of this name, if it is one of these."""
    kind, _, rest = name.partition(":")
    if name in ("root:", "unroot:"):
        return lambda stream: _root(device, adbd, stream, kind == "root")
    if name == "remount:":
        return lambda stream: stream.write(remount(device.is_root).encode())
    if kind == "tcpip":
        return lambda stream: _tcpip(adbd, rest, stream)
    if kind == "reverse":
        return lambda stream: stream.write(reversed_.answer(rest))
    if kind == "reboot":
        return lambda stream: _reboot(device, adbd, stream)
    return None


def remount(is_root: bool) -> str:
    """Why the system stays read-only."""
    if not is_root:
        return 'Not running as root. Try "adb root" first.\n'
    return "Device must be bootloader unlocked\nremount failed\n"


def _root(device: Rooted, adbd: Adbd, stream: AdbStream, on: bool) -> None:
    if device.is_root == on:
        told = "adbd is already running as root\n" if on else "adbd not running as root\n"
        stream.write(told.encode())
        return
    device.set_root(on)
    stream.write(f"restarting adbd as {'root' if on else 'non root'}\n".encode())
    _leave(adbd, stream)


def _tcpip(adbd: Adbd, rest: str, stream: AdbStream) -> None:
    if not rest.isdecimal() or not 0 < int(rest[:6]) < 65_536:
        stream.write(b"invalid port\n")
        return
    try:
        adbd.listen_also(int(rest))
    except UserError as error:
        stream.write(f"failed to listen on port {rest}: {error}\n".encode())
        return
    stream.write(f"restarting in TCP mode port: {rest}\n".encode())
    _leave(adbd, stream)


def _reboot(device: Rooted, adbd: Adbd, stream: AdbStream) -> None:
    device.restart()
    _leave(adbd, stream)


def _leave(adbd: Adbd, stream: AdbStream) -> None:
    """Restart, once the client has what was said."""
    stream.close()
    try:
        adbd.drop()
    except DeviceLost:
        pass  # it went by itself


def _told(text: str) -> bytes:
    encoded = text.encode()
    return b"%04x%s" % (len(encoded), encoded)


def _failed(reason: str) -> bytes:
    return b"FAIL" + _told(reason)
