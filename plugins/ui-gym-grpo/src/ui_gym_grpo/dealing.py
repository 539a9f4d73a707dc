"""The minibatches of a step, and which process learns from which episode of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ui_gym_agents.groups.gathering import Trajectory
from ui_gym_agents.groups.stepping import Minibatch
from ui_gym_agents.policy.dealing import deal
from ui_gym_agents.training.context import TrainerContext
from ui_gym_grpo.config import GRPOConfig


def minibatches(config: GRPOConfig, context: TrainerContext, count: int) -> list[Minibatch]:
    """The minibatches of all passes over `count` episodes, in order; the same in every process."""
    step = context.step
    return config.divided(count, lambda epoch: context.derive("minibatches", step, epoch))


def dealt(
    trajectories: Sequence[Trajectory], config: GRPOConfig, context: TrainerContext
) -> list[Trajectory]:
    """Trajectories whose turns say which process learns from them."""
    count = context.processes.count
    if count == 1 or not trajectories:
        return list(trajectories)
    loads: list[dict[int, int]] = [{} for _ in trajectories]
    for number, batch in enumerate(minibatches(config, context, len(trajectories))):
        for episode in batch:
            records = [sample.record for sample in trajectories[episode].samples]
            loads[episode][number] = sum(len(r.prompt_ids) + len(r.output_ids) for r in records)
    return [
        replace(one, samples=[replace(sample, owner=owner) for sample in one.samples], owner=owner)
        for one, owner in zip(trajectories, deal(loads, count), strict=True)
    ]
