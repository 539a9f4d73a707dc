"""Servers over a desktop in memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

import desktops

from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.http.address import TOKEN
from ui_gym.desktop.http.device import OSWorldDevice
from ui_gym.desktop.http.server import DesktopServer
from ui_gym.playing.pool import FreshPool


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)


@pytest.fixture
def desktop() -> desktops.FakeDesktop:
    return desktops.FakeDesktop()


@pytest.fixture
def serve(desktop: desktops.FakeDesktop) -> Iterator[Callable[..., DesktopServer]]:
    """Makes servers over `desktop` (or what `make` makes), and closes them."""
    with ExitStack() as stack:

        def open_server(make: Callable[[], Any] | None = None, **how: Any) -> DesktopServer:
            pool = FreshPool(make or (lambda: desktop))
            stack.callback(pool.close)
            return stack.enter_context(DesktopServer(pool, **{"port": 0} | how))

        yield open_server


@pytest.fixture
def connect() -> Iterator[Callable[..., OSWorldDevice]]:
    """Makes started devices of a server or an address, and closes them."""
    with ExitStack() as stack:

        def make(where: Any, *, size: tuple[int, int] = (320, 240), **extra: Any) -> OSWorldDevice:
            kind = where if isinstance(where, str) else f"osworld:{where.address}"
            timeout = extra.pop("timeout", 30.0)
            options = DeviceOptions(kind, size, timeout, extra={"settle": "0"} | extra)
            device = OSWorldDevice(options)
            stack.callback(device.close)
            device.start()
            return device

        yield make
