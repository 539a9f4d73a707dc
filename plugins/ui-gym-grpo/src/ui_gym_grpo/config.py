"""What can be configured."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from ui_gym_agents.groups.stepping import StepSettings
from ui_gym_agents.training.settings import SettingsSection
from ui_gym_grpo.registry import BUILT_IN_LOSSES, LOSSES

CLIPS = {
    "ppo_clip": (0.2, 0.28),
    "gspo": (3e-4, 4e-4),
    "cispo": (1.0, 4.0),
    "reinforce": (1.0, math.inf),
}
"""The clips of each loss: PPO's, widened by DAPO (arXiv:2503.14476), and GSPO's (arXiv:2507.18071).

CISPO's paper (arXiv:2506.13585) sets no lower clip, and does not publish its upper one; a largest
weight of 5 is what the study of its scaling (arXiv:2510.13786) is taken to recommend.
"""


class CriticSettings(SettingsSection):
    """What `algorithm: ppo` adds."""

    lr: float = Field(default=1e-3, gt=0, description="Learning rate of the value head.")
    width: int = Field(default=128, ge=1, description="Units of its hidden layer.")
    epochs: int = Field(default=4, ge=1, description="Passes over a step's tokens.")
    warmup: int = Field(
        default=2, ge=0, description="Steps in which only the critic learns, at the beginning."
    )
    gamma: float = Field(default=1.0, gt=0, le=1, description="Discount from turn to turn.")
    lam: float = Field(default=0.95, ge=0, le=1, description="GAE's lambda over turns.")
    token_lam: float = Field(default=1.0, ge=0, le=1, description="GAE's lambda inside a turn.")
    bootstrap: bool = Field(
        default=False,
        description="An episode that the step limit cut goes on in the critic's value of its last "
        "screenshot; off: it ended with what it had, as it does for groups. On, and without a "
        "discount, whoever waits loses nothing.",
    )
    baseline: Literal["none", "group"] = Field(
        default="none",
        description="group: a reward is taken less the mean of the others' in its group first; "
        "groups of equal rewards then teach nothing, and are replaced as by `refill`.",
    )
    whiten: Literal["both", "scale", "none"] = Field(
        default="both",
        description="What a step's advantages are brought to: mean 0 and deviation 1 (both), or "
        "deviation 1 alone (scale).",
    )


class GRPOConfig(StepSettings):
    """Group-relative policy optimisation, and PPO with a critic."""

    algorithm: Literal["grpo", "ppo"] = Field(
        default="grpo", description="Advantages from groups, or from a critic (`critic`)."
    )
    loss: str = Field(
        default="ppo_clip",
        description="What a token costs: ppo_clip, gspo, cispo, reinforce (update.py); your own as "
        "module:function, or by its name (registry.py).",
    )
    clip_low: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="The ratio's lower clip: 1 - it; null: as `loss` has it, 0.2 for ppo_clip, "
        "0.0003 for gspo; cispo has none.",
    )
    clip_high: float | None = Field(
        default=None,
        gt=0,
        description="The ratio's upper clip: 1 + it; null: 0.28 for ppo_clip, 0.0004 for gspo, 4 "
        "for cispo.",
    )
    dual_clip: float | None = Field(
        default=None, gt=1, description="Bound on the cost of a token with a negative advantage."
    )
    kl: float = Field(
        default=0.0,
        ge=0,
        description="Weight of the KL (k3) to the policy that training began with: the model, with "
        "policy.adapter if that is set.",
    )
    importance_cap: float = Field(
        default=2.0, gt=0, description="Largest weight of a token that older weights sampled."
    )
    turn_band: tuple[float, float] = Field(
        default=(0.5, 2.0),
        description="Old turns are left out whose mean ratio (geometric) lies outside.",
    )
    critic: CriticSettings = Field(default=CriticSettings(), description="PPO's critic.")

    @property
    def clips(self) -> tuple[float, float]:
        """The lower and the upper clip: those given, and else those of the loss."""
        low, high = CLIPS.get(self.loss) or LOSSES.find(self.loss, BUILT_IN_LOSSES).clips
        return (
            low if self.clip_low is None else self.clip_low,
            high if self.clip_high is None else self.clip_high,
        )

    @property
    def by_critic(self) -> bool:
        return self.algorithm == "ppo"

    @property
    def alone(self) -> bool:
        return self.by_critic and self.critic.baseline == "none"

    @field_validator("loss")
    @classmethod
    def _known_loss(cls, name: str) -> str:
        return LOSSES.check(name, BUILT_IN_LOSSES)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.algorithm == "ppo" and self.replay.enabled:
            raise ValueError("replay.enabled goes with groups: algorithm must be grpo")
        if not 0 < self.turn_band[0] < 1 < self.turn_band[1]:
            raise ValueError("turn_band is two numbers, one below and one above 1")
        return self
