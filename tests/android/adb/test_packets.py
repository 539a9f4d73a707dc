"""Packets of ADB's transport: put together from any pieces, refused where they are none."""

from __future__ import annotations

import struct

import pytest

from ui_gym.android.adb.packets import CNXN, MAX_DATA, OKAY, WRTE, Packet, PacketReader
from ui_gym.errors import DeviceLost

SENT = [Packet(CNXN, 1, 2, b"host::"), Packet(OKAY, 3, 4), Packet(WRTE, 5, 6, bytes(range(200)))]


@pytest.mark.parametrize("size", [1, 7, 24, 25, 1000])
def test_packets_come_whole_however_they_are_cut(size: int) -> None:
    wire = b"".join(packet.encode() for packet in SENT)
    reader, found = PacketReader(), []
    while wire:
        room = reader.room
        piece = wire[: min(size, len(room))]
        room[: len(piece)] = piece
        wire = wire[len(piece) :]
        if packet := reader.took(len(piece)):
            found.append(packet)
    assert found == SENT


def header(command: int, length: int = 0, magic: int | None = None) -> bytes:
    magic = command ^ 0xFFFFFFFF if magic is None else magic
    return struct.pack("<6I", command, 0, 0, length, 0, magic)


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (header(OKAY, magic=OKAY), "not ADB"),
        (b"GET / HTTP/1.1\r\nHost: phone", "not ADB"),
        (header(int.from_bytes(b"NOPE", "little")), "does not know: 0x45504f4e"),
        (header(WRTE, MAX_DATA + 1), f"{MAX_DATA + 1} bytes"),
        (header(WRTE, 0xFFFFFFFF), "4294967295 bytes"),
    ],
)
def test_what_is_no_packet_is_refused_by_its_header(wire: bytes, reason: str) -> None:
    reader = PacketReader()
    reader.room[:] = wire[:24]
    with pytest.raises(DeviceLost, match=reason):
        reader.took(24)


def test_a_checksum_is_written_where_an_old_device_wants_it() -> None:
    assert struct.unpack("<6I", Packet(WRTE, 1, 2, b"\x01\xff").header(checked=True))[4] == 256
    assert struct.unpack("<6I", Packet(WRTE, 1, 2, b"\x01\xff").header())[4] == 0
