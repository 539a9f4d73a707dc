"""Serving until somebody wants it to end: Ctrl-C and SIGTERM as an event."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator

WAIT_SLICE = 1.0
"""Seconds of one wait."""


class Stop:
    """Whether, and how often, an end was asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self._event = threading.Event()
        self._started = False

    def started(self) -> None:
        """From now on a signal sets the event; before, it interrupts."""
        self._started = True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the next signal. Whether one came in time."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        # In slices: a signal that comes as a wait begins does not end that wait.
        while not self._event.wait(max(0.0, min(WAIT_SLICE, end - time.monotonic()))):
            if time.monotonic() >= end:
                return False
        self._event.clear()
        return True

    def signalled(self, *_: object) -> None:
        self.asked += 1
        self._event.set()
        # Later ones must not interrupt the cleaning up.
        if self.asked == 1 and not self._started:
            raise KeyboardInterrupt


@contextlib.contextmanager
def until_stopped() -> Iterator[Stop]:
    """Hears Ctrl-C and SIGTERM for as long as the context is open.

    Until `Stop.started` they raise `KeyboardInterrupt`, once: a start may take minutes.
    """
    stop = Stop()
    before = {
        number: signal.signal(number, stop.signalled) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
