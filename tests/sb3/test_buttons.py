"""Stable-Baselines3 in real Chromium: its checker passes, and its PPO learns to press buttons.

The compact page of `ClickButton` has two buttons, each about a thirtieth of it. The goal is a
sentence, which a picture does not show: which button is meant can only be guessed. So what can be
learned is to see where buttons are, and success can rise from a sixth (five clicks at random) to
one half (always a button), and not above. It is measured on held-out tasks, the same for both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("ui_gym_sb3", reason="needs the plugin ui-gym-sb3")

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecNormalize

import ui_gym  # noqa: F401  registers the tasks
from ui_gym.wrappers import FrameHistory, GridActions, ResizeScreenshot, ScreenshotOnly
from ui_gym_agents.evaluation.evaluate import wilson
from ui_gym_sb3 import make_sb3

pytestmark = pytest.mark.nightly

TASK: dict[str, Any] = {"compact": True, "count": 2}
SIZE, COLUMNS, ROWS = (40, 32), 5, 8
STEPS = 14_000
EPISODES = 200
CEILING = 0.5


@pytest.fixture
def one_thread() -> Iterator[None]:
    """The cores are the browsers'; a network as small as this one gains nothing from more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_env(split: str) -> gymnasium.Env[Any, Any]:
    env = gymnasium.make("UI/ClickButton-v0", split=split, **TASK)
    env = ScreenshotOnly(ResizeScreenshot(env, SIZE, grayscale=True))
    return GridActions(env, COLUMNS, ROWS)


def successes(act: Callable[[Any], int]) -> int:
    """How many of the held-out episodes `act` solves."""
    wins = 0
    with make_env("heldout") as env:
        for seed in range(EPISODES):
            picture, _ = env.reset(seed=seed)
            over = False
            while not over:
                picture, _, terminated, truncated, info = env.step(act(picture))
                over = terminated or truncated
            assert info["failure"] is None
            wins += bool(info["success"])
    return wins


@pytest.mark.parametrize("frames", [1, 2])
def test_sb3_s_checker_passes(frames: int) -> None:
    with warnings.catch_warnings(), gymnasium.make("UI/ClickButton-v0", **TASK) as env:
        warnings.simplefilter("error")
        seen = FrameHistory(ScreenshotOnly(ResizeScreenshot(env, (80, 64))), frames)
        check_env(GridActions(seen, 10, 8, ("click", "press", "wait")))


@pytest.mark.timeout(1200)
def test_ppo_learns_to_press_buttons(one_thread: None, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    chance = wilson(successes(lambda _: int(rng.integers(COLUMNS * ROWS))), EPISODES)
    envs = make_sb3(
        "UI/ClickButton-v0", 8, size=SIZE, columns=COLUMNS, rows=ROWS, grayscale=True, **TASK
    )
    # Pixels of a page are nearly all white: a network of dense layers needs them centred.
    normal = VecNormalize(envs, norm_reward=False, clip_obs=5.0)
    try:
        model = PPO(
            "MlpPolicy", normal, n_steps=32, batch_size=128, n_epochs=8, learning_rate=2e-3,
            gamma=0.5, seed=0, device="cpu",
        )  # fmt: skip
        model.set_logger(configure(str(tmp_path), []))  # its own would stay behind in /tmp
        model.learn(STEPS)
    finally:
        normal.close()
    torch.manual_seed(0)
    learned = successes(lambda seen: int(model.predict(normal.normalize_obs(seen))[0]))
    interval = wilson(learned, EPISODES)
    assert interval[0] > chance[1], f"PPO: {learned} of {EPISODES}, {interval}; random: {chance}"
    assert interval[0] < CEILING, "it cannot know which button is meant"
