"""A run that is killed goes on to the bit, whatever it was doing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

pytestmark = pytest.mark.nightly

RUN = (
    "--plugin", "grpo", "--trainer.groups", "2", "--trainer.group_size", "4",
    "--trainer.instances", "3", "--trainer.replay.enabled", "true", "--env.num_envs", "4",
    "--run.steps", "4", "--run.save_every", "1", "--run.eval_every", "0",
    "--evaluation.episodes", "0", "--policy.threads", "1", "--tasks.curriculum", "learnability",
)  # fmt: skip

DRIVER = """
import os, signal, sys
from ui_gym_agents.groups import gathering
from ui_gym_agents.training import checkpoint, cli
from ui_gym_grpo import learning

def dying(function, when):
    calls = []
    def called(*arguments, **more):
        calls.append(1)
        if len(calls) == when:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **more)
    return called

phase = sys.argv[1]
if phase == "collecting":  # in the middle of the third step's episodes
    gathering.Gatherer._learn_from = dying(gathering.Gatherer._learn_from, 6)
elif phase == "learning":  # after some of the third step's gradient steps
    learning.Learner._descend = dying(learning.Learner._descend, 7)
elif phase == "saving":  # when the second checkpoint's files are written, but not in place
    os.rename = dying(os.rename, 2)
    os.replace = dying(os.replace, 4)
sys.exit(cli.main(sys.argv[2:]))
"""


def run(phase: str, *arguments: str) -> int:
    """The exit status of a training that is killed in a phase."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, phase, *arguments],
        capture_output=True, text=True, timeout=900, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert done.returncode in (0, -9), done.stdout + done.stderr
    return done.returncode


def timeless(value: Any) -> Any:
    """Without what a clock said."""
    if isinstance(value, dict):
        clocked = ("seconds", "started_at", "times", "target_modules")
        kept = {k: v for k, v in value.items() if k not in clocked}
        return {k: timeless(v) for k, v in kept.items() if not k.startswith("time_")}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def outcome(path: Path) -> dict[str, Any]:
    """The metrics, the files and the state of the last checkpoint, and what was played.

    Of the files: bytes, or what JSON says without times.
    """
    found: dict[str, Any] = {}
    last = path / "checkpoints" / "step_000004"
    # Random generators and the curriculum: what the next step would play.
    state = json.loads((last / "state.json").read_text())
    found["state"] = {key: state[key] for key in ("config_hash", "context", "rng")}
    # By id: those of a step that was torn are there twice, and alike.
    played = map(json.loads, (path / "episodes" / "episodes.jsonl").open())
    found["episodes"] = {e["id"]: timeless(e) for e in played}
    for file in [path / "metrics.jsonl", *sorted(last.iterdir())]:
        if file.suffix == ".safetensors":
            found[file.name] = file.read_bytes()
        elif file.suffix == ".jsonl":
            found[file.name] = [timeless(json.loads(line)) for line in file.open()]
        elif file.name == "adapter_config.json":
            found[file.name] = timeless(json.loads(file.read_text()))
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    path = tmp_path_factory.mktemp("whole") / "run"
    assert run("none", *RUN, "--run.directory", str(path)) == 0
    return path


@pytest.mark.parametrize("phase", ["collecting", "learning", "saving"])
def test_a_killed_run_ends_as_if_nothing_had_happened(
    phase: str, whole: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    assert run(phase, *RUN, "--run.directory", str(path)) == -9
    assert len(saved(path)) < 4
    assert run("none", "--resume", str(path)) == 0
    found, expected = outcome(path), outcome(whole)
    assert found.keys() == expected.keys() >= {
        "metrics.jsonl", "replay.jsonl", "optimizer.safetensors", "adapter_model.safetensors",
        "state", "episodes",
    }  # fmt: skip
    for name in expected:
        assert found[name] == expected[name], name
    assert expected["replay.jsonl"]
    assert expected["state"]["context"]["curriculum"]["pending"]


def test_so_does_one_that_remembers_the_turns_of_its_episodes(tmp_path: Path) -> None:
    """What is kept of turns (`policy.reuse_bytes`) goes with the process, and changes nothing."""
    expected = killed_as_whole(
        tmp_path, "collecting", "--policy.history", "3", "--policy.history_drop", "2",
        "--env.max_steps", "4", "--trainer.group_size", "2", "--trainer.refill", "1",
    )  # fmt: skip
    steps = [row for row in expected["metrics.jsonl"] if row["kind"] == "train"]
    assert all(step["merged_turns"] > 0 and step["reused_tokens"] > 0 for step in steps)


def test_so_does_one_that_trains_all_weights_in_bfloat16(tmp_path: Path) -> None:
    """The float32 masters are in the checkpoint, beside what the optimizer keeps."""
    expected = killed_as_whole(
        tmp_path, "learning", "--policy.lora_rank", "0", "--policy.dtype", "bfloat16",
        "--trainer.lr", "1e-5",
    )  # fmt: skip
    masters = load_file(tmp_path / "whole/checkpoints/step_000004/optimizer.safetensors")
    kept = [value for name, value in masters.items() if name.endswith(".master")]
    assert kept
    assert any(not torch.equal(value, value.bfloat16().float()) for value in kept)
    assert "model.safetensors" in expected


def killed_as_whole(folder: Path, phase: str, *options: str) -> dict[str, Any]:
    """The outcome of a run, which is that of the same run killed in a phase."""
    whole, path = folder / "whole", folder / "run"
    assert run("none", *RUN, *options, "--run.directory", str(whole)) == 0
    assert run(phase, *RUN, *options, "--run.directory", str(path)) == -9
    assert run("none", "--resume", str(path)) == 0
    found, expected = outcome(path), outcome(whole)
    for name in expected:
        assert found[name] == expected[name], name
    return expected


def saved(path: Path) -> list[str]:
    """The checkpoints that are whole."""
    return [f.name for f in (path / "checkpoints").iterdir() if f.name.startswith("step_")
            and not f.name.endswith(".tmp")]  # fmt: skip
