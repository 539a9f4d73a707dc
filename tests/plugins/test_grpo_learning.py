"""Gradient steps on what was played, on a tiny model of a real class."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from ui_gym.errors import UIGymError
from ui_gym_agents.agent import View
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy
from ui_gym_agents.store import ScreenshotStore
from ui_gym_agents.training.context import derive
from ui_gym_grpo import GRPOConfig
from ui_gym_grpo.critic import Critic
from ui_gym_grpo.gathering import Sample, Trajectory
from ui_gym_grpo.learning import Learner

Make = Callable[..., Learner]


def make_policy(folder: Path) -> VLMPolicy:
    policy = VLMPolicy.from_config(
        folder, lora_rank=4, prompt=PromptBuilder.bare(), max_new_tokens=6, seed=1
    )
    with torch.no_grad():  # an adapter that does something
        for parameter in policy.parameters():
            parameter += 0.02 * torch.randn(parameter.shape, generator=torch.manual_seed(0))
    return policy


@pytest.fixture
def make(tiny: Path, tmp_path: Path) -> Make:
    def learner(**settings: Any) -> Learner:
        policy = make_policy(tiny)
        context = SimpleNamespace(
            policy=policy, step=1, derive=derive, note=print,
            run=SimpleNamespace(path=tmp_path),
            config=SimpleNamespace(run=SimpleNamespace(steps=10)),
        )  # fmt: skip
        defaults = {"epochs": 1, "minibatches": 1, "warmup": 0, "hold": 0.9}
        return Learner(GRPOConfig(**defaults | settings), context, ScreenshotStore())  # type: ignore[arg-type]

    return learner


def play(learner: Learner, count: int = 4, turns: int = 2) -> list[Trajectory]:
    """Episodes of random pictures, half of them better than expected."""
    policy, store = learner.policy, learner._screenshots
    rng = np.random.default_rng(0)
    found = []
    for number in range(count):
        shown = [rng.integers(0, 255, (64, 96, 3), np.uint8) for _ in range(turns)]
        said = []
        for index in range(turns):
            view = View(0, "Enter row 3", [shown[index]], noise=100 * number + index)
            decision = policy.act([view])[0]
            key = store.put(shown[index])
            said.append(Turn(screenshot=key, output=decision.text, tokens=decision.tokens))
        episode = Episode("UI/Test-v0", number, "Enter row 3", said, score=float(number % 2))
        advantage = 1.0 if number % 2 else -1.0
        samples = [Sample(turn.tokens, advantage) for turn in said if turn.tokens is not None]
        rewards = [0.0] * (turns - 1) + [float(number % 2)]
        found.append(Trajectory(episode, samples, rewards))
    return found


def weights(learner: Learner) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in learner.policy.parameters()])


# -- the learning rate --


def rate(make: Make, step: int, updates: int, steps: int = 11) -> float:
    learner = make(lr=1.0, hold=0.5, final_lr=0.1, warmup=4)
    learner.policy.version = updates
    learner.context.step = step
    learner.context.config.run.steps = steps  # type: ignore[misc]
    return learner._learning_rate()


def test_it_rises_over_the_warm_up_and_falls_over_the_run(make: Make) -> None:
    assert [rate(make, 1, n) for n in range(5)] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0])
    assert [rate(make, step, 100) for step in (1, 6, 11)] == pytest.approx([1.0, 1.0, 0.1])
    assert rate(make, 16, 100, steps=21) == pytest.approx(0.55)


def test_steps_beyond_the_plan_keep_the_last_rate(make: Make) -> None:
    assert rate(make, 30, 100) == pytest.approx(0.1)
    assert rate(make, 1, 100, steps=1) == pytest.approx(1.0)


# -- a gradient step --


def test_it_makes_what_went_well_likelier(make: Make) -> None:
    learner = make(lr=1e-2)
    played = play(learner)
    metrics = learner.learn(played)
    assert metrics["logprob_gap"] < 1e-4  # the sampler's log-probabilities are the learner's
    assert metrics["updates"] == 1
    for number, trajectory in enumerate(played):
        records = [sample.record for sample in trajectory.samples]
        with torch.no_grad():
            now = torch.cat(learner.policy.logprobs(records, learner._screenshots)).sum().item()
        before = sum(sum(record.logprobs) for record in records)
        assert (now > before) == bool(number % 2)


@pytest.mark.parametrize("aggregate", ["episodes", "turns", "tokens"])
def test_micro_batches_change_nothing(make: Make, aggregate: str) -> None:
    found = []
    for tokens in (10_000, 64):
        learner = make(aggregate=aggregate, kl=0.1)
        learner.policy.batch_tokens = tokens
        learner.learn(play(learner))
        found.append(weights(learner))
    assert torch.allclose(found[0], found[1], atol=1e-5)
    assert not torch.equal(found[0], weights(make()))


def test_older_turns_are_weighed_by_how_far_the_policy_moved(make: Make) -> None:
    learner = make()
    played = play(learner)
    learner.policy.version = 5  # as if these were of long ago
    metrics = learner.learn(played)
    assert metrics["stale_turns"] == 1.0
    assert metrics["masked_turns"] == 0.0  # the weights are the same, so nothing has moved
    fresh = make()
    fresh.learn(play(fresh))
    assert torch.allclose(weights(learner), weights(fresh), atol=1e-6)


def test_the_kl_pulls_back_to_the_model_without_its_adapter(make: Make) -> None:
    learner = make(kl=10.0, lr=1e-3)
    played = play(learner)
    first = learner.learn(played)["kl"]
    for _ in range(5):
        last = learner.learn(played)["kl"]
    assert 0 <= last < first


def test_without_memory_it_goes_on_in_smaller_parts(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    learner = make()
    played = play(learner)
    score = learner.policy.logprobs

    def short(records: Any, *rest: Any, **more: Any) -> Any:
        if len(records) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return score(records, *rest, **more)

    learner.policy.batch_tokens = 10_000
    monkeypatch.setattr(learner.policy, "logprobs", short)
    learner.learn(played)
    assert "out of memory" in caplog.text
    roomy = make()
    roomy.learn(play(roomy))
    assert torch.allclose(weights(learner), weights(roomy), atol=1e-5)


def test_a_loss_that_is_no_number_keeps_the_batch_and_ends_the_run(
    make: Make, tmp_path: Path
) -> None:
    learner = make()
    played = play(learner)
    before = weights(learner)
    broken = [
        Trajectory(t.episode, [Sample(s.record, float("nan")) for s in t.samples], t.rewards)
        for t in played
    ]
    with pytest.raises(UIGymError, match="not finite"):
        learner.learn(broken)
    assert torch.equal(weights(learner), before)
    lines = (tmp_path / "broken_batch_step_1.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["record"]["output_ids"]


# -- the critic --


def test_the_critic_learns_what_is_returned(make: Make) -> None:
    learner = make(algorithm="ppo", critic={"warmup": 0, "epochs": 20, "lr": 1e-2})
    played = play(learner, count=6)
    explained = [learner.learn(played)["explained_variance"] for _ in range(4)]
    assert explained[0] < 0.1
    assert explained[-1] > 0.5


def test_the_critic_alone_learns_while_it_warms_up(make: Make) -> None:
    learner = make(algorithm="ppo", critic={"warmup": 1})
    before = weights(learner)
    assert "value_loss" in learner.learn(play(learner))
    assert torch.equal(weights(learner), before)
    learner.context.step = 2
    learner.learn(play(learner))
    assert not torch.equal(weights(learner), before)


def test_a_critic_sees_one_state_a_token_and_survives_a_checkpoint(
    make: Make, tmp_path: Path
) -> None:
    learner = make(algorithm="ppo")
    records = [s.record for t in play(learner) for s in t.samples]
    critic = learner.critic
    assert critic is not None
    states = critic.states(records, learner._screenshots)
    assert [len(state) for state in states] == [len(record.output_ids) for record in records]
    learner.policy.batch_tokens = 64
    for one, other in zip(states, critic.states(records, learner._screenshots), strict=True):
        assert torch.allclose(one, other, atol=1e-4)
    goals = torch.ones(len(states[0]))
    critic.fit(states[0], goals, epochs=2, minibatch=4, seed=0)
    critic.save(tmp_path)
    other = Critic(learner.policy, lr=1.0, seed=9)
    other.load(tmp_path)
    assert torch.equal(critic.values(states[0]), other.values(states[0]))
    after = [c.fit(states[0], goals, epochs=1, minibatch=4, seed=1) for c in (critic, other)]
    assert after[0] == after[1]
