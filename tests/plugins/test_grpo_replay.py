"""ARPO's experience replay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from grpo_helpers import make_learner, make_policy, play_episodes, run_reward

from ui_gym_agents.episode import Episode, TokenRecord, Turn
from ui_gym_agents.groups.gathering import Gatherer, Trajectory
from ui_gym_agents.groups.replay import ReplayBuffer
from ui_gym_agents.groups.settings import ReplaySettings
from ui_gym_agents.seeds import derive
from ui_gym_agents.store import ScreenshotStore
from ui_gym_grpo.config import GRPOConfig
from ui_gym_grpo.learning import Learner


def episode(score: float, *, seed: int = 1, member: int = 0, tokens: bool = True) -> Episode:
    record = TokenRecord((1, 2), (3,), (-0.5,), ("abc",), version=7) if tokens else None
    turn = Turn(screenshot_id="abc", action_text="click(1, 2)", tokens=record)
    return Episode("UI/Test-v0", seed, "Do it.", [turn], id=f"g.{member}", score=score)


def buffer(**rule: float) -> ReplayBuffer:
    return ReplayBuffer(ReplaySettings(**rule))  # type: ignore[arg-type]


FAILED = [episode(0.0, member=member) for member in range(4)]


def test_only_a_group_that_failed_as_a_whole_gets_one() -> None:
    replay = buffer()
    assert replay.wants(FAILED)
    assert not replay.wants([*FAILED, episode(1.0)])
    assert not replay.wants([episode(1.0)] * 4)
    assert not replay.wants([episode(0.3)] * 4)  # all alike, but not bad enough


def test_it_comes_from_the_same_instance_and_is_drawn_by_the_seed() -> None:
    replay = buffer()
    kept = [episode(1.0, member=member) for member in range(3)]
    replay.store(kept, step=1)
    drawn = [replay.draw(FAILED, step=1, seed=seed) for seed in (0, 1, 2)]
    again = buffer()
    again.store(kept, step=1)
    assert drawn == [again.draw(FAILED, step=1, seed=seed) for seed in (0, 1, 2)]
    assert all(one in kept for one in drawn)
    assert replay.draw([episode(0.0, seed=2)], step=1, seed=0) is None


def test_what_is_kept() -> None:
    replay = buffer(size=2)
    bad, good = episode(0.1), [episode(1.0, member=member) for member in range(3)]
    broken = episode(1.0)
    broken.failure = "device: gone"
    strangers = episode(1.0, tokens=False)
    assert replay.store([bad, broken, strangers, *good], step=1) == good
    assert len(replay) == 2
    assert {replay.draw(FAILED, step=1, seed=s).id for s in range(8)} == {"g.1", "g.2"}  # type: ignore[union-attr]


def test_age_and_uses_are_bounded() -> None:
    replay = buffer(max_age=5, max_uses=2)
    replay.store([episode(1.0)], step=1)
    assert replay.draw(FAILED, step=7, seed=0) is None
    assert replay.draw(FAILED, step=6, seed=0) is not None
    assert replay.draw(FAILED, step=6, seed=0) is not None
    assert replay.draw(FAILED, step=6, seed=0) is None
    replay.store([], step=6)
    assert len(replay) == 0


def test_it_survives_a_checkpoint(tmp_path: Path) -> None:
    replay = buffer()
    replay.store([episode(1.0), episode(0.5, seed=2)], step=3)
    drawn = replay.draw(FAILED, step=3, seed=0)
    replay.save(tmp_path / "replay.jsonl")
    loaded = buffer()
    loaded.load(tmp_path / "replay.jsonl")
    assert loaded == replay
    assert loaded.draw(FAILED, step=4, seed=0) == drawn


@pytest.mark.parametrize("count", [0, 1])
def test_a_group_of_one_or_none_does_not_trouble_it(count: int) -> None:
    assert buffer().draw(FAILED[:1], step=1, seed=0) is None
    assert buffer().wants(FAILED[:1])
    assert buffer().store(FAILED[:count], step=1) == []


# -- what is learned from it --


class Failing:
    """Plays groups of one instance in which all fail."""

    def __init__(self, group: list[Episode], screenshots: ScreenshotStore) -> None:
        self.group = group
        self.store = SimpleNamespace(screenshots=screenshots)

    def groups(self, requests: Any) -> Iterator[list[Episode]]:
        yield self.group


def gathered(learner: Learner, played: list[Episode], replay: ReplayBuffer) -> list[Trajectory]:
    """What a step learns from where `played` is its only group."""
    config = GRPOConfig(groups=1, group_size=len(played), refill=1, reward="completion")
    context = SimpleNamespace(
        requests=lambda *args, **more: [SimpleNamespace(group="1-0")],
        derive=derive, observe=lambda group: None,
        reward=run_reward,
    )  # fmt: skip
    gatherer = Gatherer(config, context, Failing(played, learner._screenshots), replay)  # type: ignore[arg-type]
    batch = gatherer.batch(2)
    assert batch.replayed == 1
    return batch.trajectories


@pytest.mark.parametrize("drift", [-3.0, 3.0])
def test_a_success_that_the_policy_has_left_is_learned_from_with_its_group(
    drift: float, tiny: Path, tmp_path: Path
) -> None:
    """Else its group's failures would be made less likely, and nothing in their place likelier."""
    learner = make_learner(make_policy(tiny, threads=1), tmp_path, lr=1e-2, episode_tokens=5)
    episodes = [
        replace(e, seed=1, group="1-0", score=0.0)
        for e in play_episodes(learner.policy, learner._screenshots, 5)
    ]
    won = replace(episodes[0], score=1.0, group="old", turns=[
        replace(turn, tokens=replace(
            turn.tokens, version=0, truncated=False,
            logprobs=tuple(p - drift for p in turn.tokens.logprobs),
        ))
        for turn in episodes[0].turns if turn.tokens
    ])  # fmt: skip
    learner.policy.version = 5
    for episode in episodes[1:]:
        for turn in episode.turns:
            assert turn.tokens is not None
            turn.tokens = replace(turn.tokens, version=5, truncated=False)
    replay = buffer()
    replay.store([won], step=1)
    records = [turn.tokens for turn in won.turns if turn.tokens]

    def likely() -> float:
        with torch.no_grad():
            return float(torch.cat(learner.policy.logprobs(records, learner._screenshots)).sum())

    before = likely()
    metrics = learner.learn(gathered(learner, episodes[1:], replay))
    assert metrics["masked_turns"] == 0
    assert metrics["stale_turns"] > 0
    assert likely() > before
