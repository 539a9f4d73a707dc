"""TeamOracle: a team's oracle, one round ahead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ui_gym.contract.action import Finish
from ui_gym.contract.task import Demo
from ui_gym.dialects import Dialect
from ui_gym.errors import ActionError, DeviceError, TaskError, UserError
from ui_gym.multiagent.task import Round, TeamTask, Windows


class TeamOracle:
    """What each agent of an oracle's team would write now: `texts` and `captions`, by agent.

    `advance` must be called after a round was done, so that the oracle sees what came of it. An
    exhausted oracle says that it is finished.
    """

    def __init__(
        self, task: TeamTask[Any], windows: Windows, params: Any, mistake: str, dialect: Dialect
    ) -> None:
        self._task = task
        self._dialect = dialect
        self._rounds: Iterator[Round] = iter(task.oracle(windows, params, mistake))
        self.texts: list[str] = []
        self.captions: list[str] = []
        self.advance()

    def advance(self) -> None:
        """Ask the oracle for the next round."""
        try:
            played = next(self._rounds, [Finish()] * self._task.users)
        except (DeviceError, UserError):
            raise
        except Exception as error:
            raise TaskError(f"{self._task.name}, oracle: raised {error!r}") from error
        demos = [step if isinstance(step, Demo) else Demo(step) for step in played]
        self.captions = [demo.caption for demo in demos]
        self.texts = [self._written(demo) for demo in demos]

    def _written(self, demo: Demo) -> str:
        try:
            return self._dialect.render([demo.action], self._task.viewport, demo.thought)
        except ActionError as error:
            raise UserError(
                f"the oracle of {self._task.name} cannot speak the dialect "
                f"{self._dialect.name!r}: {error}. Choose another dialect"
            ) from error
