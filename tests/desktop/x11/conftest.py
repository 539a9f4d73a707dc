"""Fixtures of the X11 device's tests: a device, and a check that nothing is left."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from waiting import eventually
from x11_helpers import SIZE

from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.x11.device import X11Device

PROGRAMS = ("Xvfb", "bwrap", "openbox", "mousepad", "dbus-daemon")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    for item in items if missing else ():
        item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(missing)}"))


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No process, folder or thread outlives a module's devices."""
    tmp_path_factory.getbasetemp()  # made now, so that it is none of ours
    # Not one of pytest's folders: other users than this one must be able to pass through it.
    with tempfile.TemporaryDirectory(prefix="ui-gym-tests-") as scratch:
        os.chmod(scratch, 0o1777)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", scratch)
            patch.setattr(tempfile, "tempdir", scratch)
            before = _ours()
            yield
            assert eventually(lambda: not any(_more(before).values())), _more(before)


def _ours() -> dict[str, set[Any]]:
    return {
        "children": {p.pid for p in psutil.Process().children(recursive=True)},
        "folders": set(os.listdir(tempfile.gettempdir())),
        "threads": {t.name for t in threading.enumerate() if t.name.startswith("ui-gym")},
    }


def _more(before: dict[str, set[Any]]) -> dict[str, set[Any]]:
    return {kind: now - before[kind] for kind, now in _ours().items()}


@pytest.fixture(scope="module")
def desktop() -> Iterator[X11Device]:
    """A started device that a module's tests share; each renews it."""
    device = X11Device(DeviceOptions("x11", SIZE, timeout=20.0))
    device.start()
    yield device
    device.close()
