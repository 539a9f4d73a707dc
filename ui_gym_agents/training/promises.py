"""What a trainer promises of a step, seen from outside: what it forgot is told with the remedy."""

from __future__ import annotations

from collections.abc import Callable

from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.failures import TrainingError


class StepPromises:
    """Looks at a trainer's policy and pictures before and after each of its steps.

    A step that changed weights counts the change in ``policy.version``: else what is sampled next
    would count as sampled by the old weights, and a server would go on with these. A step clears
    the pictures that it collected, unless the trainer says ``keeps_pictures``: else memory fills
    with them, and then the disk.
    """

    def __init__(
        self, context: TrainerContext, trainer: object, note: Callable[[str], None]
    ) -> None:
        self._context = context
        self._trainer = trainer
        self._note = note
        self._name = context.config.plugin
        self._before: tuple[int, int] | None = None
        self._told = False

    def begin(self) -> None:
        """Before a step."""
        self._before = self._state()

    def check(self) -> None:
        """After it.

        Raises:
            TrainingError: weights were changed, and their version was not.
        """
        before, after = self._before, self._state()
        if before and after and after[0] != before[0] and after[1] == before[1]:
            raise TrainingError(
                f"the trainer {self._name!r} changed the policy's weights in step "
                f"{self._context.step} and left policy.version at {after[1]}, so that what is "
                "sampled next would count as sampled by the old weights: add 1 to policy.version "
                "after each step of the optimizer"
            )
        held = self._context.pictures_held
        if held and not self._told and not getattr(self._trainer, "keeps_pictures", False):
            self._told = True
            self._note(
                f"warning: the trainer {self._name!r} left {held} pictures of step "
                f"{self._context.step} in memory, and more will follow: call "
                "context.screenshots.clear() at the end of step(), or say keeps_pictures = True"
            )

    def _state(self) -> tuple[int, int] | None:
        """How often the trained weights were changed in place, and the policy's version.

        None where there is no policy: one that is made in a step is initialised, and not trained.
        """
        if not self._context.has_policy:
            return None
        policy = self._context.policy
        return sum(p._version for p in policy.parameters()), policy.version
