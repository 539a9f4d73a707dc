"""`ui-gym-records show` and `compare`: faults and alerts of a run, a run watched, two runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import story

from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.records import comparison
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.ingest import REFUSED, ingest
from ui_gym_agents.records.target import of_file

Command = Callable[..., tuple[int, str, str]]


def take_in(folder: Path) -> None:
    engine = open_database(of_file(folder / "records.sqlite"))
    ingest(engine, folder)
    engine.dispose()


def test_faults_and_alerts_are_kept_and_shown(command: Command, tmp_path: Path) -> None:
    run = story.Run(tmp_path / "run")
    run.begin()
    run.step(1)
    for attempt, again in ((1, True), (2, False)):
        cause = "device: the browser ended"
        run.tell.fault(EpisodeFault("1-0.0", "UI/DataEntry-v0", 1, 0, attempt, cause, again))
    run.tell.alert(1, "failures", "12 of 100 episodes failed")
    run.tell.ended("failed", 1, "no device is left")
    take_in(run.folder)
    assert not (run.folder / REFUSED).exists(), "the log's own events are taken in"
    status, output, _ = command("show", run.folder)
    assert status == 0
    assert "faults that were met: device: the browser ended (2)" in output
    assert "12 of 100 episodes failed" in output
    _, output, _ = command("show", run.folder, "--json")
    (alert,) = json.loads(output)["alerts"]
    assert (alert["rule"], alert["message"]) == ("failures", "12 of 100 episodes failed")


@pytest.mark.parametrize(
    ("ended", "expected"), [("finished", 0), ("failed", 1), ("interrupted", 1), (None, 0)]
)
def test_one_look_tells_cron_how_a_run_stands(
    command: Command, tmp_path: Path, ended: str | None, expected: int
) -> None:
    run = story.Run(tmp_path / "run")
    run.begin()
    run.step(1)
    if ended:
        run.tell.ended(ended, 1)  # type: ignore[arg-type]
    take_in(run.folder)
    status, output, _ = command("show", run.folder, "--watch", "--limit", "0")
    assert status == expected
    assert output.split()[:3] == ["run", ended or "running", "1/2"]


def test_a_lost_run_is_told(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = story.Run(tmp_path / "run")
    run.begin()
    take_in(run.folder)
    monkeypatch.setattr("ui_gym_agents.records.queries.LOST_SECONDS", -1.0)
    status, output, _ = command("show", run.folder, "--watch")
    assert (status, output.split()[1]) == (1, "lost")


def test_a_run_is_watched_until_it_ends(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui_gym_agents.records.looking.REFRESH", 0.02)
    run = story.Run(tmp_path / "run")
    run.begin()
    run.step(1)
    take_in(run.folder)

    def go_on() -> None:
        run.step(2)
        run.tell.ended("failed", 2, "the disk is full")
        take_in(run.folder)

    later = threading.Timer(0.2, go_on)
    later.start()
    try:
        status, output, _ = command("show", run.folder, "--watch", "--limit", "60")
    finally:
        later.join()
    lines = output.splitlines()
    assert status == 1
    assert lines[0].startswith("run\trunning\t1/2")
    assert lines[-1].startswith("run\tfailed\t2/2")
    assert lines[-1].endswith("the disk is full")
    assert len(lines) == len(set(lines)), "a line comes only where something changed"


def test_two_runs_are_compared(command: Command, tmp_path: Path) -> None:
    for name, steps in (("a", 2), ("b", 1)):
        run = story.Run(tmp_path / "runs" / name)
        run.begin()
        run.baseline()
        for number in range(1, steps + 1):
            run.step(number)
        if name == "b":
            run.final()
        run.tell.ended("finished", steps)
        log = run.folder / "events.jsonl"
        if name == "b":
            log.write_text(log.read_text().replace('"num_envs": 24', '"num_envs": 8'))
        take_in(run.folder)
    runs = tmp_path / "runs"
    status, output, errors = command("compare", "a", "b", "--runs", runs, "--json")
    assert (status, errors) == (0, "")
    found = json.loads(output)
    assert found["settings"] == {"env.num_envs": [24, 8]}
    assert found["steps"] == ["1", "2"]
    assert found["curves"] == {"loss": [[0.5, 0.5], [0.5, None]]}
    greedy = found["evaluations"]["greedy"]
    assert [m["kind"] for m in greedy["runs"]] == ["baseline", "final"]
    assert greedy["difference"]["points"] == 1.0
    status, output, _ = command("compare", runs / "a", runs / "b", "--every", "2")
    assert status == 0
    assert "env.num_envs\t24\t8" in output
    assert "1-2\t0.5\t0.5" in output
    assert "100.0 % (10.0 to 90.0 %, 1 at step 2)\t+100.0" in output


def test_a_metric_that_is_no_number_or_missing_has_no_mean() -> None:
    step = {"number": 1, "metrics": {"kl": None}}
    told = {
        "name": "x", "config": {"plugin": "grpo"}, "facts": None, "steps": [step],
        "baselines": [], "evaluations": [],
    }  # fmt: skip
    found = comparison.compare(told, told, metrics=["kl", "nothing"])
    assert found["curves"] == {"kl": [[None, None]], "nothing": [[None, None]]}
    assert found["settings"] == found["facts"] == found["evaluations"] == {}


def test_a_difference_has_newcombes_interval() -> None:
    """56 of 70 against 48 of 80, the example of his paper: 0.0524 to 0.3339 (method 10)."""
    from ui_gym_agents.evaluation.report.statistics import wilson

    rates = []
    for won, n in ((48, 80), (56, 70)):
        low, high = wilson(won, n)
        rates.append({"success": won / n, "low": low, "high": high})
    found = comparison.difference(*rates)
    assert found["points"] == pytest.approx(0.2)
    assert (found["low"], found["high"]) == pytest.approx((0.0524, 0.3339), abs=5e-5)
