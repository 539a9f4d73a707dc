"""Gradient steps on what was played, on a tiny model of a real class."""

from __future__ import annotations

import contextlib
import json
import math
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from grpo_helpers import assert_same_gradient, gradient, make_learner, make_policy, play, weights

from ui_gym.errors import UIGymError, UserError
from ui_gym_agents.groups.gathering import LearningTurn, Trajectory
from ui_gym_agents.training.alerts import lost_losses
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig
from ui_gym_grpo import GRPOConfig, GRPOTrainer
from ui_gym_grpo.config import CriticSettings
from ui_gym_grpo.critic import Critic
from ui_gym_grpo.judging import goes_on, judged, with_ends
from ui_gym_grpo.learning import Learner

Make = Callable[..., Learner]


@pytest.fixture
def make(tiny: Path, tmp_path: Path) -> Make:
    def learner(**settings: Any) -> Learner:
        return make_learner(make_policy(tiny), tmp_path, **settings)

    return learner


def test_divided_weights_are_not_played_ahead_with(tmp_path: Path) -> None:
    config: Any = {"plugin": "grpo", "policy": {"shard": True}}
    with contextlib.closing(RunDirectory(tmp_path)) as run:
        context = TrainerContext(run=run, config=RunConfig(**config))
        with pytest.raises(
            UserError, match=r"--policy\.shard divides the one there is: let a serv"
        ):
            GRPOTrainer(GRPOConfig(max_steps_off_policy=1), context)
        assert not context.has_policy, "it is said before anything is loaded"


# -- the learning rate --


def rate(step: int, updates: int, steps: int = 11) -> float:
    return GRPOConfig(lr=1.0, hold=0.5, final_lr=0.1, warmup=4).rate(updates, step, steps)


def test_it_rises_over_the_warm_up_and_falls_over_the_run() -> None:
    assert [rate(1, n) for n in range(5)] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0])
    assert [rate(step, 100) for step in (1, 6, 11)] == pytest.approx([1.0, 1.0, 0.1])
    assert rate(16, 100, steps=21) == pytest.approx(0.55)


def test_steps_beyond_the_plan_keep_the_last_rate() -> None:
    assert rate(30, 100) == pytest.approx(0.1)
    assert rate(1, 100, steps=1) == pytest.approx(1.0)


# -- a gradient step --


def test_two_micro_batches_are_learned_from_at_once_to_the_same_bits(make: Make) -> None:
    """Each waits for the other within its forward pass, which one thread could not."""

    def learned(lanes: int) -> torch.Tensor:
        learner = make(lr=1e-2)
        policy = learner.policy
        policy.lanes, policy.batch_tokens = lanes, 1
        played = play(learner)
        logprobs, meeting = policy.logprobs, threading.Barrier(lanes, timeout=120)

        def met(*args: Any, **more: Any) -> list[torch.Tensor]:
            meeting.wait()
            return logprobs(*args, **more)

        policy.logprobs = met  # type: ignore[method-assign]
        learner.learn(played)
        return weights(learner)

    assert torch.equal(learned(lanes=2), learned(lanes=1))


def test_it_makes_what_went_well_likelier(make: Make) -> None:
    learner = make(lr=1e-2)
    played = play(learner)
    metrics = learner.learn(played)
    assert metrics["logprob_gap"] < 1e-5  # the sampler's log-probabilities are the learner's
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
        found.append(gradient(learner, play(learner)))
    assert_same_gradient(*found)


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


@pytest.mark.parametrize("version", [0, 5], ids=["fresh", "old"])
@pytest.mark.parametrize("settings", [{}, {"kl": 0.1}, {"algorithm": "ppo"}], ids=str)
def test_without_memory_it_goes_on_in_smaller_parts(
    settings: dict[str, Any], version: int, make: Make, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """In every pass: the critic's, those over old turns and of the reference, the gradient's."""
    if "algorithm" in settings:
        settings = {**settings, "critic": {"warmup": 0}}
    learner = make(**settings)
    played = play(learner)
    learner.policy.version = version
    score = learner.policy.logprobs

    def short(records: Any, *rest: Any, **more: Any) -> Any:
        if len(records) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return score(records, *rest, **more)

    learner.policy.batch_tokens = 10_000
    monkeypatch.setattr(learner.policy, "logprobs", short)
    found = gradient(learner, played)
    assert "out of memory" in caplog.text
    roomy = make(**settings)
    others = play(roomy)
    roomy.policy.version = version
    assert_same_gradient(found, gradient(roomy, others))


def test_a_loss_that_is_no_number_keeps_the_batch_and_ends_the_run(
    make: Make, tmp_path: Path
) -> None:
    learner = make()
    played = play(learner)
    before = weights(learner)
    broken = [
        Trajectory(t.episode, [LearningTurn(s.record, float("nan")) for s in t.samples], t.rewards)
        for t in played
    ]
    with pytest.raises(UIGymError, match="not finite"):
        learner.learn(broken)
    assert torch.equal(weights(learner), before)
    lines = (tmp_path / "broken_batch_step_1.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["record"]["output_ids"]


def test_a_gradient_that_is_no_number_changes_no_weight_and_ends_the_run(make: Make) -> None:
    learner = make()
    played = play(learner)
    before = weights(learner)
    parameter = next(iter(learner.policy.parameters()))
    parameter.register_hook(lambda gradient: gradient + float("inf"))
    row = learner.learn(played)
    assert math.isfinite(row["loss"])
    assert lost_losses(row) == ["grad_norm"], "the host stops at it"
    assert (row["updates"], torch.equal(weights(learner), before)) == (0, True)


# -- memory --


def saved_bytes(learner: Learner, played: list[Trajectory]) -> int:
    """What the graph of a step keeps for the way back, in bytes; weights do not count."""
    weights = {p.data_ptr() for p in learner.policy.net.parameters()}
    kept: dict[tuple[int, torch.Size], int] = {}

    def pack(value: torch.Tensor) -> torch.Tensor:
        if value.data_ptr() not in weights:
            kept[value.data_ptr(), value.shape] = value.numel() * value.element_size()
        return value

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        learner.learn(played)
    return sum(kept.values())


@pytest.mark.parametrize("algorithm", ["grpo", "ppo"])
def test_gradient_checkpointing_saves_memory_and_changes_nothing(
    algorithm: str, tiny: Path, tmp_path: Path
) -> None:
    saved, gradients, gaps = [], [], []
    for checkpointing in (False, True):
        policy = make_policy(tiny, gradient_checkpointing=checkpointing, threads=1)
        for part in policy.net.modules():  # a model with dropout, which sampling has none of
            if hasattr(part, "attention_dropout"):
                part.attention_dropout = 0.5
        learner = make_learner(policy, tmp_path, algorithm=algorithm, critic={"warmup": 0})
        played = play(learner)
        gradients.append(gradient(learner, played))
        saved.append(saved_bytes(learner, played))
        gaps.append(learner.learn(played)["logprob_gap"])
        assert not any(part.training for part in policy.net.modules())
    assert saved[1] < 0.5 * saved[0], saved
    assert_same_gradient(*gradients)
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-4)


# -- the critic --


def test_the_mean_advantages_are_told_of_what_was_learned_last(make: Make) -> None:
    learner = make()
    played = play(learner)
    played[1].samples.clear()  # all of it was left out
    learner.learn(played)
    ids = [one.episode.id for one in played]
    assert learner.advantages == {ids[0]: -1.0, ids[2]: -1.0, ids[3]: 1.0}
    learner.learn([])
    assert learner.advantages == {}


def test_those_of_a_critic_are_its_own(make: Make) -> None:
    learner = make(algorithm="ppo", critic={"whiten": "none"})
    played = play(learner)
    learner.learn(played)
    # It expects nothing yet: a failure is worth what was expected, and not less as in its group.
    told = [learner.advantages[one.episode.id] for one in played]
    assert told[::2] == [0.0, 0.0]
    assert all(advantage > 0 for advantage in told[1::2])


def test_the_critic_learns_what_is_returned(make: Make) -> None:
    learner = make(algorithm="ppo", critic={"warmup": 0, "epochs": 20, "lr": 1e-2})
    played = play(learner, count=6)
    explained = [learner.learn(played)["explained_variance"] for _ in range(4)]
    assert explained[0] < 0.1
    assert explained[-1] > 0.5


def test_the_critics_loss_is_half_the_mean_square(make: Make) -> None:
    critic = make(algorithm="ppo").critic
    assert critic is not None
    generator = torch.manual_seed(0)
    states, goals = torch.randn(9, 64, generator=generator), torch.randn(9, generator=generator)
    for _ in range(3):
        with torch.no_grad():
            off = (critic.values(states) - goals).double().numpy()
        fitted = critic.fit(states, goals, epochs=1, minibatch=9, seed=0)
        assert fitted["value_loss"] == pytest.approx(0.5 * (off**2).mean(), rel=1e-5)
        explained = 1 - off.var() / goals.double().numpy().var()
        assert fitted["explained_variance"] == pytest.approx(explained, rel=1e-4, abs=1e-6)


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
    other = Critic(learner.policy, CriticSettings(lr=1.0), seed=9)
    other.load(tmp_path)
    assert torch.equal(critic.values(states[0]), other.values(states[0]))
    after = [c.fit(states[0], goals, epochs=1, minibatch=4, seed=1) for c in (critic, other)]
    assert after[0] == after[1]


@pytest.mark.parametrize(
    ("whiten", "mean", "deviation"), [("both", 0.0, 1.0), ("scale", 1.0, 1.0), ("none", 3.0, 3.0)]
)
def test_what_a_steps_advantages_are_brought_to(
    whiten: str, mean: float, deviation: float, make: Make
) -> None:
    """Half of the episodes return 6 and half 0; a critic that has learned nothing expects 0."""
    learner = make(algorithm="ppo", critic={"whiten": whiten, "lam": 1.0})
    assert learner.critic is not None
    played = [replace(one, rewards=[0.0, 6.0 * (at % 2)]) for at, one in enumerate(play(learner))]
    settings = learner.config.critic
    found, _ = judged(played, learner.critic, settings, learner._screenshots, seed=0)
    told = [v for one in found for s in one.samples for v in s.advantage]  # type: ignore[union-attr]
    assert np.mean(told) == pytest.approx(mean, abs=0.3)
    assert np.std(told) == pytest.approx(deviation, rel=0.1)


# -- the step limit --


def worth(learner: Learner, value: float) -> None:
    """Let the critic value every state alike."""
    assert learner.critic is not None
    last = learner.critic.head[-1]
    assert isinstance(last, torch.nn.Linear)
    with torch.no_grad():
        last.weight.zero_()
        last.bias.fill_(value)


WAITS = {"bootstrap": True, "warmup": 0, "epochs": 1, "lam": 1.0}


@pytest.mark.parametrize("ended", ["at the limit", "at the limit, unseen", "for good"])
def test_the_return_of_an_episode_at_the_step_limit_goes_on_with_the_critics_value(
    ended: str, make: Make
) -> None:
    """A critic that expects 0.7 everywhere, and nothing was gained: only an end proves it wrong."""
    learner = make(algorithm="ppo", critic=WAITS)
    store = learner._screenshots
    worth(learner, 0.7)
    played = []
    for number, one in enumerate(play(learner)):
        end = store.put(np.full((64, 96, 3), number, np.uint8))
        episode = replace(
            one.episode, score=0.0, final_screenshot_id="" if "unseen" in ended else end,
            truncated=ended != "for good", terminated=ended == "for good",
        )  # fmt: skip
        played.append(Trajectory(episode, one.samples, [0.0] * len(one.samples)))
    if learner.critic is not None:
        played = with_ends(played, learner.policy, store, learner.config.critic)
    seen = [one.after for one in played if one.after is not None]
    assert len(seen) == (len(played) if ended == "at the limit" else 0)
    if seen:  # the prompt of a turn that was never taken
        assert seen[0].images == (played[0].episode.final_screenshot_id,)
    off = 0.0 if "limit" in ended else 0.5 * 0.7**2
    assert learner.learn(played)["value_loss"] == pytest.approx(off, abs=1e-6)


def test_by_default_the_step_limit_is_an_end_so_that_waiting_gains_nothing(make: Make) -> None:
    """Half of the episodes end, half are cut; none gains anything, and the critic expects 0.7."""
    learner = make(algorithm="ppo", critic=WAITS | {"bootstrap": False, "whiten": "none"})
    worth(learner, 0.7)
    played = [
        replace(one, episode=replace(one.episode, truncated=bool(at % 2), terminated=not at % 2))
        for at, one in enumerate(play(learner))
    ]
    played = [replace(one, rewards=[0.0] * len(one.rewards)) for one in played]
    assert learner.learn(played)["value_loss"] == pytest.approx(0.5 * 0.7**2, abs=1e-6)
    assert list(learner.advantages.values()) == pytest.approx([-0.7] * len(played), abs=1e-6)


def test_a_failure_of_the_machine_is_no_step_limit(make: Make) -> None:
    learner = make(algorithm="ppo", critic=WAITS)
    (one, *_), settings = play(learner), learner.config.critic
    failed = replace(one.episode, truncated=True, failure="device: gone")
    assert not goes_on(failed, settings)
    assert goes_on(replace(failed, failure=None), settings)
    assert not goes_on(replace(failed, failure=None, terminated=True), settings)
