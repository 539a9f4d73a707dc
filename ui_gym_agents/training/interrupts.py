"""Ctrl-C and SIGTERM: the first finishes what must not be torn, the second leaves now."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """A context manager that owns SIGINT and SIGTERM while a run lasts.

    Inside `deferred` (a training step, a save) the first signal is only noted in `requested`, and
    `notify` is called once to say so; a second one raises KeyboardInterrupt there and then.
    Anywhere else (an evaluation, the start) the first signal raises at once: nothing is torn.
    """

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._requested = threading.Event()
        self._depth = 0
        self._previous: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether somebody asked to stop."""
        return self._requested.is_set()

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Let the first signal wait until this block is done and `requested` is looked at."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def __enter__(self) -> Self:
        # Signal handlers belong to the main thread; a run in another thread (a notebook, a test)
        # leaves them alone.
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        first = not self._requested.is_set()
        self._requested.set()
        if not first or not self._depth:
            raise KeyboardInterrupt
        self._notify()


@contextmanager
def ignored() -> Iterator[None]:
    """For a process that another one tells when to end: launchers signal them all at once."""
    inside = threading.current_thread() is threading.main_thread()
    previous = {n: signal.signal(n, signal.SIG_IGN) for n in SIGNALS} if inside else {}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
