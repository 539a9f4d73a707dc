"""A client of QMP, QEMU's machine protocol: one JSON object a line, on a stream socket.

The protocol is that of QEMU's ``docs/interop/qmp-spec.rst``: the server greets, the client asks
for ``qmp_capabilities``, and from then on each command is answered by ``return`` or ``error`` with
the command's ``id``; events may come in between.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout

MAX_LINE = 8 << 20
"""The longest message that is read, in bytes."""

Message = dict[str, Any]


class QmpError(DeviceError):
    """QEMU refused a command. `kind` is the class of its error, such as ``GenericError``."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class Qmp:
    """A conversation with QEMU. Its methods may be called from any thread.

    `timeout` in seconds bounds every command that has no timeout of its own.

    Raises:
        DeviceTimeout: no greeting in time.
        DeviceLost: the connection ended.
        DeviceError: what is at the other end does not speak QMP.
    """

    def __init__(self, connection: socket.socket, *, timeout: float) -> None:
        self.timeout = timeout
        self._connection = connection
        self._lock = threading.Lock()
        self._buffer = bytearray()
        self._numbers = itertools.count(1)
        deadline = time.monotonic() + timeout
        greeting = self._receive("its greeting", deadline)
        if "QMP" not in greeting:
            raise DeviceError(f"what answers at QEMU's socket does not speak QMP: {greeting!r}")
        version = greeting["QMP"]["version"]["qemu"]
        self.version: tuple[int, int, int] = (
            version["major"],
            version["minor"],
            version["micro"],
        )
        """QEMU's version."""
        self.execute("qmp_capabilities")

    def execute(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Any:
        """Run a command and give back what it returned.

        Raises:
            QmpError: QEMU refused it.
            DeviceTimeout: no answer within `timeout` seconds.
            DeviceLost: QEMU is gone.
        """
        with self._lock:
            return self._execute(command, arguments, self._deadline(timeout))

    def job(
        self, command: str, arguments: Mapping[str, Any], *, timeout: float | None = None
    ) -> None:
        """Run a command that starts a job, such as ``snapshot-save``, and wait for the job's end.

        Raises:
            QmpError: it was refused, or the job failed.
            DeviceTimeout: it took longer than `timeout` seconds.
            DeviceLost: QEMU is gone.
        """
        job = f"{command}-{next(self._numbers)}"

        def changed(message: Message) -> bool:
            return message.get("event") == "JOB_STATUS_CHANGE" and message["data"].get("id") == job

        with self._lock:
            deadline = self._deadline(timeout)
            self._execute(command, {"job-id": job, **arguments}, deadline)
            # Where the answer says that it runs, the event of its end is yet to come.
            while (state := self._state(job, deadline))["status"] != "concluded":
                self._await(changed, f"the end of {command}", deadline)
            self._execute("job-dismiss", {"id": job}, deadline)
        if state.get("error"):
            raise QmpError(f"QEMU's {command} failed: {state['error']}", "JobFailed")

    def close(self) -> None:
        """End the conversation, under a thread that waits in it too. Idempotent."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    # -- messages; the lock is held --

    def _deadline(self, timeout: float | None) -> float:
        return time.monotonic() + (self.timeout if timeout is None else timeout)

    def _state(self, job: str, deadline: float) -> Message:
        jobs: list[Message] = self._execute("query-jobs", None, deadline)
        return next(known for known in jobs if known["id"] == job)

    def _execute(self, command: str, arguments: Mapping[str, Any] | None, deadline: float) -> Any:
        number = next(self._numbers)
        request: Message = {"execute": command, "id": number}
        if arguments:
            request["arguments"] = dict(arguments)
        self._send(json.dumps(request).encode() + b"\n", command, deadline)
        # An answer of another number is that of a command whose caller did not wait long enough.
        answer = self._await(lambda message: message.get("id") == number, command, deadline)
        if "error" in answer:
            error = answer["error"]
            raise QmpError(f"QEMU refused {command}: {error.get('desc')}", error.get("class", ""))
        return answer["return"]

    def _await(self, wanted: Callable[[Message], bool], what: str, deadline: float) -> Message:
        message = self._receive(what, deadline)
        while not wanted(message):
            message = self._receive(what, deadline)
        return message

    def _send(self, data: bytes, what: str, deadline: float) -> None:
        try:
            self._connection.settimeout(max(deadline - time.monotonic(), 0.001))
            self._connection.sendall(data)
        except TimeoutError:
            raise DeviceTimeout(f"QEMU did not take {what} in time") from None
        except OSError as error:
            raise DeviceLost(f"QEMU is gone ({error})") from None

    def _receive(self, what: str, deadline: float) -> Message:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_LINE:
                raise DeviceLost(f"QEMU's socket gave a line of more than {MAX_LINE} bytes")
            self._buffer += self._piece(what, deadline)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise DeviceError(f"what answers at QEMU's socket does not speak QMP: {line[:80]!r}")
        return message

    def _piece(self, what: str, deadline: float) -> bytes:
        try:
            # Not zero, which is "do not wait" and another error.
            self._connection.settimeout(max(deadline - time.monotonic(), 0.001))
            piece = self._connection.recv(65536)
        except TimeoutError:
            raise DeviceTimeout(f"QEMU did not give {what} in time") from None
        except OSError as error:
            raise DeviceLost(f"QEMU is gone ({error})") from None
        if not piece:
            raise DeviceLost("QEMU is gone: it ended the connection")
        return piece
