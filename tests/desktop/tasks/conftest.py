"""What these tests share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ui_gym.contract.device import DevicePool

sys.path.insert(0, str(Path(__file__).parent))  # makes their helpers importable


@pytest.fixture(scope="module")
def pool() -> Iterator[DevicePool]:
    """Devices that the envs of a module share."""
    from desktop_episodes import desktops

    with desktops() as made:
        yield made


@pytest.fixture(scope="module")
def small() -> Iterator[DevicePool]:
    from desktop_episodes import desktops

    with desktops(size=(1024, 768)) as made:
        yield made
