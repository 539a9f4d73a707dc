"""How the programs of a desktop are kept apart from this machine.

``bubblewrap``: by namespaces of their own, which https://github.com/containers/bubblewrap makes.
``user``: by a user of their own, where we are root and namespaces are not to be had (containers).
``unconfined``: not at all.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ui_gym.desktop.x11 import supervisor
from ui_gym.desktop.x11.users import LentUser
from ui_gym.errors import DeviceSetupError, DeviceStartError

log = logging.getLogger(__name__)

Confinement = Literal["bubblewrap", "user", "unconfined"]

MB = 1 << 20
SIZES = {
    "home": 256 * MB,
    "/tmp": 256 * MB,
    "/var/tmp": 16 * MB,
    "/dev/shm": 256 * MB,
    "run": 16 * MB,
}
"""How many bytes the folders hold that are in memory; nothing else can be written to."""

HOME, RUNTIME = "/home/user", "/run/user/1000"
SUPERVISOR = "/run/supervisor.py"

_PASSWD = f"root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:User:{HOME}:/bin/bash\n"
_GROUP = "root:x:0:\nuser:x:1000:\n"

_SHOWN = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/var/cache/fontconfig",
)  # fmt: skip
_HIDDEN = ("/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d", "/etc/apt", "/usr/local/src")
_HIDDEN_FILES = ("/etc/environment", "/etc/pip.conf", "/etc/npmrc", "/etc/wgetrc", "/etc/fstab")
"""What of the host is seen in a sandbox, and what within that is not."""

TRIAL_SECONDS = 20.0

_NO_NAMESPACES = ("--unshare-user", "--disable-userns")
"""What lets nobody in a sandbox make namespaces of his own: these open much of the kernel to who is
nobody there."""

CHROMIUM = Path("/etc/chromium.d/default-flags")
"""What Debian's Chromium reads its flags from."""

_CHROMIUM_FLAGS = """
# Its own sandbox is made of namespaces, and the desktop's is around it; this says so without a bar.
export CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox --test-type"
"""


def bubblewrap(share: Sequence[str], files: contextlib.ExitStack) -> tuple[list[str], list[int]]:
    """The command that makes the namespaces, and the descriptors that it reads (files that are
    open until `files` closes). `share` are paths of the host that are seen as well."""
    # --as-pid-1: the supervisor is the first process, which no other one may trace, stop or end.
    words = [
        _program(), "--die-with-parent", "--unshare-all", "--as-pid-1", "--new-session",
        "--hostname", "desktop", "--uid", "1000", "--gid", "1000", "--proc", "/proc",
        "--dev", "/dev", *_in_memory("/dev/shm", "/dev/shm", 0o1777),
    ]  # fmt: skip
    source = inspect.getsource(supervisor)
    texts = {"/etc/passwd": _PASSWD, "/etc/group": _GROUP, SUPERVISOR: source}
    if forbids_namespaces():
        words += _NO_NAMESPACES
        if CHROMIUM.is_file():
            texts[str(CHROMIUM)] = CHROMIUM.read_text() + _CHROMIUM_FLAGS
    for path in _SHOWN:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for path in filter(os.path.isdir, _HIDDEN):
        words += ["--tmpfs", path]
    for path in filter(os.path.isfile, _HIDDEN_FILES):
        words += ["--ro-bind", "/dev/null", path]
    if not Path(interpreter()).is_relative_to("/usr"):
        words += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    words += _in_memory("/tmp", "/tmp", 0o1777) + _in_memory("/var/tmp", "/var/tmp", 0o1777)
    words += _in_memory("home", HOME, 0o700) + _in_memory("run", RUNTIME, 0o700)
    for path in share:
        words += ["--ro-bind", path, path]
    descriptors = []
    for path, text in texts.items():
        file = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        file.write(text.encode())
        file.seek(0)
        words += ["--ro-bind-data", str(file.fileno()), path]
        descriptors.append(file.fileno())
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--"]
    return words, descriptors


@functools.cache
def best_confinement() -> Confinement:
    """How programs are confined on this machine: as well as it can.

    Raises:
        DeviceStartError: programs could only run as this very user, which nobody asked for.
    """
    why = why_no_namespaces()
    if not why:
        return "bubblewrap"
    if os.geteuid() == 0:
        log.warning("%s; desktops run as users of their own, with this machine's network", why)
        return "user"
    raise DeviceStartError(
        f"{why} (Debian: apt-get install bubblewrap). Without it applications, and what an agent "
        "types into a terminal, run as you; if that is meant, as in a container that is thrown "
        'away, ask for it: device="x11:unconfined"'
    )


def why_no_namespaces() -> str:
    """Why bubblewrap does not work here: what a sandbox would do is tried. Empty if it does."""
    if shutil.which("bwrap") is None:
        return "there is no bubblewrap"
    try:
        with contextlib.ExitStack() as files:
            words, descriptors = bubblewrap((), files)
            tried = _tried([*words, interpreter(), "-I", "-S", "-c", ""], descriptors)
    except subprocess.TimeoutExpired:
        return f"bubblewrap made no namespaces within {TRIAL_SECONDS:g} s"
    if tried.returncode == 0:
        return ""
    return f"bubblewrap cannot make namespaces here: {tried.stderr.decode().strip()[-200:]}"


@functools.cache
def forbids_namespaces() -> bool:
    """Whether programs in a sandbox make no namespaces of their own: where bubblewrap can see to
    it (since 0.8), and there is no Google Chrome, which does not run without."""
    if shutil.which("google-chrome"):
        return False
    words = [_program(), "--unshare-all", *_NO_NAMESPACES, "--ro-bind", "/", "/", "--proc", "/proc"]
    try:
        return _tried([*words, "true"]).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _tried(
    words: Sequence[str], descriptors: Sequence[int] = ()
) -> subprocess.CompletedProcess[bytes]:
    """What came of a command, run as the user who a sandbox's programs are."""
    user = LentUser(named=False) if os.geteuid() == 0 else None
    identity = {} if user is None else {"user": user.id, "group": user.id, "extra_groups": ()}
    try:
        tried: subprocess.CompletedProcess[bytes] = subprocess.run(
            words, capture_output=True, check=False, timeout=TRIAL_SECONDS, pass_fds=descriptors,
            **identity,  # type: ignore[call-overload]
        )  # fmt: skip
        return tried
    finally:
        if user is not None:
            user.give_back()


@functools.cache
def interpreter() -> str:
    """A Python that every user may run, for the supervisor.

    Raises:
        DeviceStartError: there is none.
    """
    for path in ("/usr/bin/python3", sys.base_prefix + "/bin/python3"):
        if os.path.exists(path) and not path.startswith("/root/"):
            return path
    raise DeviceSetupError(
        "a desktop needs a Python that every user may run (Debian: apt-get install python3)"
    )


def _program() -> str:
    return shutil.which("bwrap") or "bwrap"


def _in_memory(name: str, path: str, mode: int) -> list[str]:
    return ["--perms", f"{mode:04o}", "--size", str(SIZES[name]), "--tmpfs", path]
