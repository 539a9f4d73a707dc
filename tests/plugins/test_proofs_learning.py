"""Proofs that it learns: what rewards and pictures say is found out, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Text
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from spots import CHANCE, SIZE, load_clicker

from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.evaluation.evaluate import evaluate
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig
from ui_gym_grpo import GRPOTrainer
from ui_gym_grpo.config import GRPOConfig

pytestmark = pytest.mark.nightly

STEPS = 30
EPISODES = 200

Train = Callable[..., GRPOTrainer]


@pytest.fixture
def train(tmp_path: Path, clicker: Path) -> Iterator[Train]:
    """Trains on `PaintSpot`, or on given envs, and returns the trainer."""
    closing: list[Any] = []

    def go(
        seed: int, steps: int, envs: Any = None, words: tuple[str, ...] = (), **settings: Any
    ) -> GRPOTrainer:
        directory = RunDirectory(tmp_path / f"run{len(closing)}")
        config = RunConfig.model_validate(
            {
                "plugin": "grpo",
                "tasks": {"ids": ["PaintSpot"]},
                "env": {"num_envs": 16},
                "run": {"seed": seed, "steps": steps, "keep_pictures": 0},
            }
        )
        context = TrainerContext(directory, config)
        closing.extend([directory, context])
        context.__dict__["policy"] = load_clicker(clicker)
        if words:
            allow(context.policy, words)
        if envs is not None:
            context.__dict__["envs"] = envs
            closing.append(envs)
        given = {"groups": 8, "group_size": 8, "lr": 1e-3, "episode_tokens": 5.0} | settings
        trainer = GRPOTrainer(GRPOConfig(**given), context)
        for context.step in range(1, steps + 1):
            trainer.step()
        return trainer

    yield go
    for one in closing:
        one.close()


def measured(trainer: GRPOTrainer, *, greedy: bool) -> float:
    """The success rate on held-out episodes."""
    context = trainer.context
    asked = context.evaluation_requests(EPISODES)
    return evaluate(Collector(context.envs, trainer.policy), asked, greedy=greedy).success


@pytest.mark.parametrize("seed", range(3))
def test_a_click_is_learned_from_screenshots_and_rewards(train: Train, seed: int) -> None:
    assert measured(train(seed, STEPS), greedy=True) >= 0.95


@pytest.mark.parametrize("settings", [{"steps": 0}, {"steps": STEPS, "shuffle_rewards": True}])
def test_without_learning_or_without_its_rewards_it_stays_at_chance(
    train: Train, settings: dict[str, Any]
) -> None:
    # Sampled: its likeliest answer hangs on the last bit of what are equal chances.
    assert measured(train(0, **settings), greedy=False) < CHANCE + 0.1


# -- a bandit --

ARMS = {"Click": 0.2, "the": 0.9, "box": 0.4}
"""How often each word is rewarded."""


class Bandit(gym.Env[dict[str, Any], str]):
    """Says nothing and shows nothing; rewards one of three words more often than the others."""

    observation_space = Dict(
        {"goal": Text(40), "screenshot": Box(0, 255, (SIZE[1], SIZE[0], 3), np.uint8)}
    )
    action_space = Text(40)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        return self.look(), {}

    def look(self) -> dict[str, Any]:
        return {"goal": "", "screenshot": np.zeros((SIZE[1], SIZE[0], 3), np.uint8)}

    def step(self, action: str) -> tuple[Any, float, bool, bool, Any]:
        paid = self.np_random.random(len(ARMS)) < list(ARMS.values())
        won = dict(zip(ARMS, paid, strict=True)).get(action, False)
        return self.look(), float(won), True, False, {}


@pytest.mark.parametrize("seed", range(3))
def test_the_best_arm_of_a_bandit_is_found(train: Train, seed: int) -> None:
    envs = SyncVectorEnv([Bandit] * 16, autoreset_mode=AutoresetMode.DISABLED)
    trainer = train(seed, 20, envs, words=tuple(ARMS))
    policy = trainer.policy
    asked = [EpisodeRequest(seed=n, group=str(n)) for n in range(EPISODES)]
    said = [e.turns[0].action_text for e in Collector(envs, policy).collect(asked)]
    assert said.count("the") >= 0.95 * EPISODES


def allow(policy: VLMPolicy, words: tuple[str, ...]) -> None:
    """Let it say these words alone."""
    ids = policy.tokenizer(list(words), add_special_tokens=False)["input_ids"]
    policy.suppressed[:] = True
    policy.suppressed[[*(i for row in ids for i in row), *policy.stops]] = False
