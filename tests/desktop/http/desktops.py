"""A desktop in memory, and servers that answer as no server should."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ui_gym.contract.action import Action, Open
from ui_gym.contract.device import Frame
from ui_gym.desktop.device import CommandResult, SessionSpec, Window
from ui_gym.errors import ActionError, DeviceLost, DeviceTimeout

TREE = """<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state"
 xmlns:cp="https://accessibility.ubuntu.example.org/ns/component">
<application name="xfce4-terminal"><frame name="Terminal" st:active="true" st:showing="true"
 st:visible="true" cp:screencoord="(0, 0)" cp:size="(320, 240)">
<terminal name="" st:focused="true" st:showing="true" st:visible="true" st:sensitive="true"
 cp:screencoord="(10, 20)" cp:size="(300, 200)">$ ls
</terminal></frame></application></desktop-frame>"""


class FakeDesktop:
    """Files in a dict, windows in a list, and a note of everything that was done."""

    def __init__(self, size: tuple[int, int] = (320, 240)) -> None:
        self.size = size
        self.home = "/home/user"
        self.files: dict[str, bytes] = {}
        self.done: list[Action] = []
        self.ran: list[Any] = []
        self.launched: list[Any] = []
        self.opened: list[str] = []
        self.shown: list[Window] = []
        self.renewed = 0
        self.session = SessionSpec()
        self.closed = False
        self.lost = False
        self.programs = {"mousepad", "find", "test"}
        self.port: int | None = None

    def start(self) -> None:
        pass

    def renew(self, session: SessionSpec) -> None:
        self.renewed += 1
        self.session = session
        self.shown, self.files = [], {}
        for path, data in session.files.items():
            self.write(path, data)
        for command in session.launch:
            self.launch(command)

    def perform(self, action: Any) -> None:
        self._check()
        if isinstance(action, Open):
            if action.target not in self.programs:
                raise ActionError("runtime", f"open: there is no {action.target!r}")
            self.launch([action.target])
        self.done.append(action)

    def capture(self, out: Any = None, *, elements: bool = False) -> Frame:
        self._check()
        width, height = self.size
        image = np.zeros((height, width, 3), np.uint8) if out is None else out
        image[:] = (10, 200, 30)
        image[5, 7] = (255, 0, 60)
        return Frame(image=image)

    def run(
        self, command: Any, *, timeout: Any = None, cwd: Any = None, env: Any = None
    ) -> CommandResult:
        self._check()
        self.ran.append(command)
        words = [command] if isinstance(command, str) else list(command)
        if words[0] == "readlink":
            return CommandResult(words[-1].encode() + b"\n", b"", 0)
        if words[:2] == ["/bin/sh", "-c"] and "command -v" in words[2]:
            return CommandResult(b"", b"", 0 if words[-1] in self.programs else 127)
        if words[:2] == ["test", "-e"]:
            return CommandResult(b"", b"", 0 if words[2] in self.files else 1)
        if words[0] == "echo":
            return CommandResult((" ".join(words[1:]) + "\n").encode(), b"", 0)
        if words[0] == "sleep":
            raise DeviceTimeout("sleep took longer")
        return CommandResult(b"", b"not here", 127)

    def launch(self, command: Any) -> None:
        self._check()
        self.launched.append(command)
        number = len(self.launched)
        words = command if isinstance(command, str) else command[0]
        self.shown.append(Window(number, f"{words} {number}", words.title(), (0, 0, 100, 50)))

    def read(self, path: str) -> bytes | None:
        return self.files.get(self._path(path))

    def write(self, path: str, data: bytes) -> None:
        self.files[self._path(path)] = data

    def windows(self) -> tuple[Window, ...]:
        self._check()
        return tuple(self.shown)

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        return self._find(name, strict, by_class) is not None

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        found = self._find(name, strict, by_class)
        if found is not None:
            self.shown.remove(found)
        return found is not None

    def open_file(self, path: str) -> None:
        self.opened.append(path)

    def connect(self, port: int) -> socket.socket:
        assert self.port is not None
        return socket.create_connection(("127.0.0.1", self.port), 5)

    def ui_tree(self) -> str:
        return TREE

    def elements(self) -> tuple[Any, ...]:
        return ()

    def settle(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def _check(self) -> None:
        if self.lost:
            raise DeviceLost("the desktop is gone")

    def _path(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.home}/{path}"

    def _find(self, name: str, strict: bool, by_class: bool) -> Window | None:
        for window in self.shown:
            said = window.app if by_class else window.title
            if said == name if strict else name.lower() in said.lower():
                return window
        return None


@contextmanager
def badly_behaved(answer: Callable[[socket.socket, str], None]) -> Iterator[str]:
    """A server that reads a request's head and leaves the rest to `answer(connection, path)`."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                part = connection.recv(4096)
                if not part:
                    return
                head += part
            length = re.search(rb"content-length: *(\d+)", head, re.I)
            left = int(length[1]) - len(head.partition(b"\r\n\r\n")[2]) if length else 0
            while left > 0:
                left -= len(connection.recv(left))
            try:
                answer(connection, head.split()[1].decode())
            except OSError:
                pass

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"osworld:http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def reply(connection: socket.socket, body: bytes, status: int = 200, length: int = -1) -> None:
    """Send an answer; `length` is the length that is claimed, if that is another."""
    said = len(body) if length < 0 else length
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {said}\r\nConnection: close\r\n\r\n"
    connection.sendall(head.encode() + body)


def play(env: Any) -> dict[str, Any]:
    """An episode of the oracle: the last info."""
    _, info = env.reset(seed=0, options={"oracle": True})
    over = False
    while not over:
        *_, terminated, truncated, info = env.step(info["oracle"]["action_text"])
        over = terminated or truncated
    return info
