"""Local HTTP servers for tests: they listen while a test runs, and are gone after it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def free_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


class QuietHandler(BaseHTTPRequestHandler):
    """Calls `answer` for every request, and writes no log."""

    def answer(self) -> None:
        """To be overridden; answers by `say`."""
        raise NotImplementedError

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def do_PUT(self) -> None:
        self.answer()

    def say(self, body: bytes, status: int = 200, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class AllAtOnce:
    """Lets an answer out, one at a time, only while `slots` questions are open at once.

    After `answers` of them all may go. A question that waited longer than `seconds` for the others
    goes as well; it is counted as `starved`.
    """

    def __init__(self, slots: int, answers: int, seconds: float = 5.0) -> None:
        self.slots = slots
        self.left = answers
        self.starved = 0
        self._seconds = seconds
        self._open = 0
        self._may = threading.Condition()

    def __call__(self) -> None:
        """Wait for leave to answer."""
        with self._may:
            self._open += 1
            self._may.notify_all()
            together = self._may.wait_for(self._all_open, self._seconds)
            self.starved += not together
            self.left = max(0, self.left - 1) if together else 0
            self._open -= 1
            self._may.notify_all()

    def _all_open(self) -> bool:
        return self.left == 0 or self._open == self.slots


@contextlib.contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[ThreadingHTTPServer]:
    """A server at a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
