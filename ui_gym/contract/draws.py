"""Draws from pools, in plain Python values as params hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

Rng = np.random.Generator


def pick(rng: Rng, pool: Sequence[T]) -> T:
    """One of a pool."""
    return pool[int(rng.integers(len(pool)))]


def some(rng: Rng, pool: Sequence[T], number: int) -> tuple[T, ...]:
    """`number` different ones of a pool, in any order."""
    return tuple(pool[int(i)] for i in rng.permutation(len(pool))[:number])


def between(rng: Rng, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    return int(rng.integers(low, high + 1))


def another(draw: Callable[[], T], taken: T) -> T:
    """The first draw that is not taken."""
    while (drawn := draw()) == taken:
        continue
    return drawn


def other(rng: Rng, pool: Sequence[T], *taken: T) -> T:
    """One of a pool that is not taken."""
    return pick(rng, [one for one in pool if one not in taken])
