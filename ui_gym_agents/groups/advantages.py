"""How much better than expected an episode or a turn was.

Within a group of G episodes of one start, with rewards R_i, mean m and sample deviation s:

- ``rloo``: R_i - mean of the others' (Ahmadian et al. 2024, arXiv:2402.14740);
- ``dr_grpo``: R_i - m (Liu et al. 2025, arXiv:2503.20783);
- ``grpo``: (R_i - m) / (s + 1e-6) (Shao et al. 2024, arXiv:2402.03300);
- ``gigpo``: ``grpo`` without s, plus the same again among the turns of the group that began in one
  state, on what each returned from there on (Feng et al. 2025, arXiv:2505.10978);
- ``gae``: against a critic, with no group (`turn_advantages`, `token_advantages`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

EPSILON = 1e-6


def leave_one_out(rewards: Sequence[float]) -> list[float]:
    """The advantage of each episode of a group: its reward less the mean of the others'.

    Raises:
        ValueError: the group has fewer than two episodes.
    """
    count = len(rewards)
    if count < 2:
        raise ValueError(f"a group needs at least two episodes, not {count}")
    total = sum(rewards)
    return [reward - (total - reward) / (count - 1) for reward in rewards]


def centred(rewards: Sequence[float]) -> list[float]:
    """Rewards less their mean (Dr. GRPO)."""
    mean = sum(rewards) / len(rewards)
    return [reward - mean for reward in rewards]


def normalised(rewards: Sequence[float]) -> list[float]:
    """Rewards less their mean, over their sample standard deviation (GRPO)."""
    if len(rewards) < 2:
        raise ValueError(f"a group needs at least two episodes, not {len(rewards)}")
    spread = float(np.std(np.asarray(rewards, np.float64), ddof=1))
    return [value / (spread + EPSILON) for value in centred(rewards)]


GROUPED: Mapping[str, Callable[[Sequence[float]], list[float]]] = {
    "rloo": leave_one_out,
    "grpo": normalised,
    "dr_grpo": centred,
    "gigpo": centred,
}
"""Advantages of whole episodes, by name."""


@dataclass(frozen=True)
class TurnStates:
    """What `gigpo` needs of an episode: the state at the start of each turn, and its rewards."""

    states: Sequence[Hashable]
    rewards: Sequence[float]


def step_advantages(episodes: Sequence[TurnStates], *, gamma: float) -> list[list[float]]:
    """GiGPO's second term: each turn against the group's other turns from the same state.

    A turn is worth the discounted sum of the rewards from it on. A state that the group was in
    once teaches nothing: 0.
    """
    returns = [discounted(episode.rewards, gamma) for episode in episodes]
    by_state: dict[Hashable, list[float]] = {}
    for episode, values in zip(episodes, returns, strict=True):
        for state, value in zip(episode.states, values, strict=True):
            by_state.setdefault(state, []).append(value)
    means = {state: sum(values) / len(values) for state, values in by_state.items()}
    return [
        [value - means[state] for state, value in zip(episode.states, values, strict=True)]
        for episode, values in zip(episodes, returns, strict=True)
    ]


def discounted(rewards: Sequence[float], gamma: float) -> list[float]:
    """The sum of the rewards from each turn on, each later one times `gamma` once more."""
    found: list[float] = []
    total = 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
        found.append(total)
    return found[::-1]


def turn_advantages(
    rewards: Sequence[float], values: Sequence[float], *, gamma: float, lam: float, last: float = 0
) -> list[float]:
    """Generalised advantage estimation (Schulman et al. 2016, arXiv:1506.02438) over turns::

        d_k = r_k + gamma V_{k+1} - V_k        A_k = sum_l (gamma lam)^l d_{k+l}

    `values` are V at the start of each turn; `last` is V after the last one (0 where it ended).
    """
    found: list[float] = []
    ahead, following = 0.0, last
    for reward, value in zip(reversed(rewards), reversed(values), strict=True):
        ahead = reward + gamma * following - value + gamma * lam * ahead
        following = value
        found.append(ahead)
    return found[::-1]


def token_advantages(
    gained: float, values: Sequence[float], *, gamma: float = 1.0, lam: float = 1.0
) -> list[float]:
    """GAE inside a turn that returned `gained` (its advantage plus V at its start) at its end.

    The second level of VAGEN's bi-level GAE (Wang et al. 2025): `values` are V before each token.
    """
    rewards = [0.0] * (len(values) - 1) + [gained]
    return turn_advantages(rewards, values, gamma=gamma, lam=lam)
