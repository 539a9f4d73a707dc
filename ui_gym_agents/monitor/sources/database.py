"""Runs in the records database whose folders are not shown: those of other machines, say.

The database is only read. While it cannot be reached, what was read before stays, and the run says
what the trouble is. Pictures are no part of records: they are shown where the run's folder can be
reached under the name that it had for the run.

Importing this imports SQLAlchemy, so nothing does but for a database that somebody named.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Row, func, select

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import Picture, Source, episode_id, picture_of, source_id
from ui_gym_agents.records import database, queries
from ui_gym_agents.records.models import (
    BaselineRow,
    EvaluationRow,
    RolloutRow,
    StepRow,
    TrainingRow,
)
from ui_gym_agents.records.target import DatabaseTarget, from_environment
from ui_gym_agents.store import RunPictures
from ui_gym_agents.training import event_log

LOOK = 2.0
"""Seconds between two looks at a run, at least."""
REST = 20.0
"""A look is not repeated before so many times its own length has passed."""
SHELF_SECONDS = 10.0
"""Seconds between two looks for other runs."""
PATIENCE = 1.0
"""Seconds that one look takes in episodes; what is left waits for the next look."""
BATCH = 100
LATE = timedelta(hours=1)
"""An episode that ended so long before the newest one may still come later than it."""

_MARK = "rollout"


class HasSources(Protocol):
    """Whatever tells which sources there are elsewhere."""

    def sources(self) -> Iterable[Source]: ...


def database_runs(target: DatabaseTarget, known: Collection[str] = ()) -> list[DatabaseRun]:
    """The runs of a database but those with the ids `known`, the newest first.

    Raises:
        UserError: it cannot be reached, or is of another version.
    """
    with _connected(target) as connection:
        if connection is None:
            return []
        query = select(TrainingRow.id, TrainingRow.name).order_by(TrainingRow.created_at.desc())
        rows = [row for row in connection.execute(query) if row.id not in known]
    return [DatabaseRun(target, row.id, row.name) for row in rows]


class DatabaseShelf:
    """The runs of the database that the environment names, but those that lie in `others`.

    Raises:
        UserError: what the environment names is no database.
    """

    def __init__(self, others: Sequence[HasSources] = (), target: DatabaseTarget | None = None):
        found = target or from_environment()
        if found is None:
            raise UserError("the environment names no database: set UI_GYM_DATABASE_URL")
        self._target, self._others = found, others
        self.place = str(found)
        self._found: list[Source] = []
        self._next = 0.0

    def sources(self) -> Iterable[Source]:
        """What there is now; during an outage, what there was."""
        if time.monotonic() >= self._next:
            try:
                self._found = list(database_runs(self._target, self._known()))
            except UserError:
                # Nothing is known of it yet: it is shown itself, with what is wrong.
                self._found = self._found or [UnreadDatabase(self._target)]
            self._next = time.monotonic() + SHELF_SECONDS
        return self._found

    def _known(self) -> set[str]:
        """The ids of the runs whose folders are shown."""
        found = set()
        for source in (source for shelf in self._others for source in shelf.sources()):
            if source.kind == "run" and source.folder is not None:
                try:
                    found.add(event_log.identity(source.folder) or "")
                except (OSError, UserError):
                    continue
        return found


class UnreadDatabase:
    """A database of which nothing could be read yet: it has no episodes, but a trouble."""

    kind = "database"

    def __init__(self, target: DatabaseTarget) -> None:
        self._target = target
        self.folder: Path | None = None
        self.place = str(target)
        self.id = source_id(self.place)
        self._next = 0.0
        self._trouble: UserError | None = None

    def refresh(self, index: MonitorIndex) -> bool:
        if time.monotonic() >= self._next:
            self._trouble = None
            try:
                with _connected(self._target):
                    pass
            except UserError as error:
                self._trouble = error
            self._next = time.monotonic() + SHELF_SECONDS
        if self._trouble is not None:
            raise self._trouble
        return False

    def episode(self, where: str) -> Episode:
        raise UserError(f"{self.place} has no such episode")

    def picture(self, key: str) -> Picture | None:
        return None


class DatabaseRun:
    """One run of a database, by its id there."""

    kind = "database"

    def __init__(self, target: DatabaseTarget, training: str, name: str = "") -> None:
        self._target, self._training = target, training
        self.folder: Path | None = None
        self.place = f"{target} {name}".strip()
        self.id = source_id(f"{target} {training}")
        self._next = 0.0
        self._trouble: UserError | None = None
        self._seen: tuple[Any, ...] | None = None
        self._more = False
        """Whether the last look left episodes for the next one."""
        self._pictures: RunPictures | None = None

    def refresh(self, index: MonitorIndex) -> bool:
        begun = time.monotonic()
        if begun < self._next:
            if self._trouble is not None:
                raise self._trouble
            return False
        self._trouble, self._more = None, False
        try:
            with _connected(self._target) as connection:
                return self._read(index, connection)
        except UserError as error:
            self._trouble = error
            raise
        finally:
            took = time.monotonic() - begun
            self._next = time.monotonic() + (0.0 if self._more else max(LOOK, REST * took))

    def episode(self, where: str) -> Episode:
        with _connected(self._target) as connection:
            found = {} if connection is None else queries.rollouts(connection, [where])
        if where not in found:
            raise UserError(f"the database has no episode {where} any more")
        return found[where]

    def picture(self, key: str) -> Picture | None:
        if self._pictures is None:
            with _connected(self._target) as connection:
                row = None if connection is None else _training(connection, self._training)
            if row is None:
                return None
            self._pictures = RunPictures(Path(row.directory))
        return picture_of(self._pictures.encoded(key))

    # -- taking in --

    def _read(self, index: MonitorIndex, connection: Connection | None) -> bool:
        row = None if connection is None else _training(connection, self._training)
        if connection is None or row is None:
            raise FileNotFoundError(f"{self.place} is not in the database any more")
        known = index.facts(self.id).get("process_began", _iso(row.started_at))
        if known != _iso(row.started_at):
            index.forget(self.id)  # resumed: some of what is known may have been played anew
        count = _count(connection, self._training)
        seen = (row.heartbeat_at, row.status, row.step, row.phase, count)
        more = self._read_rollouts(index, connection, count)
        if seen == self._seen and not more:
            return False
        with index.writing():
            index.put_run(self.id, **self._facts(row))
            self._read_steps(index, connection, row)
            self._read_measurements(index, connection)
            index.put_moment(self.id, _iso(row.created_at), "begun", 0)
            if row.finished_at is not None:
                index.put_moment(self.id, _iso(row.finished_at), "ended", row.step, row.status)
        self._seen = seen
        return True

    def _facts(self, row: Row[Any]) -> dict[str, Any]:
        return {
            "source": self.kind, "place": self.place, "name": row.name, "plugin": row.plugin,
            "begun": _iso(row.created_at), "changed": _iso(row.heartbeat_at), "config": row.config,
            "training": row.id, "steps": row.steps, "step": row.step, "status": row.status,
            "error": row.error, "phase": row.phase, "elapsed": row.seconds,
            "process_began": _iso(row.started_at),
            "facts": {"host": row.host, "process": row.process, "folder": row.directory},
        }  # fmt: skip

    def _read_steps(self, index: MonitorIndex, connection: Connection, row: Row[Any]) -> None:
        """The finished steps that are new; the last one that is known once more."""
        known = index.row("select max(step) as step from step where run = ?", (self.id,))
        last = (known["step"] if known is not None else None) or 0
        table = StepRow.__table__
        query = select(table).where(
            StepRow.training_id == self._training, StepRow.number >= last,
            StepRow.metrics.is_not(None),
        )  # fmt: skip
        for step in connection.execute(query.order_by(StepRow.number)):
            at = step.finished_at or step.created_at
            elapsed = (at - row.created_at).total_seconds()
            index.put_step(self.id, step.number, _iso(at), step.metrics, elapsed)
            if step.learned:
                index.put_learned(self.id, step.number, step.learned)
            if step.checkpoint:
                index.put_moment(self.id, _iso(at), "checkpoint", step.number, step.checkpoint)
                index.execute(
                    "update step set checkpoint = ? where run = ? and step = ?",
                    (step.checkpoint, self.id, step.number),
                )

    def _read_measurements(self, index: MonitorIndex, connection: Connection) -> None:
        for table in (BaselineRow, EvaluationRow):
            query = select(table.__table__).where(table.training_id == self._training)
            for row in connection.execute(query):
                before = table is BaselineRow
                kind, step = ("baseline", 0) if before else (row.kind, row.step)
                at = _iso(row.finished_at or row.created_at)
                found = {name: row._mapping[name] for name in ("n", "success", "low", "high")}
                index.put_measurement(
                    self.id, kind, step, row.mode, at, planned=row.planned or None, **found
                )
                if row.n:
                    told = f"{kind}, {row.mode}: {100 * row.success:.1f} %"
                    index.put_moment(self.id, at, "evaluation", step, told)

    def _read_rollouts(self, index: MonitorIndex, connection: Connection, count: int) -> bool:
        """Take in the episodes that are new, as far as there is patience; whether any were."""
        places = index.rows("select place from episode where run = ?", (self.id,))
        known = {row["place"] for row in places}
        if len(known) == count:
            return False
        mark = index.marks(self.id).get(_MARK, 0)
        new = [] if len(known) > count else self._new(connection, known, mark)
        if len(known) + len(new) != count:  # some came late, or are gone
            there = dict(self._new(connection, set(), 0))
            if not known <= there.keys():
                index.forget(self.id)
                known = set()
            new = [(id, at) for id, at in there.items() if id not in known]
        until = time.monotonic() + PATIENCE
        rest = iter(new)
        while not self._more and (batch := dict(islice(rest, BATCH))):
            with index.writing():
                found = queries.rollouts(connection, list(batch))
                for id in filter(found.__contains__, batch):
                    index.add(self.id, episode_id(id), found[id], id)
                index.mark(self.id, _MARK, int(max(batch.values()).timestamp()))
            self._more = time.monotonic() > until
        return bool(new)

    def _new(
        self, connection: Connection, known: Collection[str], mark: int
    ) -> list[tuple[str, datetime]]:
        """The episodes that are not `known`, with when they ended, the first ones first."""
        since = datetime.fromtimestamp(mark, UTC) - LATE if mark else None
        query = select(RolloutRow.id, RolloutRow.finished_at).where(
            queries.of_training(self._training)
        )
        if since is not None:
            query = query.where(RolloutRow.finished_at >= since)
        rows = connection.execute(query.order_by(RolloutRow.finished_at, RolloutRow.id))
        return [(row.id, row.finished_at) for row in rows if row.id not in known]


@contextmanager
def _connected(target: DatabaseTarget) -> Iterator[Connection | None]:
    """A connection to read by; None where there are no records yet.

    Raises:
        UserError: it cannot be reached, or its tables are of another version.
    """
    if target.is_sqlite and not Path(str(target.url.database)).exists():
        yield None  # to connect would make the file
        return
    with database.reachable(target):
        engine = database.engine(target)
        try:
            with engine.connect() as connection:
                found = database.revision(connection)
                if found not in (None, database.HEAD):
                    raise UserError(
                        f"the database {target} has revision {found} of the records, and this "
                        f"ui-gym reads {database.HEAD}; to upgrade it: ui-gym-records upgrade"
                    )
                yield connection if found else None
        finally:
            engine.dispose()


def _training(connection: Connection, training: str) -> Row[Any] | None:
    return connection.execute(
        select(TrainingRow.__table__).where(TrainingRow.id == training)
    ).first()


def _count(connection: Connection, training: str) -> int:
    query = select(func.count()).where(queries.of_training(training))
    return int(connection.execute(query).scalar() or 0)


def _iso(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat()
