"""Machines of the smallest guests, and a check that nothing of them is left."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "http"))

import guests

from ui_gym.desktop.http.address import TOKEN
from ui_gym.desktop.qemu.acceleration import VARIABLE
from ui_gym.desktop.qemu.settings import QemuSettings
from ui_gym.desktop.qemu.vm import VirtualMachine


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder and a cache of the test's own; nothing may be left in the former."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv(TOKEN, raising=False)
    yield temporary
    assert list(temporary.iterdir()) == []


@pytest.fixture
def switch_on(tmp_path: Path) -> Iterator[Callable[..., VirtualMachine]]:
    """Makes machines of `guests.guest`, run in software, and closes them."""
    with ExitStack() as stack:

        def make(image: Path | None = None, *, ends: bool = False) -> VirtualMachine:
            image = image or guests.guest(tmp_path, ends=ends)
            settings = QemuSettings(image, memory=64, cores=1)
            vm = VirtualMachine(settings, "tcg", (640, 480))
            stack.callback(vm.close)
            return vm

        yield make
