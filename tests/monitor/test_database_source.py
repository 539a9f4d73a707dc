"""Runs in the records database, in SQLite and PostgreSQL, as the monitor takes them in."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).parents[1] / "records"))

import story

from ui_gym.errors import UserError
from ui_gym_agents.episode import Purpose
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Shelf
from ui_gym_agents.monitor.sources import database as source_module
from ui_gym_agents.monitor.sources.database import DatabaseRun, DatabaseShelf, database_runs
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.ingest import ingest
from ui_gym_agents.records.target import DatabaseTarget, of_file, parse
from ui_gym_agents.store import EpisodeStore, to_json

_place = Path(story.__file__).with_name("conftest.py")
_found = importlib.util.spec_from_file_location("records_fixtures", _place)
assert _found is not None
assert _found.loader is not None
fixtures: Any = importlib.util.module_from_spec(_found)
_found.loader.exec_module(fixtures)
# The same databases as the tests of the records themselves.
server, postgres, database = fixtures.server, fixtures.postgres, fixtures.database
no_database_of_others = fixtures.no_database_of_others


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look is a real one."""
    for name in ("LOOK", "REST", "SHELF_SECONDS"):
        monkeypatch.setattr(source_module, name, 0.0)


@pytest.fixture
def run(database: DatabaseTarget, tmp_path: Path) -> story.Run:
    """A run that has begun, whose folder is read into the database when a test says so."""
    made = story.Run(tmp_path / "run")
    made.begin()
    return made


def record(target: DatabaseTarget, run: story.Run) -> None:
    engine = open_database(target)
    ingest(engine, run.folder)
    engine.dispose()


def only(target: DatabaseTarget) -> DatabaseRun:
    (found,) = database_runs(target)
    return found


def names(index: MonitorIndex) -> list[tuple[Any, ...]]:
    rows = index.rows("select kind, step, episode from episode order by kind, step, episode")
    return [tuple(row) for row in rows]


def test_a_whole_run_is_as_its_folder_would_show_it(
    database: DatabaseTarget, run: story.Run
) -> None:
    run.baseline()
    run.step(1)
    run.step(2)
    run.tell.checkpoint(2, run.folder / "checkpoints" / "step_000002")
    run.final()
    run.tell.ended("finished", 2)
    record(database, run)
    source, index = only(database), MonitorIndex(None)
    assert source.refresh(index)
    assert not source.refresh(index), "nothing is new"

    assert names(index) == [
        ("baseline", 0, "e0.0"), ("final", 2, "e0.0"),
        ("step", 1, "1-0.0"), ("step", 1, "1-0.1"), ("step", 2, "2-0.0"), ("step", 2, "2-0.1"),
    ]  # fmt: skip
    facts = index.facts(source.id)
    assert (facts["name"], facts["status"], facts["step"]) == ("run", "finished", 2)
    assert facts["config"]["plugin"] == "grpo"
    rows = index.rows("select step, elapsed, metrics, checkpoint from step order by step")
    assert [row["step"] for row in rows] == [1, 2]
    assert rows[1]["checkpoint"] == "step_000002"
    measured = index.rows("select kind, step, n, success from measurement order by kind")
    assert [tuple(row) for row in measured] == [("baseline", 0, 1, 0.0), ("final", 2, 1, 1.0)]
    kinds = {row["kind"] for row in index.rows("select kind from moment")}
    assert kinds == {"begun", "evaluation", "checkpoint", "ended"}

    row = index.row("select place from episode where episode = '2-0.1'")
    assert row is not None
    want = story.episode("2-0.1", "2-0")
    want.purpose = Purpose("step", 2)
    assert to_json(source.episode(row["place"])) == to_json(want)


def test_what_is_new_is_taken_in(database: DatabaseTarget, run: story.Run) -> None:
    run.step(1)
    record(database, run)
    source, index = only(database), MonitorIndex(None)
    source.refresh(index)
    assert len(names(index)) == 2
    run.step(2, members=3)
    record(database, run)
    assert source.refresh(index)
    assert len(names(index)) == 5
    assert index.facts(source.id)["step"] == 2
    # As after a network's outage: an older episode comes after a newer one.
    late = story.episode("1-9.0", "1-9")
    late.started_at = "2020-01-01T00:00:00+00:00"
    run.episode(late, Purpose("step", 1))
    record(database, run)
    assert source.refresh(index)
    assert ("step", 1, "1-9.0") in names(index)


def test_episodes_that_a_resumed_run_voids_are_gone(
    database: DatabaseTarget, run: story.Run
) -> None:
    run.step(1)
    run.step(2, members=4)
    run.tell.ended("interrupted", 2)
    record(database, run)
    source, index = only(database), MonitorIndex(None)
    source.refresh(index)
    again = story.Run(run.folder)
    again.begin(resumed=1)
    again.step(2)
    record(database, again)
    assert source.refresh(index)
    assert [row for row in names(index) if row[1] == 2] == [
        ("step", 2, "2-0.0"),
        ("step", 2, "2-0.1"),
    ]
    tally = index.row("select sum(n) as n from tally where step = 2")
    assert tally is not None
    assert tally["n"] == 2


def test_many_episodes_are_taken_in_bit_by_bit(
    database: DatabaseTarget, run: story.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.step(1, members=7)
    record(database, run)
    monkeypatch.setattr(source_module, "PATIENCE", 0.0)
    monkeypatch.setattr(source_module, "BATCH", 2)
    source, index, counts = only(database), MonitorIndex(None), []
    while source.refresh(index):
        counts.append(len(names(index)))
    assert counts == [2, 4, 6, 7]


def test_an_outage_is_a_trouble_and_keeps_what_was_read(
    server: Any, postgres: DatabaseTarget, tmp_path: Path
) -> None:
    run = story.Run(tmp_path / "run")
    run.begin()
    run.step(1)
    record(postgres, run)
    shelf, index = DatabaseShelf(target=postgres), MonitorIndex(None)
    (source,) = shelf.sources()
    source.refresh(index)
    server.stop()
    try:
        with pytest.raises(UserError) as told:
            source.refresh(index)
        assert list(shelf.sources()) == [source]
    finally:
        server.start()
    assert "cannot be used" in str(told.value)
    assert "s3cret" not in str(told.value)
    assert len(names(index)) == 2
    source.refresh(index)
    assert "s3cret" not in source.place


def test_a_database_that_was_never_reached_says_so_and_comes_later(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    path.write_text("this is no database, " * 500)
    shelf, index = DatabaseShelf(target=of_file(path)), MonitorIndex(None)
    (unread,) = shelf.sources()
    with pytest.raises(UserError, match="cannot be used"):
        unread.refresh(index)
    path.unlink()
    run = story.Run(tmp_path / "run")
    run.begin()
    run.step(1)
    record(of_file(path), run)
    (source,) = shelf.sources()
    assert isinstance(source, DatabaseRun)
    assert not unread.refresh(index)


def test_runs_whose_folders_are_shown_are_not_shown_twice(tmp_path: Path) -> None:
    target = of_file(tmp_path / "records.sqlite")
    for name in ("here", "elsewhere"):
        run = story.Run(tmp_path / name / "run")
        run.begin()
        run.step(1)
        record(target, run)
    shelf = DatabaseShelf([Shelf(tmp_path / "here")], target)
    (source,) = shelf.sources()
    index = MonitorIndex(None)
    source.refresh(index)
    assert index.facts(source.id)["facts"]["folder"] == str(tmp_path / "elsewhere" / "run")


def test_to_look_makes_and_changes_nothing(tmp_path: Path) -> None:
    target = of_file(tmp_path / "records.sqlite")
    assert database_runs(target) == []
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_another_version_is_not_upgraded(tmp_path: Path) -> None:
    target = of_file(tmp_path / "records.sqlite")
    engine = open_database(target)
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '0001'"))
    engine.dispose()
    with pytest.raises(UserError, match="ui-gym-records upgrade"):
        database_runs(target)


def test_the_environment_names_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="UI_GYM_DATABASE_URL"):
        DatabaseShelf()
    url = f"sqlite:///{tmp_path / 'records.sqlite'}"
    run = story.Run(tmp_path / "run")
    run.begin()
    run.step(1)
    record(parse(url, "the test"), run)
    monkeypatch.setenv("UI_GYM_DATABASE_URL", url)
    assert len(list(DatabaseShelf().sources())) == 1


def test_pictures_are_shown_where_the_folder_can_be_reached(tmp_path: Path) -> None:
    target = of_file(tmp_path / "records.sqlite")
    run = story.Run(tmp_path / "run")
    run.begin()
    run.step(1)
    shown = EpisodeStore(run.folder / "episodes").screenshots
    key = shown.put(np.full((4, 4, 3), 9, np.uint8))
    record(target, run)
    source = only(target)
    found = source.picture(key)
    assert found is not None
    assert found.media == "image/webp"
    assert source.picture("ab" * 32) is None
    assert source.picture("../../etc/passwd") is None
    run.folder.rename(tmp_path / "moved")
    assert only(target).picture(key) is None


def test_looks_are_not_repeated_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = of_file(tmp_path / "records.sqlite")
    run = story.Run(tmp_path / "run")
    run.begin()
    run.step(1)
    record(target, run)
    monkeypatch.setattr(source_module, "LOOK", 1e6)
    source, index = only(target), MonitorIndex(None)
    source.refresh(index)
    run.step(2)
    record(target, run)
    assert not source.refresh(index)
    assert time.monotonic() < source._next
