"""The index: what lists, counts and searches of the monitor need, in an SQLite file of its own.

It holds a line for each episode and where the source finds the whole of it, counts by task that are
kept up as lines come (so that no page counts a million rows), and a full-text index of what was
asked and said. It is made from the sources, and may be deleted: it is made anew.

The standard library's sqlite3 does this: the records' SQLAlchemy would take 18 MB more, and the
monitor runs beside trainings.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import LifoQueue
from typing import Any

from ui_gym_agents.episode import Episode
from ui_gym_agents.monitor.whats import WHATS, whats_of

VERSION = 3
"""Of the tables: a file of another version is made anew."""
READERS = 4
LOCKED_SECONDS = 10.0
"""How long another monitor is waited for, that writes to the same index."""
MOST_SAID = 4000
"""Characters of an episode's texts that can be searched."""

_TABLES = """
create table run (id text primary key, source text, place text, facts text not null);
create table mark (run text, file text, position integer, primary key (run, file)) without rowid;
create table step (
  run text, step integer, at text, elapsed real, metrics text, checkpoint text,
  primary key (run, step)
) without rowid;
create table moment (
  run text, at text, kind text, step integer, text text, primary key (run, at, kind, step)
) without rowid;
create table measurement (
  run text, kind text, step integer, mode text, at text, planned integer, n integer, success real,
  low real, high real, primary key (run, kind, step, mode)
) without rowid;
create table learned (
  run text, step integer, episode text, reward real, advantage real,
  primary key (run, step, episode)
) without rowid;
create table override (
  run text, id text, verdict text, primary key (run, id)
) without rowid;
create table episode (
  n integer primary key autoincrement, run text not null, id text not null,
  kind text, step integer, mode text, task text, suite text, seed integer, grp text,
  episode text, split text, score real, success integer, turns integer, seconds real,
  failure text, whats text, notes text, goal text,
  first text, last text, started text, blind_rate real, place text
);
create unique index episode_id on episode (run, id);
-- All that filters and orders ask for, the newest or oldest first: looked through as a whole, a
-- million take a tenth of a second, whatever is asked for.
create index episode_filter on episode (
  run, n, kind, step, mode, task, suite, seed, grp, success, whats, score, turns
);
create index episode_parent on episode (run, kind, step, mode, grp);
create index episode_task on episode (run, task, seed);
create index episode_seeds on episode (run, task, seed, kind, step, mode, success)
  where kind != 'step';
create index episode_score on episode (run, score);
create index episode_turns on episode (run, turns);
create index episode_fault on episode (run, failure) where failure is not null;
create index episode_notes on episode (run, notes, success, failure, task, kind, step, mode, suite)
  where notes != '';
create table tally (
  run text, kind text, step integer, mode text, task text, suite text, n integer,
  successes integer, faults integer, blind real, WHATS,
  primary key (run, kind, step, mode, task)
) without rowid;
create virtual table said using fts5(run, text, content='');
""".replace("WHATS", ", ".join(f"{what} integer" for what in WHATS))


class MonitorIndex:
    """The index in the file `path`; in memory where that cannot be written (`in_memory` says so).

    Any thread may read and write.
    """

    def __init__(self, path: Path | None) -> None:
        self.in_memory = path is None
        self._path = path
        self._lock = threading.RLock()
        self._owner: int | None = None
        """The thread that is writing."""
        self._writer = self._open(path)
        self._readers: LifoQueue[sqlite3.Connection] = LifoQueue()
        for _ in range(0 if self.in_memory else READERS):
            self._readers.put(_connect(str(self._path)))

    def _open(self, path: Path | None) -> sqlite3.Connection:
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                return _with_tables(_connect(str(path)))
            except sqlite3.OperationalError:
                pass  # it cannot be written, or is locked: somebody else's it may well be
            except sqlite3.DatabaseError:
                with suppress(OSError, sqlite3.DatabaseError):  # damaged: it is only an index
                    for name in ("", "-wal", "-shm"):
                        Path(f"{path}{name}").unlink(missing_ok=True)
                    return _with_tables(_connect(str(path)))
            except OSError:
                pass
        self.in_memory, self._path = True, None
        return _with_tables(_connect(":memory:"))

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            readers = [self._readers.get() for _ in range(0 if self.in_memory else READERS)]
            for reader in readers:
                reader.close()
                self._readers.put(reader)  # who comes late is told, and does not wait
            self._writer.close()

    # -- reading --

    def rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[sqlite3.Row]:
        """The rows of a query."""
        if self.in_memory or self._owner == threading.get_ident():
            with self._lock:  # whoever writes sees what it wrote
                return self._writer.execute(query, values).fetchall()
        connection = self._readers.get()
        try:
            return connection.execute(query, values).fetchall()
        finally:
            self._readers.put(connection)

    def row(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> sqlite3.Row | None:
        """The first row of a query; None without one."""
        found = self.rows(query, values)
        return found[0] if found else None

    def marks(self, run: str) -> dict[str, int]:
        """How far each file of a run was read."""
        query = "select file, position from mark where run = ?"
        return {row["file"]: row["position"] for row in self.rows(query, (run,))}

    def facts(self, run: str) -> dict[str, Any]:
        """What `put_run` was told of a run."""
        row = self.row("select facts from run where id = ?", (run,))
        return {} if row is None else dict(json.loads(row["facts"]))

    # -- writing --

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it is there afterwards, or nothing. May be nested."""
        with self._lock:
            if self._writer.in_transaction:
                yield
                return
            self._writer.execute("begin immediate")
            self._owner = threading.get_ident()
            try:
                yield
                self._writer.execute("commit")
            except BaseException:
                if self._writer.in_transaction:  # SQLite ends one itself where a disk is full
                    self._writer.execute("rollback")
                raise
            finally:
                self._owner = None

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> int:
        """Do a statement inside `writing`; returns how many rows it changed."""
        return self._writer.execute(statement, values).rowcount

    def put_run(self, run: str, **facts: Any) -> None:
        """Keep what is known of a run, beside what was known."""
        with self.writing():
            known = self.facts(run) | facts
            self.execute(
                "insert or replace into run values (?, ?, ?, ?)",
                (run, known.get("source", ""), known.get("place", ""), json.dumps(known)),
            )

    def mark(self, run: str, file: str, position: int) -> None:
        """Say that `file` was read up to `position`."""
        self.execute("insert or replace into mark values (?, ?, ?)", (run, file, position))

    def put_step(
        self, run: str, step: int, at: str, metrics: Mapping[str, Any], elapsed: float
    ) -> None:
        """A finished step with its metrics."""
        self.execute(
            "insert or replace into step values (?, ?, ?, ?, ?, null)",
            (run, step, at, elapsed, json.dumps(metrics)),
        )

    def put_moment(self, run: str, at: str, kind: str, step: int, text: str = "") -> None:
        """Something of the run's timeline."""
        self.execute(
            "insert or replace into moment values (?, ?, ?, ?, ?)", (run, at, kind, step, text)
        )

    def put_measurement(
        self, run: str, kind: str, step: int, mode: str, at: str, **found: float | None
    ) -> None:
        """An evaluation: its `planned` episodes at first; `n`, `success`, `low`, `high` later."""
        where = (run, kind, step, mode)
        self.execute(
            "insert or ignore into measurement (run, kind, step, mode) values (?,?,?,?)", where
        )
        self.execute(
            "update measurement set at = ?, planned = coalesce(?, planned), n = ?, success = ?, "
            "low = ?, high = ? where run = ? and kind = ? and step = ? and mode = ?",
            (at, *(found.get(name) for name in ("planned", "n", "success", "low", "high")), *where),
        )

    def put_learned(self, run: str, step: int, told: Mapping[str, Sequence[float | None]]) -> None:
        """What a step's episodes were worth to the learner: reward and advantage by their ids."""
        self._writer.executemany(
            "insert or replace into learned values (?, ?, ?, ?, ?)",
            [(run, step, episode, *worth) for episode, worth in told.items()],
        )

    def add(self, run: str, id: str, episode: Episode, place: str) -> None:
        """An episode; `id` is the monitor's own, and `place` is how its source finds it again.

        One that is there already is left as it is.
        """
        whats, suite = whats_of(episode), suite_of(episode.task)
        purpose = episode.purpose
        cursor = self._writer.execute(
            f"insert or ignore into episode values (null{', ?' * 24})",
            (
                run, id, purpose.kind, purpose.step, purpose.mode, episode.task, suite,
                episode.seed, episode.group, episode.id, episode.split, episode.score,
                episode.success, len(episode.turns), episode.seconds,
                None if episode.failure is None else _sound(episode.failure),
                " ".join(("", *whats, "")), _sound(episode.notes), _sound(episode.goal),
                episode.turns[0].screenshot_id if episode.turns else "",
                episode.final_screenshot_id, episode.started_at, episode.blind_rate, place,
            ),
        )  # fmt: skip
        if cursor.rowcount != 1:
            return
        number = cursor.lastrowid
        said = "\n".join(turn.action_text for turn in episode.turns)[:MOST_SAID]
        text = "\n".join((episode.goal, episode.notes, episode.failure or "", said))
        self.execute(
            "insert into said (rowid, run, text) values (?, ?, ?)", (number, run, _sound(text))
        )
        self._count(run, episode, suite, whats)

    def _count(self, run: str, episode: Episode, suite: str, whats: Sequence[str]) -> None:
        purpose, won = episode.purpose, bool(episode.success)
        fault = episode.failure is not None
        added = ("n", "successes", "faults", *WHATS)
        sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in added)
        self.execute(
            f"insert into tally values ({', '.join('?' * (10 + len(WHATS)))}) "
            f"on conflict do update set {sums}",
            (run, purpose.kind, purpose.step, purpose.mode, episode.task, suite, not fault,
             won and not fault, fault, episode.blind_rate,
             *(what in whats and not won for what in WHATS)),
        )  # fmt: skip

    def void(self, run: str, resumed: int | None) -> None:
        """Drop what a process of the run makes void that begins after `resumed` steps; None: all.

        As records do (`records.rows`): later steps, and evaluations that did not end or are final.
        """
        done = -1 if resumed is None else resumed
        for table in ("step", "learned"):
            self.execute(f"delete from {table} where run = ? and step > ?", (run, max(done, 0)))
        measured = "select kind, step, mode from measurement where run = ? and n is null"
        gone = (
            "run = ? and ((kind = 'step' and step > ?) or (kind in ('evaluation', 'final', "
            "'baseline') and (step > ? or kind = 'final' or (kind, step, mode) in "
            f"({measured}))))"
        )
        values = (run, max(done, 0), done, run)
        # What was said of them stays: no number is given twice, so that nothing finds it.
        for table in ("episode", "tally"):
            self.execute(f"delete from {table} where {gone}", values)
        self.execute(
            "delete from measurement where run = ? and (step > ? or kind = 'final' or n is null)",
            (run, done),
        )

    def forget(self, run: str) -> None:
        """Drop all that is known of a run."""
        with self.writing():
            for table in ("mark", "step", "moment", "measurement", "learned", "override",
                          "episode", "tally"):  # fmt: skip
                self.execute(f"delete from {table} where run = ?", (run,))
            self.execute("delete from run where id = ?", (run,))


def suite_of(task: str) -> str:
    """The suite of a task, as the catalogue knows it; empty for somebody else's."""
    from ui_gym.contract.registry import spec
    from ui_gym.errors import UserError

    try:
        return spec(task).suite
    except UserError:
        return "osworld" if task.startswith("osworld/") else ""


def _sound(text: str) -> str:
    """Text that SQLite takes: halves of surrogate pairs, which a model may say, are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=LOCKED_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    connection.execute("pragma cache_size = -1000")  # 1 MB: it runs beside trainings
    connection.execute("pragma temp_store = file")
    return connection


def _with_tables(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Make the tables, anew where they are of another version."""
    _to_wal(connection)
    connection.execute("pragma synchronous = off")  # after a power cut it is made anew
    connection.execute("begin immediate")  # another monitor may start at the same time
    version = connection.execute("pragma user_version").fetchone()[0]
    if version == VERSION:
        connection.execute("select 1 from episode limit 1")
        connection.execute("commit")
        return connection
    for row in connection.execute("select type, name from sqlite_master").fetchall():
        if row["type"] == "table" and not row["name"].startswith(("sqlite_", "said_")):
            connection.execute(f"drop table {row['name']}")
    for statement in _TABLES.split(";\n"):
        connection.execute(statement)
    connection.execute(f"pragma user_version = {VERSION}")
    connection.execute("commit")
    return connection


def _to_wal(connection: sqlite3.Connection) -> None:
    """Let readers read while somebody writes. SQLite does not wait for its turn in this."""
    until = time.monotonic() + LOCKED_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.02)
