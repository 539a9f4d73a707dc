"""Machine: commands, files and windows of a computer that runs OSWorld's server."""

from __future__ import annotations

import base64
import functools
import json
import posixpath
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ui_gym.desktop.device import Command, CommandResult, SessionSpec, Window
from ui_gym.desktop.http import remote_scripts
from ui_gym.desktop.http.client import Client, ServerReply
from ui_gym.errors import DeviceError, DeviceStartError, DeviceTimeout

SERVER_LIMIT = 115.0
"""Seconds after which OSWorld's server gives a command up, less what it takes to say so."""

MARGIN = 10.0
"""Seconds that an answer may take beyond what a command may."""

CLOSING = 5.0
"""Seconds that windows have to close before they are killed."""

_MISSING = re.compile(r"No such file or directory|not found|\[Errno 2\]|Exec format")
_PYTHONS = ("python", "python3")


class OSWorldMachine:
    """What `DesktopDevice` has beside looking and acting, by the routes of OSWorld's server.

    Routes that older servers lack are done without; those that only ours has (``/ui_gym/...``) are
    used where they are.
    """

    home = "/home/user"

    def __init__(self, client: Client) -> None:
        self._client = client
        self._timeout = client.timeout
        self._closed = threading.Event()
        self._python_name = _PYTHONS[0]
        self._is_ours: bool | None = None

    # -- commands --

    def run(
        self,
        command: Command,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """See `DesktopDevice.run`. OSWorld's own server gives up after 120 s, whatever is asked,
        and answers with text: bytes that are no UTF-8 do not come through."""
        seconds = self._timeout if timeout is None else timeout
        line = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        if cwd is not None or env:
            folder = [] if cwd is None else ["-C", self._path(cwd)]
            line = ["env", *folder, *(f"{k}={v}" for k, v in (env or {}).items()), *line]
        line = ["timeout", "-k", "2", f"{seconds:g}", *line]
        started = time.monotonic()
        result = self._execute(line, seconds)
        if result.code in (124, 137, -9) and time.monotonic() - started >= seconds:
            raise DeviceTimeout(f"{_said(command)} took longer than {seconds:g} s on {self}")
        return result

    def launch(self, command: Command) -> None:
        """See `DesktopDevice.launch`. `DeviceError` where the program is not there."""
        shell = isinstance(command, str)
        value = {"command": command if shell else list(command), "shell": shell}
        self._post("/setup/launch", value)

    def connect(self, port: int) -> socket.socket:
        return self._client.connect(port)

    # -- files --

    def read(self, path: str) -> bytes | None:
        reply = self._client.form("/file", {"file_path": self._path(path)})
        if reply.status == 404 or (reply.status == 500 and "directory" in reply.text):
            return None
        return self._client.check("/file", reply).body

    def write(self, path: str, data: bytes) -> None:
        path = self._path(path)
        reply = self._upload(path, data)
        if reply.status == 500:  # older servers make no folders
            self.run(["mkdir", "-p", posixpath.dirname(path)])
            reply = self._upload(path, data)
        self._client.check("/setup/upload", reply)

    def list_directory(self, path: str) -> dict[str, Any] | None:
        """The tree of a folder, as OSWorld has it: ``{"type": "directory", "name": ...,
        "children": [...]}``; None where there is none."""
        reply = self._client.post("/list_directory", {"path": self._path(path)})
        if reply.status == 400:
            return None
        value = self._client.check("/list_directory", reply).json()
        tree = value.get("directory_tree") if isinstance(value, dict) else None
        return tree if isinstance(tree, dict) else None

    # -- windows --

    def windows(self) -> tuple[Window, ...]:
        if self.is_ours:
            return tuple(map(_window, self._listed(self._get("/ui_gym/windows").body)))
        result = self._python(remote_scripts.WINDOWS)
        if result.code != 0:
            return ()
        return tuple(map(_window, self._listed(_last_line(result))))

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        return self._window("/setup/activate_window", name, strict, by_class)

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        return self._window("/setup/close_window", name, strict, by_class)

    def open_file(self, path: str) -> None:
        if re.match(r"[a-z][a-z0-9+.-]*://", path):
            self._await_window(lambda: self.launch(["xdg-open", path]), path)
            return
        self._post("/setup/open_file", {"path": self._path(path)})

    def window_size(self, app_class_name: str) -> tuple[int, int] | None:
        """(width, height) of an application's first window, by its class; None without one."""
        reply = self._client.form("/window_size", {"app_class_name": app_class_name})
        if reply.status != 200:  # OSWorld's server has no better word for none than 500
            return None
        return _size(reply.json())

    # -- the desktop --

    def renew(self, session: SessionSpec) -> None:
        """See `DesktopDevice.renew`. On a machine of others, all windows are closed (those that
        do not, are killed), files are written, and nothing else is cleared away."""
        if self.is_ours:
            self._renew_ours(session)
        else:
            self._close_all()
            self.prepare(session)

    def prepare(self, session: SessionSpec) -> None:
        """Write the files of `session` and start its programs, over what is there. None is kept
        warm: a program starts as it would without."""
        self._check_programs(session.packages)
        for path, data in session.files.items():
            self.write(path, data)
        for command in session.launch:
            self._await_window(functools.partial(self.launch, command), " ".join(command))
        for title in session.titles:
            self._await_title(title)

    def ui_tree(self) -> str:
        value = self._get("/accessibility").json()
        tree = value.get("AT") if isinstance(value, dict) else None
        if not isinstance(tree, str):
            raise DeviceError(f"{self} answered /accessibility without a tree")
        return tree

    def terminal_output(self) -> str | None:
        """What stands in the terminal that has the focus; None without one."""
        value = self._get("/terminal").json()
        output = value.get("output") if isinstance(value, dict) else None
        return output if isinstance(output, str) else None

    def wallpaper(self) -> bytes | None:
        """The file of the desktop's wallpaper; None without one."""
        reply = self._client.post("/wallpaper")
        return reply.body if reply.status == 200 else None

    def screen_size(self) -> tuple[int, int]:
        """(width, height) of the screen in pixels, as the machine says it."""
        found = _size(self._client.check("/screen_size", self._client.post("/screen_size")).json())
        if found is None:
            raise DeviceError(f"{self} answered /screen_size without a size")
        return found

    def __str__(self) -> str:
        return str(self._client.address)

    # -- parts --

    @property
    def is_ours(self) -> bool:
        """Whether it is `ui-gym osworld serve` that answers."""
        if self._is_ours is None:
            self._is_ours = self._client.get("/ui_gym").status == 200
        return self._is_ours

    def _path(self, path: str) -> str:
        return posixpath.join(self.home, path)

    def _get(self, path: str) -> ServerReply:
        return self._client.check(path, self._client.get(path))

    def _post(self, path: str, value: object) -> ServerReply:
        return self._client.check(path, self._client.post(path, value))

    def _upload(self, path: str, data: bytes) -> ServerReply:
        return self._client.form("/setup/upload", {"file_path": path}, ("file_data", data))

    def _execute(self, line: Sequence[str], seconds: float) -> CommandResult:
        value = {"command": list(line), "shell": False}
        timeout = min(seconds, SERVER_LIMIT) + MARGIN
        reply = self._client.post("/execute", value, timeout=timeout)
        if reply.status == 500 and "timed out" in reply.text:
            raise DeviceTimeout(f"{_said(line)} took longer than {self} allows (120 s)")
        if reply.status == 500 and _MISSING.search(reply.text):
            return CommandResult(b"", reply.text.encode(), 127)
        said = self._client.check("/execute", reply).json()
        if not isinstance(said, dict) or not isinstance(said.get("returncode"), int):
            raise DeviceError(f"{self} answered /execute without an exit code")
        output, error = (str(said.get(name) or "").encode() for name in ("output", "error"))
        return CommandResult(output, error, said["returncode"])

    def _python(self, code: str, seconds: float = 0.0) -> CommandResult:
        """Run a script of ours there, with `seconds` beyond the usual timeout."""
        timeout = self._timeout + seconds
        result = self._execute([self._python_name, "-c", code], timeout)
        if result.code == 127 and self._python_name == _PYTHONS[0]:
            self._python_name = _PYTHONS[1]
            result = self._execute([self._python_name, "-c", code], timeout)
        return result

    def _listed(self, data: bytes) -> list[dict[str, Any]]:
        try:
            return [dict(item) for item in json.loads(data)]
        except (ValueError, TypeError):
            raise DeviceError(f"{self} told its windows as {data[:100]!r}") from None

    def _window(self, route: str, name: str, strict: bool, by_class: bool) -> bool:
        value = {"window_name": name, "strict": strict, "by_class": by_class}
        known = self.windows()
        if known and not any(_matches(w, name, strict, by_class) for w in known):
            return False  # OSWorld's server says "successfully" all the same
        reply = self._client.post(route, value)
        if reply.status == 404:
            return False
        self._client.check(route, reply)
        return True

    def _renew_ours(self, session: SessionSpec) -> None:
        files = {path: base64.b64encode(data).decode() for path, data in session.files.items()}
        launch = [list(command) for command in session.launch]
        value = {
            "files": files, "launch": launch, "packages": dict(session.packages),
            "accessible": session.accessible, "titles": list(session.titles),
            "warm": [[list(program.command), program.ready] for program in session.warm],
        }  # fmt: skip
        timeout = self._timeout * (2 + len(launch) + len(session.titles) + len(session.warm))
        reply = self._client.post("/ui_gym/renew", {"session": value}, timeout=timeout)
        self._client.check("/ui_gym/renew", reply)

    def _close_all(self) -> None:
        result = self._python(remote_scripts.close_all(CLOSING), 2 * CLOSING)
        if result.code != 0:
            said = result.stderr.decode("utf-8", "replace").strip()[-300:]
            raise DeviceError(f"the windows of {self} cannot be closed: {said}")
        left = _last_line(result)
        if left != b"0":
            raise DeviceError(f"{left.decode()} windows of {self} do not close")

    def _await_window(
        self, start: Callable[[], None], what: str, *, timeout: float | None = None
    ) -> None:
        """Start something and wait for a new window, where the machine tells its windows."""
        seconds = self._timeout if timeout is None else timeout
        before = {window.id for window in self.windows()}
        start()
        deadline = time.monotonic() + seconds
        while {window.id for window in self.windows()} <= before:
            if time.monotonic() > deadline:
                raise DeviceTimeout(f"{what} showed no window within {seconds:g} s on {self}")
            self._closed.wait(0.2)

    def _await_title(self, title: str) -> None:
        """Wait for a window of that title, where the machine tells its windows."""
        deadline = time.monotonic() + self._timeout
        while (known := self.windows()) and not any(title in window.title for window in known):
            if time.monotonic() > deadline:
                raise DeviceTimeout(f"no window was called {title!r} in time on {self}")
            self._closed.wait(0.2)

    def _check_programs(self, packages: Mapping[str, str]) -> None:
        if not packages:
            return
        line = 'for p; do command -v "$p" >/dev/null || echo "$p"; done'
        missing = self.run(["/bin/sh", "-c", line, "sh", *packages]).text.split()
        if missing:
            names = " ".join(sorted({packages[program] for program in missing}))
            raise DeviceStartError(
                f"{self} lacks {', '.join(missing)}: on that machine, apt-get install {names}"
            )


def _window(told: Mapping[str, Any]) -> Window:
    try:
        left, top, width, height = map(int, told["box"])
        box = (left, top, width, height)
        return Window(
            int(told["id"]), str(told["title"]), str(told["app"]), box, told.get("active") is True
        )
    except (KeyError, TypeError, ValueError):
        raise DeviceError(f"a window was told as {str(told)[:100]}") from None


def _matches(window: Window, name: str, strict: bool, by_class: bool) -> bool:
    own = window.app if by_class else window.title
    return own == name if strict else name.lower() in own.lower()


def _last_line(result: CommandResult) -> bytes:
    """What a script of ours printed: python-xlib prints warnings before it."""
    return result.stdout.strip().rpartition(b"\n")[2]


def _size(value: object) -> tuple[int, int] | None:
    if not isinstance(value, dict):
        return None
    width, height = value.get("width"), value.get("height")
    if isinstance(width, int) and isinstance(height, int):
        return width, height
    return None


def _said(command: Command) -> str:
    words = command if isinstance(command, str) else " ".join(command)
    return words if len(words) <= 80 else words[:77] + "..."
