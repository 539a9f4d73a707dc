"""A process of a run that is not the main one: it learns its share, and does nothing else.

The main process alone has envs and listeners, evaluates, saves, shows, and writes the run's folder
(`host`). It tells the others what comes next by a `StepOrder`; what it collects in a step comes to
them by `TrainerContext.from_main`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ui_gym_agents.policy.parallel import Processes, main_knows
from ui_gym_agents.training import random_state
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.interrupts import ignored
from ui_gym_agents.training.plugin import Trainer
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig


@dataclass(frozen=True)
class StepOrder:
    """What comes next: the checkpoint `load`, or the training step `step`; neither: the end."""

    step: int | None = None
    load: Path | None = None


class Follower:
    """One process of a run beside its `Host`. `run` returns when the host says so."""

    def __init__(self, trainer: type[Trainer], config: RunConfig, processes: Processes) -> None:
        self.config = config
        self.processes = processes
        self._trainer_class = trainer

    def run(self) -> int:
        """Follow the main process to the end of the run.

        Raises:
            ProcessError: the main process failed or has ended.
        """
        with ignored():
            directory = RunDirectory(self.processes.from_main(main_knows), lock=False)
            context = TrainerContext(
                run=directory,
                config=self.config,
                note=lambda _: None,  # the main process says the same
                processes=self.processes,
            )
            try:
                self._follow(context)
            finally:
                context.close()
        return 0

    def _follow(self, context: TrainerContext) -> None:
        with random_state.seeded(self.config.run.seed):
            trainer = self._trainer_class(self.config.trainer, context)
        close = getattr(trainer, "close", None)
        try:
            while (order := self.processes.from_main(main_knows)) != StepOrder():
                if order.load is not None:
                    trainer.load(order.load)
                else:
                    context.step = order.step
                    trainer.step()
                context.settle()
        finally:
            if close is not None:
                close()
