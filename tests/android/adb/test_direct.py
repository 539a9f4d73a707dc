"""A device that fails in the middle of something: told apart, in time, and by its name."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from adb_peers import packets, playing

from ui_gym.android.adb import shell
from ui_gym.android.adb.direct import DirectConnection
from ui_gym.android.adb.packets import AUTH, CLSE, CNXN, OKAY, OPEN, STLS, VERSION, WRTE, Packet
from ui_gym.errors import DeviceLost, DeviceStartError, DeviceTimeout

HELLO = Packet(CNXN, VERSION, 4096, b"device::ro.product.name=x;features=shell_v2,cmd")


def connect(port: int, timeout: float = 5.0) -> DirectConnection:
    return DirectConnection("127.0.0.1", port, timeout)


def test_nobody_there_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    with pytest.raises(DeviceStartError, match=f"no device answers at 127.0.0.1:{port}"):
        connect(port)


@pytest.mark.parametrize(("command", "what"), [(AUTH, "a key"), (STLS, "an encrypted connection")])
def test_a_device_that_wants_a_key_is_for_the_adb_server(command: int, what: str) -> None:
    with (
        playing(lambda sock: sock.sendall(Packet(command, 1, 0, bytes(20)).encode())) as port,
        pytest.raises(DeviceStartError, match=f"wants {what}.* device='adb:127.0.0.1:{port}'"),
    ):
        connect(port)


@pytest.mark.parametrize("said", [b"SSH-2.0-OpenSSH_9.2 and some more", b"", b"CNXN"])
def test_what_is_no_device_is_told(said: bytes) -> None:
    with (
        playing(lambda sock: sock.sendall(said)) as port,
        pytest.raises(DeviceStartError, match="does not answer as a device"),
    ):
        connect(port)


def test_a_device_that_never_answers_is_given_up() -> None:
    with (
        playing(lambda sock: sock.recv(100) and sock.recv(100)) as port,
        pytest.raises(DeviceTimeout, match=r"within 0\.2 s"),
    ):
        connect(port, 0.2)


def after_hello(*answers: bytes) -> Callable[[socket.socket], None]:
    """A device that says hello, and to each packet after that the next of `answers`."""

    def play(sock: socket.socket) -> None:
        heard = packets(sock)
        next(heard)
        sock.sendall(HELLO.encode())
        for answer in answers:
            next(heard)
            sock.sendall(answer)
        if not answers or answers[-1]:
            return
        for _ in heard:  # it stays, and says nothing more
            pass

    return play


OPENED = Packet(OKAY, 9, 1).encode()
HALF = Packet(WRTE, 9, 1, bytes(4000)).encode()[:1000]


def test_a_device_that_goes_in_half_a_transfer_is_lost() -> None:
    with playing(after_hello(OPENED + HALF)) as port:
        connection = connect(port)
        with pytest.raises(DeviceLost, match=f"127.0.0.1:{port}"):
            shell.execute(connection, "screencap", 5)
        with pytest.raises(DeviceLost, match=f"127.0.0.1:{port}"):
            shell.execute(connection, "screencap", 5)


def test_a_device_that_stops_in_half_a_transfer_is_given_up() -> None:
    with playing(after_hello(OPENED + HALF, b"")) as port:
        connection = connect(port)
        with pytest.raises(DeviceTimeout, match=rf"127.0.0.1:{port}: 'exec:screencap'.* 0\.2 s"):
            shell.execute(connection, "screencap", 0.2)
        connection.close()


def test_a_malformed_header_ends_the_connection() -> None:
    with playing(after_hello(OPENED + b"x" * 24, b"")) as port:
        connection = connect(port)
        with pytest.raises(DeviceLost, match="not ADB"):
            shell.execute(connection, "ls", 5)
        with pytest.raises(DeviceLost, match="not ADB"):
            shell.execute(connection, "ls", 5)
        connection.close()


def test_a_stream_that_ends_before_the_exit_code_is_lost() -> None:
    end = Packet(WRTE, 9, 1, b"\1\2\0\0\0hi").encode() + Packet(CLSE, 9, 1).encode()
    with playing(after_hello(OPENED + end, b"", b"")) as port:
        connection = connect(port)
        with pytest.raises(DeviceLost, match="too early"):
            shell.run(connection, "ls", 5)
        connection.close()


def test_a_stream_that_was_given_up_is_closed_when_it_opens_at_last() -> None:
    late: list[Packet] = []

    def play(sock: socket.socket) -> None:
        heard = packets(sock)
        next(heard)
        sock.sendall(HELLO.encode())
        first, second = next(heard), next(heard)
        assert (first.command, second.command) == (OPEN, OPEN)
        sock.sendall(Packet(OKAY, 50, first.arg0).encode() + Packet(OKAY, 51, second.arg0).encode())
        sock.sendall(Packet(WRTE, 50, first.arg0, b"for nobody").encode())
        sock.sendall(Packet(WRTE, 51, second.arg0, b"yes").encode())
        late.append(next(heard))
        sock.sendall(Packet(CLSE, 51, second.arg0).encode())
        next(heard)

    with playing(play) as port:
        connection = connect(port)
        with pytest.raises(DeviceTimeout):
            shell.execute(connection, "slow", 0.2)
        assert shell.execute(connection, "fast", 5) == b"yes"
        connection.close()
    assert [(p.command, p.arg0, p.arg1) for p in late] == [(CLSE, 1, 50)]


def test_an_old_device_gets_checksums_and_short_packets() -> None:
    found: list[bytes] = []

    def play(sock: socket.socket) -> None:
        heard = packets(sock)
        next(heard)
        sock.sendall(Packet(CNXN, 0x01000000, 4096, b"device::").encode())
        header = sock.recv(24, socket.MSG_WAITALL)
        found.append(header)

    with playing(play) as port:
        connection = connect(port)
        with pytest.raises(DeviceLost):
            connection.open("exec:a", 5)
        connection.close()
    assert int.from_bytes(found[0][16:20], "little") == sum(b"exec:a\0")
