"""How a step's episodes become gradient steps: minibatches, averages, and the learning rate.

Every trainer that learns from groups has these settings, and computes the same from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from ui_gym_agents.groups.gathering import LearningTurn
from ui_gym_agents.groups.settings import GroupSettings

Minibatch = Sequence[int]
"""Numbers of episodes."""


class StepSettings(GroupSettings):
    """Groups, and the gradient steps on them."""

    aggregate: Literal["episodes", "turns", "tokens"] = Field(
        default="episodes",
        description="Token losses are summed over an episode and divided by `episode_tokens`; or "
        "averaged over each turn; or averaged over all tokens.",
    )
    episode_tokens: float = Field(
        default=50.0,
        gt=0,
        description="The constant by which an episode's summed token losses are divided.",
    )
    epochs: int = Field(default=2, ge=1, description="Passes over a step's episodes.")
    minibatches: int = Field(default=2, ge=1, description="Gradient steps of a pass.")
    lr: float = Field(default=5e-4, gt=0, description="Peak learning rate.")
    final_lr: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="The rate at the run's last step, as a share of the peak. "
        "What is left to learn late comes from few groups, whose noise a full rate would follow.",
    )
    hold: float = Field(
        default=0.6, ge=0, lt=1, description="The part of the run before the rate begins to fall."
    )
    warmup: int = Field(default=3, ge=0, description="Gradient steps until the full rate.")
    beta2: float = Field(default=0.98, gt=0, lt=1, description="AdamW's second decay rate.")
    clip: float = Field(default=1.0, gt=0, description="Largest norm of the gradient.")

    def rate(self, updates: int, step: int, steps: int) -> float:
        """The learning rate after `updates` gradient steps, in step `step` (from 1) of `steps`.

        Up in a line over the first gradient steps; held; then down in a line to the end.
        """
        warmed = min(1.0, (updates + 1) / max(1, self.warmup))
        done = min(1.0, (step - 1) / max(1, steps - 1))
        fallen = max(0.0, done - self.hold) / (1 - self.hold)
        return self.lr * warmed * (1 - fallen * (1 - self.final_lr))

    def averaging(self, episodes: Sequence[Sequence[LearningTurn]]) -> tuple[float, list[float]]:
        """What the summed loss is divided by, and the weight of each turn's tokens in it."""
        lengths = [len(turn.record.output_ids) for episode in episodes for turn in episode]
        if self.aggregate == "turns":
            return float(max(1, len(lengths))), [1 / max(1, n) for n in lengths]
        if self.aggregate == "tokens":
            return float(max(1, sum(lengths))), [1.0] * len(lengths)
        return len(episodes) * self.episode_tokens, [1.0] * len(lengths)

    def divided(self, count: int, seed: Callable[[int], int]) -> list[Minibatch]:
        """The minibatches of all passes over `count` episodes, in order.

        `seed` gives that of the order of each pass, which are counted from 0.
        """
        found: list[Minibatch] = []
        for epoch in range(self.epochs):
            order = np.random.default_rng(seed(epoch)).permutation(count)
            parts = np.array_split(order, min(self.minibatches, count))
            found += [part.tolist() for part in parts]
        return found
