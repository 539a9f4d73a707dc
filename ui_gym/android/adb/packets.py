"""Packets of ADB's device transport (AOSP ``packages/modules/adb/protocol.txt``).

A packet is a header of six 32-bit little-endian words (command, arg0, arg1, length of the payload,
checksum of the payload, command ^ 0xffffffff), and the payload.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ui_gym.errors import DeviceLost

VERSION = 0x01000001
"""Of the protocol; from this one on nobody looks at checksums."""
FIRST_VERSION = 0x01000000
MAX_DATA = 1 << 20
"""The longest payload that we take, in bytes."""

_HEADER = struct.Struct("<6I")
_MASK = 0xFFFFFFFF


def _word(name: bytes) -> int:
    return int.from_bytes(name, "little")


CNXN, AUTH, STLS = _word(b"CNXN"), _word(b"AUTH"), _word(b"STLS")
OPEN, OKAY, WRTE, CLSE = _word(b"OPEN"), _word(b"OKAY"), _word(b"WRTE"), _word(b"CLSE")

_KNOWN = frozenset({CNXN, AUTH, STLS, OPEN, OKAY, WRTE, CLSE})


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet. What the arguments mean depends on the command."""

    command: int
    arg0: int = 0
    arg1: int = 0
    data: bytes = b""

    def header(self, *, checked: bool = False) -> bytes:
        """The header; with the payload's sum if `checked`, which old devices insist on."""
        total = sum(self.data) & _MASK if checked else 0
        return _HEADER.pack(
            self.command, self.arg0, self.arg1, len(self.data), total, self.command ^ _MASK
        )

    def encode(self, *, checked: bool = False) -> bytes:
        return self.header(checked=checked) + self.data


class PacketReader:
    """Puts packets together from bytes as they come. Put the next ones where `room` says::

        packet = reader.took(sock.recv_into(reader.room))

    A pause in the middle of a packet loses nothing. No more memory than one packet's is held.
    """

    def __init__(self) -> None:
        self._header: tuple[int, ...] | None = None
        self._buffer = bytearray(_HEADER.size)
        self._filled = 0

    @property
    def room(self) -> memoryview:
        """Where the next bytes go; never empty."""
        return memoryview(self._buffer)[self._filled :]

    def took(self, count: int) -> Packet | None:
        """`count` bytes were put where `room` said: the packet that they completed, if any.

        Raises:
            DeviceLost: this is no packet of ADB's.
        """
        self._filled += count
        if self._filled < len(self._buffer):
            return None
        if self._header is None:
            self._header = _checked(_HEADER.unpack(self._buffer))
            length = self._header[3]
            if length:
                self._start(length)
                return None
            data = b""
        else:
            data = bytes(self._buffer)
        command, arg0, arg1, *_ = self._header
        self._header = None
        self._start(_HEADER.size)
        return Packet(command, arg0, arg1, data)

    def _start(self, length: int) -> None:
        self._buffer, self._filled = bytearray(length), 0


def _checked(header: tuple[int, ...]) -> tuple[int, ...]:
    command, _, _, length, _, magic = header
    if magic != command ^ _MASK:
        raise DeviceLost("this is not ADB: a packet's check of its own command is wrong")
    if command not in _KNOWN:
        raise DeviceLost(f"a packet has a command that ADB does not know: {command:#010x}")
    if length > MAX_DATA:
        raise DeviceLost(f"a packet of {length} bytes; at most {MAX_DATA} were agreed on")
    return header
