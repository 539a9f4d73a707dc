"""The run directory: one process at a time, and metrics that a kill cannot spoil."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ui_gym.errors import UserError
from ui_gym_agents.training.event_log import EventLog
from ui_gym_agents.training.listeners import RunInfo
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig


def test_a_directory_in_use_is_refused_and_names_the_process(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from ui_gym_agents.training.run_directory import RunDirectory;"
        "RunDirectory(pathlib.Path(sys.argv[1])); print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(UserError) as caught:
            RunDirectory(tmp_path)
        assert f"{tmp_path} is in use by process {holder.pid} (since " in str(caught.value)
        assert "choose another --run.directory" in str(caught.value)
    finally:
        holder.kill()
        holder.communicate()
    RunDirectory(tmp_path).close()  # A killed process leaves no lock behind.


def test_the_lock_is_given_back(tmp_path: Path) -> None:
    first = RunDirectory(tmp_path)
    with pytest.raises(UserError, match="is in use"):
        RunDirectory(tmp_path)
    first.close()
    first.close()
    RunDirectory(tmp_path).close()


def test_a_directory_that_holds_a_run_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").touch()
    with pytest.raises(UserError, match="holds a run already; continue it with --resume"):
        RunDirectory.create(tmp_path, "toy")
    with pytest.raises(UserError, match="holds no run to resume"):
        RunDirectory.resume(tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


def test_runs_that_begin_in_the_same_second_get_their_own_directories(tmp_path: Path) -> None:
    made = [RunDirectory.create(None, "toy", tmp_path) for _ in range(3)]
    assert len({run.path for run in made}) == 3
    assert all(run.path.name.startswith("toy-") for run in made)
    for run in made:
        run.close()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"the run directory .*file.* cannot be"):
        RunDirectory.create(tmp_path / "file" / "run", "toy")


def test_metrics_are_cut_at_a_step_and_a_torn_line_is_dropped(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.append_metrics({"kind": "evaluation", "step": 0, "success": 0.5})
    for step in (1, 2, 3):
        run.append_metrics({"kind": "train", "step": step, "loss": float("nan")})
    run.append_metrics({"kind": "final", "step": 2, "success": 0.5})
    with run.metrics.open("a") as file:
        file.write('{"kind": "train", "st')
    assert len(list(run.read_metrics())) == 5
    run.cut_metrics(2)
    kept = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    assert [(r["kind"], r["step"]) for r in kept] == [
        ("evaluation", 0), ("train", 1), ("train", 2)
    ]  # fmt: skip
    assert kept[1]["loss"] is None
    run.close()


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.metrics.write_text('{"step": 1}\n{"st\n{"step": 3}\n')
    with pytest.raises(UserError, match=r"metrics.jsonl:2: this line is damaged"):
        list(run.read_metrics())
    run.close()


def test_a_resumed_run_cuts_what_a_kill_tore(tmp_path: Path) -> None:
    """A torn line must not count among the episodes of before: what is played now is shorter."""
    paths = [tmp_path / name / "episodes.jsonl" for name in ("episodes", "evaluations/step_1")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text('{"id": "whole"}\n' + '{"id": "torn' + "x" * 5000)
    EventLog(tmp_path).begun(RunInfo(tmp_path, RunConfig(), resumed=1))
    assert [path.read_text() for path in paths] == ['{"id": "whole"}\n'] * 2
    (line,) = (tmp_path / "events.jsonl").read_text().splitlines()
    assert json.loads(line)["files"] == {
        "episodes/episodes.jsonl": 16, "evaluations/step_1/episodes.jsonl": 16
    }  # fmt: skip
