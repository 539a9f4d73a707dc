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
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.device import Image

QUIET = 0.02
"""Seconds for which all threads must sleep. Where the kernel does not tell timers (a container that
may not trace), those that are longer than this go unseen."""

TIMER = 0.26
"""Seconds of the longest timer that is waited for. GTK shows a pressed button for 0.25 s, opens a
submenu after 0.225 s; Gnumeric brings its buttons up to date after 0.2 s, the file manager what is
selected. Beyond lie the 0.4 s of a double click, which paint nothing. Once little is left of them,
that is waited for as well: a shorter timer may be hidden behind it."""

HOVER_TIMER = 0.6
"""The same after the pointer moved and did nothing else: tooltips come after 0.5 s."""

SETTLE_TIMEOUT = 2.0
"""Seconds after which programs that do not come to rest are taken as they are. The time that they
wait for a processor does not count."""

LOOK = 0.004, 0.02
"""Seconds from one look to the next while somebody runs: the first, and the longest."""

IDLE_TIMERS = 8
"""How many short timers of a thread, while the picture stays, make it one that only ticks."""

STEADY_TIMERS = 4
"""The same of timers that are all alike and together as long as the longest that is waited for: no
other one can be hidden behind them. Gnumeric's border of copied cells ticks every 75 ms."""

Thread = tuple[str, int, int, int]
"""See `supervisor.threads_of`."""

Threads = Mapping[str, Thread]


@dataclass(frozen=True)
class _Ticks:
    """The short timers of a thread since the picture changed."""

    picture: int
    count: int = 0
    steady: int = 0
    """How many of the last ones were alike."""
    milliseconds: int = 0
    """The last one."""

    def is_idle(self, timer: float) -> bool:
        """Whether the thread only ticks, where timers of up to `timer` seconds are waited for."""
        hides_none = self.steady * self.milliseconds >= timer * 1000
        return self.count >= IDLE_TIMERS or (self.steady >= STEADY_TIMERS and hides_none)


class Rest:
    """Waits for programs to come to rest.

    `programs` and `painter` tell what the threads of the programs, and of the X server, do now;
    `screen` is what these have painted; `most` bounds the wait in seconds, whatever the load.
    """

    def __init__(
        self,
        programs: Callable[[], Threads],
        painter: Callable[[], Threads],
        screen: Image,
        most: float,
    ) -> None:
        self._programs, self._painter = programs, painter
        self._screen = screen
        self._began = self._now = time.monotonic()
        self._most = most
        self._waited: int | None = None
        self._starved = 0.0
        self._picture: Image | None = None
        self._pictures = 0
        self._threads: dict[str, Thread] = {}
        self._slept: dict[str, float] = {}
        self._ticks: dict[str, _Ticks] = {}
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
            due = self.due(timer)
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
        threads = {**programs, **{f"X{name}": thread for name, thread in painter.items()}}
        waited = sum(thread[2] for thread in threads.values())
        if self._waited is not None:
            self._starved += max(waited - self._waited, 0) / 1000
        self._waited = waited
        moved = [
            name
            for name, thread in threads.items()
            if name not in self._threads or self._threads[name][1] != thread[1]
        ]
        self._slept |= dict.fromkeys(moved, self._now)
        short = [name for name in moved if 0 <= threads[name][3] <= HOVER_TIMER * 1000]
        if short:
            self._note_picture()
        for name in short:
            self._note_tick(name, threads[name][3])
        ended = len(threads) != len(self._threads)
        self._threads = threads
        return bool(moved) or ended

    def due(self, timer: float) -> float:
        """When the last of the short timers is over, in monotonic seconds; 0 without one."""
        idle = {name for name, ticks in self._ticks.items() if ticks.is_idle(timer)}
        dues = [
            self._slept[name] + thread[3] / 1000 + 0.001
            for name, thread in self._threads.items()
            if 0 <= thread[3] <= timer * 1000 and name not in idle
        ]
        return max(dues, default=0.0)

    def _note_picture(self) -> None:
        """Count the pictures that differ from the one before."""
        if self._picture is None or not np.array_equal(self._picture, self._screen):
            self._picture = self._screen.copy()
            self._pictures += 1

    def _note_tick(self, name: str, milliseconds: int) -> None:
        """Count a short timer of a thread."""
        ticks = self._ticks.get(name)
        if ticks is None or ticks.picture != self._pictures:
            ticks = _Ticks(self._pictures)
        alike = abs(milliseconds - ticks.milliseconds) <= 1
        steady = ticks.steady + 1 if alike else 1
        self._ticks[name] = _Ticks(self._pictures, ticks.count + 1, steady, milliseconds)
