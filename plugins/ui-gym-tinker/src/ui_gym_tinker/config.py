"""What can be configured; nothing here needs torch or the SDK."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from ui_gym_agents.groups.stepping import StepSettings
from ui_gym_agents.training.settings import SettingsSection

Loss = Literal["importance_sampling", "ppo", "cispo", "gspo"]
"""Those that are multiples of the advantage, so that weights of tokens go into it. ``dro`` is none,
and ``stable_reinforce`` takes what the service alone records."""

CLIPS: dict[str, tuple[float, float]] = {
    "ppo": (0.2, 0.28),
    "cispo": (1.0, 4.0),
    "gspo": (3e-4, 4e-4),
}
"""How far below and above 1 the ratio of a loss may be, where it clips: as `ui-gym-grpo` has it."""


class Prices(SettingsSection):
    """What tokens cost, in US dollars a million of them; the service's page has its prices."""

    prefill: float = Field(default=0.0, ge=0, description="Of prompts, to sample from.")
    sample: float = Field(default=0.0, ge=0, description="Of answers.")
    train: float = Field(default=0.0, ge=0, description="Of what is learned from, prompts too.")


class TinkerConfig(StepSettings):
    """GRPO whose model is on a server that speaks the Tinker API."""

    base_url: str | None = Field(
        default=None,
        description="The server's address; null: TINKER_BASE_URL, or else the service's own. The "
        "key is TINKER_API_KEY of the environment.",
    )
    base_model: str | None = Field(
        default=None,
        description="What the server calls the model; null: as policy.model, which says whose "
        "tokenizer and processor read and write here.",
    )
    load_checkpoint: str | None = Field(
        default=None,
        description="Weights to begin with, tinker://...; the optimizer begins anew.",
    )
    train_mlp: bool = Field(default=True, description="Whether the MLPs get an adapter.")
    train_attn: bool = Field(default=True, description="And the attention layers.")
    train_unembed: bool = Field(
        default=False,
        description="And the output embedding; the service's own default is true, ui-gym-grpo "
        "never does.",
    )
    loss: Loss = Field(
        default="ppo", description="What a token costs, by the service's name of it."
    )
    clip_low: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="The ratio's lower clip: 1 - it; null: 0.2 for ppo, 0.0003 for gspo.",
    )
    clip_high: float | None = Field(
        default=None,
        gt=0,
        description="The ratio's upper clip: 1 + it; null: 0.28 for ppo, 0.0004 for gspo, 4 for "
        "cispo.",
    )
    kl: float = Field(
        default=0.0,
        ge=0,
        description="Weight of the KL to the base model, taken off each token's advantage.",
    )
    timeout: float = Field(
        default=600.0,
        gt=0,
        description="Seconds that learning, saving or loading may take on the server. A sampled "
        "answer has policy.engine_timeout.",
    )
    prices: Prices = Field(default=Prices(), description="For the metric `cost`.")

    @property
    def trained_parts(self) -> dict[str, bool]:
        """Which layers get an adapter."""
        return {"mlp": self.train_mlp, "attn": self.train_attn, "unembed": self.train_unembed}

    @property
    def thresholds(self) -> dict[str, float]:
        """The loss's numbers, as the server takes them."""
        if self.loss not in CLIPS:
            return {}
        low, high = CLIPS[self.loss]
        low = low if self.clip_low is None else self.clip_low
        high = high if self.clip_high is None else self.clip_high
        return {"clip_low_threshold": 1 - low, "clip_high_threshold": 1 + high}

    @model_validator(mode="after")
    def _fits(self) -> Self:
        clips = self.clip_low is not None or self.clip_high is not None
        if clips and self.loss not in CLIPS:
            raise ValueError(f"the loss {self.loss} has no clips: leave clip_low and clip_high out")
        if not (self.train_mlp or self.train_attn or self.train_unembed):
            raise ValueError("nothing is trained: one of train_mlp, train_attn, train_unembed")
        if self.replay.enabled:
            raise ValueError(
                "replay.enabled corrects old episodes by the model's own passes: use --plugin grpo"
            )
        if self.max_steps_off_policy and self.loss == "importance_sampling":
            raise ValueError(
                "importance_sampling has no clip, and data of older weights makes it diverge: take "
                "loss ppo, cispo or gspo with max_steps_off_policy"
            )
        return self
