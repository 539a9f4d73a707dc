"""When programs have come to rest: all sleep, and none is about to wake itself.

How long nothing was painted says little: on a busy machine, a program that has much to paint may
not have had its turn. But the kernel says of each thread whether it sleeps, and how often it was
switched to and from. Where all threads sleep in two looks, and none was switched meanwhile, there
was a moment at which nobody had anything to do. What remains are timers: a button that a key
presses is shown as pressed for a while, a submenu opens after a while, a frame is painted at the
next beat. Those that are short are waited for, however long the machine takes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

QUIET = 0.02
"""Seconds for which all threads must sleep. Where the kernel does not tell timers (a container that
may not trace), those that are longer than this go unseen."""

TIMER = 0.3
"""Seconds of the longest timer that is waited for. GTK shows a pressed button for 0.25 s, opens a
submenu after 0.225 s. Beyond lie the 0.4 s of a double
click and Mousepad's 0.5 s after a key, which paint nothing."""

HOVER_TIMER = 0.6
"""The same after the pointer moved and did nothing else: tooltips come after 0.5 s."""

SETTLE_TIMEOUT = 2.0
"""Seconds after which programs that do not come to rest are taken as they are. The time that they
wait for a processor does not count."""

LOOK = 0.004, 0.02
"""Seconds from one look to the next while somebody runs: the first, and the longest."""

IDLE_TIMERS = 8
"""How many short timers of a thread, while nothing is painted, make it one that only ticks."""

Thread = tuple[str, int, int, int]
"""See `supervisor.threads_of`."""

Threads = Mapping[str, Thread]


class Rest:
    """Waits for programs to come to rest.

    `programs` and `painter` tell what the threads of the programs, and of the X server, do now;
    `most` bounds the wait in seconds, whatever the load.
    """

    def __init__(
        self, programs: Callable[[], Threads], painter: Callable[[], Threads], most: float
    ) -> None:
        self._programs, self._painter = programs, painter
        self._began = self._now = time.monotonic()
        self._most = most
        self._waited: int | None = None
        self._starved = 0.0
        self._painted = 0
        self._threads: dict[str, Thread] = {}
        self._slept: dict[str, float] = {}
        self._ticks: dict[str, tuple[int, int]] = {}
        self._pause = threading.Event()

    def left(self) -> float:
        """Seconds that programs still have, after what the last look saw."""
        timeout = min(SETTLE_TIMEOUT + self._starved, self._most)
        return self._began + timeout - time.monotonic()

    def wait(self, *, quiet: float = QUIET, timer: float = TIMER) -> bool:
        """Wait until all rest. Whether they do."""
        pause, longest = LOOK
        since = self._began
        while True:
            before = time.monotonic()
            moved = self.look()
            busy = any(thread[0] in "RD" for thread in self._threads.values())
            if moved or busy:
                since = self._now
            due = self._due(timer)
            if not (moved or busy) and before - since >= quiet and before >= due:
                return True
            if self.left() <= 0:
                return False
            until = self._now + pause if busy else max(since + quiet, due)
            pause = min(2 * pause, longest) if busy else pause
            end = self._now + self.left()
            self._pause.wait(max(min(until, end) - time.monotonic(), 0.001))

    def look(self) -> bool:
        """Look at all threads. Whether one of them was switched since the last look."""
        programs, painter = self._programs(), self._painter()
        self._now = time.monotonic()
        self._painted = sum(thread[1] for thread in painter.values())
        threads = {**programs, **{f"X{name}": thread for name, thread in painter.items()}}
        waited = sum(thread[2] for thread in threads.values())
        if self._waited is not None:
            self._starved += max(waited - self._waited, 0) / 1000
        self._waited = waited
        moved = False
        for name, thread in threads.items():
            known = self._threads.get(name)
            if known is None or known[1] != thread[1]:
                moved = True
                self._slept[name] = self._now
                self._note_tick(name, thread)
        moved = moved or len(threads) != len(self._threads)  # somebody has ended
        self._threads = threads
        return moved

    def _due(self, timer: float) -> float:
        """When the last of the short timers is over, in monotonic seconds; 0 without one."""
        dues = [
            self._slept[name] + thread[3] / 1000 + 0.001
            for name, thread in self._threads.items()
            if 0 <= thread[3] <= timer * 1000 and self._ticks[name][0] < IDLE_TIMERS
        ]
        return max(dues, default=0.0)

    def _note_tick(self, name: str, thread: Thread) -> None:
        """Count the short timers of a thread since something was painted."""
        count, painted = self._ticks.get(name, (0, self._painted))
        if painted != self._painted:
            count = 0
        short = 0 <= thread[3] <= HOVER_TIMER * 1000
        self._ticks[name] = (count + short, self._painted)
