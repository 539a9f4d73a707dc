"""What a benchmark used of the machine, beside time."""

from __future__ import annotations

import contextlib

import psutil


def cpu_seconds() -> tuple[float, float]:
    """Of all processes that this one started, and of its own threads."""
    theirs = 0.0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            times = child.cpu_times()
            theirs += times.user + times.system
    own = psutil.Process().cpu_times()
    return theirs, own.user + own.system


def megabytes() -> float:
    """Proportional set size of all processes that this one started."""
    total = 0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            total += child.memory_full_info().pss
    return total / 2**20
