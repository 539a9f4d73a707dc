"""The DevTools protocol over a pipe: no port, no websocket, no driver process.

Chromium started with ``--remote-debugging-pipe`` reads NUL-delimited JSON messages from its
descriptor 3 and writes them to 4 (``content/browser/devtools/devtools_pipe_handler.cc``). Sessions
are flat: every message carries the ``sessionId`` of its target.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from ui_gym.browser.chromium.protocol import Command, Message
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout


class CdpReply:
    """The answer to one command, once it is there."""

    def __init__(self, method: str, session: str | None) -> None:
        self.method = method
        self.session = session
        self._done = threading.Event()
        self._message: Message = {}
        self._error: Exception | None = None

    def set(self, message: Message) -> None:
        self._message = message
        self._done.set()

    def fail(self, error: Exception) -> None:
        self._error = error
        self._done.set()

    def wait(self, timeout: float) -> bool:
        """Whether the answer is there within `timeout` seconds."""
        return self._done.wait(timeout)

    def result(self, timeout: float) -> Message:
        """The result object.

        Raises:
            DeviceTimeout: no answer within `timeout` seconds.
            DeviceLost: the browser or the target is gone.
            DeviceError: the browser refused the command.
        """
        if not self._done.wait(timeout):
            raise DeviceTimeout(f"the browser did not answer {self.method} within {timeout:g} s")
        if self._error is not None:
            raise self._error
        if "error" in self._message:
            raise DeviceError(f"{self.method}: {self._message['error'].get('message')}")
        return self._message.get("result", {})  # type: ignore[no-any-return]


class CdpConnection:
    """One browser's DevTools pipe. Thread-safe; one reader thread."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: dict[int, CdpReply] = {}
        self._listeners: dict[str | None, Callable[[str, Message], None]] = {}
        self._closed: DeviceLost | None = None
        self._reader = threading.Thread(target=self._read, name="cdp-reader", daemon=True)
        self._reader.start()

    @property
    def lost(self) -> bool:
        """Whether the browser has closed its end."""
        return self._closed is not None

    def listen(self, session: str | None, listener: Callable[[str, Message], None] | None) -> None:
        """Give a session's events to `listener(method, params)`, called on the reader thread."""
        with self._lock:
            if listener is None:
                self._listeners.pop(session, None)
            else:
                self._listeners[session] = listener

    def send(self, commands: Sequence[Command], session: str | None = None) -> list[CdpReply]:
        """Write commands in one go; the browser handles a session's commands in order."""
        replies = [CdpReply(method, session) for method, _ in commands]
        chunks = []
        with self._lock:
            if self._closed is not None:
                raise DeviceLost(str(self._closed))
            for (method, params), reply in zip(commands, replies, strict=True):
                number = next(self._ids)
                self._pending[number] = reply
                message: Message = {"id": number, "method": method, "params": params}
                if session is not None:
                    message["sessionId"] = session
                chunks.append(orjson.dumps(message) + b"\0")
            try:
                _write_all(self._write_fd, b"".join(chunks))
            except OSError as error:
                raise DeviceLost(f"the browser is gone: {error.strerror}") from None
        return replies

    def call(
        self, method: str, params: Mapping[str, Any] | None = None, *,
        session: str | None = None, timeout: float,
    ) -> Message:  # fmt: skip
        """Send one command and wait for its result, at most `timeout` seconds."""
        return self.send([(method, params or {})], session)[0].result(timeout)

    def fail_session(self, session: str, error: Exception) -> None:
        """Wake everybody who waits on `session` with `error`: its target will not answer."""
        with self._lock:
            numbers = [n for n, reply in self._pending.items() if reply.session == session]
            replies = [self._pending.pop(n) for n in numbers]
        for reply in replies:
            reply.fail(error)

    def close(self) -> None:
        """Close our end, at which the browser ends itself. Idempotent."""
        self._lose("the connection to the browser is closed")

    def join(self) -> None:
        """Wait, a moment at most, until the browser's end is closed too and all is tidied up."""
        self._reader.join(timeout=5)

    def _read(self) -> None:
        buffer = bytearray()
        while True:
            try:
                data = os.read(self._read_fd, 1 << 20)
            except OSError:
                data = b""
            if not data:
                break
            start = len(buffer)
            buffer += data
            # Only new bytes can hold the end of a message: screenshots arrive in many pieces.
            end = buffer.find(b"\0", start)
            while end >= 0:
                message = bytes(buffer[:end])
                del buffer[: end + 1]
                self._dispatch(orjson.loads(message))
                end = buffer.find(b"\0")
        self._lose("the browser is gone: it closed the connection")
        os.close(self._read_fd)

    def _dispatch(self, message: Message) -> None:
        number = message.get("id")
        if number is not None:
            with self._lock:
                reply = self._pending.pop(number, None)
            if reply is not None:
                reply.set(message)
            return
        with self._lock:
            listener = self._listeners.get(message.get("sessionId"))
        if listener is not None:
            listener(message["method"], message.get("params", {}))

    def _lose(self, reason: str) -> None:
        with self._lock:
            if self._closed is not None:
                return
            self._closed = DeviceLost(reason)
            replies = list(self._pending.values())
            self._pending.clear()
            os.close(self._write_fd)
        for reply in replies:
            reply.fail(DeviceLost(reason))


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
