"""`ui-gym-bench` with a small protocol, and a trainer whose steps take no time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.distributions import install
from ui_gym_agents.bench import cli
from ui_gym_agents.evaluation.report.statistics import wilson

ROOT = Path(__file__).resolve().parents[2]
SMALL = Path(__file__).with_name("small.toml")

WALKER = '''
import time
from pathlib import Path
from types import SimpleNamespace
import numpy as np
from pydantic import BaseModel, ConfigDict
from safetensors.numpy import load_file, save_file

class Config(BaseModel):
    """How it walks."""
    model_config = ConfigDict(frozen=True, extra="forbid")
    lr: float = 0.2
    fails_at: int = 0
    gate: str = ""

class Walker:
    """Walks from 0 to 1 with noise; from step 2 on only once there is `gate`, a file of the run.

    Where it waits, it leaves a file ``waiting``.
    """
    api_version = 1
    Config = Config

    def __init__(self, config, context):
        self.config, self.context, self.at = config, context, np.zeros(1)
        context.evaluator = self.evaluate

    def evaluate(self, episodes, greedy):
        success = float(np.clip(self.at[0], 0, 1))
        return SimpleNamespace(success=success, n=episodes, interval=(success / 2, success))

    def step(self):
        if self.context.step == self.config.fails_at:
            raise ZeroDivisionError("one too many")
        deadline = time.monotonic() + 60
        gate = Path(self.context.run.path, self.config.gate)
        while self.context.step > 1 and self.config.gate and not gate.exists():
            Path(self.context.run.path, "waiting").touch()
            if self.context.stop_requested() or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        self.at += self.config.lr * (1 - self.at) + 0.01 * np.random.rand(1)
        return {"success": float(np.clip(self.at[0], 0, 1)), "episodes": 4}

    def save(self, directory):
        save_file({"at": self.at}, directory / "walker.safetensors")

    def load(self, directory):
        self.at = load_file(directory / "walker.safetensors")["at"]
'''

WALK = ("--algorithm", "walk", "--plugin", "walker", "--task", "CheckboxSet")
"""Two steps of it fill the small protocol's budget."""

RESULT = Path("results/tiny-reader/walk/CheckboxSet-0.json")

Bench = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the installed trainer."""
    folder = tmp_path_factory.mktemp("site")
    entry = "[ui_gym.trainers]\nwalker = bench_walker:Walker\n"
    install(folder, "bench-walker", "1.0", entry, bench_walker=WALKER)
    return folder


@pytest.fixture
def work(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder; children find the trainer, and no setting in the environment."""
    for name in [n for n in os.environ if n.startswith("UI_GYM_") and "__" in n]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(ROOT)]))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bench(work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    """`ui-gym-bench` in this process: (exit status, standard output, standard error)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["ui-gym-bench", *arguments])
        status = cli.main()
        output, errors = capsys.readouterr()
        return status, output, errors

    return run


def with_protocol(*arguments: str) -> tuple[str, ...]:
    """A command line with the small protocol."""
    return *arguments, "--protocol", str(SMALL)


def write(
    algorithm: str, task: str, seed: int, after: float | None = None, **own: Any
) -> dict[str, Any]:
    """A result file in ``results``, as somebody may send it; without `after`, of a failed run."""
    failed = after is None and "figures" not in own
    rates = {} if after is None else {"greedy": rate(after), "sampled": rate(after / 2)}
    figures = {} if failed else {task: {"after": rates}}
    values = {
        "schema": 1,
        "kind": "run",
        "status": "failed" if failed else "finished",
        "error": "something\nZeroDivisionError: one too many" if failed else "",
        "protocol": {"version": "v1", "hash": "a" * 64},
        "algorithm": algorithm,
        "tasks": [task],
        "seed": seed,
        "figures": figures,
        "steps": 3,
        "episodes": 12,
        "curve": [
            {"step": n, "episodes": 4 * n, "seconds": 60 * n, "success": n / 4} for n in (1, 2, 3)
        ],
        "seconds": {"training": 180},
        "parent": {"name": "tiny-reader", "files": {}},
        "commit": "c" * 40,
        "dirty": False,
        "versions": {},
        "machine": {"cpu": "a slow one"},
        "jobs": 2,
        **own,
    }
    path = Path("results") / f"{algorithm}-{task}-{seed}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values))
    return values


def rate(success: float, n: int = 200) -> dict[str, Any]:
    low, high = wilson(success * n, n)
    return {"success": success, "low": low, "high": high, "n": n}
