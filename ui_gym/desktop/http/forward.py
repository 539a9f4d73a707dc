"""Forwarder: ports of a desktop as ports of this machine.

OSWorld's clients speak to Chrome (9222) and VLC (8080) in the machine themselves. A desktop that
has a network of its own is reached by `DesktopDevice.connect`; this makes ordinary ports of that.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

from ui_gym.errors import DeviceError, UserError

_CHUNK = 1 << 16

MOST_CONNECTIONS = 64


class Forwarder:
    """Listens at a port of the loopback and passes what comes to `connect(port)`.

    Raises:
        UserError: the port is taken.
    """

    def __init__(self, connect: Callable[[int], socket.socket], port: int, local: int) -> None:
        self._connect = connect
        self._far_port = port
        try:
            self._listener = socket.create_server(("127.0.0.1", local))
        except (OSError, OverflowError) as error:
            raise UserError(
                f"port {local} cannot be forwarded ({error}): take another, as in "
                f"--forward {port}=LOCAL"
            ) from None
        self.port = int(self._listener.getsockname()[1])
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening, and end all connections."""
        with self._lock:
            self._closed = True
            ending = [self._listener, *self._open]
        for each in ending:
            _end(each)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        with near, contextlib.suppress(DeviceError, OSError), self._connect(self._far_port) as far:
            with self._lock:
                if self._closed or len(self._open) >= 2 * MOST_CONNECTIONS:
                    return
                self._open |= {near, far}
            try:
                back = threading.Thread(target=_pass, args=(far, near), daemon=True)
                back.start()
                _pass(near, far)
                back.join()
            finally:
                with self._lock:
                    self._open -= {near, far}


def _pass(source: socket.socket, target: socket.socket) -> None:
    """Pass on until one side ends; the other then hears of it."""
    source.settimeout(None)
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _end(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
