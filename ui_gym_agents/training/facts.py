"""What a run runs on: versions, the state of the code, the command, the machine.

It is for whoever reads of the run later.

Nothing is imported for it, and nothing that is missing is an error. Settings hold no secrets, and
what a command line may hold of them is left out.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ui_gym_agents.training.plugin import installed

PACKAGES = ("ui-gym", "torch", "transformers", "gymnasium")

GIT_SECONDS = 3.0
"""How long git may take, where the folder is slow to look through."""

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
BROWSER_SECONDS = 10.0
"""How long a browser may take to say its version."""
DESKTOP = (
    "xvfb", "openbox", "dbus-daemon", "mousepad", "pcmanfm", "xfce4-terminal", "galculator",
    "gnumeric", "tint2", "faketime", "gpicview", "libreoffice-calc", "libreoffice-writer",
    "libreoffice-gtk3", "chromium",
)  # fmt: skip
"""The packages that `ui_gym.desktop.x11.needs` names, which learners know nothing of."""
DPKG_SECONDS = 5.0
GPU_SECONDS = 10.0

HERE = ("threads", "processes")
"""Kinds of workers that play on this machine."""

SECRET = re.compile("(token|key|password|secret)(?![a-z])", re.IGNORECASE)
"""In the name of a flag: its value is nobody's business. A number of tokens is no secret."""

HIDDEN = "..."


def facts(
    plugin: str = "", suites: Collection[str] = (), workers: str = "threads"
) -> dict[str, Any]:
    """Versions, git revisions, command line and machine of this process, as plain JSON values.

    Args:
        plugin: A trainer; the version of the distribution that brings it is told as well.
        suites: The suites that are played; with ``browser``, the version of Chromium is told, and
            with ``desktop`` those of the packages that its programs are of.
        workers: What plays them; programs of another machine are not told of.
    """
    entry = installed().get(plugin)
    own = entry.dist.name if entry is not None and entry.dist is not None else ""
    versions = dict(_versions((*PACKAGES, own)))
    plays_here = workers.partition(":")[0].partition("?")[0] in HERE
    if "browser" in suites and plays_here and (found := browser()):
        versions["browser"] = found
    if "desktop" in suites and plays_here:
        versions |= desktop()
    return {
        "python": platform.python_version(),
        "versions": versions,
        "revision": revision(),
        "code": revision(Path(__file__).parent),
        "machine": machine(),
        "command": shlex.join(without_secrets([Path(sys.argv[0]).name, *sys.argv[1:]])),
    }


def _versions(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in filter(None, names):
        with suppress(PackageNotFoundError):
            yield name, version(name)


def revision(folder: Path | None = None) -> str | None:
    """The commit of a folder, by default the working directory, with ``-dirty`` if files differ
    from it; None where it is in no repository, is not kept in it, or there is no git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit or (folder is not None and not _git(folder, "ls-files", "--", ".")):
        return None
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return commit + ("-dirty" if changed else "")


def _git(folder: Path | None, *words: str) -> str | None:
    # It must not write, as refreshing its index would.
    at = [] if folder is None else ["-C", str(folder)]
    return _said("git", "--no-optional-locks", *at, *words, seconds=GIT_SECONDS)


def browser() -> str | None:
    """What the browser that is found first says its version is; None where there is none."""
    names = filter(None, (os.environ.get("UI_GYM_BROWSER"), *BROWSERS))
    path = next(filter(None, map(shutil.which, names)), None)
    return path and _said(path, "--version", seconds=BROWSER_SECONDS)


def desktop() -> dict[str, str]:
    """The versions of the Debian packages that desktops are made of; empty where there is no dpkg.
    (X servers and editors have no common way to say theirs.)"""
    asked = ("dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", *DESKTOP)
    said = _said(*asked, seconds=DPKG_SECONDS, whole=False) or ""
    told = (line.partition(" ") for line in said.splitlines())
    return {package: found for package, _, found in told if found}


def machine() -> dict[str, Any]:
    """The system, the processor with its cores, the memory in bytes, and the names of GPUs."""
    return {
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "gpus": _gpus(),
    }


def _cpu() -> str:
    """The processor's model, where the system tells it, else its kind."""
    with suppress(OSError):
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def _gpus() -> list[str]:
    """The names of NVIDIA's GPUs: of the driver's own files, else of its tool."""
    models = []
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        with suppress(OSError):
            models += re.findall(r"^Model:\s*(.+)$", path.read_text(), re.M)
    if models or not shutil.which("nvidia-smi"):
        return models
    said = _said("nvidia-smi", "--query-gpu=name", "--format=csv,noheader", seconds=GPU_SECONDS)
    return said.splitlines() if said else []


def _said(*command: str, seconds: float, whole: bool = True) -> str | None:
    """What a command printed; None where it is not there, took too long, or failed, if it must do
    the `whole` of what it was asked."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=whole,
            errors="replace", timeout=seconds,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def without_secrets(words: Sequence[str]) -> list[str]:
    """Words of a command without the values of flags that name a secret, and without what an
    address says before its ``@``."""
    found: list[str] = []
    hide = False
    for word in words:
        name, equals, _ = word.partition("=")
        flag = word.startswith("-")
        if hide and not flag:
            found.append(HIDDEN)
        elif flag and equals and SECRET.search(name):
            found.append(f"{name}={HIDDEN}")
        else:
            found.append(re.sub(r"://[^/@\s]*@", f"://{HIDDEN}@", word))
        hide = flag and not equals and bool(SECRET.search(name))
    return found
