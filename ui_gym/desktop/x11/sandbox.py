"""Sandbox: where the applications of an episode run, with nothing of the host but its programs.

Where `bubblewrap <https://github.com/containers/bubblewrap>`_ may make namespaces, a sandbox has
its own processes, network (a loopback that leads nowhere), folders (a home and a /tmp in memory, of
bounded size) and user; of the host it sees programs and libraries, read-only, and the one socket of
its X server. Elsewhere (containers, mostly) its processes run as a user of their own, in a folder
of their own, with the host's network; as that takes root, others must ask for ``unconfined``.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal

from ui_gym.desktop.surface import Command, CommandResult
from ui_gym.desktop.x11 import steward
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout
from ui_gym.leash import Leash

log = logging.getLogger(__name__)

Confinement = Literal["bubblewrap", "user", "unconfined"]

USERS = range(61184, 65520)
"""User ids that nobody has: those that systemd lends for a while (systemd.io/UIDS-GIDS)."""

HOME_BYTES = 256 << 20
TMP_BYTES = 256 << 20
"""How much the home folder and /tmp hold, where they are in memory."""

_PASSWD = "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:User:{home}:/bin/bash\n"
_GROUP = "root:x:0:\nuser:x:1000:\n"

_STEWARD = "/run/steward.py"

_SHOWN = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/var/cache/fontconfig",
)  # fmt: skip
_HIDDEN = ("/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d")
"""What of the host is seen in a sandbox, and folders of that which are not."""

_numbers = count(os.getpid() * 31)


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
        confined = self.confinement == "bubblewrap"
        self._folder = Path(tempfile.mkdtemp(prefix="ui-gym-desktop-"))
        self.home = "/home/user" if confined else str(self._folder / "home")
        runtime = "/run/user/1000" if confined else str(self._folder / "run")
        self.environment = {
            **environment, "HOME": self.home, "XDG_RUNTIME_DIR": runtime, "USER": "user",
            "LOGNAME": "user", "SHELL": "/bin/bash", "PATH": "/usr/local/bin:/usr/bin:/bin",
        }  # fmt: skip
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        ours, theirs = socket.socketpair()
        try:
            with theirs, contextlib.ExitStack() as files:
                command: list[str] = []
                descriptors: list[int] = []
                source = _STEWARD
                if confined:
                    command, descriptors = _bubblewrap(self.home, runtime, share, files)
                else:
                    source = self._folders(runtime)
                user = None if self.confinement == "unconfined" or os.geteuid() else _user()
                if user is not None:
                    self._own(user)
                self._leash = Leash(
                    [*command, interpreter(), "-I", "-S", source],
                    folder=self._folder, environment=self.environment, user=user,
                    pass_fds=descriptors, stdout=theirs.fileno(), stderr=self._said,
                )  # fmt: skip
        except BaseException:
            ours.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._control = ours
        self._ready()

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
        self._leash.close()
        self._said.close()

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
        """The line on which the steward answers."""
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
                answer = bytearray()
                while True:
                    line.settimeout(max(deadline - time.monotonic(), 0.001))
                    piece = line.recv(1 << 18)
                    if not piece:
                        break
                    answer += piece
            except TimeoutError:
                raise DeviceTimeout(
                    f"{what or request['kind']} did not end within {seconds:g} s on the desktop"
                ) from None
            except OSError as error:
                raise DeviceLost(f"the desktop's sandbox has ended ({error})") from None
        first, newline, rest = bytes(answer).partition(b"\n")
        if not newline:
            raise DeviceLost("the desktop's sandbox has ended")
        head = json.loads(first)
        parts, at = [], 0
        for size in head["sizes"]:
            parts.append(rest[at : at + size])
            at += size
        yield head, parts

    def _folders(self, runtime: str) -> str:
        """Make the folders that a namespace would hold; where the steward's source lies."""
        for path in (self.home, runtime):
            Path(path).mkdir(mode=0o700)
        source = self._folder / "steward.py"
        source.write_text(inspect.getsource(steward))
        return str(source)

    def _own(self, user: int) -> None:
        """Give the sandbox's folders to its user."""
        os.chown(self._folder, user, user)
        for path in self._folder.iterdir():
            os.chown(path, user, user)

    def _ready(self) -> None:
        try:
            self.run(["true"], cwd="/")
        except DeviceError as error:
            self._said.seek(0)
            words = self._said.read().decode("utf-8", "replace").strip()[-300:]
            self.close()
            raise DeviceStartError(
                f"the desktop's sandbox did not start: {error} {words}"
            ) from error


def _bubblewrap(
    home: str, runtime: str, share: Sequence[str], files: contextlib.ExitStack
) -> tuple[list[str], list[int]]:
    """The command that makes the namespaces, and the descriptors that it reads."""
    words = [
        "bwrap", "--die-with-parent", "--unshare-all", "--new-session", "--hostname", "desktop",
        "--uid", "1000", "--gid", "1000", "--proc", "/proc", "--dev", "/dev",
    ]  # fmt: skip
    for path in _SHOWN:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for path in _HIDDEN:
        if os.path.isdir(path):
            words += ["--tmpfs", path]
    if not Path(interpreter()).is_relative_to("/usr"):
        words += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    words += ["--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", "/tmp", "--dir", "/var/tmp"]
    words += ["--perms", "0700", "--size", str(HOME_BYTES), "--tmpfs", home]
    words += ["--perms", "0700", "--dir", runtime]
    for path in share:
        words += ["--ro-bind", path, path]
    descriptors = []
    for path, text in (
        ("/etc/passwd", _PASSWD.format(home=home)),
        ("/etc/group", _GROUP),
        (_STEWARD, inspect.getsource(steward)),
    ):
        file = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        file.write(text.encode())
        file.seek(0)
        words += ["--ro-bind-data", str(file.fileno()), path]
        descriptors.append(file.fileno())
    return [*words, "--chdir", home, "--"], descriptors


@functools.cache
def best_confinement() -> Confinement:
    """How sandboxes are made on this machine.

    Raises:
        DeviceStartError: programs could only run as this very user, which nobody asked for.
    """
    why = "there is no bubblewrap"
    if shutil.which("bwrap"):
        tried = subprocess.run(
            ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"],
            capture_output=True, check=False, timeout=20,
        )  # fmt: skip
        if tried.returncode == 0:
            return "bubblewrap"
        why = "bubblewrap may not make namespaces here: " + tried.stderr.decode().strip()[-200:]
    if os.geteuid() == 0:
        log.warning("%s; desktops run as a user of their own, with this machine's network", why)
        return "user"
    raise DeviceStartError(
        f"{why} (Debian: apt-get install bubblewrap). Without it applications, and what an agent "
        "types into a terminal, run as you; if that is meant, as in a container that is thrown "
        'away, ask for it: device="x11:unconfined"'
    )


def _user() -> int:
    """A user id that no other sandbox of ours has now."""
    return USERS[next(_numbers) % len(USERS)]


@functools.cache
def interpreter() -> str:
    """A Python that every user may run, for the steward."""
    return (
        "/usr/bin/python3"
        if os.path.exists("/usr/bin/python3")
        else sys.base_prefix + "/bin/python3"
    )
