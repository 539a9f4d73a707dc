"""What an env asks of a task: its oracle, one step ahead, and errors that name the task."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ui_gym.contract.action import Finish
from ui_gym.contract.task import Demo, Task
from ui_gym.dialects import Dialect
from ui_gym.errors import ActionError, DeviceError, TaskError, UserError


@contextlib.contextmanager
def task_errors(task: Task[Any, Any], method: str) -> Iterator[None]:
    """Turn whatever a task's `method` raises into a `TaskError` that names both.

    A fault of the device, and a mistake of the user, stay what they are.
    """
    try:
        yield
    except (DeviceError, UserError):
        raise
    except TaskError as error:
        raise TaskError(f"{task.spec.id}, {method}: {error}") from error
    except Exception as error:
        raise TaskError(f"{task.spec.id}, {method}: raised {error!r}") from error


class OracleStepper:
    """An oracle that stays one step ahead: `action_text` is what the oracle would write
    now, in the dialect.

    `advance` must be called after the action was done, so that the oracle sees the state then.
    An exhausted oracle says that it is finished.
    """

    def __init__(self, task: Task[Any, Any], device: Any, params: Any, dialect: Dialect) -> None:
        self._task = task
        self._dialect = dialect
        self._size = task.viewport
        self._steps = iter(task.demonstrate(device, params))
        self.demo = Demo(Finish())
        self.action_text = ""
        self.advance()

    def advance(self) -> None:
        """Ask the oracle for its next step."""
        with task_errors(self._task, "oracle"):
            self.demo = next(self._steps, Demo(Finish()))
        try:
            self.action_text = self._dialect.render(
                [self.demo.action], self._size, self.demo.thought
            )
        except ActionError as error:
            raise UserError(
                f"the oracle of {self._task.spec.id} cannot speak the dialect "
                f"{self._dialect.name!r}: {error}. Choose another dialect"
            ) from error
