"""FakeDesktop: a desktop without a screen, whose files lie in a folder and whose commands run here.

What would be seen is kept in plain attributes: `open_windows`, `launched`, `opened`, `performed`,
`tree`. Commands run as lists of words, in the folder, and find its ``bin`` first.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.device import Element, Frame, Image
from ui_gym.desktop.device import Command, CommandResult, SessionSpec, Window
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout


class FakeDesktop:
    """A desktop whose home is `folder`."""

    def __init__(self, folder: Path, size: tuple[int, int] = (192, 108)) -> None:
        self.size = size
        self.home = str(folder)
        self.open_windows: list[Window] = []
        self.launched: list[Command] = []
        self.opened: list[str] = []
        self.performed: list[Action] = []
        self.renewed: list[SessionSpec] = []
        self.commands: list[Command] = []
        self.tree = "<desktop-frame/>"
        self.ports: dict[int, tuple[str, int]] = {}
        """Where the ports of the machine are here."""
        self.path = f"{folder}/bin:{os.environ['PATH']}"
        self.settled = 0
        self.closed = False
        self.lost = False

    # -- Device --

    def start(self) -> None:
        self._check()

    def perform(self, action: Action) -> None:
        self._check()
        self.performed.append(action)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        self._check()
        image = np.zeros((self.size[1], self.size[0], 3), np.uint8) if out is None else out
        image[...] = len(self.performed) % 256
        image[::2] = 255  # so that no window is of one colour
        return Frame(image)

    def close(self) -> None:
        self.closed = True

    # -- DesktopDevice --

    def renew(self, session: SessionSpec) -> None:
        self._check()
        self.renewed.append(session)
        self.open_windows, self.launched, self.opened = [], [], []
        for path, data in session.files.items():
            self.write(path, data)
        for command in session.launch:
            self.launch(command)

    def run(
        self,
        command: Command,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        self._check()
        self.commands.append(command)
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                timeout=timeout,
                cwd=cwd or self.home,
                env={"PATH": self.path, "HOME": self.home, **(env or {})},
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise DeviceTimeout(f"{words[0]} took longer than {timeout} s") from None
        except FileNotFoundError:
            return CommandResult(b"", f"{words[0]}: not found".encode(), 127)
        return CommandResult(done.stdout, done.stderr, done.returncode)

    def launch(self, command: Command) -> None:
        self._check()
        self.launched.append(command)
        words = command.split() if isinstance(command, str) else list(command)
        self.show(" ".join(words), app=Path(words[0]).name)

    def show(self, title: str, app: str = "App") -> None:
        """Let a window open."""
        window = Window(len(self.open_windows) + 1, title, app, (0, 0, *self.size))
        self.open_windows.append(window)

    def read(self, path: str) -> bytes | None:
        self._check()
        file = Path(self.home, path)
        return file.read_bytes() if file.is_file() else None

    def write(self, path: str, data: bytes) -> None:
        self._check()
        file = Path(self.home, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def windows(self) -> tuple[Window, ...]:
        return tuple(self.open_windows)

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        found = self._find(name, strict, by_class)
        if found is not None:
            others = [replace(w, active=False) for w in self.open_windows if w.id != found.id]
            self.open_windows = [*others, replace(found, active=True)]
        return found is not None

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        found = self._find(name, strict, by_class)
        if found is not None:
            self.open_windows.remove(found)
        return found is not None

    def open_file(self, path: str) -> None:
        self._check()
        self.opened.append(path)
        self.show(Path(path).name)

    def connect(self, port: int) -> socket.socket:
        if port not in self.ports:
            raise DeviceError(f"nothing listens on port {port}")
        return socket.create_connection(self.ports[port], timeout=5)

    def ui_tree(self) -> str:
        return self.tree

    def elements(self) -> tuple[Element, ...]:
        return ()

    def settle(self) -> None:
        self.settled += 1

    def _find(self, name: str, strict: bool, by_class: bool) -> Window | None:
        for window in self.open_windows:
            shown = window.app if by_class else window.title
            if shown == name if strict else name.lower() in shown.lower():
                return window
        return None

    def _check(self) -> None:
        if self.closed or self.lost:
            raise DeviceLost("this desktop is gone")
