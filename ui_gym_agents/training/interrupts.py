"""Ctrl-C, SIGTERM and SIGHUP: the first finishes what must not be torn, the second leaves now."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """A context manager that owns SIGINT, SIGTERM and SIGHUP while a run lasts.

    Inside `deferred` (a training step, a save) the first signal is only noted in `requested`, and
    `notify` is called once to say so; a second one raises KeyboardInterrupt there and then.
    Anywhere else (an evaluation, the start) the first signal raises at once: nothing is torn.

    SIGHUP says that the terminal is gone, once or several times, and is never a second signal. One
    that was ignored before (`nohup`) stays so.
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

    def request(self) -> None:
        """Count as the first signal: from the run's own thread, between two steps."""
        self._requested.set()

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
                if (number, signal.getsignal(number)) != (signal.SIGHUP, signal.SIG_IGN):
                    self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        first = not self._requested.is_set()
        if number == signal.SIGHUP:
            _forget_terminal()
            if not first:
                return
        self._requested.set()
        if not first or not self._depth:
            raise KeyboardInterrupt
        self._notify()


def _forget_terminal() -> None:
    """Print to nowhere from now on, if the terminal is gone: else each print is an OSError."""
    for descriptor in (1, 2):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


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
