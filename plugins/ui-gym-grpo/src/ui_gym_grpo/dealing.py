"""Which process learns from which episode, where several learn as one.

A process needs the pictures of the episodes that it learns from, and keeps them through all passes
of a step: so an episode is one process's for the whole step. Each minibatch of each pass should be
as much work for one process as for another, for they wait for each other after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ui_gym_agents.training.context import TrainerContext
from ui_gym_grpo.config import GRPOConfig
from ui_gym_grpo.gathering import Trajectory

Minibatch = Sequence[int]
"""Numbers of episodes."""


def minibatches(config: GRPOConfig, context: TrainerContext, count: int) -> list[Minibatch]:
    """The minibatches of all passes over `count` episodes, in order; the same in every process."""
    found: list[Minibatch] = []
    for epoch in range(config.epochs):
        seed = context.derive("minibatches", context.step, epoch)
        order = np.random.default_rng(seed).permutation(count)
        parts = np.array_split(order, min(config.minibatches, count))
        found += [part.tolist() for part in parts]
    return found


def deal(loads: Sequence[int], batches: Sequence[Minibatch], count: int) -> list[int]:
    """For each episode the process, of `count`, that learns from it.

    `loads` say how much work each episode is. The largest come first, each to the process whose
    share of its minibatches is the least uneven with it (in squares).
    """
    inside: list[list[int]] = [[] for _ in loads]
    for number, batch in enumerate(batches):
        for episode in batch:
            inside[episode].append(number)
    shares = np.zeros((count, len(batches)))
    whole = np.zeros(count)
    owners = [0] * len(loads)
    for episode in sorted(range(len(loads)), key=lambda e: -loads[e]):
        own = inside[episode]
        # (share + load)^2 - share^2, less what is the same for all; ties go by all work so far.
        costs = list(zip(shares[:, own].sum(axis=1).tolist(), whole.tolist(), strict=True))
        owner = min(range(count), key=lambda process: costs[process])
        shares[owner, own] += loads[episode]
        whole[owner] += loads[episode]
        owners[episode] = owner
    return owners


def dealt(
    trajectories: Sequence[Trajectory], config: GRPOConfig, context: TrainerContext
) -> list[Trajectory]:
    """Trajectories whose turns say which process learns from them."""
    count = context.processes.count
    if count == 1 or not trajectories:
        return list(trajectories)
    loads = [
        sum(len(s.record.prompt_ids) + len(s.record.output_ids) for s in one.samples)
        for one in trajectories
    ]
    owners = deal(loads, minibatches(config, context, len(trajectories)), count)
    return [
        replace(one, samples=[replace(sample, owner=owner) for sample in one.samples], owner=owner)
        for one, owner in zip(trajectories, owners, strict=True)
    ]
