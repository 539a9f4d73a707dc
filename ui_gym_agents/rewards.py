"""Rewards: what an episode is worth to a learner, as named functions ``(episode, parameters)``.

The five of the CUA-RL recipe (success, completion, efficiency, shaped, comprehensive) and ARPO's.
The env's own judgement is the score in [0, 1]; shaping it is the trainer's business, and happens
here alone. Written with s = success (0 or 1), c = score, n = turns, N = most turns, and shares of
turns v (valid actions), e = 1 - v (errors), r (repeats without effect); o = 1 if turns ran out:

    success        s
    completion     c
    efficiency     s * (1 - slowness * (n - 1) / (N - 1))
    shaped         c - errors * e - repeats * r - overrun * o
    comprehensive  success * s + completion * c + efficiency * efficiency + valid * v
                   - repeats * r - overrun * o
    arpo           c + format * f

f is ARPO's format term: -1 where any turn's text was no action at all, else 0 (ARPO, arXiv
2505.16282, adds it with the weight 0.5). Every reward takes it as the parameter ``format``. The
recipe names its five without formulas that fit other suites; those above are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ui_gym.contract import registry
from ui_gym.errors import UserError, nearest
from ui_gym_agents.episode import Episode

Parameters = Mapping[str, float]
RewardFunction = Callable[[Episode, Parameters], float]

FORMAT = "format"
"""The parameter of every reward: the weight of the format term."""
MAX_TURNS = "max_turns"
"""The parameter of rewards that need N, for episodes that do not know it themselves; 0: the number
that their task is registered with."""
ALIASES = MappingProxyType({"score": "completion"})
"""Other names of rewards."""
MALFORMED = ("parse", "name")
"""The errors of a text that is no action: not in the grammar, or no such action."""


@dataclass(frozen=True)
class Reward:
    """A reward by its name. `defaults` has every parameter that it takes."""

    name: str
    summary: str
    defaults: Parameters
    function: RewardFunction

    def __call__(self, episode: Episode, parameters: Parameters = MappingProxyType({})) -> float:
        """The reward of an episode.

        Raises:
            UserError: an unknown parameter, or one that is no number.
            ValueError: the episode's infrastructure failed, which says nothing about the agent.
        """
        if episode.failure is not None:
            raise ValueError(f"episode {episode.id} has no reward: {episode.failure}; leave it out")
        whole = self.complete(parameters)
        return self.function(episode, whole) + whole[FORMAT] * format_term(episode)

    def complete(self, parameters: Mapping[str, Any]) -> dict[str, float]:
        """`parameters` over the defaults, checked. `UserError` as for a call."""
        for name, value in parameters.items():
            if name not in self.defaults:
                raise UserError(
                    f"the reward {self.name!r} has no parameter {name!r}. "
                    f"{nearest(name, self.defaults)}"
                )
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not math.isfinite(value):
                raise UserError(
                    f"the reward {self.name!r}: {name} is a finite number, not {value!r}"
                )
        return {**self.defaults, **parameters}


def get_reward(name: str) -> Reward:
    """The reward of a name. `UserError` with the nearest one where there is none."""
    found = REWARDS.get(ALIASES.get(name, name))
    if found is None:
        raise UserError(f"there is no reward {name!r}. {nearest(name, REWARDS)}")
    return found


def check_reward(name: str, parameters: Parameters = MappingProxyType({})) -> None:
    """See that there is a reward of that name with these parameters, as pydantic asks.

    Raises:
        ValueError: there is not; names the nearest.
    """
    try:
        get_reward(name).complete(parameters)
    except UserError as error:
        raise ValueError(str(error)) from None


def format_term(episode: Episode) -> float:
    """ARPO's: -1 if any turn's text was no action (cut off, not the grammar, unknown), else 0."""
    return -1.0 if any(turn.action_error in MALFORMED for turn in episode.turns) else 0.0


def _success(episode: Episode, parameters: Parameters) -> float:
    return float(episode.success)


def _completion(episode: Episode, parameters: Parameters) -> float:
    return float(episode.score)


def _efficiency(episode: Episode, parameters: Parameters) -> float:
    if not episode.success:
        return 0.0
    # What the episode knows itself is true of its task; the rest is for older records.
    most = episode.max_turns or int(parameters[MAX_TURNS]) or registry.spec(episode.task).max_steps
    spent = (episode.steps - 1) / (most - 1) if most > 1 else 0.0
    return 1.0 - parameters["slowness"] * min(1.0, max(0.0, spent))


def _shaped(episode: Episode, parameters: Parameters) -> float:
    errors = 1.0 - episode.valid_action_share if episode.turns else 0.0
    return (
        episode.score
        - parameters["errors"] * errors
        - parameters["repeats"] * _repeated(episode)
        - parameters["overrun"] * episode.ran_out_of_turns
    )


def _comprehensive(episode: Episode, parameters: Parameters) -> float:
    return (
        parameters["success"] * episode.success
        + parameters["completion"] * episode.score
        + parameters["efficiency"] * _efficiency(episode, parameters)
        + parameters["valid"] * episode.valid_action_share
        - parameters["repeats"] * _repeated(episode)
        - parameters["overrun"] * episode.ran_out_of_turns
    )


def _repeated(episode: Episode) -> float:
    return episode.consecutive_repeats / max(1, episode.steps)


def _known(*rewards: Reward) -> dict[str, Reward]:
    return {reward.name: reward for reward in rewards}


_TURNS = {MAX_TURNS: 0.0}

REWARDS: Mapping[str, Reward] = MappingProxyType(
    _known(
        Reward("success", "1 for a success, else 0.", {FORMAT: 0.0}, _success),
        Reward("completion", "The score: how much was done.", {FORMAT: 0.0}, _completion),
        Reward(
            "efficiency",
            "1 for a success at once, down to 1 - slowness for one in the last turn.",
            {FORMAT: 0.0, "slowness": 0.5, **_TURNS},
            _efficiency,
        ),
        Reward(
            "shaped",
            "The score, less for errors, for repeats without effect and for running out of turns.",
            {FORMAT: 0.0, "errors": 0.2, "repeats": 0.1, "overrun": 0.1},
            _shaped,
        ),
        Reward(
            "comprehensive",
            "A weighted sum of success, score, efficiency and valid actions, less the penalties.",
            {
                FORMAT: 0.0, "success": 0.5, "completion": 0.2, "efficiency": 0.2, "valid": 0.1,
                "slowness": 0.5, "repeats": 0.1, "overrun": 0.1, **_TURNS,
            },
            _comprehensive,
        ),
        Reward("arpo", "The score, less for a text that is no action.", {FORMAT: 0.5}, _completion),
    )
)  # fmt: skip
"""All rewards by name."""
