"""What this machine has and lacks for ui-gym, and how to get it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import urllib.error
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from rich.table import Table
from rich.text import Text

from ui_gym import extras
from ui_gym.child_process import cores
from ui_gym.errors import UIGymError

Status = Literal["ok", "warn", "fail"]

SMOKE_TASK = "UI/ClickButton-v0"
"""The task that shows whether a browser starts."""

MOST_BYTES = 1 << 20
"""Of a server's answer that are read."""

_CAPACITY = {"protocol", "version", "slots", "free", "playing", "tasks", "ending"}
"""What a server of slots says of itself."""

ADB_SECONDS = 2.0
"""How long an adb server is given to answer."""

GIB = 1 << 30
MIB = 1 << 20

_EXTRAS: tuple[tuple[str, tuple[str, ...], Status, str], ...] = (
    (
        "opencv",
        ("opencv-python-headless", "opencv-python", "opencv-contrib-python-headless",
         "opencv-contrib-python"),
        "fail",
        "pip install 'ui-gym[browser]'",
    ),
    ("selenium", ("selenium",), "warn", "pip install 'ui-gym[selenium]'"),
    ("xcffib", ("xcffib",), "warn", "pip install 'ui-gym[desktop]'"),
    ("jeepney", ("jeepney",), "warn", "pip install 'ui-gym[desktop]'"),
    ("websockets", ("websockets",), "warn", "pip install 'ui-gym[remote]'"),
    ("torch", ("torch",), "warn", "pip install 'ui-gym[agents]'"),
    ("transformers", ("transformers",), "warn", "pip install 'ui-gym[agents]'"),
    ("peft", ("peft",), "warn", "pip install 'ui-gym[agents]'"),
)  # fmt: skip
"""(name, distributions that provide it, status where none is installed, remedy)."""

_BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
_DRIVEN = ("chromedriver", "geckodriver", "msedgedriver", "firefox-esr")
"""What device="selenium" uses, where it is there."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``fail``: no env can run without it; ``warn``: some things cannot."""

    name: str
    status: Status
    found: str
    remedy: str = ""


def findings_table(findings: Iterable[Finding]) -> Table:
    """For a terminal: a finding a row, and what to do about it below it."""
    marks = {"ok": ("ok", "green"), "warn": ("warn", "yellow"), "fail": ("FAIL", "bold red")}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", width=4)
    table.add_column("what")
    table.add_column("found", ratio=1, overflow="fold")
    for finding in findings:
        table.add_row(Text(*marks[finding.status]), Text(finding.name), Text(finding.found))
        if finding.remedy:
            table.add_row("", "", Text(finding.remedy, style="cyan"))
    return table


def examine() -> Iterator[Finding]:
    """Look at everything, the cheap things first."""
    yield _python()
    yield from _extras()
    yield _plugins()
    yield from _browsers()
    yield _shared_memory()
    yield _cores()
    yield _memory()
    yield _fonts()
    yield _browser_starts()
    yield from _phones()
    yield from _desktops()


def examine_server(url: str) -> Iterator[Finding]:
    """Look at a server of slots (``ui-gym serve``): whether it is there, lets us in and has room.

    Raises:
        UserError: the address is none.
    """
    from ui_gym.remote import asking, wire
    from ui_gym.remote.client import server_url
    from ui_gym.remote.guard import token_in

    page = server_url(url).replace("ws", "http", 1) + "/capacity"
    token = token_in(wire.TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    started = time.perf_counter()
    try:
        told = json.loads(asking.get(page, headers, timeout=10, most=MOST_BYTES))
        if not isinstance(told, dict) or not told.keys() >= _CAPACITY:
            raise ValueError("what answers there is no ui-gym serve")
    except urllib.error.HTTPError as error:
        remedy = f"set {wire.TOKEN} as there" if error.code == 401 else ""
        said = error.read(MOST_BYTES).decode("utf-8", "replace").strip()
        yield Finding("server", "fail", f"{url}: {error.code} {said}", remedy)
        return
    except (OSError, ValueError) as error:
        yield Finding("server", "fail", f"{url}: {error}", "start it there: ui-gym serve")
        return
    spent = 1e3 * (time.perf_counter() - started)
    ending = ", and it is ending" if told["ending"] else ""
    yield Finding("server", "warn" if ending else "ok", f"{url}: answers in {spent:.0f} ms{ending}")
    same = (told["protocol"], told["version"]) == (wire.PROTOCOL, wire.VERSION)
    yield Finding(
        "version", "ok" if same else "fail",
        f"{told['version']} (protocol {told['protocol']}), and {wire.VERSION} here",
        "" if same else "install the same on both",
    )  # fmt: skip
    free = f"{told['free']} of {told['slots']} free, {told['playing']} episodes are played"
    yield Finding("slots", "ok" if told["free"] else "warn", free)
    yield Finding("tasks", "ok", ", ".join(told["tasks"]) if told["tasks"] else "all")


def _python() -> Finding:
    return Finding("Python", "ok", f"{platform.python_version()} at {sys.executable}")


def _extras() -> Iterator[Finding]:
    for name, distributions, otherwise, remedy in _EXTRAS:
        versions = [f"{d} {v}" for d in distributions if (v := _version(d))]
        if versions:
            yield Finding(name, "ok", ", ".join(versions))
        else:
            yield Finding(name, otherwise, "not installed", remedy)


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _plugins() -> Finding:
    found = sorted(extras.installed("ui_gym.trainers"))
    if found:
        return Finding("trainers", "ok", ", ".join(found))
    return Finding("trainers", "warn", "none installed", "pip install ui-gym-grpo ui-gym-sft")


def _browsers() -> Iterator[Finding]:
    from ui_gym.browser.chromium.process import find_browser

    for name in _BROWSERS:
        path = shutil.which(name)
        if path is not None:
            yield Finding(name, "ok", path)
    if shutil.which("chromium-headless-shell") is None:
        yield Finding(
            "chromium-headless-shell",
            "warn",
            "not found; another Chromium works, more slowly",
            "apt-get install chromium-headless-shell",
        )
    yield _framebuffer()
    yield _webdriver()
    try:
        yield Finding("browser in use", "ok", find_browser())
    except UIGymError as error:
        yield Finding("browser in use", "fail", str(error), "apt-get install chromium")


def _webdriver() -> Finding:
    found = [path for name in _DRIVEN if (path := shutil.which(name))]
    if any("driver" in path for path in found):
        return Finding("WebDriver", "ok", ", ".join(found))
    return Finding(
        "WebDriver",
        "warn",
        "no driver found; only device='selenium' needs one",
        "apt-get install chromium-driver",
    )


def _framebuffer() -> Finding:
    from ui_gym.browser.chromium.process import find_browser
    from ui_gym.xvfb import find_xvfb

    missing = [] if find_xvfb() else ["xvfb"]
    try:
        find_browser(headless=False)
    except UIGymError:
        missing.append("chromium")
    if not missing:
        return Finding("large viewports", "ok", "read from a mapped framebuffer")
    return Finding(
        "large viewports",
        "warn",
        "encoded pictures, several times as slow",
        f"apt-get install {' '.join(missing)}",
    )


def _shared_memory() -> Finding:
    try:
        stats = os.statvfs("/dev/shm")
    except OSError:
        return Finding("/dev/shm", "warn", "not there; the browser uses files instead, more slowly")
    free = stats.f_frsize * stats.f_bavail
    if free >= 512 * MIB:
        return Finding("/dev/shm", "ok", f"{free / MIB:,.0f} MiB free")
    return Finding(
        "/dev/shm",
        "warn",
        f"{free / MIB:,.0f} MiB free; the browser uses files instead, more slowly",
        "in Docker: --shm-size=1g",
    )


def _cores() -> Finding:
    count = cores()
    if count >= 2:
        return Finding("cores", "ok", str(count))
    return Finding("cores", "warn", "1", "two or more let a browser and a model work side by side")


def _memory() -> Finding:
    free = _available_memory()
    if free is None:
        return Finding("memory", "warn", "unknown")
    found = f"{free / GIB:.1f} GiB available"
    if free >= 1.5 * GIB:
        return Finding("memory", "ok", found)
    return Finding("memory", "warn", found, "a browser takes about 0.2 GiB, training 1 GiB or more")


def _available_memory() -> int | None:
    """In bytes: the machine's, or what the container's limit leaves of it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvail"))
    except (OSError, StopIteration):
        return None
    group = Path("/sys/fs/cgroup")
    try:
        limit = int((group / "memory.max").read_text())
        free = min(free, limit - int((group / "memory.current").read_text()))
    except (OSError, ValueError):  # no such file, or "max": there is no limit
        pass
    return free


def _fonts() -> Finding:
    folder = files("ui_gym.browser") / "pages" / "fonts"
    names = [f.name for f in folder.iterdir()] if folder.is_dir() else []
    shipped = [name for name in names if name.endswith((".woff2", ".woff", ".ttf", ".otf"))]
    if not shipped:
        return Finding("fonts", "fail", "the font of our pages is missing", "pip install ui-gym")
    return Finding("fonts", "ok", ", ".join(sorted(shipped)) + _system_fonts())


def _system_fonts() -> str:
    if shutil.which("fc-list") is None:
        return ""
    try:
        listed = subprocess.run(["fc-list", ":", "family"], capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return f"; {len(set(listed.stdout.splitlines()))} families of the system"


def _browser_starts() -> Finding:
    import gymnasium as gym

    from ui_gym.contract import registry

    name = "a first screenshot"
    started = time.perf_counter()
    try:
        env = gym.make(registry.spec(SMOKE_TASK).id, disable_env_checker=True)
        try:
            observation, _ = env.reset(seed=0)
        finally:
            env.close()
    except UIGymError as error:
        return Finding(name, "fail", str(error), "apt-get install chromium-headless-shell")
    except Exception as error:  # whatever breaks here must be shown, not end the examination
        return Finding(name, "fail", repr(error), "please report this")
    height, width = observation["screenshot"].shape[:2]
    blank = observation["screenshot"].min() == observation["screenshot"].max()
    if blank:
        return Finding(name, "fail", f"{width}x{height}, but all of one colour", "try another one")
    return Finding(name, "ok", f"{width}x{height} in {time.perf_counter() - started:.1f} s")


def _phones() -> Iterator[Finding]:
    """The built-in phone is always there; others are what a running adb server knows of."""
    from ui_gym.android.adb.binary import find_adb
    from ui_gym.android.adb.server import SmartSocket
    from ui_gym.android.adb.target import remedy

    yield Finding("phones", "ok", "device='phone' is built in")
    program = find_adb()
    try:
        listed = SmartSocket().devices(ADB_SECONDS)
    except UIGymError:
        if program is None:
            yield Finding(
                "adb", "warn", "not found; only phones by ADB need it", "apt-get install adb"
            )
        else:
            yield Finding("adb", "ok", f"{program}; its server is not running: `adb start-server`")
        return
    yield Finding("adb", "ok", f"{program or 'its server'}; {len(listed)} devices")
    for device in listed:
        usable = device.state == "device"
        found = f"device='adb:{device.serial}'" if usable else device.state
        yield Finding(
            f"phone {device.serial}", "ok" if usable else "warn", found,
            "" if usable else remedy(device.state),
        )  # fmt: skip


def _desktops() -> Iterator[Finding]:
    """What a desktop of this machine's own is made of."""
    from ui_gym.desktop.x11.needs import APPLICATIONS, SESSION, missing

    lacking = missing(SESSION)
    if lacking:
        remedy = "apt-get install " + " ".join(lacking)
        yield Finding("desktop", "warn", "its session cannot be started", remedy)
        return
    yield _confinement()
    absent = missing(APPLICATIONS)
    if absent:
        remedy = "apt-get install " + " ".join(absent)
        yield Finding("applications", "warn", f"{len(absent)} are not installed", remedy)
    else:
        yield Finding("applications", "ok", ", ".join(APPLICATIONS))


def _confinement() -> Finding:
    from ui_gym.desktop.x11.confinement import best_confinement

    try:
        way = best_confinement()
    except UIGymError as error:
        return Finding("desktop", "warn", str(error), "apt-get install bubblewrap")
    if way == "bubblewrap":
        return Finding("desktop", "ok", "applications run in a sandbox (bubblewrap)")
    return Finding(
        "desktop", "warn", "applications run as a user of their own, with this machine's network",
        "apt-get install bubblewrap, and in Docker: --security-opt seccomp=unconfined "
        "--security-opt systempaths=unconfined",
    )  # fmt: skip
