"""The thread that computes: training requests in their order, and samples in batches."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

log = logging.getLogger(__name__)

LINGER = 0.1
"""A batch of samples waits for one request more as long as this part of what the last one took:
rows that come too late for it wait for all of it, and it for them only so long."""

LINGER_SECONDS = (0.002, 0.05)
"""How short and how long that is at least and at most."""

LONGEST_LINGER = 0.25
"""Seconds that a batch waits at most, while requests keep coming."""

LOOK_SECONDS = 1.0
"""How often it looks after what has expired, when there is nothing to do."""


class SampleJob(Protocol):
    """Samples that are asked for."""

    @property
    def weights(self) -> object:
        """Samples of equal weights are computed together."""

    def fail(self, error: BaseException) -> None:
        """Tell whoever asked that it failed."""


J = TypeVar("J", bound=SampleJob)


class ComputeThread(Generic[J]):
    """Runs jobs one after another in a thread of its own.

    Args:
        sample: Computes samples of the same weights; may raise, and is then asked for each alone.
        look: Is called about every `LOOK_SECONDS`, between jobs.
    """

    def __init__(
        self,
        sample: Callable[[Sequence[J]], None],
        look: Callable[[], None],
    ) -> None:
        self._sample = sample
        self._look = look
        self._jobs: deque[Callable[[], None]] = deque()
        self._samples: list[J] = []
        self._changed = threading.Condition()
        self._arriving = 0
        self._sizes: deque[int] = deque(maxlen=8)
        """How many samples the last batches had."""
        self._took = 0.0
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="tinker-compute", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Callable[[], None]) -> None:
        """Run a job after those before it. It tells of its own failures."""
        with self._changed:
            self._jobs.append(job)
            self._changed.notify_all()

    def submit_sample(self, job: J) -> None:
        with self._changed:
            self._samples.append(job)
            self._changed.notify_all()

    @contextmanager
    def arriving(self) -> Iterator[None]:
        """A request for a sample is being read: a batch waits a little for it."""
        with self._changed:
            self._arriving += 1
        try:
            yield
        finally:
            with self._changed:
                self._arriving -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Finish the job at hand, and end. May be repeated."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        looked = time.monotonic()
        while True:
            with self._changed:
                if not (self._jobs or self._samples or self._ending):
                    self._changed.wait(LOOK_SECONDS)
                if self._ending:
                    return
                job = self._jobs.popleft() if self._jobs else None
            if job is not None:
                self._guarded(job)
            # Training and sampling take turns, so that neither waits for ever.
            batch = self._gathered()
            if batch:
                began = time.monotonic()
                self._sampled(batch)
                self._took = time.monotonic() - began
            if time.monotonic() - looked > LOOK_SECONDS:
                looked = time.monotonic()
                self._guarded(self._look)

    @staticmethod
    def _guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except Exception:  # it tells of its own failures; whatever else happens, the rest goes on
            log.exception("a job failed and did not tell")

    def _gathered(self) -> list[J]:
        """The samples to compute now: all that wait for the weights of the first."""
        with self._changed:
            if not self._samples:
                return []
            self._await_more()
            weights = self._samples[0].weights
            batch = [job for job in self._samples if job.weights == weights]
            self._samples = [job for job in self._samples if job.weights != weights]
            self._sizes.append(len(batch))
            return batch

    def _await_more(self) -> None:
        """Wait for as many samples as lately came together, while they keep coming."""
        expected = max(self._sizes, default=2)
        linger = min(max(LINGER * self._took, LINGER_SECONDS[0]), LINGER_SECONDS[1])
        now = time.monotonic()
        end, quiet, count = now + LONGEST_LINGER, now + linger, len(self._samples)
        while not self._ending and (self._arriving or count < expected):
            self._changed.wait(min(end, quiet) - now)
            now = time.monotonic()
            if len(self._samples) > count or self._arriving:
                quiet, count = now + linger, len(self._samples)
            if now >= min(end, quiet):
                return

    def _sampled(self, batch: Sequence[J]) -> None:
        try:
            self._sample(batch)
        except Exception as error:
            if len(batch) == 1:
                batch[0].fail(error)
                return
            log.warning("a batch of %d samples failed (%s): each is tried alone", len(batch), error)
            for job in batch:
                self._sampled([job])
