"""A run with a curriculum, in the host: what was learned of its tasks is in its checkpoints."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest
from pydantic import BaseModel, ConfigDict
from rich.console import Console

from ui_gym_agents.episode import Episode
from ui_gym_agents.training import checkpoint
from ui_gym_agents.training.failures import TrainingError
from ui_gym_agents.training.host import Host
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig


class Config(BaseModel):
    """How far it plays ahead of what it learns, and the step in which it fails."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    ahead: int = 0
    fails: int = 0


class Asker:
    """Asks for groups and says how they ended; keeps what it asked for in `asked`."""

    api_version = 1
    Config = Config
    asked: list[tuple[int, list[Any]]] = []

    def __init__(self, config: Config, context: Any) -> None:
        self.config, self.context = config, context
        self.played = 0

    def step(self) -> Mapping[str, float]:
        step = self.context.step
        if step == self.config.fails:
            raise RuntimeError("it fails")
        self.played = self.played or step - 1
        # As `groups.ahead` may: one step more, once this one is learned.
        until = step + self.config.ahead + (self.config.ahead > 0)
        while self.played < min(until, self.context.config.run.steps):
            self.played += 1
            self.play(self.played)
        return {"loss": 1.0}

    def play(self, step: int) -> None:
        requests = self.context.requests(step, 6, 2)
        self.asked.append((step, requests))
        self.context.observe(
            Episode(r.task, r.seed, "", [], group=r.group, success="Click" in r.task)
            for r in requests
        )

    def save(self, directory: Path) -> None:
        (directory / "nothing.json").write_text("{}")

    def load(self, directory: Path) -> None:
        pass


def run(
    folder: Path, steps: int, *, resume: bool = False, **settings: int
) -> list[tuple[int, list[Any]]]:
    """Train to `steps`; what was asked for."""
    config = RunConfig.model_validate(
        {
            "plugin": "asker",
            "tasks": {"ids": ["PaintClick", "PaintText"], "curriculum": "learnability"},
            "run": {"steps": steps, "save_every": 1, "eval_every": 0},
            "evaluation": {"episodes": 0},
            "trainer": Config(**settings),
        }
    )
    directory = RunDirectory.resume(folder) if resume else RunDirectory.create(folder, "asker")
    directory.write("config.yaml", "plugin: asker\n")
    Asker.asked = []
    try:
        newest = checkpoint.load_newest(directory.checkpoints, fall_back=False)
        console = Console(file=io.StringIO())
        assert Host(Asker, config, directory, console, newest).run() == 0
    finally:
        directory.close()
    return Asker.asked


def test_a_resumed_run_goes_on_with_what_it_knows_of_its_tasks(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", 12)
    first = run(tmp_path / "parts", 7)
    second = run(tmp_path / "parts", 12, resume=True)
    assert first + second == whole
    paths = [tmp_path / name / "checkpoints" / "step_000012" for name in ("whole", "parts")]
    states = [json.loads((path / "state.json").read_text())["context"] for path in paths]
    assert states[0] == states[1]
    assert states[0]["curriculum"]["tasks"]["UI/PaintText-v0"]["trials"] > 0
    told = [json.loads(line) for line in (tmp_path / "whole/metrics.jsonl").open()]
    assert told[-1]["task_success"] == 0.5


@pytest.mark.parametrize("ahead", [1, 2])
def test_what_was_played_ahead_of_a_checkpoint_counts_once(ahead: int, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", 12, ahead=ahead)
    with pytest.raises(TrainingError, match="failed in step 8: RuntimeError: it fails"):
        run(tmp_path / "parts", 12, ahead=ahead, fails=8)
    assert Asker.asked == whole[: 8 + ahead], "so much was played when it failed"
    assert run(tmp_path / "parts", 12, ahead=ahead, resume=True) == whole[7:]
    paths = [tmp_path / name / "checkpoints" / "step_000012" for name in ("whole", "parts")]
    states = [json.loads((path / "state.json").read_text())["context"] for path in paths]
    assert states[0] == states[1]
    assert run(tmp_path / "in_turn", 12) == whole, "it draws what one draws that plays in turn"
