"""Live: what changed, to every page that watches, as server-sent events.

A change says which run and little more; the page asks for what it shows. Ids are milliseconds, so
that a page that comes back after the server was restarted is told to load anew what it missed
(WHATWG HTML, section 9.2: ``Last-Event-ID``).
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any

KEEPALIVE = 15.0
"""Seconds after which a silent stream says that it lives."""
GATHER = 0.05
"""Seconds in which changes become one message."""
MOST = 1000
"""Runs whose last change is remembered."""
EVERYTHING = "*"


class Changes:
    """The last change of each run. Any thread tells of changes; streams wait for them."""

    def __init__(self) -> None:
        self.began = self._last = int(time.time() * 1000)
        self._changes: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._closed = False

    def tell(self, run: str) -> None:
        """A run changed; ``*``: which runs there are."""
        with self._lock:
            self._last = max(self._last + 1, int(time.time() * 1000))
            self._changes[run] = self._last
            self._changes.move_to_end(run)
            while len(self._changes) > MOST:
                _, self.began = self._changes.popitem(last=False)
            self._wake()

    def close(self) -> None:
        """End all streams."""
        with self._lock:
            self._closed = True
            self._wake()

    def since(self, last: int) -> list[tuple[int, str]]:
        """What changed after `last`, the oldest first; everything where that is not known."""
        with self._lock:
            if not self.began <= last <= self._last:  # the clock may have gone back
                return [(self._last, EVERYTHING)]
            return [(when, run) for run, when in self._changes.items() if when > last]

    async def stream(self, last: int | None, describe: Any) -> AsyncIterator[str]:
        """The events behind `last` (None: from now on); `describe(run)` is what each says."""
        woken = asyncio.Event()
        with self._lock:
            self._waiting[woken] = asyncio.get_running_loop()
        last = self._last if last is None else last
        try:
            yield f"retry: 1000\nid: {last}\n\n"
            while not self._closed:
                woken.clear()
                for when, run in self.since(last):
                    last = when
                    told = await asyncio.to_thread(describe, run)
                    yield f"event: change\nid: {when}\ndata: {json.dumps(told)}\n\n"
                try:
                    await asyncio.wait_for(woken.wait(), KEEPALIVE)
                    await asyncio.sleep(GATHER)
                except TimeoutError:
                    yield ": \n\n"
        finally:
            with self._lock:
                self._waiting.pop(woken, None)

    def _wake(self) -> None:
        for woken, loop in self._waiting.items():
            loop.call_soon_threadsafe(woken.set)
