"""What we serve: to this machine only, and whatever a client sends, the others are served."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from adb_peers import greet, packets
from adb_toy import Toy
from waiting import eventually

from ui_gym.android.adb import shell
from ui_gym.android.adb.direct import DirectConnection
from ui_gym.android.adb.packets import AUTH, CLSE, CNXN, OKAY, OPEN, STLS, WRTE, Packet
from ui_gym.errors import DeviceError, UserError
from ui_gym_phone import adbd
from ui_gym_phone.adbd import AdbServer


@pytest.fixture
def client(served: AdbServer) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as sock:
        yield sock


def answers(served: AdbServer) -> bool:
    """Whether a client that behaves is served."""
    connection = DirectConnection("127.0.0.1", served.port, 10)
    try:
        return shell.run(connection, "echo fine", 10).text == "fine"
    finally:
        connection.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "phone.example"])
def test_it_listens_on_this_machine_alone(toy: Toy, host: str) -> None:
    with pytest.raises(UserError, match=r"this machine only.*ssh -L"):
        AdbServer(toy, host)


def test_a_taken_port_is_told(toy: Toy, served: AdbServer) -> None:
    with pytest.raises(UserError, match=f"port {served.port} .* taken"):
        AdbServer(toy, port=served.port)
    with pytest.raises(UserError, match="port 70000"):
        AdbServer(toy, port=70000)


def test_closing_ends_the_connections_and_frees_the_port(toy: Toy) -> None:
    served = AdbServer(toy)
    connection = DirectConnection("127.0.0.1", served.port, 10)
    served.close()
    served.close()
    with pytest.raises(DeviceError):
        shell.run(connection, "echo", 10)
    connection.close()
    with AdbServer(toy, port=served.port) as again:
        assert answers(again)


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        Packet(CNXN, 1, 1 << 20, b"host::").encode() + bytes(24),
        Packet(OPEN, 1, 0, b"shell:echo\0").encode(),
        Packet(AUTH, 1, 0, b"").encode(),
        Packet(STLS, 1, 0, b"").encode(),
        Packet(WRTE, 1, 1, bytes(100)).encode()[:60] + b"!" * 100,
    ],
    ids=["http", "zeros", "no greeting", "auth", "tls", "broken"],
)
def test_what_is_no_client_is_hung_up_on(
    served: AdbServer, client: socket.socket, sent: bytes
) -> None:
    client.sendall(sent)
    while True:  # an answer to a greeting may come before
        try:
            if not client.recv(4096):
                break
        except ConnectionResetError:
            break
    assert answers(served)


def test_one_clients_mistake_ends_no_other(
    served: AdbServer, direct: DirectConnection, client: socket.socket
) -> None:
    client.sendall(b"nonsense" * 10)
    assert client.recv(100) == b""
    assert shell.run(direct, "echo fine", 10).text == "fine"


def test_a_client_that_acknowledges_nothing_is_sent_no_more(
    served: AdbServer, client: socket.socket
) -> None:
    found = greet(client, most=1000)
    client.sendall(Packet(OPEN, 7, 0, b"exec:big 50000000\0").encode())
    opened, first = next(found), next(found)
    assert (opened.command, opened.arg1) == (OKAY, 7)
    assert (first.command, len(first.data)) == (WRTE, 1000)
    client.settimeout(0.2)
    with pytest.raises(TimeoutError):
        next(found)
    assert answers(served)


def test_an_old_client_gets_checksums(served: AdbServer, client: socket.socket) -> None:
    client.sendall(Packet(CNXN, 0x01000000, 4096, b"host::").encode())
    header = struct.unpack("<6I", client.recv(24, socket.MSG_WAITALL))
    assert header[0] == CNXN
    assert header[4] == sum(client.recv(header[3], socket.MSG_WAITALL)) != 0


def test_a_client_that_writes_out_of_turn_is_hung_up_on(
    served: AdbServer, client: socket.socket
) -> None:
    found = greet(client)
    client.sendall(Packet(OPEN, 7, 0, b"shell:hang\0").encode())
    local = next(found).arg0
    client.sendall(Packet(WRTE, 7, local, bytes(1 << 20)).encode() * 2)
    with pytest.raises((StopIteration, ConnectionError)):
        next(found)
    assert answers(served)


def test_streams_are_bounded(served: AdbServer, client: socket.socket, toy: Toy) -> None:
    found = greet(client)
    for number in range(1, adbd.MAX_STREAMS + 2):
        client.sendall(Packet(OPEN, number, 0, b"shell:hang\0").encode())
    commands = [next(found).command for _ in range(adbd.MAX_STREAMS + 1)]
    assert commands == [OKAY] * adbd.MAX_STREAMS + [CLSE]
    toy.go.set()
    ended = {next(found).arg1 for _ in range(adbd.MAX_STREAMS)}
    assert ended == set(range(1, adbd.MAX_STREAMS + 1))
    client.sendall(Packet(OPEN, 99, 0, b"shell:exit 0\0").encode())
    assert next(found).command == OKAY


def test_connections_are_bounded(served: AdbServer) -> None:
    clients = []
    try:
        for _ in range(adbd.MAX_CONNECTIONS):
            clients.append(socket.create_connection(("127.0.0.1", served.port), timeout=10))
            greet(clients[-1])
        with socket.create_connection(("127.0.0.1", served.port), timeout=10) as more:
            assert next(packets(more), None) is None
    finally:
        for client in clients:
            client.close()
    assert eventually(lambda: _is_served(served))


def _is_served(served: AdbServer) -> bool:
    try:
        return answers(served)
    except DeviceError:
        return False


def test_a_client_that_leaves_in_the_middle_costs_nothing(served: AdbServer, toy: Toy) -> None:
    for service in (b"exec:big 50000000\0", b"shell,v2:cat\0", b"sync:\0", b"shell:\0"):
        with socket.create_connection(("127.0.0.1", served.port), timeout=10) as client:
            found = greet(client)
            client.sendall(Packet(OPEN, 1, 0, service).encode())
            assert next(found).command == OKAY
    assert eventually(lambda: not [t for t in threading.enumerate() if "toy-1" in t.name])
    assert answers(served)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_in_what_is_served_ends_its_stream_alone(
    served: AdbServer, direct: DirectConnection, toy: Toy
) -> None:
    with pytest.raises(DeviceError, match="too early"):
        shell.run(direct, "exit x", 10)
    assert shell.run(direct, "echo fine", 10).text == "fine"
