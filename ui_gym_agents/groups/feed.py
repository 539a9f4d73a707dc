"""Where a trainer's batches come from: played when asked for, or ahead of time by a thread.

Ahead of time, the episodes of step n begin once step n - 1 - `ahead` is learned, with a copy of the
policy that takes over the newest weights whenever a batch begins. So no turn is ever sampled by
weights that are older than `ahead` steps, and learning and playing overlap.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from ui_gym.errors import UIGymError

Batch = TypeVar("Batch")
Closed = Callable[[], bool]

WAIT_SLICE = 0.2
"""Seconds of a single wait: a stop is seen at the latest then."""


class Feed(Generic[Batch]):
    """Batches by step, made by a thread up to `ahead` steps before they are learned from.

    Args:
        make: Plays the batch of a step; called in the thread, one step after the other, with a
            function that says whether no further batch is wanted, so that a long one may end early.
        ahead: How many learned steps the weights may be behind.
        first: The step of the first batch.
        last: The step after which none is made.
        stopping: Whether somebody asked the run to stop.
    """

    def __init__(
        self,
        make: Callable[[int, Closed], Batch],
        *,
        ahead: int,
        first: int,
        last: int,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._make = make
        self._ahead = ahead
        self._last = last
        self._stopping = stopping
        self._learned = first - 1
        self._changed = threading.Condition()
        self._closed = False
        self._made: queue.SimpleQueue[tuple[int, Batch] | BaseException] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=self._run, args=(first,), name="ui-gym-feed", daemon=True
        )
        self._thread.start()

    def get(self, step: int) -> Batch:
        """The batch of `step`; steps are asked for one after the other.

        Raises:
            UIGymError: the thread is gone.
            BaseException: whatever playing raised.
        """
        while True:
            ended = not self._thread.is_alive()  # asked first: its last batch is there by then
            try:
                found = self._made.get(timeout=WAIT_SLICE)
            except queue.Empty:
                if not ended:
                    continue
                raise UIGymError(f"there is no batch for step {step}: the feed has ended") from None
            if isinstance(found, BaseException):
                raise found
            made, batch = found
            if made == step:
                return batch

    def learned(self, step: int) -> None:
        """Step `step` is learned: batches that waited for it may begin."""
        with self._changed:
            self._learned = step
            self._changed.notify_all()

    def close(self, timeout: float = 30.0) -> None:
        """Begin no further batch, and wait a while for the one in progress."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout)

    def _is_closed(self) -> bool:
        return self._closed or self._stopping()

    def _run(self, first: int) -> None:
        try:
            for step in range(first, self._last + 1):
                if not self._may_begin(step):
                    return
                self._made.put((step, self._make(step, self._is_closed)))
        except BaseException as error:
            self._made.put(error)

    def _may_begin(self, step: int) -> bool:
        """Wait until the batch of `step` may begin; False if the feed is closed."""
        with self._changed:
            while not self._is_closed() and self._learned < step - 1 - self._ahead:
                self._changed.wait(WAIT_SLICE)
            return not self._is_closed()
