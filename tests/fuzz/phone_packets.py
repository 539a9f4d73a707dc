"""Packets of ADB to the built-in phone: whatever a client sends, the others are served."""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

from waiting import eventually

from tests.fuzz import mutation
from tests.fuzz.phone_lines import mutated
from tests.fuzz.running import Overheard, Unexpected, listed, parts_of
from ui_gym.android.adb import shell
from ui_gym.android.adb.direct import DirectConnection
from ui_gym.android.adb.packets import (
    CLSE,
    CNXN,
    OKAY,
    OPEN,
    VERSION,
    WRTE,
    Packet,
    PacketReader,
)
from ui_gym.errors import DeviceError
from ui_gym_phone.adbd import AdbServer
from ui_gym_phone.handset import Handset

GREETING = Packet(CNXN, VERSION, 1 << 20, b"host::")

LAST = 0x7FFF
"""The client's number of the stream that is opened after all others."""

LOOK = 25
"""Cases between two looks at what is left of connections that ended."""

PATIENCE = 30.0

SERVICES = (
    b"shell:echo x\0", b"shell,v2,raw:cat\0", b"shell,v2:ls /sdcard\0", b"exec:cat /dev/zero\0",
    b"sync:\0", b"shell:\0", b"shell,v2,pty:\0", b"root:\0", b"unroot:\0", b"remount:\0",
    b"reverse:forward:tcp:0;tcp:80\0", b"reverse:list-forward\0", b"reverse:killforward-all\0",
    b"framebuffer:\0", b"jdwp\0", b"tcp:80\0", b"", b"\0", b"shell,v2,TERM=x", b"tcpip:x\0",
)  # fmt: skip
SAID = (
    b"STAT\x04\0\0\0/sdc", b"LIST\x07\0\0\0/sdcard", b"STA2\x07\0\0\0/sdcard", b"LST2\0\0\0\0",
    b"RECV\xff\xff\xff\xff", b"RECV\x11\0\0\0/sdcard/notes.txt", b"QUIT\0\0\0\0",
    b"SEND\x05\0\0\0/a,12DATA\xff\xff\xff\x7f", b"DONE\0\0\0\0",
    b"SEND\x0f\0\0\0/sdcard/a,33188DATA\x02\0\0\0hiDONE\x01\0\0\0", b"SEND\x01\0\0\0,",
    b"\0\x03\0\0\0ls\n", b"\0\xff\xff\xff\xff", b"\3\0\0\0\0", b"\4\0\0\0\0", b"ls\nexit\n", b"",
)  # fmt: skip


class PhonePackets:
    """A case is a list of packets, as bytes: what one client sends.

    Args:
        served: What is served in place of a built-in phone.
    """

    def __init__(self, served: Any = None) -> None:
        self._served = served or Handset()
        self._fresh = None if served is not None else self._served.snapshot()
        self._overheard = Overheard()
        self._server = AdbServer(self._served)
        self._cases = 0

    def case(self, rng: random.Random) -> bytes:
        return listed([_made_up(rng) for _ in range(rng.randrange(1, 60))])

    def feed(self, case: bytes) -> Iterator[str]:
        packets = parts_of(case)
        outcome = self._sent(packets)
        self._overheard.check()
        self._cases += 1
        if self._cases % LOOK == 0:
            self._look()
        yield from [outcome] * len(packets)

    def close(self) -> None:
        self._server.close()
        self._overheard.close()

    def _sent(self, packets: list[bytes]) -> str:
        """Be a client that sends these. Whether the device listened to its last packet."""
        with socket.create_connection(("127.0.0.1", self._server.port), PATIENCE) as client:
            try:
                client.sendall(GREETING.encode())
                client.settimeout(0.002)
                answered = bytearray()
                for packet in packets:
                    client.sendall(packet)
                    if packet[:4] == b"WRTE":  # one that is sent before its turn ends it all
                        _read(client, answered)
                client.settimeout(PATIENCE)
                client.sendall(Packet(OPEN, LAST, 0, b"shell:exit 0\0").encode())
                client.shutdown(socket.SHUT_WR)
                while len(answered) < 1 << 20 and (data := client.recv(1 << 16)):
                    answered += data
            except TimeoutError:
                raise Unexpected("no answer, and no end of the connection") from None
            except OSError:
                return "hung up on"
        return "served" if _last_opened(bytes(answered)) else "hung up on"

    def _look(self) -> None:
        """Nothing is left of the clients that went, and one that behaves is served."""
        name = f"ui-gym-adbd-{self._served.serial}"
        # The bound on processor time ends what computes; on a busy machine a minute is soon over.
        if not eventually(lambda: not [t for t in threading.enumerate() if name in t.name], 600):
            raise Unexpected("threads are left of connections that ended")
        if self._fresh is not None:
            self._served.renew(self._fresh)
        try:
            connection = DirectConnection("127.0.0.1", self._server.port, PATIENCE)
            try:
                said = shell.run(connection, "echo fine", PATIENCE).text
            finally:
                connection.close()
        except DeviceError as error:
            raise Unexpected(f"a client that behaves is not served: {error}") from None
        if said != "fine":
            raise Unexpected(f"a client that behaves is told {said!r}")


def _read(client: socket.socket, answered: bytearray) -> None:
    """What comes soon."""
    try:
        answered += client.recv(1 << 16)
    except TimeoutError:
        pass


def _last_opened(answered: bytes) -> bool:
    """Whether the stream `LAST` was answered."""
    reader = PacketReader()
    while answered:
        room = reader.room
        taken = answered[: len(room)]
        room[: len(taken)] = taken
        answered = answered[len(taken) :]
        packet = reader.took(len(taken))
        if packet is not None and packet.command in (OKAY, CLSE) and packet.arg1 == LAST:
            return True
    return False


def _made_up(rng: random.Random) -> bytes:
    command = rng.choice((OPEN, OPEN, OKAY, WRTE, WRTE, CLSE, CNXN))
    if command == OPEN:
        line = f"shell:{mutated(rng)}\0".encode(errors="replace")
        data = rng.choice((rng.choice(SERVICES), line))
        if rng.random() < 0.2:
            data = mutation.torn(rng, data)
    else:
        data = rng.choice((rng.choice(SAID), rng.choice(SAID), rng.randbytes(rng.randrange(64))))
    number = rng.randrange(6)
    # A stream that is opened first has the number 1 at the device, too.
    packet = Packet(command, number, rng.choice((0, number, number, rng.randrange(6))), data)
    wire = bytearray(packet.encode())
    if rng.random() < 0.01:  # any byte of it may be wrong
        wire = bytearray(mutation.flipped(rng, bytes(wire), 1))
    if rng.random() < 0.003:
        wire[12:16] = struct.pack("<I", rng.getrandbits(32))
    return bytes(wire)
