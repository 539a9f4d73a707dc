"""What can be configured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from ui_gym.errors import nearest
from ui_gym_agents.rewards import check_reward
from ui_gym_agents.training import judge_settings
from ui_gym_agents.training.judge_settings import JudgeSettings
from ui_gym_agents.training.settings import SettingsSection

LIVE = ("oracle", "policy")
RECORDED = ("run", "file")

_CHOSEN = {"success_only": True, "dedupe": True, "episodes": 128, "warmup": 8}

DEFAULTS: dict[str, dict[str, Any]] = {
    "oracle": {},
    "policy": {**_CHOSEN, "data_rounds": 3, "epochs": 5},
    "recorded": {**_CHOSEN, "keep": 0},
}
"""What is the default where episodes come from there, if it is not the field's own.

A round of rejection sampling has few successes, so those of three rounds are fitted, several times.
Measured with the shipped clerk on compact data entry, greedy success on held-out parameters from
33 %: one round's data, twice, at half the rate: 40 % after three rounds; as below: 69 % after two.
"""

_BELONGS: dict[str, tuple[tuple[str, ...], Any]] = {
    "mistakes": (("oracle",), {}),
    "reencode": (("recorded",), False),
    "pictures": (("recorded",), None),
    "overrides": (("recorded",), "use"),
    "strategy": (("policy",), "fixed"),
    "data_rounds": (("oracle", "policy"), 1),
}
"""The sources that a setting is for, and its value that has no effect."""


class SFTConfig(SettingsSection):
    """Supervised learning from episodes."""

    source: str = Field(
        default="oracle",
        description="Where episodes come from. oracle: the tasks' oracles play (demonstrations); "
        "policy: the policy plays, and learns from its successes (rejection sampling); run:PATH: "
        "those recorded by another run; file:PATH: an exported JSONL file. The defaults of "
        "success_only, dedupe, episodes, keep, data_rounds, epochs and warmup depend on it.",
    )
    mistakes: dict[str, float] = Field(
        default_factory=dict,
        description="Rates of the oracle's mistakes by name: demonstrations of somebody careless.",
    )
    reencode: bool = Field(
        default=False,
        description="Recorded texts are put into this policy's own prompt, dialect and tokens, "
        "where they are of another's. Off: such recordings are refused.",
    )
    pictures: Path | None = Field(
        default=None,
        description="Where the pictures of recorded episodes lie: a run's folder, or one with "
        "screenshots; null: beside them.",
    )
    overrides: Literal["use", "ignore"] = Field(
        default="use",
        description="Recorded episodes that people judged otherwise in the monitor "
        "(overrides.jsonl) count as they judged, or as the task did.",
    )

    episodes: int = Field(
        default=64,
        ge=1,
        description="Episodes of a step: played, or taken from what is recorded. "
        "n_successes: the most that are played.",
    )
    strategy: Literal["fixed", "n_successes"] = Field(
        default="fixed",
        description="Rejection sampling. fixed: `tries` attempts at each task instance; "
        "n_successes: until each has `keep` successes, the one with the fewest first.",
    )
    per: Literal["instance", "task"] = Field(
        default="instance",
        description="What n_successes counts for: task instances of the step, or whole tasks, "
        "of which every attempt is another instance.",
    )
    tries: int = Field(
        default=4,
        ge=1,
        description="Rejection sampling: attempts at each task instance; n_successes: the most. "
        "Whole tasks share `episodes` by their weights instead.",
    )
    instances: int | None = Field(
        default=None,
        ge=1,
        description="Rejection sampling: task instances of a step; null: episodes / tries.",
    )
    keep: int = Field(
        default=2, ge=0, description="Episodes kept of each task instance of a step; 0: all."
    )

    success_only: bool = Field(default=False, description="Only successes are kept.")
    reward: str | dict[str, float] = Field(
        default="completion",
        description="What reward_above compares: success, completion (the score), efficiency, "
        "shaped, comprehensive, arpo; your own as module:function; a judge "
        "model's as openai:MODEL@URL; several with weights as JSON.",
    )
    reward_parameters: dict[str, float] = Field(
        default_factory=dict, description='Parameters of the reward as JSON, {"slowness": 0.3}.'
    )
    reward_failures: float = judge_settings.reward_failures()
    judge: JudgeSettings = judge_settings.judge()
    reward_above: float | None = Field(
        default=None, description="Only episodes with a higher reward are kept."
    )
    max_turns: int | None = Field(
        default=None, ge=1, description="Only episodes with at most so many turns are kept."
    )
    dedupe: bool = Field(
        default=False, description="Of episodes that saw and said the same, one is kept."
    )
    shortest: bool = Field(
        default=False, description="`keep` takes the shortest episodes instead of the first ones."
    )
    drop_invalid: bool = Field(
        default=False, description="Turns whose action failed are not learned."
    )
    drop_repeats: bool = Field(
        default=False,
        description="Turns that did again what had just changed nothing are not learned.",
    )
    data_rounds: int = Field(
        default=1,
        ge=0,
        description="Of how many of the last steps the episodes are fitted; 1: of this one alone, "
        "0: of all.",
    )

    epochs: int = Field(default=1, ge=1, description="Passes over a step's records.")
    batch_size: int = Field(default=64, ge=1, description="Records (turns) of a gradient step.")
    weigh: Literal["token", "turn", "episode"] = Field(
        default="token",
        description="What counts alike in a batch: every token, every turn, or every episode.",
    )
    caption_weight: float = Field(
        default=0.5,
        ge=0,
        description="Weight of a demonstration's caption (what the picture says) after the "
        "answer: a training target that teaches the eyes, never generated. 0: left out.",
    )
    heldout: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of the task instances whose episodes are not fitted; their loss is "
        "measured after each epoch.",
    )
    early_stop_after: int = Field(
        default=0,
        ge=0,
        description="Fitting stops after so many epochs without a lower held-out loss, and takes "
        "the best weights back. Recorded episodes: the run ends then; its last step takes them "
        "back too. 0: never.",
    )
    lr: float = Field(default=2e-3, gt=0, description="Peak learning rate.")
    final_lr: float = Field(
        default=0.1, ge=0, le=1, description="The last learning rate, as a share of the peak."
    )
    warmup: int = Field(default=40, ge=0, description="Gradient steps until the peak.")
    reset_optimizer: bool = Field(
        default=False, description="Each step begins with a fresh optimizer and its warm-up."
    )
    weight_decay: float = Field(default=0.0, ge=0, description="AdamW's weight decay.")
    beta2: float = Field(default=0.98, gt=0, lt=1, description="AdamW's second decay rate.")
    clip: float = Field(default=1.0, gt=0, description="Largest norm of the gradient.")

    @field_validator("source")
    @classmethod
    def _known_source(cls, source: str) -> str:
        kind, _, path = source.partition(":")
        if source in LIVE or (kind in RECORDED and path):
            return source
        if kind in RECORDED:
            raise ValueError(f"a path is missing, as in {kind}:PATH")
        known = (*LIVE, *(f"{kind}:PATH" for kind in RECORDED))
        raise ValueError(f"there is no such source. {nearest(source, known)}")

    @model_validator(mode="before")
    @classmethod
    def _by_source(cls, given: Any) -> Any:
        """Fill in the defaults that depend on the source."""
        if not isinstance(given, Mapping):
            return given
        source = str(given.get("source", "oracle"))
        return {**DEFAULTS.get(source, DEFAULTS["recorded"] if ":" in source else {}), **given}

    @field_validator("mistakes", "reencode", "pictures", "overrides", "strategy", "data_rounds")
    @classmethod
    def _fits_source(cls, value: Any, info: ValidationInfo) -> Any:
        """What one source alone has a use for is an error with another."""
        source = str(info.data.get("source", "oracle"))
        kind = "recorded" if ":" in source else source
        wanted, idle = _BELONGS[str(info.field_name)]
        if value != idle and kind not in wanted:
            names = " or ".join("run:PATH or file:PATH" if w == "recorded" else w for w in wanted)
            raise ValueError(f"it is for source {names}, not for {source}")
        return value

    @field_validator("reward", "reward_parameters")
    @classmethod
    def _known_reward(cls, value: Any, info: ValidationInfo) -> Any:
        reward = value if info.field_name == "reward" else info.data.get("reward", "completion")
        check_reward(reward, {} if info.field_name == "reward" else value)
        return value

    @field_validator("keep")
    @classmethod
    def _waits_for_some(cls, keep: int, info: ValidationInfo) -> int:
        if not keep and info.data.get("strategy") == "n_successes":
            raise ValueError("n_successes waits for so many successes: it must be above 0")
        return keep

    @field_validator("early_stop_after")
    @classmethod
    def _can_measure(cls, epochs: int, info: ValidationInfo) -> int:
        if epochs and not info.data.get("heldout"):
            raise ValueError("it needs a held-out loss: set heldout above 0, such as 0.1")
        return epochs

    @property
    def path(self) -> Path | None:
        """Where recorded episodes lie; None where they are played."""
        kind, _, path = self.source.partition(":")
        return Path(path).expanduser() if kind in RECORDED else None
