"""Waiting for what is seen late, such as the end of a process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


def eventually(holds: Callable[[], Any], seconds: float = 10.0) -> bool:
    """Whether `holds()` becomes true in time: ends of processes and threads are seen late."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not holds():
        if time.monotonic() > deadline:
            return False
        pause.wait(0.02)
    return True
