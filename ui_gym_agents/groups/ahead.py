"""Playing ahead of learning, in a thread, with a sampler that takes over newer weights."""

from __future__ import annotations

from collections.abc import Callable

from ui_gym_agents.agents.agent import Agent
from ui_gym_agents.collecting.collector import Collector
from ui_gym_agents.groups.feed import Closed, Feed
from ui_gym_agents.groups.gathering import Batch, Gatherer
from ui_gym_agents.groups.settings import GroupSettings
from ui_gym_agents.training.context import TrainerContext


def play_ahead(
    config: GroupSettings,
    context: TrainerContext,
    sampler: Agent,
    refresh: Callable[[], None],
) -> tuple[Feed[Batch], Collector]:
    """Batches that `sampler` plays in the run's envs while the trainer learns, and its collector.

    `refresh` gives the sampler the newest weights; it is called before each batch.
    """
    collector = context.collector.beside(sampler)
    context.watch(collector)
    gatherer = Gatherer(config, context, collector)

    def make(step: int, closed: Closed) -> Batch:
        with context.envs_in_use:  # an evaluation plays in the same envs
            refresh()
            return gatherer.batch(step, closed)

    feed = Feed(
        make,
        ahead=config.max_steps_off_policy,
        first=context.step,
        last=context.config.run.steps,
        stopping=context.stop_requested,
    )
    return feed, collector
