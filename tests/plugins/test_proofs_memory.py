"""Proof that memory stays: hundreds of steps on long histories of pictures leave nothing behind."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from grpo_helpers import make_learner, make_policy, trajectory

from ui_gym.contract.device import Image
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.policy import PromptBuilder
from ui_gym_grpo.learning import Learner

pytestmark = pytest.mark.nightly

HISTORY = 15
STEPS = 500
SETTLED = 100
"""Steps after which caches are full and the allocator has what it needs."""
GROWTH = 6 << 20
"""Bytes. The later steps see 120 MiB of new pictures, and make 10 MiB of features of them."""


def test_memory_is_flat_over_500_steps_with_15_pictures_a_prompt(
    tiny: Path, tmp_path: Path
) -> None:
    prompt = replace(PromptBuilder.bare(), history=HISTORY)
    policy = make_policy(tiny, threads=1, prompt=prompt, max_new_tokens=2)
    policy.eyes.limit = 1 << 20  # so that it is full, and forgets, before measuring begins
    learner = make_learner(policy, tmp_path)
    process, resident = psutil.Process(), {}
    for step in range(1, STEPS + 1):
        learn(learner, step)
        if step % SETTLED == 0:
            gc.collect()
            resident[step] = process.memory_info().rss
    growth = {step: size - resident[SETTLED] for step, size in resident.items()}
    assert max(growth.values()) < GROWTH, growth


def learn(learner: Learner, step: int) -> None:
    """Two turns, each of fifteen new pictures, sampled and learned from."""
    rng = np.random.default_rng(step)
    shown = [rng.integers(0, 255, (64, 96, 3), np.uint8) for _ in range(HISTORY + 1)]
    windows = [shown[:-1], shown[1:]]
    store, policy = learner._screenshots, learner.policy
    keys = [store.put(image) for image in shown]
    told = [Turn(screenshot_id="", action_text="Carl")] * (HISTORY - 1)
    views = [view(window, told, noise=10 * step + n) for n, window in enumerate(windows)]
    played = []
    for number, decision in enumerate(policy.act(views)):
        assert decision.tokens is not None
        assert len(decision.tokens.images) == HISTORY
        turn = Turn(keys[number - 2], decision.action_text, tokens=decision.tokens)
        played.append(trajectory(Episode("UI/Test-v0", step, "", [turn], score=float(number))))
    learner.context.step = step
    metrics = learner.learn(played)
    assert metrics["logprob_gap"] < 1e-4
    store.clear()


def view(window: Sequence[Image], told: Sequence[Turn], noise: int) -> View:
    return View(0, "Enter row 3", window, turns=told, noise=noise)
