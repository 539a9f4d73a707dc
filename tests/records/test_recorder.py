"""A run in the database: whole, in order, once, whatever happens to the database meanwhile."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
import story
from sqlalchemy import Engine, delete
from waiting import eventually

from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.records import ingest, queries
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.models import TABLES
from ui_gym_agents.records.recorder import RunRecorder
from ui_gym_agents.records.target import DatabaseTarget, of_file
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training import event_log


def record(
    database: DatabaseTarget, folder: Path, notes: list[str]
) -> tuple[RunRecorder, story.Run]:
    """A run in a folder, and its recorder."""
    recorder = RunRecorder(database, folder, notes.append, retry=0.1)
    return recorder, story.Run(folder, recorder)


def purposed(episode: Episode, purpose: Purpose) -> Episode:
    episode.purpose = purpose
    return episode


def test_a_whole_run_is_there(database: DatabaseTarget, tmp_path: Path, notes: list[str]) -> None:
    record(database, tmp_path, notes)[1].whole()
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
    database: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    record(database, tmp_path, notes)[1].whole()
    with open_database(database).connect() as connection:
        training = queries.find(connection, tmp_path.name)
        found = list(queries.episodes(connection, training.id))
    assert purposed(story.episode("e0.0", "e0", success=False), story.BASELINE) in found
    assert purposed(story.episode("2-0.1", "2-0"), Purpose("step", 2)) in found
    assert len(found) == story.COUNTS["rollout"]


def test_a_resumed_run_does_its_later_steps_anew(
    database: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    _, first = record(database, tmp_path, notes)
    first.begin()
    first.baseline()
    first.step(1)
    first.step(2, members=4)
    first.tell.ended("interrupted", 2)
    engine = open_database(database)
    assert story.rows(engine, "training")[0]["status"] == "interrupted"
    _, again = record(database, tmp_path, notes)
    again.begin(resumed=1)
    again.step(2)
    again.final()
    again.tell.ended("finished", 2)
    assert story.counts(engine) == story.COUNTS


LEARNED = {"1-0.0": (0.25, -1.0), "1-0.1": (1.0, None)}


def worths(engine: Engine) -> dict[str, tuple[float | None, float | None]]:
    """Reward and advantage of the rollouts of training steps."""
    found = story.rows(engine, "rollout")
    return {r["episode"]: (r["reward"], r["advantage"]) for r in found if r["step_id"]}


def test_what_was_made_of_episodes_is_there_and_what_nobody_said_is_not(
    database: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    _recorder, run = record(database, tmp_path, notes)
    run.begin()
    run.step(1, learned=LEARNED)
    run.step(2)
    run.tell.ended("finished", 2)
    nothing = dict.fromkeys(("2-0.0", "2-0.1"), (None, None))
    assert worths(open_database(database)) == {**LEARNED, **nothing}
    assert notes == []


@pytest.mark.parametrize("batch", [1, 256])
def test_it_is_there_wherever_a_transaction_ends_and_in_whatever_step_is_done_anew(
    database: DatabaseTarget, tmp_path: Path, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is read before the episodes, which are told of in it."""
    monkeypatch.setattr(ingest, "BATCH", batch)
    run = story.Run(tmp_path)
    run.begin()
    run.step(1, learned=dict.fromkeys(LEARNED, (9.0, 9.0)))
    run.tell.ended("interrupted", 1)
    run.begin(resumed=0)
    engine = open_database(database)
    ingest.ingest(engine, tmp_path)
    assert worths(engine) == {}
    run.step(1, learned=LEARNED)
    ingest.ingest(engine, tmp_path)
    assert worths(engine) == LEARNED


def test_what_ends_early_is_not_left_running(
    database: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    _recorder, run = record(database, tmp_path, notes)
    run.begin()
    run.tell.step_begun(1, 2)
    run.episode(story.episode("1-0.0", "1-0", failure="device: gone"), Purpose("step", 1))
    run.tell.ended("failed", 0, "the device is gone")
    engine = open_database(database)
    for table in ("training", "step", "rollout_group", "environment"):
        assert [row["status"] for row in story.rows(engine, table)] == ["failed"]
    assert story.rows(engine, "training")[0]["error"] == "the device is gone"
    assert story.rows(engine, "rollout")[0]["status"] == "failed"


def test_text_that_no_database_takes_is_made_sound(
    database: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    strange = story.episode("1-0.0", "1-0")
    strange.turns[0].action_text = "nul \x00, half \ud83d, whole \U0001f600"
    _recorder, run = record(database, tmp_path, notes)
    run.begin()
    run.episode(strange, Purpose("step", 1))
    run.tell.ended("finished", 1)
    texts = [row["action_text"] for row in story.rows(open_database(database), "action")]
    assert "nul \ufffd, half \ufffd\ufffd\ufffd, whole \U0001f600" in texts
    assert notes == []


def test_an_outage_in_mid_run_loses_and_doubles_nothing(
    server, postgres: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    recorder, run = record(postgres, tmp_path, notes)
    run.begin()
    run.baseline()
    server.stop()
    try:
        run.step(1)
        assert eventually(lambda: bool(notes))
        assert recorder.behind
    finally:
        server.start()
    assert eventually(lambda: not recorder.behind, 20)
    assert eventually(lambda: len(notes) == 2)
    run.step(2)
    run.final()
    run.tell.ended("finished", 2)
    assert story.counts(open_database(postgres)) == story.COUNTS
    away, back = notes
    assert "is away" in away
    assert "all is written" in back
    assert "s3cret" not in away + back


def test_what_an_outage_left_on_disk_is_written_by_the_next_process(
    server, postgres: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    _, run = record(postgres, tmp_path, notes)
    run.begin()
    server.stop()
    try:
        run.baseline()
        run.step(1)
        run.tell.ended("interrupted", 1)
        assert "records wait on disk" in notes[-1]
    finally:
        server.start()
    for name in (event_log.FILE, "episodes/episodes.jsonl"):
        with (tmp_path / name).open("ab") as file:
            file.write(b'{"at": "20')  # torn by a kill
    second, again = record(postgres, tmp_path, notes)
    again.begin(resumed=1)
    again.step(2)
    again.final()
    again.tell.ended("finished", 2)
    assert story.counts(open_database(postgres)) == story.COUNTS
    assert not second.behind


def test_a_locked_file_is_an_outage_too(tmp_path: Path, notes: list[str]) -> None:
    database = of_file(tmp_path / "records.sqlite")
    _recorder, run = record(database, tmp_path, notes)
    other = sqlite3.connect(tmp_path / "records.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    run.begin()
    assert eventually(lambda: bool(notes), 15)
    other.execute("ROLLBACK")
    other.close()
    run.baseline()
    run.step(1)
    run.step(2)
    run.final()
    run.tell.ended("finished", 2)
    assert story.counts(open_database(database)) == story.COUNTS


def test_files_that_are_read_again_are_there_once(database: DatabaseTarget, tmp_path: Path) -> None:
    story.Run(tmp_path).whole()
    engine = open_database(database)
    assert ingest.ingest(engine, tmp_path) == story.COUNTS["rollout"]
    for _ in range(2):
        with engine.begin() as connection:
            connection.execute(delete(TABLES["bookmark"]))
        assert ingest.ingest(engine, tmp_path) == story.COUNTS["rollout"]
        assert story.counts(engine) == story.COUNTS
    assert ingest.ingest(engine, tmp_path) == 0


def test_later_gives_what_live_gave(
    database: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    recorder, run = record(database, folder, notes)
    run.begin()
    run.baseline()
    run.step(1)
    assert eventually(lambda: not recorder.behind)
    run.step(2, members=4)
    run.tell.ended("interrupted", 2)
    _, again = record(database, folder, notes)
    again.begin(resumed=1)
    again.step(2)
    again.final()
    again.tell.ended("finished", 2)
    later = open_database(of_file(tmp_path / "later.sqlite"))
    ingest.ingest(later, folder)
    live = open_database(database)
    for table in (*story.COUNTS, "status_history"):
        assert ordered(story.rows(live, table)) == ordered(story.rows(later, table)), table


def ordered(rows: list[dict]) -> list[dict]:
    return sorted(rows, key=lambda row: row["id"])


def test_what_the_database_refuses_holds_up_nothing(
    database: DatabaseTarget, tmp_path: Path, notes: list[str]
) -> None:
    _recorder, run = record(database, tmp_path, notes)
    run.begin()
    huge = story.episode("1-0.9", "1-0")
    huge.seed = 2**80
    run.episode(huge, Purpose("step", 1))
    run.baseline()
    run.step(1)
    run.step(2)
    run.final()
    run.tell.ended("finished", 2)
    engine = open_database(database)
    assert len(story.rows(engine, "rollout")) == story.COUNTS["rollout"]
    (note,) = notes
    assert "could not be recorded" in note
    assert len(story.lines(tmp_path / ingest.REFUSED)) >= 1


def test_a_full_disk_leaves_files_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = EpisodeStore(tmp_path)
    store.add([story.episode("a")])
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:-50])

    monkeypatch.setattr("os.write", full)
    with pytest.raises(OSError, match="No space"):
        store.add([story.episode("b")])
    monkeypatch.undo()
    store.add([story.episode("c")])
    assert [episode.id for episode in store] == ["a", "c"]
