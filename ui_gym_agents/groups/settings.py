"""What every trainer that learns from groups can be told of them."""

from __future__ import annotations

import math
from typing import Self

from pydantic import Field, field_validator, model_validator

from ui_gym_agents.groups.registry import ADVANTAGES, BUILT_IN_ADVANTAGES
from ui_gym_agents.rewards import check_reward
from ui_gym_agents.training import judge_settings
from ui_gym_agents.training.judge_settings import JudgeSettings
from ui_gym_agents.training.settings import SettingsSection


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


class GroupSettings(SettingsSection):
    """Which groups a step plays, what their episodes are worth, and which of them teach."""

    groups: int = Field(default=8, ge=1, description="Task instances of a step.")
    group_size: int = Field(default=8, ge=1, description="Episodes of each task instance.")
    instances: int | None = Field(
        default=None,
        ge=1,
        description="Train on this many fixed task instances, drawn anew each step, instead of "
        "fresh ones; replay needs instances to come again. Tasks with seeds of their own (a "
        "task file's) keep to those.",
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
        "own as module:function, or by its name (ui_gym_agents/groups/registry.py).",
    )
    gigpo_weight: float = Field(default=1.0, ge=0, description="Weight of gigpo's second term.")
    gigpo_gamma: float = Field(default=0.95, gt=0, le=1, description="And its discount.")
    max_steps_off_policy: int = Field(
        default=0,
        ge=0,
        description="Play up to so many steps ahead while learning; 0: first play, then learn, "
        "which repeats to the bit.",
    )
    mask_truncated: bool = Field(
        default=False,
        description="Turns that were cut at policy.max_new_tokens are left out of the loss; "
        "nothing then keeps the policy from never ending its answers.",
    )
    replay: ReplaySettings = Field(
        default=ReplaySettings(), description="Experience replay (ARPO)."
    )
    shuffle_rewards: bool = Field(
        default=False,
        description="A control: rewards are shuffled within each group, so nothing can be learned.",
    )

    @property
    def by_critic(self) -> bool:
        """Whether advantages are a critic's, and `advantage` counts for nothing."""
        return False

    @property
    def alone(self) -> bool:
        """Whether an episode is compared with no other, but with what a critic expects."""
        return False

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

    @field_validator("advantage")
    @classmethod
    def _known_advantage(cls, name: str) -> str:
        return ADVANTAGES.check(name, BUILT_IN_ADVANTAGES)

    @model_validator(mode="after")
    def _groups_fit(self) -> Self:
        check_reward(self.reward, self.reward_parameters)
        if not self.alone and self.group_size < 2:
            raise ValueError("group_size must be 2 or more: a group is compared with itself")
        if self.shuffle_rewards and self.group_size < 2:
            raise ValueError("shuffle_rewards needs groups: group_size must be 2 or more")
        if self.replay.enabled and self.max_steps_off_policy:
            raise ValueError("replay.enabled needs max_steps_off_policy 0")
        return self
