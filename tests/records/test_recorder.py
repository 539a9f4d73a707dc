"""A run in the database: whole, in order, once, whatever happens to the database meanwhile."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import story
from waiting import eventually

from ui_gym_agents.records import changes, queries, spool
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.recorder import Recorder
from ui_gym_agents.records.spool import Spool
from ui_gym_agents.records.target import Target, of_file
from ui_gym_agents.training.listeners import Place, RunListener


def record(database: Target, folder: Path, notes: list[str]) -> Recorder:
    return Recorder.open(database, folder, notes.append, retry=0.1)


def test_a_whole_run_is_there(database: Target, tmp_path: Path, notes: list[str]) -> None:
    story.tell(record(database, tmp_path, notes), tmp_path)
    engine = open_database(database)
    assert story.counts(engine) == story.COUNTS
    (training,) = story.rows(engine, "training")
    assert (training["status"], training["step"], training["success"]) == ("finished", 2, 1.0)
    assert training["progress"] == 1.0
    first, second = sorted(story.rows(engine, "step"), key=lambda row: row["number"])
    assert first["metrics"] == {"loss": 0.5, "kl": None}
    assert second["checkpoint"] == "step_000002"
    assert {row["size"] for row in story.rows(engine, "rollout_group")} == {2}
    history = [(r["entity"], r["status"]) for r in story.rows(engine, "status_history")]
    assert history.count(("step", "finished")) == 2
    assert history.count(("training", "finished")) == 1
    assert notes == []


def test_episodes_come_back_as_they_were(
    database: Target, tmp_path: Path, notes: list[str]
) -> None:
    story.tell(record(database, tmp_path, notes), tmp_path)
    with open_database(database).connect() as connection:
        training = queries.find(connection, tmp_path.name)
        found = list(queries.episodes(connection, training.id))
    assert (story.BASELINE, story.episode("e0.0", "e0", success=False)) in found
    assert (Place("step", 2), story.episode("2-0.1", "2-0")) in found
    assert len(found) == story.COUNTS["rollout"]


def test_a_resumed_run_does_its_later_steps_anew(
    database: Target, tmp_path: Path, notes: list[str]
) -> None:
    first = record(database, tmp_path, notes)
    story.begin(first, tmp_path)
    story.baseline(first)
    story.step(first, 1)
    story.step(first, 2, members=4)
    first.ended("interrupted", 2)
    engine = open_database(database)
    assert story.rows(engine, "training")[0]["status"] == "interrupted"
    again = record(database, tmp_path, notes)
    story.begin(again, tmp_path, resumed=1)
    story.step(again, 2)
    story.final(again)
    again.ended("finished", 2)
    assert story.counts(engine) == story.COUNTS


def test_what_ends_early_is_not_left_running(
    database: Target, tmp_path: Path, notes: list[str]
) -> None:
    recorder = record(database, tmp_path, notes)
    story.begin(recorder, tmp_path)
    recorder.step_begun(1, 2)
    recorder.episode(story.episode("1-0.0", "1-0", failure="device: gone"), Place("step", 1))
    recorder.ended("failed", 0, "the device is gone")
    engine = open_database(database)
    for table in ("training", "step", "rollout_group", "environment"):
        assert [row["status"] for row in story.rows(engine, table)] == ["failed"]
    assert story.rows(engine, "training")[0]["error"] == "the device is gone"
    assert story.rows(engine, "rollout")[0]["status"] == "failed"


def test_text_that_no_database_takes_is_made_sound(
    database: Target, tmp_path: Path, notes: list[str]
) -> None:
    strange = story.episode("1-0.0", "1-0")
    strange.turns[0].action_text = "nul \x00, half \ud83d, whole \U0001f600"
    recorder = record(database, tmp_path, notes)
    story.begin(recorder, tmp_path)
    recorder.episode(strange, Place("step", 1))
    recorder.ended("finished", 1)
    texts = [row["text"] for row in story.rows(open_database(database), "action")]
    assert "nul \ufffd, half \ufffd\ufffd\ufffd, whole \U0001f600" in texts
    assert notes == []


def test_an_outage_in_mid_run_loses_and_doubles_nothing(
    server, postgres: Target, tmp_path: Path, notes: list[str]
) -> None:
    recorder = record(postgres, tmp_path, notes)
    story.begin(recorder, tmp_path)
    story.baseline(recorder)
    waiting = tmp_path / spool.FILE
    server.stop()
    try:
        story.step(recorder, 1)
        assert eventually(lambda: waiting.exists() and len(story.lines(waiting)) >= 4)
    finally:
        server.start()
    assert eventually(lambda: not waiting.exists(), 20)
    story.step(recorder, 2)
    story.final(recorder)
    recorder.ended("finished", 2)
    assert story.counts(open_database(postgres)) == story.COUNTS
    away, back = notes
    assert "is away" in away
    assert "all is written" in back
    assert "s3cret" not in away + back


def test_what_an_outage_left_on_disk_is_written_by_the_next_process(
    server, postgres: Target, tmp_path: Path, notes: list[str]
) -> None:
    recorder = record(postgres, tmp_path, notes)
    story.begin(recorder, tmp_path)
    server.stop()
    try:
        story.baseline(recorder)
        story.step(recorder, 1)
        recorder.ended("interrupted", 1)
        assert "records wait on disk" in notes[-1]
    finally:
        server.start()
    waiting = tmp_path / spool.FILE
    with waiting.open("ab") as file:
        file.write(b'[["put", "step"')  # torn by a kill
    again = record(postgres, tmp_path, notes)
    story.begin(again, tmp_path, resumed=1)
    story.step(again, 2)
    story.final(again)
    again.ended("finished", 2)
    assert story.counts(open_database(postgres)) == story.COUNTS
    assert not waiting.exists()


def test_a_locked_file_is_an_outage_too(tmp_path: Path, notes: list[str]) -> None:
    database = of_file(tmp_path / "records.sqlite")
    recorder = record(database, tmp_path, notes)
    waiting = tmp_path / spool.FILE
    other = sqlite3.connect(tmp_path / "records.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    story.begin(recorder, tmp_path)
    assert eventually(waiting.exists, 15)
    other.execute("ROLLBACK")
    other.close()
    story.baseline(recorder)
    story.step(recorder, 1)
    story.step(recorder, 2)
    story.final(recorder)
    recorder.ended("finished", 2)
    assert story.counts(open_database(database)) == story.COUNTS


def test_changes_applied_twice_are_there_once(database: Target, tmp_path: Path) -> None:
    told: list[changes.Change] = []

    class Listening(RunListener):
        pass

    from ui_gym_agents.records.rows import Rows

    rows = Rows("t" * 32)
    for number, name in enumerate(
        ("begun", "step_begun", "episode", "step_finished", "evaluation_begun",
         "evaluation_finished", "ended")
    ):  # fmt: skip
        at = f"2026-01-01T00:00:0{number}+00:00"
        make = getattr(rows, name)
        setattr(Listening, name, lambda _, *a, make=make, at=at: told.append(make(at, *a)))
    story.tell(Listening(), tmp_path)
    written = [changes.from_json(changes.to_json(change)) for change in told]
    engine = open_database(database)
    for batch in (written, written[:7], written):
        with engine.begin() as connection:
            changes.apply(connection, batch)
    assert story.counts(engine) == story.COUNTS


def test_what_the_database_refuses_holds_up_nothing(
    database: Target, tmp_path: Path, notes: list[str]
) -> None:
    recorder = record(database, tmp_path, notes)
    story.begin(recorder, tmp_path)
    huge = story.episode("1-0.9", "1-0")
    huge.seed = 2**80
    recorder.episode(huge, Place("step", 1))
    story.baseline(recorder)
    story.step(recorder, 1)
    story.step(recorder, 2)
    story.final(recorder)
    recorder.ended("finished", 2)
    engine = open_database(database)
    assert len(story.rows(engine, "rollout")) == story.COUNTS["rollout"]
    (note,) = notes
    assert "could not be recorded" in note
    assert len(story.lines(tmp_path / spool.REFUSED)) >= 1


def test_a_full_disk_leaves_the_spool_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = Spool(tmp_path / "spool")
    waiting.append([[changes.drop("step", id="a")]])

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        waiting.append([[changes.drop("step", id="b")]])
    monkeypatch.undo()
    waiting.append([[changes.drop("step", id="c")]])
    batch, _ = waiting.read()
    assert [change[0].where for change in batch] == [{"id": "a"}, {"id": "c"}]
