"""What can be configured of a judge, for every trainer that takes rewards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ui_gym_agents.training.settings import SettingsSection

if TYPE_CHECKING:
    from ui_gym_agents.judge import Judge


class JudgeSettings(SettingsSection):
    """How a judge model is asked: a reward named openai:MODEL@URL."""

    instructions: str | None = Field(
        default=None,
        description="What the judge is told to look for; that it ends with a score from 0 to 1 is "
        "added. null: whether the goal was reached.",
    )
    pictures: int = Field(
        default=4, ge=0, description="How many of an episode's last screenshots it is shown."
    )
    max_new_tokens: int = Field(default=512, ge=1, description="Most tokens of its answer.")
    connections: int = Field(default=16, ge=1, description="Questions under way at a time.")
    timeout: float = Field(
        default=60.0, gt=0, description="Seconds that one attempt at an answer may take."
    )
    attempts: int = Field(
        default=3,
        ge=1,
        description="How often it is asked, before the episode is left out.",
    )


def reward_failures() -> Any:
    """The setting of that name, as every trainer that takes rewards has it."""
    return Field(
        default=0.2,
        ge=0,
        le=1,
        description="Episodes whose reward fails are left out; above this share of a step's, the "
        "run stops.",
    )


def judge() -> Any:
    """The setting of that name."""
    return Field(
        default=JudgeSettings(), description="The judge, where a reward is openai:MODEL@URL."
    )


def make_judge(name: str, settings: JudgeSettings | None, kept: Path) -> Judge:
    """The judge of a name, which keeps its scores in a file. `UserError` where there is none."""
    # Imported only here: it needs an HTTP client.
    from ui_gym_agents.engines.protocol import RequestLimits
    from ui_gym_agents.judge import Judge

    settings = settings or JudgeSettings()
    return Judge(
        name,
        instructions=settings.instructions,
        pictures=settings.pictures,
        max_new_tokens=settings.max_new_tokens,
        connections=settings.connections,
        limits=RequestLimits(settings.timeout, attempts=settings.attempts),
        kept=kept,
    )
