"""Fixtures of the browser's tests: devices, small pages, and a check that nothing is left."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from browser_helpers import SIZE, Listener, Load, MakeDevice, WritePage, browsers
from waiting import eventually

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.process import BROWSER_VARIABLE
from ui_gym.contract.device import DeviceOptions

PAGE = """<!doctype html>
<html><head><meta charset="utf-8"><title>{title}</title><!-- ui-gym --></head>
<body>{body}<script>{script}</script></body></html>
"""


@pytest.fixture(scope="module", autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Everything temporary of ours and of our browsers goes here, where leftovers are seen."""
    folder = tmp_path_factory.mktemp("scratch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", str(folder))
        patch.delenv(BROWSER_VARIABLE, raising=False)
        yield folder


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left(scratch: Path) -> Iterator[None]:
    """No process, folder, descriptor or thread outlives a module's devices."""
    before = _ours(scratch)
    yield
    assert eventually(lambda: not any(_more(_ours(scratch), before).values())), _more(
        _ours(scratch), before
    )


def _ours(scratch: Path) -> dict[str, set[Any]]:
    return {
        "processes": {(p.pid, p.info["cmdline"][0]) for p in browsers(scratch)},
        "children": {p.pid for p in psutil.Process().children(recursive=True)},
        "folders": set(os.listdir(scratch)),
        "descriptors": _descriptors(),
        "threads": {t.name for t in threading.enumerate() if t.name.startswith(("cdp", "ui-gym"))},
    }


def _descriptors() -> set[tuple[str, str]]:
    """(number, target) of our open pipes and sockets."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{name}")
            if target.startswith(("pipe:", "socket:")):
                found.add((name, target))
    return found


def _more(now: dict[str, set[Any]], before: dict[str, set[Any]]) -> dict[str, set[Any]]:
    return {what: now[what] - before[what] for what in now}


@pytest.fixture
def make_device() -> Iterator[MakeDevice]:
    """Makes started devices, and closes them."""
    made: list[ChromiumDevice] = []

    def make(
        size: tuple[int, int] = SIZE, timeout: float = 20.0, kind: str = "auto"
    ) -> ChromiumDevice:
        made.append(ChromiumDevice(DeviceOptions(kind, size, timeout)))
        made[-1].start()
        return made[-1]

    yield make
    for device in made:
        device.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[ChromiumDevice]:
    """One device for all tests of a module that leave it in order."""
    device = ChromiumDevice(DeviceOptions(size=SIZE))
    device.start()
    yield device
    device.close()


@pytest.fixture
def page(tmp_path: Path) -> WritePage:
    """Writes a small page."""

    def write(body: str = "", script: str = "", title: str = "test") -> Path:
        path = tmp_path / f"page-{len(os.listdir(tmp_path))}.html"
        path.write_text(PAGE.format(title=title, body=body, script=script), encoding="utf-8")
        return path

    return write


@pytest.fixture
def load(shared: ChromiumDevice, page: WritePage) -> Load:
    """Shows a small page on the shared device."""

    def show(body: str = "", script: str = "", title: str = "test") -> ChromiumDevice:
        shared.load(page(body, script, title), {})
        return shared

    return show


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    with contextlib.closing(Listener()) as made:
        yield made
