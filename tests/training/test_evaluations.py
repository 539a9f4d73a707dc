"""Evaluations of a training run: what is played, and the reports that are kept of each."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest
from pydantic import BaseModel
from rich.console import Console

from ui_gym_agents.agents import RandomAgent
from ui_gym_agents.episode import Purpose
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.host import Host
from ui_gym_agents.training.listeners import RunListener
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig

pytest.importorskip("jinja2")

CONFIG = RunConfig(
    plugin="x",
    tasks={"ids": ["PaintClick", "PaintText"]},
    env={"num_envs": 2, "dialect": "canonical"},
    run={"steps": 0},
    evaluation={"attempts": 3, "episodes": 4},
)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[TrainerContext]:
    """A run on the paint suite, whose policy is a random agent."""
    run = RunDirectory(tmp_path)
    context = TrainerContext(run=run, config=CONFIG)
    context.__dict__["policy"] = RandomAgent(context.envs.single_action_space)
    yield context
    context.close()
    run.close()


def test_each_evaluation_keeps_its_episodes_and_reports(
    context: TrainerContext, tmp_path: Path
) -> None:
    for step in (0, 5):
        context.done = step
        assert context.evaluate(4, True) is not None
        folder = tmp_path / "evaluations" / f"step_{step:06}-greedy"
        assert json.loads((folder / "report.json").read_text())["n"] == 4
        assert len(list(EpisodeStore(folder))) == 4
        text = (folder / "report.html").read_text()
        assert "data:image/webp;base64," in text
        assert f"<dt>finished steps</dt><dd>{step}</dd>" in text
        assert "UI/PaintText-v0" in (folder / "report.md").read_text()


def test_sampled_answers_are_measured_by_pass_at_k(context: TrainerContext) -> None:
    report = context.evaluate(4, False)
    assert report is not None
    assert (report.n, report.total.instances) == (12, 4)
    assert list(report.total.pass_at_k) == [1, 2, 3]
    greedy = context.evaluate(4, True)
    assert greedy is not None
    assert list(greedy.total.pass_at_k) == [1]


def test_the_report_of_a_trainers_own_evaluator_is_kept(
    context: TrainerContext, tmp_path: Path
) -> None:
    found = SimpleNamespace(success=0.5, n=4, interval=(0.25, 0.75))
    context.evaluator = lambda episodes, greedy: found
    assert context.evaluate(4, False) is found
    kept = json.loads(
        (tmp_path / "evaluations" / "step_000000-sampled" / "report.json").read_text()
    )
    assert kept == {"success": 0.5, "n": 4, "interval": [0.25, 0.75]}


class NoSettings(BaseModel):
    """It has none."""


class Guesses:
    """A trainer whose player is a random agent."""

    api_version = 1
    Config = NoSettings

    def __init__(self, config: NoSettings, context: TrainerContext) -> None:
        context.player = RandomAgent(context.envs.single_action_space)

    def step(self) -> dict[str, float]:
        return {}

    def save(self, directory: Path) -> None:
        (directory / "nothing").touch()


class Counts(RunListener):
    """How many episodes each evaluation announced, and played, and their seeds by its kind."""

    def __init__(self) -> None:
        self.announced: dict[Purpose, int] = {}
        self.played: dict[Purpose, int] = {}
        self.seeds: defaultdict[str, set[int]] = defaultdict(set)

    def evaluation_begun(self, purpose: Purpose, episodes: int) -> None:
        self.announced[purpose] = episodes

    def episode(self, episode: Any) -> None:
        self.played[episode.purpose] = self.played.get(episode.purpose, 0) + 1
        self.seeds[episode.purpose.kind].add(episode.seed)


def measured(folder: Path, **given: Any) -> Counts:
    """What was measured of a run with these settings."""
    counts, run = Counts(), RunDirectory(folder)
    run.write("config.yaml", "env:\n  dialect: canonical\n")
    settings = CONFIG.model_dump(exclude={"trainer"})
    for section, values in given.items():
        settings[section] |= values
    config = RunConfig.with_trainer(NoSettings)(**settings)
    with (folder / "out").open("w") as out:
        assert Host(Guesses, config, run, Console(file=out), None, [counts]).run() == 0  # type: ignore[arg-type]
    run.close()
    return counts


def test_as_many_episodes_are_announced_as_are_played(tmp_path: Path) -> None:
    counts = measured(tmp_path)
    assert sorted(counts.announced.values()) == [4, 4, 12, 12]
    assert counts.announced == counts.played


def test_evaluations_that_may_end_the_run_share_no_instance_with_the_final_one(
    tmp_path: Path,
) -> None:
    run = {"steps": 2, "eval_every": 1, "save_every": 0}
    asked = {"attempts": 1, "both": False, "quick_episodes": 3}
    free = measured(tmp_path / "free", run=run, evaluation=asked).seeds
    bound = measured(tmp_path / "bound", run=run, evaluation=asked | {"target": 1.0}).seeds
    assert free["evaluation"] < free["final"] == free["baseline"]
    assert bound["final"] == bound["baseline"] == free["final"], "the same in every run"
    assert len(bound["evaluation"]) == 3
    assert bound["evaluation"].isdisjoint(bound["final"])
