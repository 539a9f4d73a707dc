"""What can be configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from ui_gym.errors import nearest
from ui_gym.wrappers import KINDS
from ui_gym_agents.training.settings import SettingsSection

Algorithm = Literal["ppo", "maskable_ppo", "dqn"]

DEFAULTS: dict[str, dict[str, Any]] = {
    "ppo": {},
    "maskable_ppo": {},
    "dqn": {"lr": 5e-4},
}
"""What is the default of an algorithm, if it is not the field's own."""

BELONGS: dict[str, tuple[str, ...]] = {
    "n_epochs": ("ppo", "maskable_ppo"),
    "gae_lambda": ("ppo", "maskable_ppo"),
    "ent_coef": ("ppo", "maskable_ppo"),
    "vf_coef": ("ppo", "maskable_ppo"),
    "clip_range": ("ppo", "maskable_ppo"),
    "target_kl": ("ppo", "maskable_ppo"),
    "buffer_size": ("dqn",),
    "learning_starts": ("dqn",),
    "train_every": ("dqn",),
    "gradient_steps": ("dqn",),
    "target_update_every": ("dqn",),
    "exploration_steps": ("dqn",),
    "exploration_final": ("dqn",),
    "save_replay": ("dqn",),
}
"""The algorithms that a setting is for, where it is not for all."""


class SB3Config(SettingsSection):
    """Classic RL over a grid of clicks, by Stable-Baselines3."""

    algorithm: Algorithm = Field(
        default="maskable_ppo",
        description="ppo and dqn may click anywhere; maskable_ppo (of sb3-contrib) only where an "
        "accessible element can be clicked, and needs --env.observation both.",
    )
    mask: bool | None = Field(
        default=None,
        description="Whether only cells with something to click may be chosen; null: with "
        "maskable_ppo, and no other algorithm can.",
    )

    size: int = Field(
        default=84, ge=36, description="Width and height of the pictures that are seen, in pixels."
    )
    grayscale: bool = Field(default=False, description="One channel in place of three.")
    frames: int = Field(default=1, ge=1, description="How many of the last pictures are seen.")
    goal: Literal["words", "none"] = Field(
        default="words",
        description="words: the goal's words are seen beside the picture, as hashed places in a "
        "vector; none: the picture alone.",
    )
    goal_length: int = Field(
        default=64, ge=1, description="Places of that vector; words share one by chance."
    )

    columns: int = Field(default=10, ge=1, description="Cells of the grid of clicks, side by side.")
    rows: int = Field(default=8, ge=1, description="Cells of the grid above each other.")
    kinds: tuple[str, ...] = Field(
        default=("click",),
        min_length=1,
        description="What can be done: click, double_click, right_click, long_press, move, "
        "scroll_down, scroll_up, scroll_right, scroll_left, press, wait, finish.",
    )
    keys: tuple[str, ...] | None = Field(
        default=None, description="What press may press; null: enter, tab, escape, ... (8 keys)."
    )

    network: Literal["cells", "nature"] = Field(
        default="cells",
        description="cells: a convolution scores every cell by what is seen there, and by the "
        "goal; nature: Stable-Baselines3's own, a convolution and a dense layer.",
    )
    width: int = Field(default=16, ge=1, description="cells: channels of its convolutions.")
    net_arch: tuple[int, ...] = Field(
        default=(64,), description="nature: dense layers behind the convolution."
    )

    n_steps: int = Field(default=32, ge=1, description="Env steps of each env in a training step.")
    batch_size: int = Field(default=64, ge=2, description="Env steps of a gradient step.")
    lr: float = Field(default=2e-3, ge=0, description="Learning rate (dqn: 5e-4 by default).")
    gamma: float = Field(default=0.9, ge=0, le=1, description="Discount of a step.")
    max_grad_norm: float = Field(default=0.5, gt=0, description="Largest norm of the gradient.")

    n_epochs: int = Field(default=4, ge=1, description="ppo: passes over what a step collected.")
    gae_lambda: float = Field(default=0.95, ge=0, le=1, description="ppo: GAE's lambda.")
    ent_coef: float = Field(default=0.01, ge=0, description="ppo: weight of the entropy.")
    vf_coef: float = Field(default=0.5, ge=0, description="ppo: weight of the value's loss.")
    clip_range: float = Field(default=0.2, gt=0, description="ppo: clipping of the ratio.")
    target_kl: float | None = Field(
        default=None, gt=0, description="ppo: a step's passes end early beyond this; null: never."
    )

    buffer_size: int = Field(
        default=10_000, ge=1, description="dqn: env steps that the replay buffer holds."
    )
    learning_starts: int = Field(
        default=500, ge=0, description="dqn: env steps before the first gradient step."
    )
    train_every: int = Field(
        default=1, ge=1, description="dqn: steps of each env between gradient steps."
    )
    gradient_steps: int = Field(default=2, ge=1, description="dqn: gradient steps each time.")
    target_update_every: int = Field(
        default=500, ge=1, description="dqn: env steps between updates of the target network."
    )
    exploration_steps: int = Field(
        default=5_000, ge=1, description="dqn: env steps until exploration has sunk to its last."
    )
    exploration_final: float = Field(
        default=0.05, ge=0, le=1, description="dqn: the last share of actions at random."
    )
    save_replay: bool = Field(
        default=True,
        description="dqn: checkpoints hold the replay buffer; without it, a resumed run fills a "
        "new one first, and does not repeat to the bit.",
    )

    @property
    def masked(self) -> bool:
        """Whether only cells with something to click may be chosen."""
        return self.algorithm == "maskable_ppo"

    @property
    def goal_places(self) -> int:
        """The length of the goal's vector; 0 where the goal is not seen."""
        return self.goal_length if self.goal == "words" else 0

    @field_validator("kinds")
    @classmethod
    def _known_kinds(cls, kinds: tuple[str, ...]) -> tuple[str, ...]:
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError(f"there is no kind {kind!r}. {nearest(kind, KINDS)}")
        return kinds

    @model_validator(mode="before")
    @classmethod
    def _by_algorithm(cls, given: Any) -> Any:
        """Fill in the defaults that depend on the algorithm."""
        if not isinstance(given, Mapping):
            return given
        return {**DEFAULTS.get(str(given.get("algorithm")), {}), **given}

    @model_validator(mode="after")
    def _fits_algorithm(self) -> SB3Config:
        """What one algorithm alone has a use for is an error with another."""
        if self.mask is not None and self.mask != self.masked:
            raise ValueError(
                f"mask: {self.algorithm} knows no mask; take maskable_ppo"
                if self.mask
                else "mask: maskable_ppo is PPO with the mask; without it, take ppo"
            )
        for name, algorithms in BELONGS.items():
            own = type(self).model_fields[name].default
            if self.algorithm not in algorithms and getattr(self, name) != own:
                raise ValueError(
                    f"{name}: it is a setting of {' and '.join(algorithms)}, and the algorithm "
                    f"is {self.algorithm}"
                )
        return self
