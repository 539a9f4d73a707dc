"""`ui-gym-records du` and `gc`: what runs take, and what of it is given back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import story

from ui_gym.errors import UserError
from ui_gym_agents.records import tidying
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.ingest import ingest
from ui_gym_agents.records.target import DatabaseTarget, of_file, parse
from ui_gym_agents.training.run_directory import RunDirectory

Command = Callable[..., tuple[int, str, str]]


def make(runs: Path, name: str, days: float, checkpoints: tuple[int, ...] = (1, 2)) -> Path:
    """A run whose last event was so many days ago, with a picture and checkpoints."""
    folder = runs / name
    told = story.Run(folder)
    told.whole()
    at = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    lines = (json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines())
    text = "".join(json.dumps({**line, "at": at}) + "\n" for line in lines)
    (folder / "events.jsonl").write_text(text)
    (folder / "config.yaml").write_text("run:\n  records: auto\n")
    (folder / "metrics.jsonl").write_text("{}\n")
    picture = folder / "episodes" / "screenshots" / "ab" / "x.webp"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(bytes(20_000))
    (folder / "checkpoints").mkdir()
    for step in checkpoints:
        saved = folder / "checkpoints" / f"step_{step:06d}"
        saved.mkdir()
        (saved / "weights").write_bytes(bytes(50_000))
    engine = open_database(of_file(folder / "records.sqlite"))
    ingest(engine, folder)
    engine.dispose()
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three runs: of today, of ten days ago, of forty days ago."""
    folder = tmp_path / "runs"
    for name, days in (("young", 0.0), ("middle", 10.0), ("old", 40.0)):
        make(folder, name, days)
    (folder / "notes").mkdir()  # no run
    return folder


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def plan(command: Command, *arguments: object) -> dict[str, Any]:
    status, output, _ = command("gc", *arguments, "--json")
    assert status == 0
    told: dict[str, Any] = json.loads(output)
    return told


def test_du_tells_of_each_kind(command: Command, runs: Path) -> None:
    status, output, _ = command("du", "--runs", runs, "--json")
    assert status == 0
    found = {run["run"]: run for run in json.loads(output)}
    assert found.keys() == {"young", "middle", "old"}
    for name, run in found.items():
        assert 20_000 <= run["pictures"] < 50_000
        assert 100_000 <= run["checkpoints"] < 150_000
        assert min(run["episodes"], run["database"], run["other"]) > 0
        kinds = ("pictures", "episodes", "checkpoints", "database", "other")
        assert run["total"] == sum(run[kind] for kind in kinds)
        assert run["files"] == len(listing(runs / name))
    _, output, _ = command("du", "--runs", runs / "old")
    assert output.splitlines()[0].startswith("old\t")


def test_without_yes_nothing_is_changed(command: Command, runs: Path) -> None:
    before = listing(runs)
    status, output, _ = command("gc", "--runs", runs, "--keep", "1", "--pictures-older", "30d")
    assert status == 0
    assert "nothing was deleted: --yes does it" in output
    assert "middle\tall but step_000002" in output
    assert listing(runs) == before


def test_of_old_runs_the_newest_checkpoint_stays(command: Command, runs: Path) -> None:
    young = listing(runs / "young")
    status, output, _ = command("gc", "--runs", runs, "--keep", "1", "--yes")
    assert (status, "given back" in output) == (0, True)
    assert listing(runs / "young") == young
    for name in ("middle", "old"):
        assert listing(runs / name) - {"lock"} == {
            "config.yaml", "metrics.jsonl", "checkpoints/step_000002/weights",
        }  # fmt: skip
    status, output, _ = command("gc", "--runs", runs, "--keep", "1", "--yes")
    assert (status, output) == (0, "there is nothing to give back\n"), "done again, nothing is left"


def test_a_run_without_a_checkpoint_goes_whole(command: Command, runs: Path) -> None:
    make(runs, "failed", 50.0, checkpoints=())
    assert command("gc", "--runs", runs, "--keep", "3", "--yes")[0] == 0
    assert not (runs / "failed").exists()
    assert len(listing(runs / "old")) > 4


def test_pictures_go_by_a_runs_last_event(command: Command, runs: Path) -> None:
    before = {name: listing(runs / name) for name in ("young", "middle", "old")}
    os.utime(runs / "old" / "events.jsonl")  # as a copy of the folder would
    assert command("gc", "--runs", runs, "--pictures-older", "30d", "--yes")[0] == 0
    for name in ("young", "middle"):
        assert listing(runs / name) == before[name]
    gone = before["old"] - listing(runs / "old")
    assert gone == {"episodes/screenshots/ab/x.webp"}


def test_a_run_in_use_is_left_alone(command: Command, runs: Path) -> None:
    before = listing(runs / "old")
    held = RunDirectory(runs / "old")
    try:
        told = plan(command, "--runs", runs, "--keep", "1", "--yes")
    finally:
        held.close()
    assert told["passed"] == {"old": "it is in use"}
    assert [removal["run"] for removal in told["removals"]] == ["middle"]
    assert listing(runs / "old") - {"lock"} == before - {"lock"}


@pytest.mark.parametrize(("seconds", "kept"), [(5, True), (500, False)])
def test_a_run_of_another_machine_shows_by_its_heartbeat(
    command: Command, runs: Path, seconds: int, kept: bool
) -> None:
    at = (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()
    beat = {"at": at, "status": "running", "host": "elsewhere"}
    (runs / "old" / "workers.json").write_text(json.dumps(beat))
    told = plan(command, "--runs", runs, "--keep", "2")
    assert told["passed"] == ({"old": "it runs on elsewhere"} if kept else {})


def test_records_go_with_their_run(
    command: Command, runs: Path, database: DatabaseTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = database.url.render_as_string(hide_password=False)
    monkeypatch.setenv("UI_GYM_DATABASE_URL", url)
    engine = open_database(database)
    for name in ("young", "middle", "old"):
        ingest(engine, runs / name)
    assert command("gc", "--runs", runs, "--keep", "2", "--yes")[0] == 0
    assert {row["name"] for row in story.rows(engine, "training")} == {"young", "middle"}
    assert story.counts(engine)["rollout"] == 2 * story.COUNTS["rollout"]
    engine.dispose()


def test_where_the_records_cannot_go_nothing_goes(
    command: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = listing(runs / "old")
    monkeypatch.setenv("UI_GYM_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    status, _, errors = command("gc", "--runs", runs, "--keep", "2", "--yes")
    assert status == 1
    assert "old: the records database" in errors
    assert listing(runs / "old") - {"lock"} == before - {"lock"}


@pytest.mark.parametrize(
    ("text", "hours"), [("30d", 720), ("12h", 12), ("2w", 336), ("90m", 1.5), ("7200s", 2)]
)
def test_ages_are_read(text: str, hours: float) -> None:
    assert tidying.duration(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "3 days", "1d2h"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is no age"):
        tidying.duration(text)


def test_wrong_usage_is_told(command: Command, runs: Path) -> None:
    status, _, errors = command("gc", "--runs", runs)
    assert (status, "--keep N" in errors) == (2, True)
    status, _, errors = command("du", "--runs", runs / "nowhere")
    assert (status, "there is no folder" in errors) == (2, True)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1400, "1.4 kB"), (5e15, "5000 TB")]
)
def test_sizes_are_said_as_people_read_them(count: float, text: str) -> None:
    assert tidying.size(count) == text


def test_a_url_of_the_settings_is_where_records_go_from(
    command: Command, runs: Path, tmp_path: Path
) -> None:
    shared = parse(f"sqlite:///{tmp_path / 'all.sqlite'}", "the test")
    engine = open_database(shared)
    ingest(engine, runs / "old")
    (runs / "old" / "config.yaml").write_text(f"run:\n  records: sqlite:///{tmp_path}/all.sqlite\n")
    assert command("gc", "--runs", runs, "--keep", "2", "--yes")[0] == 0
    assert story.rows(engine, "training") == []
    engine.dispose()
