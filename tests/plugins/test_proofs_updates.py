"""Proofs of a whole update: what is computed does not depend on how it is computed.

The rule itself, token by token, is proven in `test_grpo_update`; here it is the learner's, from
recorded turns with windows of pictures to the gradient that the optimizer gets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from grpo_helpers import (
    gradient,
    make_learner,
    make_policy,
    play,
    play_episodes,
    trajectory,
    weights,
)

from ui_gym_agents.groups.gathering import Trajectory
from ui_gym_agents.policy import PromptBuilder
from ui_gym_agents.store import EpisodeStore
from ui_gym_grpo.config import GRPOConfig
from ui_gym_grpo.learning import Learner

Make = Callable[..., Learner]

WINDOW = 15
"""Pictures of a prompt, as in ARPO."""
UNCLIPPED = 1e9


@pytest.fixture
def make(tiny: Path, tmp_path: Path) -> Make:
    """Learners on equal policies, with `policy` settings of their own."""

    def learner(policy: dict[str, Any] | None = None, **settings: Any) -> Learner:
        given = {"clip": UNCLIPPED} | settings
        return make_learner(make_policy(tiny, threads=1, **policy or {}), tmp_path, **given)

    return learner


def windowed(history: int) -> dict[str, Any]:
    return {"prompt": replace(PromptBuilder.bare(), history=history)}


def estranged(played: Sequence[Trajectory], seed: int = 0) -> list[Trajectory]:
    """As if other log-probabilities had been sampled: ratios on both sides of either clip."""
    rng = np.random.default_rng(seed)
    found = []
    for one in played:
        samples = [
            replace(
                s,
                record=replace(
                    s.record, logprobs=tuple(p + rng.normal(0, 0.4) for p in s.record.logprobs)
                ),
            )
            for s in one.samples
        ]
        found.append(replace(one, samples=samples))
    return found


# -- 1: the loss --


def expected(learner: Learner, played: Sequence[Trajectory], config: GRPOConfig) -> float:
    """The loss of a step in float64, token by token."""
    turns = [s for one in played for s in one.samples]
    with torch.no_grad():
        scored = learner.policy.logprobs([s.record for s in turns], learner._screenshots)
    total = 0.0
    for sample, values in zip(turns, scored, strict=True):
        p, q = values.double().numpy(), np.array(sample.record.logprobs)
        assert isinstance(sample.advantage, float)
        a, low, high = sample.advantage, 1 - config.clips[0], 1 + config.clips[1]
        ratio = np.exp(np.full(len(p), np.mean(p - q)) if config.loss == "gspo" else p - q)
        gained = {
            "reinforce": a * p,
            "cispo": np.minimum(ratio, high) * a * p,
        }.get(config.loss, np.minimum(ratio * a, np.clip(ratio, low, high) * a))
        total -= gained.mean() if config.aggregate == "turns" else gained.sum()
    by = {
        "turns": len(turns),
        "tokens": sum(len(s.record.output_ids) for s in turns),
        "episodes": len(played) * config.episode_tokens,
    }
    return float(total / by[config.aggregate])


@pytest.mark.parametrize("aggregate", ["episodes", "turns", "tokens"])
@pytest.mark.parametrize("loss", ["ppo_clip", "gspo", "cispo", "reinforce"])
def test_a_steps_loss_is_the_reference(make: Make, loss: str, aggregate: str) -> None:
    learner = make(loss=loss, aggregate=aggregate, episode_tokens=7, clip_low=0.2, clip_high=0.28)
    played = estranged(play(learner))
    reference = expected(learner, played, learner.config)
    metrics = learner.learn(played)
    assert metrics["loss"] == pytest.approx(reference, rel=1e-5)
    assert metrics["clip_fraction"] < 1
    assert (metrics["clip_fraction"] == 0) == (loss == "reinforce")


# -- 2: sampler and learner agree --


@pytest.mark.parametrize("merge_turns", [False, True])
@pytest.mark.parametrize("batch_tokens", [1, 900, 100_000])
def test_the_first_ratio_is_one_whatever_the_batch(
    make: Make, merge_turns: bool, batch_tokens: int
) -> None:
    """Prompts of one picture and of fifteen, the oldest of which leave the window."""
    learner = make({**windowed(WINDOW), "merge_turns": merge_turns})
    played = play(learner, count=2, turns=WINDOW + 2)
    shown = [len(s.record.images) for s in played[0].samples]
    assert shown == [*range(1, WINDOW + 1), WINDOW, WINDOW]
    learner.policy.batch_tokens = batch_tokens
    assert learner.learn(played)["logprob_gap"] < 1e-5


# -- 3 and 4: merged or not, split or not --


@pytest.mark.parametrize("aggregate", ["episodes", "turns", "tokens"])
def test_a_batch_of_eight_is_eight_of_one(make: Make, aggregate: str) -> None:
    """Plain gradients: Adam and clipping would hide a wrong scale."""
    found = []
    for batch_tokens in (100_000, 1):
        learner = make(aggregate=aggregate, kl=0.1)
        played = estranged(play(learner))
        learner.policy.batch_tokens = batch_tokens
        records = [s.record for one in played for s in one.samples]
        assert len(learner.policy.batches(records)) == (8 if batch_tokens == 1 else 1)
        found.append(gradient(learner, played))
    close(*found)


@pytest.mark.parametrize("window", [3, WINDOW])
def test_a_merged_episode_has_the_gradient_of_its_turns(make: Make, window: int) -> None:
    found = []
    for merge_turns in (False, True):
        learner = make({**windowed(window), "merge_turns": merge_turns})
        played = estranged(play(learner, count=2, turns=5))
        found.append(gradient(learner, played))
    close(*found)


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    """Equal up to single precision, measured by the largest entry."""
    assert one.abs().max() > 1e-4
    assert (one - other).abs().max() < 1e-4 * one.abs().max()


# -- 10: the same trajectories, read again --


@pytest.mark.parametrize("settings", [{}, {"loss": "gspo", "kl": 0.1}, {"algorithm": "ppo"}])
def test_trajectories_teach_the_same_when_they_were_stored(
    make: Make, tmp_path: Path, settings: dict[str, Any]
) -> None:
    policy = windowed(3)
    critic = {"critic": {"warmup": 0}} if settings.get("algorithm") == "ppo" else {}
    first = make(policy, epochs=2, minibatches=2, **settings, **critic)
    store = EpisodeStore(tmp_path / "episodes")
    played = play_episodes(first.policy, store.screenshots, count=4, turns=4)
    store.add(played)
    first._screenshots = store.screenshots
    metrics = first.learn([trajectory(episode) for episode in played])

    second = make(policy, epochs=2, minibatches=2, **settings, **critic)
    read = EpisodeStore(tmp_path / "episodes")
    assert list(read) == played
    second._screenshots = read.screenshots
    assert second.learn([trajectory(episode) for episode in read]) == metrics
    assert torch.equal(weights(first), weights(second))
