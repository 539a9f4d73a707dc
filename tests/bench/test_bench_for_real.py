"""A tiny model learns from an oracle in Chromium by the benchmark, and again to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench.conftest import SMALL, Bench, with_protocol

CLONE = (
    "--algorithm", "clone", "--plugin", "sft", "--set", "trainer.episodes=4",
    "--set", "trainer.warmup=1", "--task", "CheckboxSet", "--seeds", "0",
)  # fmt: skip
RESULT = Path("results/tiny-reader/clone/CheckboxSet-0.json")
BESIDE = """
[evaluation.beside]
training_parameters = { split = "train" }
other_looks = { arguments = { look = "heldout" } }
"""


@pytest.fixture
def learned(bench: Bench) -> dict[str, Any]:
    """The result of two steps; the run has cores for itself that two would share."""
    Path("beside.toml").write_text(SMALL.read_text().replace("jobs = 1", "jobs = 2") + BESIDE)
    assert bench("run", *CLONE, "--protocol", "beside.toml")[0] == 0
    result: dict[str, Any] = json.loads(RESULT.read_text())
    assert result["status"] == "finished", result["error"]
    return result


def test_a_tiny_model_learns_and_its_result_is_had_again(
    learned: dict[str, Any], bench: Bench
) -> None:
    assert (learned["steps"], learned["episodes"]) == (2, 8)
    figures = learned["figures"]["CheckboxSet"]
    assert figures["after"]["greedy"]["n"] == 4
    assert {name: rate["n"] for name, rate in figures["beside"].items()} == {
        "training_parameters": 4, "other_looks": 4,
    }  # fmt: skip
    assert any("--set 'look=\"heldout\"'" in command for command in learned["commands"])
    (session,) = Path("runs").rglob("tiny-reader-clone-CheckboxSet-0.json")
    *_, first, second = json.loads(session.read_text())["children"]
    assert second["begun"] < first["begun"] + first["seconds"], "one core had nothing to do"
    assert (
        "| algorithm | held-out parameters | training parameters | other looks |"
        in (bench("table", "--markdown")[1])
    )
    assert learned["versions"]["browser"]
    assert "adapter_model.safetensors" in learned["weights"]
    status, output, _ = bench("rerun", str(RESULT))
    assert (status, "equal to the bit" in output) == (0, True), output


@pytest.mark.nightly
def test_many_tasks_are_measured_one_by_one_beside_their_controls(bench: Bench) -> None:
    """Two tasks are trained on, a third is held out; what needs no training is measured of it."""
    tasks = ("--task", "CheckboxSet", "ClickButton", "Login")
    many = ("--algorithm", "clone", "--plugin", "sft", "--set", "trainer.episodes=4", *tasks)
    assert bench(*with_protocol("multi", *many, "--held-out", "families", "--seeds", "0"))[0] == 0
    figures = json.loads(RESULT.with_name("multi-held-out-0.json").read_text())["figures"]
    assert {name: each["held_out"] for name, each in figures.items()} == {
        "CheckboxSet": False, "ClickButton": False, "Login": True,
    }  # fmt: skip
    assert {each["after"]["sampled"]["n"] for each in figures.values()} == {4}

    assert bench(*with_protocol("controls", "--task", "Login"))[0] == 0
    (path,) = Path("results").rglob("controls/Login.json")
    (measured,) = json.loads(path.read_text())["figures"].values()
    assert 0 < measured["blind"] < 1
    assert measured["random"]["n"] == measured["before"]["greedy"]["n"] == 2
    assert list(measured["pass_at_k"]) == ["1", "2"]

    rows = json.loads(bench("table", "--json")[1])["tasks"]
    assert rows["Login"]["clone, held-out"]["held_out"]
    assert rows["Login"]["blind guess"]["success"] == measured["blind"]
    assert "blind guess" not in rows["ClickButton"]
