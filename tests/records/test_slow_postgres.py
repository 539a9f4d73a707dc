"""A run whose PostgreSQL hangs, is slow, or has no connection left: it never waits for it, and all
is in the database once, when that is back."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import story
from sqlalchemy import Engine, text
from waiting import eventually

from tests.records.postgres_server import Server
from ui_gym.errors import UserError
from ui_gym_agents.records import database, ingest, recorder, target
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.recorder import RunRecorder
from ui_gym_agents.records.target import DatabaseTarget

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (ui-gym[postgres])")

Command = Callable[..., tuple[int, str, str]]

PATIENT = 60
"""Seconds in which what is waited for comes, however busy the machine is."""


@contextlib.contextmanager
def stopped(server: Server) -> Iterator[None]:
    """All processes of the server stand still, as on a machine that hangs."""
    main = psutil.Process(int((server.folder / "data" / "postmaster.pid").read_text().split()[0]))
    main.send_signal(signal.SIGSTOP)  # first, so that it starts no more of them
    family = [main, *main.children(recursive=True)]
    try:
        for process in family[1:]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGSTOP)
        yield
    finally:
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def locked(engine: Engine) -> Iterator[None]:
    """Nobody else reads or writes rollouts."""
    with engine.connect() as connection:
        connection.execute(text("LOCK TABLE rollout IN ACCESS EXCLUSIVE MODE"))
        yield
        connection.rollback()


def waits_for_a_lock(engine: Engine) -> bool:
    query = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    with engine.connect() as connection:
        return bool(connection.execute(text(query)).scalar())


def record(found: DatabaseTarget, folder: Path, notes: list[str]) -> tuple[RunRecorder, story.Run]:
    """A run in a folder, and its recorder."""
    made = RunRecorder(found, folder, notes.append, retry=0.1)
    return made, story.Run(folder, made)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a test can see the end of."""
    monkeypatch.setattr(database, "STATEMENT_SECONDS", 1)
    monkeypatch.setattr(database, "ANSWER_SECONDS", 2)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("within", ["no transaction", "a transaction"])
def test_a_server_that_hangs_in_mid_run_loses_and_doubles_nothing(
    within: str, server: Server, postgres: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    made, run = record(postgres, tmp_path, notes)
    run.begin()
    run.baseline()
    assert eventually(lambda: not made.behind, PATIENT)
    engine = open_database(postgres)
    with contextlib.ExitStack() as stack:
        if within == "a transaction":
            stack.enter_context(locked(engine))
            run.step(1)
            assert eventually(lambda: waits_for_a_lock(engine), PATIENT)
        stack.enter_context(stopped(server))
        if within == "no transaction":
            run.step(1)
        assert eventually(lambda: bool(notes), PATIENT)
        assert made.behind
        run.step(2)  # the run goes on, whatever the server does
    assert eventually(lambda: len(notes) == 2, PATIENT)
    run.final()
    run.tell.ended("finished", 2)
    assert story.counts(engine) == story.COUNTS
    away, back = notes
    assert "is away" in away
    assert "all is written" in back
    assert "s3cret" not in away + back


@pytest.mark.usefixtures("soon")
def test_a_server_that_hangs_for_good_does_not_keep_a_run_from_ending(
    server: Server, postgres: DatabaseTarget, tmp_path: Path, notes: list[str], command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    made, run = record(postgres, tmp_path, notes)
    run.begin()
    run.baseline()
    engine = open_database(postgres)
    with locked(engine):
        run.step(1)
        assert eventually(lambda: waits_for_a_lock(engine), PATIENT)
        with stopped(server):
            run.step(2)
            run.final()
            run.tell.ended("finished", 2)
            assert f"ui-gym-records flush {tmp_path}" in notes[-1]
            assert not any(thread.name == "records" for thread in threading.enumerate())
            monkeypatch.setenv("UI_GYM_DATABASE_URL", postgres.url.render_as_string(False))
            status, _, errors = command("flush", tmp_path)
            assert (status, "cannot be used" in errors) == (2, True)
    assert made.behind
    assert command("flush", tmp_path)[0] == 0
    assert story.counts(engine) == story.COUNTS
    assert story.rows(engine, "training")[0]["status"] == "finished"


@pytest.mark.usefixtures("soon")
def test_a_server_that_hangs_is_told_before_a_run_begins(
    server: Server, postgres: DatabaseTarget, tmp_path: Path
) -> None:
    with stopped(server), pytest.raises(UserError, match=r"cannot be used.*--run.records off"):
        open_database(postgres)


@contextlib.contextmanager
def slow(engine: Engine, seconds: float) -> Iterator[None]:
    """Each rollout takes the server so long."""
    with engine.begin() as connection:
        connection.execute(
            text(
                "CREATE OR REPLACE FUNCTION doze() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN PERFORM pg_sleep({seconds}); RETURN NEW; END $$"
            )
        )
        connection.execute(
            text(
                "CREATE TRIGGER doze BEFORE INSERT ON rollout FOR EACH ROW EXECUTE FUNCTION doze()"
            )
        )
    yield
    with engine.begin() as connection:
        connection.execute(text("DROP TRIGGER doze ON rollout"))


def test_a_run_is_ahead_of_a_slow_server_which_has_all_of_it_in_the_end(
    postgres: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    engine = open_database(postgres)
    with slow(engine, 0.2):
        made, run = record(postgres, tmp_path, notes)
        run.begin()
        run.baseline()
        assert made.behind
        run.step(1)
        run.step(2)
        run.final()
        run.tell.ended("finished", 2)
    assert notes == []
    assert story.counts(engine) == story.COUNTS


@pytest.mark.usefixtures("soon")
def test_a_server_that_is_too_slow_is_away(
    postgres: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    engine = open_database(postgres)
    made, run = record(postgres, tmp_path, notes)
    with slow(engine, 30):
        run.begin()
        run.baseline()
        run.step(1)
        assert eventually(lambda: bool(notes), PATIENT)
        assert "statement timeout" in notes[0]
        run.step(2)
        assert made.behind
    assert eventually(lambda: not made.behind, PATIENT)
    run.final()
    run.tell.ended("finished", 2)
    assert "is back: all is written" in notes[1]
    assert len(notes) == 2
    assert story.counts(engine) == story.COUNTS


def test_a_recorder_that_is_late_lets_go_of_a_run_at_its_bound(
    postgres: DatabaseTarget, tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its thread still writes then, the next reading does not double."""
    monkeypatch.setattr(recorder, "CLOSE_SECONDS", 0.5)
    engine = open_database(postgres)
    made, run = record(postgres, tmp_path, notes)
    with locked(engine):
        run.whole()
        (note,) = notes
        assert note.startswith("warning: the records are still being written; ui-gym-records flush")
        assert made.behind
    assert eventually(lambda: not made.behind, PATIENT)
    ingest.ingest(engine, tmp_path)
    assert story.counts(engine) == story.COUNTS


# -- no connection left --


@pytest.fixture
def plain(server: Server, postgres: DatabaseTarget) -> Iterator[str]:
    """The database's address for a user without privileges, whom connections may be refused."""
    with open_database(postgres).begin() as connection:
        connection.execute(text("CREATE ROLE plain LOGIN PASSWORD 's3cret/hush'"))
        connection.execute(text("GRANT ALL ON ALL TABLES IN SCHEMA public TO plain"))
    name = str(postgres.url.database)
    yield server.url(name).replace("//tester:", "//plain:")
    with open_database(postgres).begin() as connection:
        connection.execute(text("DROP OWNED BY plain"))
        connection.execute(text("DROP ROLE plain"))


@contextlib.contextmanager
def no_connection_left(url: str) -> Iterator[None]:
    """Somebody has taken all connections that are not reserved."""
    taken = []
    try:
        with contextlib.suppress(psycopg.OperationalError):
            while True:
                taken.append(psycopg.connect(url))
        yield
    finally:
        for connection in taken:
            connection.close()


def test_a_server_without_a_connection_left_is_away(
    plain: str, postgres: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    mine = target.parse(plain, "the test")
    made, run = record(mine, tmp_path, notes)
    run.begin()
    run.baseline()
    assert eventually(lambda: not made.behind, PATIENT)
    with no_connection_left(plain):
        run.step(1)
        assert eventually(lambda: bool(notes), PATIENT)
        assert "connection slots are reserved" in notes[0]
        assert "s3cret" not in notes[0]
        with pytest.raises(UserError, match=r"connection slots are reserved.*--run.records off"):
            open_database(mine)
    assert eventually(lambda: not made.behind, PATIENT)
    run.step(2)
    run.final()
    run.tell.ended("finished", 2)
    assert story.counts(open_database(postgres)) == story.COUNTS
    assert len(notes) == 2
