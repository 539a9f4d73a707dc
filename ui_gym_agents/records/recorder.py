"""The recorder: a thread that takes the files of a run into the database as they grow."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import update
from sqlalchemy.exc import SQLAlchemyError

from ui_gym_agents.records import ingest
from ui_gym_agents.records.database import open_database, own_words
from ui_gym_agents.records.models import TABLES
from ui_gym_agents.records.target import DatabaseTarget
from ui_gym_agents.training import event_log
from ui_gym_agents.training.listeners import RunListener, Status
from ui_gym_agents.training.run_lines import FileLine

LINGER = 0.5
"""Seconds between two looks at the files: one transaction costs about as much as twenty rows."""
RETRY = 3.0
"""Seconds between two attempts to reach a database that is away."""
HEARTBEAT = 10.0
"""Seconds between two signs of life in the database."""
JUMP = 5.0
"""Seconds by which the machine's clock must be set for a sign of life at once: all others would
read of the last one as of a run that was lost."""
CLOSE_SECONDS = 60.0
LEAST = 64 << 10
"""Bytes without which a disk counts as full."""


class RunRecorder(RunListener):
    """Keeps a database up with the run in `directory`, which never waits for it.

    The run writes its files whether or not the database is there; what the recorder has not taken
    in when it ends, `ui-gym-records flush` or the run's next process does.
    """

    def __init__(
        self,
        target: DatabaseTarget,
        directory: Path,
        note: Callable[[str], None],
        *,
        retry: float = RETRY,
    ) -> None:
        """`note` gets a line when the database goes away and when it is back, from the thread.

        Raises:
            UserError: the database cannot be reached, or its schema does not fit.
        """
        self.seconds = 0.0
        """Processor time that the thread has used."""
        self._engine = open_database(target)
        self._target = target
        self._directory = directory
        self._note = note
        self._retry = retry
        self._away = False
        self._refused = False
        self._next_try = 0.0
        self._beat = time.monotonic() + HEARTBEAT
        self._ahead = _ahead()
        self._taken: dict[str, int] = {}
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="records", daemon=True)
        self._thread.start()

    @property
    def behind(self) -> bool:
        """Whether the files hold what the database does not."""
        return self._taken != self._sizes()

    def ended(self, status: Status, step: int, error: str = "") -> None:
        """Take in all that is there, or say who can, and let go of the database."""
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            self._note("warning: the records are still being written; ui-gym-records flush ends it")
            return
        self._engine.dispose()
        if self._away and self.behind:
            self._note(
                "the records database is away; the end of the records wait on disk. When it is "
                f"back: ui-gym-records flush {self._directory}"
            )

    # -- the thread --

    def _run(self) -> None:
        while not self._closing.wait(LINGER):
            if time.monotonic() >= self._next_try:
                self._catch_up()
            self.seconds = time.thread_time()
        self._catch_up()

    def _catch_up(self) -> None:
        sizes = self._sizes()
        jumped = abs(_ahead() - self._ahead) > JUMP
        beat = jumped or time.monotonic() >= self._beat
        try:
            if sizes != self._taken and event_log.identity(self._directory):
                ingest.ingest(self._engine, self._directory, self._refuse)
                self._taken = sizes
            if beat:
                self._beat, self._ahead = time.monotonic() + HEARTBEAT, _ahead()
                self._sign_of_life()
        except (SQLAlchemyError, OSError) as error:
            self._next_try = time.monotonic() + self._retry
            if not self._away:
                self._away = True
                self._say_away(error)
        except Exception as error:  # The run goes on, and its files hold everything.
            self._next_try = time.monotonic() + self._retry
            self._refuse(None, error)
        else:
            if self._away and not self.behind:
                self._away = False
                self._note(f"the records database {self._target} is back: all is written")

    def _sizes(self) -> dict[str, int]:
        names = (event_log.FILE, *event_log.files(self._directory))
        paths = {name: self._directory / name for name in names}
        return {name: path.stat().st_size for name, path in paths.items() if path.exists()}

    def _sign_of_life(self) -> None:
        table = TABLES["training"]
        mine = (table.c.id == event_log.identity(self._directory)) & (table.c.status == "running")
        with self._engine.begin() as connection:
            connection.execute(update(table).where(mine).values(heartbeat_at=datetime.now(UTC)))

    def _say_away(self, error: Exception) -> None:
        self._note(
            f"warning: the records database {self._target} is away "
            f"({self._target.redact(own_words(error))}{self._full()}); the run goes on, and what "
            f"is to be recorded waits in {self._directory}"
        )

    def _full(self) -> str:
        """What SQLite does not say: a full disk is often an error of input and output to it."""
        path = self._target.url.database
        if not self._target.is_sqlite or not path:
            return ""
        with suppress(OSError):
            if shutil.disk_usage(Path(path).parent).free < LEAST:
                return f": there is no room on the disk of {path}"
        return ""

    def _refuse(self, line: FileLine | None, error: BaseException) -> None:
        if self._refused:
            return
        self._refused = True
        cause = own_words(error)
        where = f"; {self._directory / ingest.REFUSED} says what" if line is not None else ""
        self._note(
            "warning: something could not be recorded: "
            f"{type(cause).__name__}: {self._target.redact(cause)}{where}"
        )


def _ahead() -> float:
    """By how many seconds the machine's clock is ahead of the one that nobody sets."""
    return time.time() - time.monotonic()
