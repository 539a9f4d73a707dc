"""What several tests of teams need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ui_gym.multiagent.board import SharedBoard

Make = Callable[..., Any]

COMPACT = {"document": "kanban", "compact": True}
"""The smallest board."""


def play_oracle(env: SharedBoard, seed: int, oracle: Any = True) -> tuple[dict[str, float], Any]:
    """The last rewards and infos of a team's oracle."""
    _, infos = env.reset(seed=seed, options={"oracle": oracle})
    rewards: dict[str, float] = {}
    while env.agents:
        texts = {agent: infos[agent]["oracle"]["action_text"] for agent in env.agents}
        _, rewards, _, _, infos = env.step(texts)
    return rewards, infos


def click(env: SharedBoard, user: int, selector: str) -> str:
    """The action that clicks an element of a user's window."""
    x, y = env.windows.devices[user].center(selector)
    return f"click({x}, {y})"


def state(env: SharedBoard, user: int) -> dict[str, Any]:
    """What a user's window shows."""
    return env.windows.devices[user].state()


def idle(env: SharedBoard, **acting: str) -> dict[str, str]:
    """A round in which the users ``u0``, ``u1`` act as told, and all others wait."""
    return {agent: acting.get(f"u{n}", "wait(0.1)") for n, agent in enumerate(env.agents)}
