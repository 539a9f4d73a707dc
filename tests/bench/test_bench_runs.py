"""Runs of the benchmark: budgets, results, going on after a stop, and running again."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from waiting import eventually

from tests.bench.conftest import RESULT, WALK, Bench, with_protocol
from ui_gym_agents.bench import cli
from ui_gym_agents.bench.session import BenchSession
from ui_gym_agents.evaluation.report.statistics import percent

RUN = with_protocol("run", *WALK, "--seeds", "0")


def kept(path: Path = RESULT) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text())
    return values


def test_a_run_ends_with_its_budget_and_says_all_that_bears_on_it(bench: Bench) -> None:
    status, _, errors = bench(*RUN)
    result = kept()
    success = result["curve"][1]["success"]
    assert (status, errors.strip()) == (0, f"walk CheckboxSet 0: done: {percent(success)} greedy")
    assert (result["steps"], result["episodes"]) == (2, 8)
    assert result["stopped_by"] == "the limit of 8 episodes"
    assert [point["episodes"] for point in result["curve"]] == [4, 8]
    (command,) = result["commands"]
    assert command.startswith("ui-gym-train --plugin walker ")
    figures = result["figures"]["CheckboxSet"]
    assert figures["before"]["greedy"] == {"success": 0.0, "low": 0.0, "high": 0.0, "n": 4}
    assert figures["after"]["greedy"]["success"] == success
    assert result["protocol"]["version"] == "small"
    assert len(result["protocol"]["hash"]) == 64
    assert len(result["parent"]["files"]["model.safetensors"]) == 64
    assert {"cpu", "cores", "memory"} <= result["machine"].keys()
    assert {"ui-gym", "torch", "python"} <= result["versions"].keys()
    assert 0 < result["seconds"]["training"] < result["seconds"]["wall"]
    assert result["seconds"]["cpu"] > 0

    status, _, errors = bench(*RUN)
    assert status == 0
    assert "1 of 1 have a result already" in errors
    assert kept() == result


def test_steps_of_another_process_are_no_result(bench: Bench, work: Path) -> None:
    assert bench(*RUN)[0] == 0
    RESULT.unlink()
    (metrics,) = work.rglob("metrics.jsonl")
    whole = metrics.read_text()
    last = json.loads(whole.splitlines()[-1])
    metrics.write_text(f"{whole}{json.dumps({**last, 'kind': 'train', 'step': 10})}\n")
    status, _, errors = bench(*RUN)
    assert (status, RESULT.exists()) == (1, False)
    assert "does not tell steps 1 to 3, each once" in errors
    metrics.write_text(whole)
    assert bench(*RUN)[0] == 0


def test_a_run_is_run_again_from_its_result_alone(bench: Bench, work: Path) -> None:
    """Two steps of 99, whose number a trainer may look at; then a result that is not so."""
    assert bench(*RUN, "--set", "run.steps=99")[0] == 0
    status, output, _ = bench("rerun", str(RESULT), "--runs", "elsewhere")
    assert "2 steps again: equal to the bit: curve and weights" in output
    assert status == 0
    assert not list((work / "elsewhere").rglob("step_*"))

    changed = kept()
    changed["curve"][1]["success"] += 1e-9
    changed["weights"]["walker.safetensors"] = "0" * 64
    RESULT.write_text(json.dumps(changed))
    status, output, _ = bench("rerun", str(RESULT), "--runs", "elsewhere")
    assert status == 1
    assert "different: step 2: episodes, success" in output
    assert "different: the weights that were learned are others" in output


def test_a_result_says_whether_it_is_of_a_control_and_what_it_began_with(
    bench: Bench, work: Path
) -> None:
    adapter = work / "begun" / "adapter_model.safetensors"
    adapter.parent.mkdir()
    adapter.write_bytes(b"learned")
    told = 'plugin = "walker"\ncontrol = true\nsettings = { "policy.adapter" = "begun" }\n'
    Path("walk.toml").write_text(told)
    asked = ("--algorithm", "walk.toml", "--task", "CheckboxSet", "--seeds", "0")
    assert bench(*with_protocol("run", *asked))[0] == 0
    assert kept()["control"]
    assert kept()["parent"]["adapter"] == {adapter.name: hashlib.sha256(b"learned").hexdigest()}
    adapter.write_bytes(b"learned again")
    status, _, errors = bench("rerun", str(RESULT), "--runs", "elsewhere")
    assert (status, "the adapter begun here is not the one" in errors) == (2, True)


def test_a_run_that_fails_is_a_result_and_is_not_tried_again_by_itself(bench: Bench) -> None:
    failing = (*RUN, "--set", "trainer.fails_at=2")
    assert "failed after 1 steps" in bench(*failing)[2]
    result = kept()
    assert result["status"] == "failed"
    assert "one too many" in result["error"]
    assert result["figures"] == {}
    status, _, errors = bench(*failing)
    assert (status, "has failed before; to try again, remove" in errors) == (0, True)
    status, output, _ = bench("table")
    assert output == "CheckboxSet\tfailed\n"


def test_what_fails_before_its_first_step_is_no_result(bench: Bench) -> None:
    status, _, errors = bench(*RUN, "--set", "trainer.fails_at=1")
    assert status == 1
    assert "failed before its first step" in errors
    assert "1 of 1 could not be done" in errors
    assert not RESULT.exists()


def test_wrong_settings_of_an_algorithm_are_told(bench: Bench) -> None:
    status, _, errors = bench(*RUN, "--set", "trainer.rl=1")
    assert status == 2
    assert "trainer.lr" in errors


@pytest.fixture
def spawned(work: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """`ui-gym-bench` as a process of its own; killed at the end if it still runs."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", cli.__name__, *arguments]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill"])
def test_what_was_stopped_leaves_no_process_and_goes_on(
    bench: Bench, spawned: Callable[..., subprocess.Popen[str]], work: Path, how: signal.Signals
) -> None:
    """The second step waits for a file; the child saves it, also where its parent was killed."""
    gated = (*RUN, "--set", f"trainer.gate={work / 'gate'}")
    process = spawned(*gated)
    (folder,) = _in_its_second_step(work)
    (child,) = psutil.Process(process.pid).children()
    os.kill(process.pid, how)
    _, errors = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted: 0 of 1 are done; the same command goes on" in errors
    assert eventually(lambda: not child.is_running() or child.status() == "zombie", 30)
    assert not RESULT.exists()
    assert (folder / "checkpoints" / "step_000002" / "manifest.json").exists()

    (work / "gate").touch()
    assert bench(*gated)[0] == 0
    result = kept()
    assert result["steps"] == 2
    assert [shell.split()[1] for shell in result["commands"]][1:] == ["--resume"]


def test_a_second_in_which_two_children_ran_counts_once(tmp_path: Path) -> None:
    spans = ((100, 10), (105, 3), (107, 8), (120, 1))
    ended = [{"begun": at, "seconds": long, "cpu_seconds": 2.0} for at, long in spans]
    session = BenchSession(tmp_path / "run.json", {}, [*ended, {"begun": 121}])
    assert session.seconds() == {"wall": 16.0, "cpu": 8.0}


def _in_its_second_step(work: Path) -> list[Path]:
    """The folders of the runs whose trainer waits there; that its first step is told is no sign."""

    def folders() -> list[Path]:
        return [path.parent for path in work.rglob("waiting")]

    assert eventually(folders, 60)
    return folders()


def test_many_tasks_are_learned_by_one_run(bench: Bench) -> None:
    """The plan of a run on many tasks: those that are held out are not trained on."""
    tasks = ("--task", "CheckboxSet", "ClickButton", "Login", "--held-out", "families")
    asked = ("--algorithm", "walk", "--plugin", "walker", "--set", "run.steps=8", *tasks)
    status, output, _ = bench(*with_protocol("multi", *asked, "--seeds", "3", "--print"))
    assert status == 0
    (line,) = output.splitlines()
    for words in (
        """--tasks.ids '["CheckboxSet", "ClickButton"]'""", "--tasks.curriculum learnability",
        "--run.time_limit 600.0", "--run.steps 4 ", "--run.seed 3", "-walk-multi-held-out-3",
    ):  # fmt: skip
        assert words in line
