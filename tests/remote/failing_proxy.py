"""A TCP proxy that fails on demand: cuts in the middle of what it carries, stalls, refuses."""

from __future__ import annotations

import contextlib
import socket
import threading
from random import Random


class Proxy:
    """Carries connections from `port` to the port `target` of this machine, as it pleases."""

    def __init__(self) -> None:
        self.target = 9
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._ends: list[socket.socket] = []
        self._flows = threading.Event()
        self._flows.set()
        self.cuts = 0
        self.chaos: Random | None = None
        """Cuts each connection after some random number of bytes, while it is set."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def name(self) -> str:
        """What a server behind it is called."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"ws://{self.name}"

    def stall(self) -> None:
        """Carry nothing more, and close nothing."""
        self._flows.clear()

    def go_on(self) -> None:
        self._flows.set()

    def cut(self) -> None:
        """Close all connections."""
        ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._flows.set()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            self._ends += [near, far]
            budget = self.chaos.randrange(2_000, 20_000) if self.chaos else None
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other, budget), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket, budget: int | None) -> None:
        left = budget
        with contextlib.suppress(OSError):
            while data := one.recv(4096):
                self._flows.wait()
                if left is not None:
                    if len(data) > left:
                        other.sendall(data[:left])  # half of what was sent arrives
                        self.cuts += 1
                        break
                    left -= len(data)
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
