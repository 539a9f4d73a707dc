"""The device's side of the shell services: ``shell:``, ``shell,v2:`` and ``exec:``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Protocol

from ui_gym.android.adb.shell import CLOSE_STDIN, EXIT, HEADER, MAX_PACKET, STDERR, STDIN, STDOUT
from ui_gym.android.adb.stream import AdbStream
from ui_gym.errors import DeviceLost

Write = Callable[[int, bytes], None]
"""Takes output in the order in which it arises: the file descriptor (1 or 2) and bytes."""

MAX_LINE = 64 << 10
"""The longest line that may be typed, in bytes."""

_FLUSH_BYTES = 64 << 10
_FLUSH_SECONDS = 0.05


class Input(Protocol):
    """The standard input of a command."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, all until the end if below 0; ``b""`` at the end. Waits."""


class Runs(Protocol):
    """What has a shell."""

    def run(self, line: str, stdin: Input | None, write: Write, *, prompt: bool = False) -> int:
        """Run a line, or without one the commands that `stdin` holds, and tell the exit code. With
        `prompt` a person is asked for each.

        `write` and ``stdin.read`` wait for the client, who may take long: hold no lock meanwhile
        that others need.
        """


def serve_shell(runs: Runs, service: str, stream: AdbStream) -> None:
    """Answer one request, such as ``shell,v2,raw:ls``. Without a line the client sends commands; in
    raw mode a program does, otherwise a person at a terminal."""
    kind, _, line = service.partition(":")
    options = kind.split(",")
    v2 = "v2" in options
    output = _Output(stream, v2)
    stdin = _Input(stream, v2, output)
    if line or "raw" in options:
        code = runs.run(line, stdin, output.write)
    else:
        terminal = _Terminal(stdin, output)
        code = runs.run("", terminal, terminal.write, prompt=True)
    output.exit(code)


class _Output:
    """What is written goes out in few packets, and not late."""

    def __init__(self, stream: AdbStream, v2: bool) -> None:
        self._stream = stream
        self._v2 = v2
        self._waiting = bytearray()
        self._sent = time.monotonic()

    def write(self, descriptor: int, data: bytes) -> None:
        if not data:
            return
        if self._v2:
            self._waiting += HEADER.pack(STDERR if descriptor == 2 else STDOUT, len(data))
        if len(data) > _FLUSH_BYTES:  # a picture is not copied
            self.flush()
            self._stream.write(data)
            return
        self._waiting += data
        late = time.monotonic() - self._sent > _FLUSH_SECONDS
        if late or len(self._waiting) > _FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            data, self._waiting = bytes(self._waiting), bytearray()
            self._stream.write(data)
        self._sent = time.monotonic()

    def exit(self, code: int) -> None:
        if self._v2:
            self._waiting += HEADER.pack(EXIT, 1) + bytes([code & 0xFF])
        self.flush()


class _Input:
    """Standard input as the client sends it; read only when somebody asks for it."""

    def __init__(self, stream: AdbStream, v2: bool, output: _Output) -> None:
        self._stream = stream
        self._v2 = v2
        self._output = output
        self._rest = b""
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        if size < 0:
            pieces = []
            while piece := self.read(1 << 20):
                pieces.append(piece)
            return b"".join(pieces)
        if not self._rest:
            self._rest = self._next()
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def _next(self) -> bytes:
        self._output.flush()
        while not self._ended:
            if not self._v2:
                data = self._stream.receive()
                self._ended = not data
                return data
            kind, length = HEADER.unpack(self._stream.read(HEADER.size))
            if length > MAX_PACKET:
                raise DeviceLost(f"a shell packet of {length} bytes")
            data = self._stream.read(length)
            if kind == CLOSE_STDIN:
                self._ended = True
            elif kind == STDIN and data:  # the others tell the size of the window
                return data
        return b""


class _Terminal:
    """Standard input as a person types it, whole lines at a time; they see what they type."""

    def __init__(self, stdin: _Input, output: _Output) -> None:
        self._output = output
        self._lines = _lines(stdin, lambda data: output.write(1, data))

    def read(self, size: int = -1, /) -> bytes:
        line = next(self._lines, None)
        return b"" if line is None else (line + "\n").encode()

    def write(self, descriptor: int, data: bytes) -> None:
        """Show output: on a terminal both outputs are one."""
        self._output.write(1, data.replace(b"\n", b"\r\n"))


def _lines(stdin: _Input, show: Callable[[bytes], None]) -> Iterator[str]:
    """Whole lines of what is typed, with a terminal's simplest keys."""
    typed = bytearray()
    while data := stdin.read(4096):
        for key in data:
            if key in b"\r\n":
                show(b"\r\n")
                yield typed.decode(errors="replace")
                typed.clear()
            elif key in b"\x7f\b":
                if typed:
                    typed.pop()
                    show(b"\b \b")
            elif key == 3:  # ctrl+C
                show(b"^C\r\n")
                typed.clear()
                yield ""
            elif key == 4:  # ctrl+D ends it, on an empty line
                if not typed:
                    return
            elif len(typed) < MAX_LINE:
                typed.append(key)
                show(bytes([key]))
    if typed:
        yield typed.decode(errors="replace")
