"""Sandbox: where the programs of an episode run, with nothing of the host but its programs.

By namespaces, a sandbox has its own processes, network (a loopback that leads nowhere), folders (a
home and a /tmp in memory, of bounded size) and user; of the host it sees programs and libraries,
read-only, and the one socket of its X server. Where these are not to be had, see `confinement`.
"""

from __future__ import annotations

import contextlib
import errno
import inspect
import json
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.child_process import ChildProcess, folder_for
from ui_gym.desktop.device import Command, CommandResult
from ui_gym.desktop.x11 import supervisor
from ui_gym.desktop.x11.confinement import (
    HOME,
    RUNTIME,
    SUPERVISOR,
    Confinement,
    best_confinement,
    bubblewrap,
    interpreter,
)
from ui_gym.desktop.x11.users import LentUser
from ui_gym.errors import DeviceError, DeviceLost, DeviceSetupError, DeviceStartError, DeviceTimeout


class Sandbox:
    """A running sandbox.

    `home` is the user's home folder as programs there name it; `environment` what they get;
    `share` are paths of the host that are seen there (the X server's socket).

    Raises:
        DeviceStartError: it cannot be made here; says why, and what would help.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        share: Sequence[str] = (),
        *,
        confinement: Confinement | None = None,
        timeout: float = 20.0,
    ) -> None:
        self._timeout = timeout
        self._lock = threading.Lock()
        self.confinement = confinement or best_confinement()
        self._user = _lent_user(self.confinement)
        self._folder = folder_for(None if self._user is None else self._user.id, "ui-gym-desktop-")
        if self.confinement == "bubblewrap":
            self.home, runtime = HOME, RUNTIME
        else:
            self.home, runtime = str(self._folder / "home"), str(self._folder / "run")
        self.environment = {
            **environment, "HOME": self.home, "XDG_RUNTIME_DIR": runtime, "USER": "user",
            "LOGNAME": "user", "SHELL": "/bin/bash", "PATH": "/usr/local/bin:/usr/bin:/bin",
            # The bus has services there as well, and would not go by HOME to find them.
            "XDG_DATA_HOME": f"{self.home}/.local/share",
            "GVFS_DISABLE_FUSE": "1",  # its mounted folder would be left behind
        }  # fmt: skip
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        ours, theirs = socket.socketpair()
        self._control = ours
        try:
            with theirs:
                self._start(share, theirs)
        except BaseException:
            ours.close()
            self._said.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            if self._user is not None:
                self._user.give_back()
            raise
        self._await_supervisor()

    # -- what is done there --

    def run(
        self,
        command: Command,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """As `DesktopDevice.run`."""
        seconds = self._timeout if timeout is None else timeout
        request = self._command("run", command, cwd, env)
        with self._asked(request, b"", seconds, str(command)) as (head, parts):
            if "errno" in head:
                raise DeviceError(f"cannot run {command!r}: {head['error']}")
            return CommandResult(parts[0], parts[1], head["code"])

    def spawn(
        self, command: Command, *, env: Mapping[str, str] | None = None, vital: bool = False
    ) -> int:
        """Start a command and do not wait; its process id there. `check` will tell that it crashed,
        or that it ended at all if it is `vital`.

        Raises:
            FileNotFoundError: there is no such program.
            DeviceError: it cannot be started.
        """
        request = self._command("spawn", command, None, env) | {"vital": vital}
        with self._asked(request, b"", self._timeout) as (head, _):
            if head.get("errno") == errno.ENOENT:
                raise FileNotFoundError(request["command"][0])
            if "errno" in head:
                raise DeviceError(f"cannot start {command!r}: {head['error']}")
            return int(head["pid"])

    def read(self, path: str) -> bytes | None:
        """As `DesktopDevice.read`."""
        with self._asked({"kind": "read", "path": self._path(path)}, b"", self._timeout) as (
            head,
            parts,
        ):
            if "errno" in head:
                raise DeviceError(f"cannot read {path}: {head['error']}")
            return None if head.get("missing") else parts[0]

    def write(self, path: str, data: bytes, *, mtime: int | None = None) -> None:
        """As `DesktopDevice.write`; `mtime` is the time of its last change (and of that of the
        folders above it), in Unix seconds."""
        request = {"kind": "write", "path": self._path(path), "size": len(data), "mtime": mtime}
        with self._asked(request, data, self._timeout) as (head, _):
            if "errno" in head:
                raise DeviceError(f"cannot write {path}: {head['error']}")

    def connect(self, address: int | str) -> socket.socket:
        """A connection to a TCP port there, or to the Unix socket of a path."""
        what = f"port {address}" if isinstance(address, int) else address
        line = self._send({"kind": "connect", "address": address, "seconds": 5.0}, b"")
        with line:
            try:
                _, descriptors, _, _ = socket.recv_fds(line, 1, 1)
            except OSError as error:
                raise DeviceTimeout(f"{what} of the desktop: {error}") from None
        if not descriptors:
            raise DeviceError(f"nothing listens on {what} of the desktop")
        made = socket.socket(fileno=descriptors[0])
        made.settimeout(self._timeout)
        return made

    def threads(self) -> dict[str, tuple[str, int, int, int]]:
        """What all threads there do at this moment, as `supervisor.threads_of` says it."""
        with self._asked({"kind": "look"}, b"", self._timeout) as (head, _):
            return {name: tuple(said) for name, said in head["threads"].items()}

    @property
    def user(self) -> int:
        """The id of the user, as programs there see it."""
        return int(self.run(["id", "-u"]).text)

    def check(self) -> None:
        """Look whether all is well.

        Raises:
            DeviceLost: the sandbox has ended, or a program that was started there crashed.
        """
        try:
            said = self._control.recv(1000, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        if not said:
            raise DeviceLost("the desktop's sandbox has ended")
        raise DeviceLost(said.decode("utf-8", "replace").splitlines()[0])

    def close(self) -> None:
        """End all that runs there, and remove what it wrote. Idempotent."""
        self._control.close()
        self._child.close()
        self._said.close()
        if self._user is not None:
            if self.confinement == "user":
                self._user.end_processes()
            self._user.give_back()

    # -- parts --

    def _path(self, path: str) -> str:
        return os.path.join(self.home, path)

    def _command(
        self, kind: str, command: Command, cwd: str | None, env: Mapping[str, str] | None
    ) -> dict[str, Any]:
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        if not words:
            raise DeviceError("there is no program in an empty command")
        return {
            "kind": kind, "command": words, "cwd": self._path(cwd or ""),
            "env": {**self.environment, **(env or {})},
        }  # fmt: skip

    def _send(self, request: Mapping[str, Any], data: bytes) -> socket.socket:
        """The line on which the supervisor answers."""
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                socket.send_fds(self._control, [b"\0"], [theirs.fileno()])
            ours.settimeout(self._timeout)
            ours.sendall(json.dumps(request).encode() + b"\n" + data)
        except OSError as error:
            ours.close()
            raise DeviceLost(f"the desktop's sandbox has ended ({error})") from None
        return ours

    @contextlib.contextmanager
    def _asked(
        self, request: Mapping[str, Any], data: bytes, seconds: float, what: str = ""
    ) -> Iterator[tuple[dict[str, Any], list[bytes]]]:
        deadline = time.monotonic() + seconds
        with self._send(request, data) as line:
            try:
                pieces = []
                while True:
                    line.settimeout(max(deadline - time.monotonic(), 0.001))
                    piece = line.recv(1 << 20)
                    if not piece:
                        break
                    pieces.append(piece)
            except TimeoutError:
                raise DeviceTimeout(
                    f"{what or request['kind']} did not end within {seconds:g} s on the desktop"
                ) from None
            except OSError as error:
                raise DeviceLost(f"the desktop's sandbox has ended ({error})") from None
        first, newline, rest = b"".join(pieces).partition(b"\n")
        if not newline:
            raise DeviceLost("the desktop's sandbox has ended")
        head = json.loads(first)
        parts, at = [], 0
        for size in head["sizes"]:
            parts.append(rest[at : at + size])
            at += size
        yield head, parts

    def _start(self, share: Sequence[str], theirs: socket.socket) -> None:
        command: list[str] = []
        descriptors: list[int] = []
        source = SUPERVISOR
        with contextlib.ExitStack() as files:
            if self.confinement == "bubblewrap":
                command, descriptors = bubblewrap(share, files)
            else:
                source = self._folders()
            self._child = ChildProcess(
                [*command, interpreter(), "-I", "-S", source],
                folder=self._folder, environment=self.environment,
                user=None if self._user is None else self._user.id,
                pass_fds=descriptors, stdout=theirs.fileno(), stderr=self._said,
            )  # fmt: skip

    def _folders(self) -> str:
        """Make the folders that a namespace would hold; where the supervisor's source lies."""
        for made in (self.home, self.environment["XDG_RUNTIME_DIR"]):
            Path(made).mkdir(mode=0o700)
        source = self._folder / "supervisor.py"
        source.write_text(inspect.getsource(supervisor))
        if self._user is not None:
            for path in self._folder.iterdir():
                os.chown(path, self._user.id, self._user.id)
        return str(source)

    def _await_supervisor(self) -> None:
        try:
            self.run(["true"], cwd="/")
        except DeviceError as error:
            self._said.seek(0)
            words = self._said.read().decode("utf-8", "replace").strip()[-300:]
            self.close()
            raise DeviceStartError(
                f"the desktop's sandbox did not start: {error}. {words}"
            ) from error


def _lent_user(confinement: Confinement) -> LentUser | None:
    """Who a sandbox's programs are, to this machine.

    Raises:
        DeviceStartError: another user takes root.
    """
    if confinement == "user" and os.geteuid() != 0:
        raise DeviceSetupError(
            'device="x11:user" runs applications as another user, which takes root; without it, '
            'install bubblewrap, or ask for device="x11:unconfined"'
        )
    if confinement == "unconfined" or os.geteuid() != 0:
        return None
    return LentUser(named=confinement == "user")
