"""Losses and advantages of a user's own: registered, named, checked."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from grpo_helpers import make_learner, make_policy, play, weights
from pydantic import ValidationError

from tests.distributions import install
from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode, TokenRecord, Turn
from ui_gym_agents.groups.gathering import group_advantages
from ui_gym_agents.training.failures import TrainingError
from ui_gym_grpo import GRPOConfig, register_advantage, register_loss
from ui_gym_grpo.tokens import Tokens
from ui_gym_grpo.update import Rule, Scored, policy_loss

OWN = """
from ui_gym_grpo import register_advantage, register_loss

@register_loss("own_smooth", clips=(0.1, 0.5), clipped=lambda tokens: (tokens.ratio < 2,) * 2)
def smooth(tokens):
    return -tokens.ratio.tanh() * tokens.advantage

def plain(tokens):
    return -tokens.advantage * tokens.now

def summed(tokens):
    return plain(tokens).sum()

def endless(tokens):
    return plain(tokens) / 0

@register_advantage("own_ranks")
def ranks(rewards, episodes):
    return [float(sorted(rewards).index(reward)) for reward in rewards]

def late(rewards, episodes):
    return [[reward * n for n in range(len(e.turns))] for reward, e in zip(rewards, episodes)]

def short(rewards, episodes):
    return rewards[1:]
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module ``own_losses``, of a distribution that declares one loss and one advantage."""
    points = (
        "[ui_gym_grpo.losses]\nown_plain = own_losses:plain\n"
        "[ui_gym.advantages]\nown_late = own_losses:late\n"
    )
    install(tmp_path, "own-losses", "1.0", points, own_losses=OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield
    sys.modules.pop("own_losses", None)


def scored() -> list[Scored]:
    return [
        Scored(torch.tensor([-0.5, -1.0], requires_grad=True), [-0.7, -0.9], 1.0),
        Scored(torch.tensor([-0.2], requires_grad=True), [-0.4], -2.0),
    ]


def episodes(*turns: int) -> list[Episode]:
    one = Turn("p", "click", tokens=TokenRecord((1,), (2,)))
    return [Episode("UI/Test-v0", 1, "", [one] * count) for count in turns]


@pytest.mark.parametrize("name", ["own_losses:smooth", "own_smooth"])
def test_a_loss_of_ones_own_is_what_tokens_cost(own: None, name: str) -> None:
    config = GRPOConfig(loss="own_losses:smooth")
    assert GRPOConfig(loss=name).clips == config.clips == (0.1, 0.5)
    assert GRPOConfig(loss=name, clip_low=0.3).clips == (0.3, 0.5)
    turns = scored()
    found = policy_loss(turns, Rule(loss=name))
    ratio = torch.exp(torch.tensor([0.2, -0.1, 0.2]))
    expected = -(ratio.tanh() * torch.tensor([1.0, 1.0, -2.0])).sum()
    assert found.loss.item() == pytest.approx(expected.item())
    assert (found.clipped_low, found.clipped_high) == (3, 3)
    found.loss.backward()
    assert all(turn.now.grad is not None for turn in turns)


def test_a_distribution_declares_them(own: None) -> None:
    assert "own_losses" not in sys.modules
    config = GRPOConfig(loss="own_plain", advantage="own_late")
    assert config.clips == (0.2, 0.28)
    mine, ours = (policy_loss(scored(), Rule(loss=n)) for n in ("own_plain", "reinforce"))
    assert mine.loss.item() == ours.loss.item()
    assert group_advantages(config, episodes(1, 3), [0.0, 2.0], []) == [[0.0], [0.0, 2.0, 4.0]]


def test_the_correction_of_old_data_holds_for_them_too(own: None) -> None:
    turns = [
        Scored(torch.tensor([-1.0]), [-1.5], 1.0, before=[-1.0]),
        Scored(torch.tensor([-1.0]), [-9.0], 1.0, before=[-1.0]),
    ]
    found = policy_loss(turns, Rule(loss="own_losses:plain"))
    assert found.loss.item() == pytest.approx(float(torch.tensor(0.5).exp()))
    assert (found.stale, found.masked) == (2, 1)


def test_an_advantage_of_ones_own_is_of_episodes_or_turns(own: None) -> None:
    ranks = GRPOConfig(advantage="own_losses:ranks")
    assert group_advantages(ranks, episodes(1, 2), [5.0, 1.0], []) == [[1.0], [0.0, 0.0]]
    short = GRPOConfig(advantage="own_losses:short")
    with pytest.raises(TrainingError, match=r"'own_losses:short' gave \[2.0\] for 2 episodes of"):
        group_advantages(short, episodes(1, 2), [1.0, 2.0], [])


def test_a_learner_learns_by_it_and_says_where_it_goes_wrong(
    own: None, tiny: Path, tmp_path: Path
) -> None:
    policy = make_policy(tiny)
    learner = make_learner(policy, tmp_path, loss="own_losses:smooth")
    before = weights(learner)
    metrics = learner.learn(play(learner))
    assert not torch.equal(weights(learner), before)
    assert metrics["clip_fraction"] == 2.0
    bad = make_learner(policy, tmp_path, loss="own_losses:endless")
    with pytest.raises(TrainingError, match="or the loss 'own_losses:endless' makes them so"):
        bad.learn(play(bad))
    summed = make_learner(policy, tmp_path, loss="own_losses:summed")
    with pytest.raises(UserError, match=r"'own_losses:summed' gave \(\): it gives a cost for each"):
        summed.learn(play(summed))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"loss": "ppo_clp"}, "there is no loss 'ppo_clp'. Did you mean 'ppo_clip'?"),
        ({"loss": "own_plan"}, "there is no loss 'own_plan'. Did you mean 'own_plain'"),
        ({"loss": "own_losses:smoth"}, "no 'smoth'. Did you mean 'smooth'?"),
        ({"loss": "own_losses:__name__"}, "is 'own_losses', and no function"),
        ({"advantage": "rlo"}, "there is no advantage 'rlo'. Did you mean 'rloo'"),
        ({"advantage": "own_loses:late"}, "Did you mean 'own_losses'"),
    ],
)
def test_one_that_is_not_there_is_named_with_the_nearest(
    own: None, settings: dict[str, str], told: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        GRPOConfig(**settings)  # type: ignore[arg-type]
    (problem,) = caught.value.errors()
    assert told in problem["msg"]


def test_a_name_is_taken_once(own: None) -> None:
    importlib.reload(importlib.import_module("own_losses"))  # the same again is no second one

    def other(tokens: Tokens) -> torch.Tensor:
        return tokens.now

    for name in ("ppo_clip", "own_smooth"):
        with pytest.raises(UserError, match=f"the loss '{name}' is there already"):
            register_loss(name)(other)
    with pytest.raises(UserError, match="the advantage 'rloo' is there already"):
        register_advantage("rloo")(other)
