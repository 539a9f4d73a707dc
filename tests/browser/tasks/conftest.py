"""Makes the helpers of these tests importable, and shows tasks on a browser that tests share."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.task import Task


@pytest.fixture(scope="module")
def show() -> Iterator[Callable[..., ChromiumDevice]]:
    """Sets a task up with some params, or those of seed 0, on the module's browser."""
    with contextlib.closing(ChromiumDevice(DeviceOptions(size=(1280, 800)))) as device:
        device.start()

        def show(task: Task[Any, Any], params: Any = None) -> ChromiumDevice:
            task.setup(device, params or task.draw(0))
            return device

        yield show
