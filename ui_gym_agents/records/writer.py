"""The writer: a thread that brings changes to the database, or to the spool while it is away.

Order is kept: while the spool holds anything, everything goes through it. Every wait on the
database ends (`database.engine`), so the queue is emptied in any case, and whoever fills it never
waits for a database.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence

from sqlalchemy import Engine
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from ui_gym_agents.records import changes, spool
from ui_gym_agents.records.changes import Change
from ui_gym_agents.records.spool import Spool
from ui_gym_agents.records.target import Target

QUEUE = 4096
BATCH = 256
"""Most changes in one transaction."""
LINGER = 0.5
"""Seconds that a batch waits for more: one transaction costs about as much as twenty rows."""
RETRY = 3.0
"""Seconds between two attempts to reach a database that is away."""
CLOSE_SECONDS = 60.0

Make = Callable[[], Change]
"""Makes a change in the writer's thread, so that the run need not wait for that either."""


class Writer:
    """Applies changes in the order of `submit`. `close` waits until all are written or spooled."""

    def __init__(
        self,
        engine: Engine,
        target: Target,
        waiting: Spool,
        note: Callable[[str], None],
        *,
        heartbeat: Make | None = None,
        heartbeat_every: float = 10.0,
        retry: float = RETRY,
    ) -> None:
        """`note` gets a line when the database goes away and when it is back, from the thread."""
        self.seconds = 0.0
        """Processor time that the thread has used."""
        self._engine = engine
        self._target = target
        self._spool = waiting
        self._note = note
        self._heartbeat = heartbeat
        self._heartbeat_every = heartbeat_every
        self._retry = retry
        self._queue: queue.Queue[Make | threading.Event] = queue.Queue(QUEUE)
        self._closing = threading.Event()
        self._away = False
        self._refused = 0
        self._next_try = 0.0
        self._thread = threading.Thread(target=self._run, name="records", daemon=True)
        self._thread.start()

    def sync(self, seconds: float = 30.0) -> bool:
        """Wait until all that was submitted is written or spooled; False where that takes longer.

        Raises:
            RuntimeError: the writer is closed, or its thread has died.
        """
        done = threading.Event()
        self.submit(done)
        return done.wait(seconds)

    def submit(self, make: Make | threading.Event) -> None:
        """Have a change written. Waits only where the queue is full.

        Raises:
            RuntimeError: the writer is closed, or its thread has died.
        """
        while self._thread.is_alive() and not self._closing.is_set():
            try:
                self._queue.put(make, timeout=1.0)
                return
            except queue.Full:
                continue
        raise RuntimeError("the writer of records is closed")

    def close(self) -> int:
        """Write what is waiting; returns how many changes remain in the spool."""
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            self._note("warning: the records are still being written; the end of them may be lost")
            return 0
        self._engine.dispose()
        return self._spool.count()

    # -- the thread --

    def _run(self) -> None:
        beat = time.monotonic() + self._heartbeat_every
        while not (self._closing.is_set() and self._queue.empty()):
            taken = self._take()
            batch = [make for make in taken if not isinstance(make, threading.Event)]
            if self._heartbeat and time.monotonic() >= beat:
                beat = time.monotonic() + self._heartbeat_every
                if not self._spool.pending:
                    batch.append(self._heartbeat)
            self._write(self._made(batch))
            for done in taken:
                if isinstance(done, threading.Event):
                    done.set()
            self.seconds = time.thread_time()
        if self._spool.pending:
            self._next_try = 0.0
            self._catch_up()

    def _take(self) -> list[Make | threading.Event]:
        """What arrives within a moment, at most a batch; less if somebody waits in `sync`."""
        deadline = time.monotonic() + LINGER
        batch: list[Make | threading.Event] = []
        while len(batch) < BATCH:
            rest = deadline - time.monotonic()
            if rest <= 0:
                break
            try:
                batch.append(self._queue.get(timeout=0.01 if self._closing.is_set() else rest))
                if isinstance(batch[-1], threading.Event):
                    break
            except queue.Empty:
                if self._closing.is_set():
                    break
        return batch

    def _made(self, batch: Sequence[Make]) -> list[Change]:
        made = []
        for make in batch:
            try:
                made.append(make())
            except Exception as error:
                self._refuse([], error)
        return made

    def _write(self, batch: list[Change]) -> None:
        if batch and (self._spool.pending or not self._applied(batch)):
            self._put_aside(batch)
        if self._spool.pending:
            self._catch_up()

    def _put_aside(self, batch: list[Change]) -> None:
        try:
            self._spool.append(batch)
        except OSError as error:
            self._refuse([], error)

    def _catch_up(self) -> None:
        """Bring the spool to the database, if it is time to try."""
        if time.monotonic() < self._next_try:
            return
        while self._spool.pending:
            try:
                batch, offset = self._spool.read(BATCH)
            except (OSError, ValueError, TypeError) as error:
                self._refuse([], error)
                return
            if not self._applied(batch):
                return
            self._spool.advance(offset)
        if self._away:
            self._away = False
            self._note(f"the records database {self._target} is back: all is written")

    def _applied(self, batch: Sequence[Change]) -> bool:
        """Apply in one transaction; False where the database is away.

        What it refuses for its content is put aside, so that it does not hold up the rest.
        """
        try:
            with self._engine.begin() as connection:
                changes.apply(connection, batch)
            return True
        except (DataError, IntegrityError) as error:
            trouble: Exception = error
        except (SQLAlchemyError, OSError) as error:
            self._next_try = time.monotonic() + self._retry
            if not self._away:
                self._away = True
                self._say_away(error)
            return False
        except Exception as error:  # a value that no column can hold
            trouble = error
        if len(batch) == 1 and len(batch[0]) == 1:
            self._refuse(batch, trouble)
            return True
        # One by one, and at last by single operations: a task that came with a rollout that is
        # refused must still be there for the next one.
        smaller = batch if len(batch) > 1 else [[operation] for operation in batch[0]]
        return all(self._applied([change]) for change in smaller)

    def _say_away(self, error: Exception) -> None:
        cause = error.orig if isinstance(error, DBAPIError) else error
        self._note(
            f"warning: the records database {self._target} is away "
            f"({self._target.redact(cause)}); the run goes on, and what is to be recorded waits in "
            f"{self._spool.path}"
        )

    def _refuse(self, batch: Sequence[Change], error: Exception) -> None:
        path = self._spool.path.with_name(spool.REFUSED)
        if batch:
            try:
                spool.append_lines(path, batch)
            except OSError:
                pass
        self._refused += 1
        if self._refused == 1:
            cause = error.orig if isinstance(error, DBAPIError) else error
            kept = f"; it is kept in {path}" if batch else ""
            self._note(
                "warning: something could not be recorded: "
                f"{type(cause).__name__}: {self._target.redact(cause)}{kept}"
            )
