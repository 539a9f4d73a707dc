"""Proofs that a run outlives what it runs on, learns from no failure, and from nothing too old."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from spots import SPOTS, Chaos, PaintChaos
from train_helpers import rows, train

from tests.engines.model_server import ModelServer
from ui_gym_agents.episode import Episode
from ui_gym_agents.groups.advantages import leave_one_out
from ui_gym_agents.groups.gathering import Trajectory
from ui_gym_agents.store import EpisodeStore
from ui_gym_grpo.learning import Learner

pytestmark = pytest.mark.nightly

GROUP_SIZE, FEWEST = 4, 3
RUN = (
    "--plugin", "grpo", "--trainer.groups", "3", "--trainer.group_size", str(GROUP_SIZE),
    "--trainer.refill", "2", "--env.num_envs", "4", "--run.eval_every", "0", "--run.records", "off",
    "--evaluation.episodes", "0", "--policy.threads", "1", "--policy.lora_rank", "4",
    "--policy.max_new_tokens", "6", "--run.keep_pictures", "0", "--env.schedule", "free",
)  # fmt: skip


@dataclass
class Learned:
    """What a step learned from, and the version of the weights when it began to."""

    step: int
    version: int
    trajectories: list[Trajectory]


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> list[Learned]:
    """What each step learned from, as it goes on."""
    seen: list[Learned] = []
    original = Learner.learn

    def learn(self: Learner, trajectories: Sequence[Trajectory]) -> dict[str, float]:
        seen.append(Learned(self.context.step, self.policy.version, list(trajectories)))
        return original(self, trajectories)

    monkeypatch.setattr(Learner, "learn", learn)
    return seen


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_run_on_devices_that_hang_crash_and_fail_ends_well(
    clicker: Path,
    tmp_path: Path,
    learned: list[Learned],
    monkeypatch: pytest.MonkeyPatch,
    ahead: int,
) -> None:
    chaos = Chaos()
    monkeypatch.setattr(PaintChaos, "chaos", chaos)
    run = tmp_path / "run"
    status = train(
        *RUN, "--run.directory", str(run), "--policy.model", str(clicker), "--run.steps", "5",
         "--tasks.ids", "PaintChaos", "--tasks.arguments.step_timeout", "1.5",
         "--trainer.max_steps_off_policy", str(ahead),
    )  # fmt: skip
    assert status == 0
    assert set(chaos.happened) == {"hang", "lost", "blind", "hung reset"}
    assert max(ages(learned)) <= ahead
    failures = check(run, learned, steps=5)
    faults = [event for event in events(run) if event["event"] == "fault"]
    assert {fault["cause"] for fault in faults} >= {
        "device: the paint has dried", "device: no answer within 1.5 s"
    }  # fmt: skip
    again = [fault for fault in faults if fault["again"]]
    assert sum(row["replayed_episodes"] for row in rows(run)) == len(again)
    assert sum(row["device_restarts"] for row in rows(run)) == len(faults)
    assert len(faults) - len(again) == len(failures)
    first = faults[0]
    assert f"{first['cause']} ({first['task']}, slot {first['slot']}, try 1)" in log_of(run)
    # For good, only what fails each time: all others came once, and the episode was played again.
    assert failures
    assert {tuple(e.params["boxes"][0][1:]) for e in failures} == {SPOTS[0]}


def test_a_run_on_a_server_that_fails_ends_well(
    clicker: Path, tmp_path: Path, learned: list[Learned]
) -> None:
    server = ModelServer(clicker)
    server.faults = ["", "400", "500", "count", "", "cut", "", "400", "400", "400", "500", "junk"]
    run = tmp_path / "run"
    try:
        status = train(
            *RUN, "--run.directory", str(run), "--policy.model", str(clicker), "--run.steps", "2",
             "--tasks.ids", "PaintSpot", "--policy.engine", f"openai:tiny@{server.url}",
        )  # fmt: skip
    finally:
        server.close()
    assert status == 0
    assert not server.faults
    check(run, learned, steps=2)


@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_nothing_is_learned_from_that_is_older_than_allowed(
    ahead: int, clicker: Path, tmp_path: Path, learned: list[Learned]
) -> None:
    run = tmp_path / "run"
    status = train(
        *RUN, "--run.directory", str(run), "--policy.model", str(clicker), "--run.steps", "6",
         "--tasks.ids", "PaintSpot", "--trainer.max_steps_off_policy", str(ahead),
         # Learning takes longer than playing, so that whoever may play ahead does.
         "--trainer.epochs", "6",
    )  # fmt: skip
    assert status == 0
    assert check(run, learned, steps=6) == []
    assert min(1, ahead) <= max(ages(learned)) <= ahead


def check(run: Path, learned: list[Learned], *, steps: int) -> list[Episode]:
    """That the run is whole, and learned from nothing but what was played; returns the failures."""
    assert (run / "result.json").exists()
    told = rows(run)
    assert [row["step"] for row in told] == list(range(1, steps + 1))
    stored = list(EpisodeStore(run / "episodes"))
    assert len({e.id for e in stored}) == len(stored), "an episode counts once"
    good = [e for e in stored if e.failure is None]
    for row in told:
        own = [e for e in good if e.group.startswith(f"{row['step']}-")]
        assert row["episodes"] == len(own)
        assert row["success"] == pytest.approx(sum(e.success for e in own) / max(1, len(own)))
        lost = [e for e in stored if e.failure and e.group.startswith(f"{row['step']}-")]
        assert row["failed_episodes"] == len(lost)
    assert learned
    for step in learned:
        for name, group in itertools.groupby(step.trajectories, key=lambda t: t.episode.group):
            assert name.startswith(f"{step.step}-")
            members = sorted((e for e in good if e.group == name), key=lambda e: e.id)
            check_group(list(group), members)
    return [e for e in stored if e.failure is not None]


def events(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def log_of(run: Path) -> str:
    return (run / "log.txt").read_text()


def ages(learned: list[Learned]) -> list[int]:
    """How many steps the weights that sampled each turn were behind."""
    begun = {one.step: one.version for one in learned}
    return [
        sum(sample.record.version < begun[step] for step in begun if step <= one.step)
        for one in learned
        for trajectory in one.trajectories
        for sample in trajectory.samples
    ]


def check_group(group: list[Trajectory], members: list[Episode]) -> None:
    """That a group is all that went well of it, enough of it, and rewarded as it was played."""
    assert [one.episode.id for one in group] == [e.id for e in members]
    assert FEWEST <= len(group) <= GROUP_SIZE
    rewards = [float(e.success) for e in members]
    for one, expected in zip(group, leave_one_out(rewards), strict=True):
        assert one.episode.failure is None
        assert all(sample.advantage == pytest.approx(expected) for sample in one.samples)
