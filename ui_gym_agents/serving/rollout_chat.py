"""RolloutChat: a rollout as a computer of `integrations` plays it."""

from __future__ import annotations

from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.chat import ChatStep
from ui_gym_agents.serving.client import RolloutEnv


class RolloutChat:
    """What `ChatEpisode` has of an episode that a trainer began, in a dialect of one's choice."""

    def __init__(self, rollout: RolloutEnv, dialect: str) -> None:
        self.rollout = rollout
        self.dialect = dialect

    @property
    def view(self) -> View:
        """What is seen. The turns are the agent's own to remember."""
        seen = self.rollout.observation
        feedback = str(seen.get("feedback", ""))
        return View(0, self.rollout.goal, [self.rollout.screenshot], feedback=feedback)

    @property
    def info(self) -> dict[str, Any]:
        """`UserError`: the trainer has the score."""
        raise UserError("the trainer keeps the score of its rollouts")

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """The trainer has begun it; `UserError` where a seed is asked for."""
        if seed is not None or options:
            raise UserError("a rollout is the trainer's to begin: call reset() without arguments")

    def act(self, said: str) -> ChatStep:
        """Do what is said in the dialect; see `RolloutEnv.step`."""
        _, reward, terminated, truncated, info = self.rollout.step(said, self.dialect)
        return ChatStep([], [], reward, terminated, truncated, {**info, "failure": None})

    def close(self) -> None:
        """Nothing: the program that asked for the rollout ends it."""
