"""What can be configured."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from ui_gym.errors import UserError
from ui_gym_agents.rewards import check_reward
from ui_gym_agents.training import judge_settings
from ui_gym_agents.training.judge_settings import JudgeSettings
from ui_gym_agents.training.settings import SettingsSection
from ui_gym_grpo.registry import ADVANTAGES, BUILT_IN_ADVANTAGES, BUILT_IN_LOSSES, LOSSES

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


class ReplaySettings(SettingsSection):
    """ARPO's experience replay: when a group gets an old episode, and which are kept."""

    enabled: bool = Field(
        default=False, description="Old successes take a place in groups that failed as a whole."
    )
    size: int = Field(default=8, ge=1, description="Episodes kept of each task instance.")
    store_above: float = Field(default=0.1, ge=0, description="Scores above this are kept.")
    std_below: float = Field(
        default=0.05, gt=0, description="Groups whose scores deviate less are looked at."
    )
    mean_below: float = Field(default=0.2, gt=0, description="And whose mean score is less.")
    max_age: int = Field(default=20, ge=1, description="Steps until an episode is forgotten.")
    max_uses: int = Field(default=4, ge=1, description="How often one is learned from.")


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


class GRPOConfig(SettingsSection):
    """Group-relative policy optimisation, and PPO with a critic."""

    algorithm: Literal["grpo", "ppo"] = Field(
        default="grpo", description="Advantages from groups, or from a critic (`critic`)."
    )
    groups: int = Field(default=8, ge=1, description="Task instances of a step.")
    group_size: int = Field(default=8, ge=1, description="Episodes of each task instance.")
    instances: int | None = Field(
        default=None,
        ge=1,
        description="Train on this many fixed task instances, drawn anew each step, instead of "
        "fresh ones; replay needs instances to come again.",
    )
    refill: float = Field(
        default=1.5,
        ge=1,
        description="Groups of equal rewards, and dropped ones, teach nothing and are replaced by "
        "new ones, up to this many times `groups` in all. 1: never.",
    )
    quorum: float = Field(
        default=0.75,
        ge=0,
        le=1,
        description="A group counts if the machine did not fail more of its episodes than leaves "
        "this share of them, and two; else it is dropped, and replaced as by `refill`.",
    )
    reward: str | dict[str, float] = Field(
        default="success",
        description="What an episode is worth: success, completion (the score), efficiency, "
        "shaped, comprehensive, arpo (the score and a term for the format); your own as "
        "module:function; a judge model's as openai:MODEL@URL; "
        'several with weights as JSON, {"success": 1, "module:function": 0.2}.',
    )
    reward_parameters: dict[str, float] = Field(
        default_factory=dict,
        description='Parameters of the reward as JSON; every one takes {"format": 0.5}.',
    )
    reward_failures: float = judge_settings.reward_failures()
    judge: JudgeSettings = judge_settings.judge()
    advantage: str = Field(
        default="rloo",
        description="How rewards of a group become advantages: rloo, grpo, dr_grpo, gigpo; your "
        "own as module:function, or by its name (registry.py).",
    )
    gigpo_weight: float = Field(default=1.0, ge=0, description="Weight of gigpo's second term.")
    gigpo_gamma: float = Field(default=0.95, gt=0, le=1, description="And its discount.")
    loss: str = Field(
        default="ppo_clip",
        description="What a token costs: ppo_clip, gspo, cispo, reinforce (update.py); your own as "
        "module:function, or by its name (registry.py).",
    )
    aggregate: Literal["episodes", "turns", "tokens"] = Field(
        default="episodes",
        description="Token losses are summed over an episode and divided by `episode_tokens`; or "
        "averaged over each turn; or averaged over all tokens.",
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
        default=0.0, ge=0, description="Weight of the KL (k3) to the model with its adapter off."
    )
    max_steps_off_policy: int = Field(
        default=0,
        ge=0,
        description="Play up to so many steps ahead while learning; 0: first play, then learn, "
        "which repeats to the bit.",
    )
    importance_cap: float = Field(
        default=2.0, gt=0, description="Largest weight of a token that older weights sampled."
    )
    turn_band: tuple[float, float] = Field(
        default=(0.5, 2.0),
        description="Old turns are left out whose mean ratio (geometric) lies outside.",
    )
    mask_truncated: bool = Field(
        default=True,
        description="Turns that were cut at policy.max_new_tokens are left out of the loss.",
    )
    replay: ReplaySettings = Field(
        default=ReplaySettings(), description="Experience replay (ARPO)."
    )
    critic: CriticSettings = Field(default=CriticSettings(), description="PPO's critic.")
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
    episode_tokens: float = Field(
        default=50.0,
        gt=0,
        description="The constant by which an episode's summed token losses are divided.",
    )
    shuffle_rewards: bool = Field(
        default=False,
        description="A control: rewards are shuffled within each group, so nothing can be learned.",
    )

    @property
    def clips(self) -> tuple[float, float]:
        """The lower and the upper clip: those given, and else those of the loss."""
        low, high = CLIPS.get(self.loss) or LOSSES.find(self.loss, BUILT_IN_LOSSES).clips
        return (
            low if self.clip_low is None else self.clip_low,
            high if self.clip_high is None else self.clip_high,
        )

    @property
    def alone(self) -> bool:
        """Whether an episode is compared with no other, but with what a critic expects."""
        return self.algorithm == "ppo" and self.critic.baseline == "none"

    @property
    def fewest(self) -> int:
        """The episodes that must be left of a group: a critic needs no others beside one."""
        if self.alone:
            return 1
        # Less a rounding error's worth: 0.28 * 25 is more than 7 in floating point.
        return max(2, math.ceil(self.quorum * self.group_size - 1e-9))

    @field_validator("reward")
    @classmethod
    def _known_reward(cls, reward: str | dict[str, float]) -> str | dict[str, float]:
        check_reward(reward)
        return reward

    @field_validator("loss", "advantage")
    @classmethod
    def _known_part(cls, name: str, info: ValidationInfo) -> str:
        built_in = BUILT_IN_LOSSES if info.field_name == "loss" else BUILT_IN_ADVANTAGES
        if name not in built_in:
            try:
                (LOSSES if info.field_name == "loss" else ADVANTAGES).find(name, built_in)
            except UserError as error:
                raise ValueError(str(error)) from None
        return name

    @model_validator(mode="after")
    def _fits(self) -> Self:
        check_reward(self.reward, self.reward_parameters)
        if not self.alone and self.group_size < 2:
            raise ValueError("group_size must be 2 or more: a group is compared with itself")
        if self.shuffle_rewards and self.group_size < 2:
            raise ValueError("shuffle_rewards needs groups: group_size must be 2 or more")
        if self.algorithm == "ppo" and self.replay.enabled:
            raise ValueError("replay.enabled goes with groups: algorithm must be grpo")
        if self.replay.enabled and self.max_steps_off_policy:
            raise ValueError("replay.enabled needs max_steps_off_policy 0")
        if not 0 < self.turn_band[0] < 1 < self.turn_band[1]:
            raise ValueError("turn_band is two numbers, one below and one above 1")
        return self
