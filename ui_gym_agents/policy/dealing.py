"""Which process learns from which episode, where several learn as one.

A process needs the pictures of the episodes that it learns from, and keeps them through all passes
of a step: so an episode is one process's for the whole step. Each minibatch of each pass should be
as much work for one process as for another, for they wait for each other after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Loads = Mapping[int, int]
"""How much work an episode is in each minibatch that it has a part in, by the minibatch's number.

The minibatches of all passes count on; the unit is any."""


def deal(loads: Sequence[Loads], count: int) -> list[int]:
    """For each episode the process, of `count`, that learns from it.

    The largest come first, each to the process whose shares of its minibatches are the least uneven
    with it (in squares).
    """
    shares = np.zeros((count, 1 + max((batch for load in loads for batch in load), default=0)))
    owners = [0] * len(loads)
    for episode in sorted(range(len(loads)), key=lambda e: -sum(loads[e].values())):
        own, work = list(loads[episode]), np.array([*loads[episode].values()], np.float64)
        # (share + work)^2 - share^2, less what is the same for all; ties go by all work so far.
        costs = shares[:, own] @ work
        whole = shares.sum(axis=1)
        owner = min(range(count), key=lambda process: (costs[process], whole[process]))
        shares[owner, own] += work
        owners[episode] = owner
    return owners
