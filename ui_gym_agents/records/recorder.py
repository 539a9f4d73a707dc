"""The recorder: a run listener that writes a training into the database as it goes."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ui_gym.errors import UserError
from ui_gym_agents.records import spool
from ui_gym_agents.records.changes import Change
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.rows import Rows
from ui_gym_agents.records.spool import Spool
from ui_gym_agents.records.target import Target
from ui_gym_agents.records.writer import Writer
from ui_gym_agents.training.listeners import Place, RunInfo, RunListener, Status

if TYPE_CHECKING:
    from ui_gym_agents.episode import Episode
    from ui_gym_agents.training.context import Report

IDENTITY = "records.json"
"""Who a run is in the database, in the run's directory."""


class Recorder(RunListener):
    """Writes a training. All that a call does in the run's thread is to queue it."""

    def __init__(self, writer: Writer, rows: Rows, note: Callable[[str], None]) -> None:
        self.writer = writer
        self._rows = rows
        self._note = note

    @classmethod
    def open(
        cls, target: Target, directory: Path, note: Callable[[str], None], **options: Any
    ) -> Self:
        """A recorder of the run in `directory`; `options` are the `Writer`'s.

        What an earlier process of this run left in the spool is written first.

        Raises:
            UserError: the database cannot be reached, or its schema does not fit.
        """
        engine = open_database(target)
        rows = Rows(identity(directory, target))
        waiting = Spool(directory / spool.FILE)
        writer = Writer(
            engine, target, waiting, note, heartbeat=lambda: rows.heartbeat(now()), **options
        )
        return cls(writer, rows, note)

    def begun(self, run: RunInfo) -> None:
        self._queue(self._rows.begun, run)

    def step_begun(self, step: int, steps: int) -> None:
        self._queue(self._rows.step_begun, step, steps)

    def episode(self, episode: Episode, place: Place) -> None:
        self._queue(self._rows.episode, episode, place)

    def step_finished(self, step: int, metrics: Mapping[str, float], elapsed: float) -> None:
        self._queue(self._rows.step_finished, step, dict(metrics), elapsed)

    def evaluation_begun(self, place: Place, episodes: int) -> None:
        self._queue(self._rows.evaluation_begun, place, episodes)

    def evaluation_finished(self, place: Place, report: Report, elapsed: float) -> None:
        self._queue(self._rows.evaluation_finished, place, report, elapsed)

    def saving(self, step: int) -> None:
        self.writer.sync()

    def checkpoint(self, step: int, path: Path) -> None:
        self._queue(self._rows.checkpoint, step, path)

    def ended(self, status: Status, step: int, error: str = "") -> None:
        """Write all that waits, or leave it in the spool, and let go of the database."""
        try:
            self._queue(self._rows.ended, status, step, error)
        finally:
            left = self.writer.close()
        if left:
            self._note(
                f"the records database is away; {left} records wait on disk. When it is back: "
                "ui-gym-records flush"
            )

    def _queue(self, make: Callable[..., Change], *arguments: Any) -> None:
        at = now()
        self.writer.submit(lambda: make(at, *arguments))


def identity(directory: Path, target: Target | None = None) -> str:
    """The training's id in any database: from the run's directory, where it is kept.

    Raises:
        UserError: the file that holds it is damaged.
    """
    path = directory / IDENTITY
    if path.exists():
        try:
            return str(json.loads(path.read_text())["training"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{path} is damaged ({error}); delete it, and the run becomes a new training "
                "in the database"
            ) from None
    found = uuid.uuid4().hex
    part = path.with_suffix(".tmp")
    database = None if target is None else str(target)
    part.write_text(json.dumps({"training": found, "database": database}) + "\n")
    os.replace(part, path)
    return found


def now() -> str:
    """This moment, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat()
