"""Agent: anything that maps what it saw to what it does next, for many slots at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from ui_gym.contract.device import Image
from ui_gym.contract.task import GroundTruth
from ui_gym.errors import UserError
from ui_gym_agents.episode import TokenRecord, TokenUsage, Turn

SERVED = "openai:"
"""How the name of a model begins that the chat API serves: ``openai:MODEL@URL``."""

VENDORS = ("openai-responses:", "anthropic:", "gemini:")
"""How the name of a model begins that is asked by its vendor's own API, whose tools it calls."""


@dataclass(frozen=True)
class View:
    """What an agent knows of one episode when it must act.

    `screenshots` are the pictures of this episode so far, oldest first, the last being the present
    picture; `turns` are the agent's own finished turns: ``len(screenshots) == len(turns) + 1``.
    Where the env shows elements alone (``observation="elements"``), there are no screenshots.
    `info` is the env's info of the last step without the judge's words. `noise` seeds whatever the
    agent draws in this turn; it is derived from (run seed, episode, turn), so that results do not
    depend on the order of slots.

    An agent with `wants_ground_truth` is shown the whole info, and in `ground_truth` what the task
    knows of the episode, where the env tells it.
    """

    slot: int
    goal: str
    screenshots: Sequence[Image]
    elements: str = ""
    feedback: str = ""
    turns: Sequence[Turn] = ()
    info: Mapping[str, Any] = field(default_factory=dict)
    noise: int = 0
    ground_truth: GroundTruth | None = None

    @property
    def screenshot(self) -> Image:
        """The present picture. `UserError` where the env shows none."""
        if not self.screenshots:
            raise UserError(
                "this agent needs pictures, and the env shows elements alone: ask for "
                'observation="screenshot" or "both"'
            )
        return self.screenshots[-1]


@dataclass(frozen=True)
class Decision:
    """What an agent does: `action_text` in the env's dialect, and how it came to it.

    `tokens` is there when the agent is a trainable policy. `caption` is what a demonstrator says of
    the picture: a training target, never sent to the env. `failure` says that what the agent runs
    on failed it (a server that does not answer): the episode ends there and counts for nothing.
    """

    action_text: str
    tokens: TokenRecord | None = None
    caption: str = ""
    failure: str | None = None
    pictures: Sequence[Image] = ()
    """What `tokens` show beside the env's own screenshots; the collector stores them."""
    usage: TokenUsage | None = None
    """The tokens that a server counted for this, where it tells them."""


Submit = Callable[[View], Future[Decision]]
"""Asks for one view's decision, and does not wait for it. The future may end in any thread."""


class Agent(Protocol):
    """Maps views to decisions, one each, in order.

    Four attributes may be added: `reset_options` go to every reset of an env that the agent plays;
    `wants_ground_truth = True` says that the agent plays by what is hidden from all others, as a
    demonstrator does; `submit`, a `Submit` or None, is had by agents that answer one by one, such
    as a served model's, so that no slot waits for another's answer; ``ended(slot)`` is told when
    the episode of a slot is over, so that nothing more need be remembered of it.
    """

    def act(self, views: Sequence[View]) -> Sequence[Decision]:
        """Decide for every view. Shape: ``len(result) == len(views)``."""


class AroundAgent:
    """What a collector may ask of an agent, said by the one that this is put around."""

    def __init__(self, agent: Agent) -> None:
        self.reset_options: Mapping[str, Any] = getattr(agent, "reset_options", {})
        self.wants_ground_truth: bool = getattr(agent, "wants_ground_truth", False)
        self._agent = agent

    def ended(self, slot: int) -> None:
        """The episode of a slot is over."""
        getattr(self._agent, "ended", lambda slot: None)(slot)


def is_served(name: str) -> bool:
    """Whether an agent's name is that of a model on a server."""
    return name.startswith((SERVED, *VENDORS))


def submitter(agent: object) -> Submit | None:
    """The agent's `submit`; None where it decides for whole batches."""
    submit: Submit | None = getattr(agent, "submit", None)
    return submit
