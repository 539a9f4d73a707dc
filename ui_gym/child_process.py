"""A child process that ends with ours, however ours ends.

A shell stands between: it ends the child when our end of its standard input closes, be it by
`close` or because this process died. (A death signal from the kernel is no substitute: it is sent
when the *thread* that started the child ends.)
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from ui_gym.errors import DeviceSetupError

FILES = 256
"""Files that a process must be able to open for a browser to start: it says nothing of the limit,
and dies of it."""

_SCRIPT = """
f=$1; shift
"$@" </dev/null & x=$!
exec >/dev/null
trap 'kill $x 2>/dev/null' TERM INT HUP
read -r _; kill $x 2>/dev/null; wait $x; [ -z "$f" ] || rm -rf "$f"
"""


def cores() -> int:
    """How many CPU cores this process and its children may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux only
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ChildProcess:
    """A running command in a process group of its own, without standard input.

    `folder` is removed with it, also where it cannot be started. `environment` is all that it gets.
    Its standard output is held by nobody else, so that the other end of a socket closes when it
    ends.

    Raises:
        DeviceSetupError: a process may open fewer than `FILES` files here.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        stdout: IO[bytes] | int = subprocess.DEVNULL,
        stderr: IO[bytes] | int = subprocess.DEVNULL,
        user: int | None = None,
    ) -> None:
        self._folder = folder
        self._parent = os.getpid()
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": ()}
        try:
            _allow_files()
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "sh", str(folder or ""), *command],
                stdin=subprocess.PIPE, stdout=stdout, stderr=stderr,
                pass_fds=pass_fds, start_new_session=True,
                env=None if environment is None else dict(environment), **identity,  # type: ignore[call-overload]
            )  # fmt: skip
        except BaseException:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            raise

    @property
    def pid(self) -> int:
        """The process group."""
        return int(self._process.pid)

    @property
    def alive(self) -> bool:
        """Whether it was not let go (the command itself may have ended)."""
        return self._process.poll() is None

    def close(self, *, timeout: float = 3.0) -> None:
        """End the command and remove its folder, by force after `timeout` seconds; idempotent.

        In a fork of the process that started it, this does nothing.
        """
        if self._parent != os.getpid():
            return
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=timeout)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=10)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def folder_for(user: int | None, prefix: str) -> Path:
    """A new temporary folder that belongs to the user of an id (None: the current user).

    It lies where temporary files do, unless that user cannot get there; then in ``/tmp``.
    """
    parent = Path(tempfile.gettempdir()).resolve()
    if user is not None and not all(p.stat().st_mode & 0o001 for p in (parent, *parent.parents)):
        parent = Path("/tmp")
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    if user is not None:
        os.chown(folder, user, user)
    return folder


def _allow_files() -> None:
    """Raise this process's limit of open files, which its children inherit, where it is too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if not 0 <= soft < FILES:  # less than 0: no limit
        return
    if 0 <= hard < FILES:
        raise DeviceSetupError(
            f"a process may open {hard} files here, and a device needs {FILES}: raise the limit "
            "(ulimit -n 1024) in the shell that this was started from"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
