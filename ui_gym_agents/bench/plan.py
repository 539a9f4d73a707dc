"""What is run: an algorithm, a model, tasks and a seed, as command lines of `ui-gym-train`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui_gym_agents.bench.algorithms import BenchAlgorithm
from ui_gym_agents.bench.protocol import BenchProtocol, BesideEvaluation

TRAIN, EVAL = "ui-gym-train", "ui-gym-eval"
MULTI = "multi"
"""The name of what is learned by one run on many tasks."""


@dataclass(frozen=True)
class BenchPlaces:
    """Where results go, and where runs live that make them."""

    out: Path
    runs: Path


@dataclass(frozen=True)
class BenchRun:
    """One run. With several `tasks`, it learns them all as one model."""

    protocol: BenchProtocol
    algorithm: str
    algorithm_settings: BenchAlgorithm
    model: str
    tasks: tuple[str, ...]
    seed: int
    held_out: tuple[str, ...] = ()
    """Tasks that it is measured on, and never trained on."""
    of_many: bool = False
    """Whether it is a run on many tasks, which is measured task by task."""

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self.algorithm} {self.task} {self.seed}"

    @property
    def task(self) -> str:
        """The task, or what stands for many."""
        if not self.of_many:
            return self.tasks[0]
        return f"{MULTI}-held-out" if self.held_out else MULTI

    @property
    def seconds(self) -> float:
        """Wall time of training that it may have."""
        if self.of_many:
            return self.protocol.multi.seconds_per_task * len(self.tasks)
        return self.protocol.budget.seconds

    @property
    def episodes(self) -> int:
        """Episodes of training that it may have."""
        if self.of_many:
            return self.protocol.multi.episodes_per_task * len(self.tasks)
        return self.protocol.budget.episodes

    def settings(self) -> dict[str, Any]:
        """The settings of `ui-gym-train` that say what is done; nothing of where."""
        protocol = self.protocol
        found: dict[str, Any] = {
            "plugin": self.algorithm_settings.plugin,
            "policy.model": self.model,
            "policy.threads": protocol.budget.threads,
            **protocol.settings,
            **(protocol.multi.settings if self.of_many else {}),
            **self.algorithm_settings.settings,
            "tasks.ids": self.tasks,
            "tasks.arguments": protocol.arguments,
            "evaluation.split": protocol.evaluation.split,
            "evaluation.episodes": 0 if self.of_many else protocol.evaluation.episodes,
            "run.seed": self.seed,
            "run.time_limit": self.seconds,
            "run.episode_limit": self.episodes,
        }
        if self.of_many and "run.steps" in found:
            # Many tasks have as many more episodes: the learning rate falls as much later.
            share = self.episodes / protocol.budget.episodes
            found["run.steps"] = max(1, round(found["run.steps"] * share))
        return found

    def folder(self, places: BenchPlaces) -> Path:
        """Where the run lives."""
        return places.runs / self.protocol.name / f"{_short(self.model)}-{_named(self)}"

    def result(self, places: BenchPlaces) -> Path:
        """Where its result goes."""
        return result_path(places.out, self.model, self.algorithm, f"{self.task}-{self.seed}")


def result_path(out: Path, model: str, kind: str, name: str) -> Path:
    """The file of a result."""
    return out / _short(model) / kind / f"{name}.json"


def _named(run: BenchRun) -> str:
    return f"{run.algorithm}-{run.task}-{run.seed}"


def _short(model: str) -> str:
    """A model's name as a folder's."""
    return re.sub(r"[^\w.-]", "_", Path(model).name)


def words(settings: Mapping[str, Any]) -> list[str]:
    """Settings as words of a command line, in the order in which they are given."""
    return [word for key, value in settings.items() for word in (f"--{key}", _text(value))]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(", ", ": "))


def train_command(settings: Mapping[str, Any], folder: Path) -> list[str]:
    """The command that begins a run."""
    return [TRAIN, *words(settings), "--run.directory", str(folder)]


def resume_command(folder: Path) -> list[str]:
    """The command that goes on with a run."""
    return [TRAIN, "--resume", str(folder)]


def evaluation_command(
    protocol: BenchProtocol,
    tasks: tuple[str, ...],
    episodes: int,
    out: Path,
    *own: str,
    beside: BesideEvaluation | None = None,
) -> list[str]:
    """The command that measures somebody on tasks; `own` says whom, and how."""
    asked = beside or BesideEvaluation(split=protocol.evaluation.split)
    arguments = protocol.arguments | asked.arguments
    named = [word for task in tasks for word in ("--task", task)]
    given = [w for k, v in arguments.items() for w in ("--set", f"{k}={json.dumps(v)}")]
    most = str(protocol.settings.get("policy.max_new_tokens", 24))
    return [
        EVAL, *own, *named, *given, "--split", asked.split,
        "--episodes", str(episodes), "--max-new-tokens", most, "--out", str(out), "--json",
    ]  # fmt: skip
