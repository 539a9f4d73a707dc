"""The other side of a socket, played by a function; and packets read from one."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from ui_gym.android.adb.packets import CNXN, MAX_DATA, VERSION, Packet, PacketReader


@contextlib.contextmanager
def playing(play: Callable[[socket.socket], None]) -> Iterator[int]:
    """Whoever connects to the port that this yields meets `play`; its connection ends with it."""
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def serve(sock: socket.socket) -> None:
        sock.settimeout(10)
        with sock, contextlib.suppress(OSError, StopIteration):
            play(sock)

    def accept() -> None:
        while True:
            try:
                sock, _ = listening.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=serve, args=(sock,), daemon=True))
            threads[-1].start()

    threads.append(threading.Thread(target=accept, daemon=True))
    threads[0].start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for thread in threads:
            thread.join(10)


def packets(sock: socket.socket) -> Iterator[Packet]:
    """The packets that come, until the other side ends."""
    reader = PacketReader()
    while count := sock.recv_into(reader.room):
        if packet := reader.took(count):
            yield packet


def greet(sock: socket.socket, *, most: int = MAX_DATA) -> Iterator[Packet]:
    """Be a client that has said hello; what comes after the answer."""
    sock.sendall(Packet(CNXN, VERSION, most, b"host::").encode())
    found = packets(sock)
    assert next(found).command == CNXN
    return found


def smart_socket(answers: Callable[[str], bytes | None]) -> Callable[[socket.socket], None]:
    """Plays an adb server: each request gets what `answers` says, and None ends the connection."""

    def play(sock: socket.socket) -> None:
        while length := sock.recv(4):
            request = b""
            while len(request) < int(length, 16):
                request += sock.recv(int(length, 16) - len(request))
            answer = answers(request.decode())
            if answer is None:
                return
            sock.sendall(answer)

    return play


def okay(text: str) -> bytes:
    return b"OKAY%04x%s" % (len(text), text.encode())


def fail(reason: str) -> bytes:
    return b"FAIL%04x%s" % (len(reason), reason.encode())


def use_server(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """From now on, "the adb server" is the one on this port."""
    monkeypatch.delenv("ADB_SERVER_SOCKET", raising=False)
    monkeypatch.delenv("ANDROID_ADB_SERVER_ADDRESS", raising=False)
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(port))
