"""What listeners are told of a run, and that they cannot stop it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from rich.console import Console

from ui_gym_agents.agents import RandomAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training import checkpoint, plugin
from ui_gym_agents.training.config import ConfigLoader
from ui_gym_agents.training.failures import TrainingError
from ui_gym_agents.training.host import Host
from ui_gym_agents.training.listeners import Listeners, RunListener
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig


class Memory(RunListener):
    """Keeps the names of what it is told, with the first argument."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def begun(self, run: Any) -> None:
        self.told.append(("begun", run.resumed))

    def step_begun(self, step: int, steps: int) -> None:
        self.told.append(("step", step, steps))

    def learned(self, step: int, episodes: Any) -> None:
        self.told.append(("learned", step, dict(episodes)))

    def step_finished(self, step: int, metrics: Any, elapsed: float) -> None:
        self.told.append(("done", step, "loss" in metrics and "time_step" in metrics))

    def evaluation_begun(self, purpose: Purpose, episodes: int) -> None:
        self.told.append(("evaluating", purpose.kind, purpose.step, purpose.mode, episodes))

    def evaluation_finished(self, purpose: Purpose, report: Any, elapsed: float) -> None:
        self.told.append(("evaluated", purpose.kind, purpose.step, report.n))

    def checkpoint(self, step: int, path: Path) -> None:
        self.told.append(("checkpoint", step, path.name))

    def ended(self, status: str, step: int, error: str = "") -> None:
        self.told.append(("ended", status, step, error))


class Broken(RunListener):
    """Fails in every step."""

    def step_begun(self, step: int, steps: int) -> None:
        raise ConnectionError(f"gone in {step}")


@pytest.fixture
def run(work: Path) -> Callable[..., int]:
    """A run of the toy with some settings and listeners; a second one resumes it."""

    def play(listeners: list[RunListener], **settings: Any) -> int:
        trainer = plugin.load("toy")
        loader: ConfigLoader[Any] = ConfigLoader(RunConfig.with_trainer(trainer.Config))
        loader.add_defaults({**plugin.default_overrides(trainer), "plugin": "toy"}, "test")
        loader.add_defaults(settings, "test")
        path = work / "run"
        path.mkdir(exist_ok=True)
        directory = RunDirectory(path)
        resumed = checkpoint.load_newest(directory.checkpoints, fall_back=False)
        try:
            config = loader.load().config
            with (work / "out").open("a") as out:
                console = Console(file=out, width=200)
                return Host(trainer, config, directory, console, resumed, listeners).run()
        finally:
            directory.close()

    return play


def test_a_run_is_told_in_order(run: Callable[..., int]) -> None:
    memory = Memory()
    settings = {"run.steps": 3, "run.eval_every": 2, "run.save_every": 2}
    assert run([memory], **settings) == 0
    assert memory.told == [
        ("begun", None),
        ("evaluating", "baseline", 0, "greedy", 20),
        ("evaluated", "baseline", 0, 20),
        ("step", 1, 3),
        ("done", 1, True),
        ("step", 2, 3),
        ("done", 2, True),
        ("evaluating", "evaluation", 2, "greedy", 10),
        ("evaluated", "evaluation", 2, 10),
        ("checkpoint", 2, "step_000002"),
        ("step", 3, 3),
        ("done", 3, True),
        ("checkpoint", 3, "step_000003"),
        ("evaluating", "final", 3, "greedy", 20),
        ("evaluated", "final", 3, 20),
        ("ended", "finished", 3, ""),
    ]


def test_a_failed_and_a_resumed_run_are_told_as_such(run: Callable[..., int]) -> None:
    memory = Memory()
    with pytest.raises(TrainingError):
        run([memory], **{"run.steps": 4, "trainer.at": 4, "trainer.event": "raise"})
    _, status, step, error = memory.told[-1]
    assert (status, step) == ("failed", 3)
    assert "one too many" in error
    again = Memory()
    assert run([again], **{"run.steps": 4}) == 0
    assert again.told[0] == ("begun", 2)
    assert again.told[-1] == ("ended", "finished", 4, "")


def test_what_episodes_were_worth_is_told_in_its_step_and_logged(
    run: Callable[..., int], work: Path
) -> None:
    memory = Memory()
    settings = {"run.steps": 2, "trainer.at": 2, "trainer.event": "learn"}
    assert run([memory], **settings) == 0
    told = [one[:2] for one in memory.told if one[0] in ("step", "learned", "done")]
    assert told == [("step", 1), ("done", 1), ("step", 2), ("learned", 2), ("done", 2)]
    lines = map(json.loads, (work / "run" / "events.jsonl").read_text().splitlines())
    (learned,) = (line for line in lines if line["event"] == "learned")
    assert learned["step"] == 2
    assert learned["episodes"] == {"2-0.0": [1.0, 0.5], "x": [None, None]}


def test_a_broken_listener_is_reported_once_and_stops_nothing(
    run: Callable[..., int], work: Path
) -> None:
    memory = Memory()
    assert run([Broken(), memory], **{"run.steps": 3}) == 0
    assert memory.told[-1] == ("ended", "finished", 3, "")
    told = [line for line in (work / "run" / "log.txt").read_text().splitlines() if "gone" in line]
    (line,) = told
    assert "Broken.step_begun failed, and the run goes on without it: ConnectionError" in line


def test_stored_episodes_are_told_with_their_purpose(tmp_path: Path) -> None:
    heard: list[tuple[str, Purpose, int]] = []
    store = EpisodeStore(tmp_path)

    class Ears(RunListener):
        def episode(self, episode: Episode) -> None:
            heard.append((episode.id, episode.purpose, len(list(store))))

    envs = gymnasium.make_vec(
        "UI/PaintClick-v0",
        2,
        vectorization_mode="vector_entry_point",
        max_steps=1,
    )
    try:
        agent = RandomAgent(envs.single_action_space)
        Collector(
            envs,
            agent,
            store=store,
            on_episode=Listeners([Ears()], print).episode,
            purpose=lambda: Purpose("step", 9),
        ).collect(
            [
                EpisodeRequest(1, group="12-3", purpose=Purpose("step", 12)),
                EpisodeRequest(1, group="mine"),
            ]
        )
    finally:
        envs.close()
    # Each is in its file when it is told.
    assert [stored for _, _, stored in heard] == [1, 2]
    assert {(name, purpose) for name, purpose, _ in heard} == {
        ("12-3.0", Purpose("step", 12)),
        ("mine.0", Purpose("step", 9)),
    }
    assert {episode.id: episode.purpose for episode in store} == {
        "12-3.0": Purpose("step", 12),
        "mine.0": Purpose("step", 9),
    }
    assert all(episode.started_at < episode.finished_at for episode in store)
