"""TaskSpec: what a catalogue knows of a task before its class is imported."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Literal

from ui_gym.errors import TaskError, UserError

Difficulty = Literal["easy", "medium", "hard"]


TEAMS = "multi"
"""The suite of what several agents do together: a vector env's slots, and no env of one agent."""

FOREIGN = "gymnasium"
"""The suite of envs that others registered with Gymnasium, and which are no tasks of ours."""


@dataclass(frozen=True)
class TaskSpec:
    """A registered task: what a catalogue knows of it."""

    name: str
    suite: str
    entry_point: str
    category: str = "other"
    difficulty: Difficulty = "medium"
    max_steps: int = 30
    tags: tuple[str, ...] = ()
    version: int = 0
    summary: str = ""
    collection: str = ""
    """The benchmark that the task is taken over from, if it is; also one of its tags. Such tasks
    are many, and there where something is installed: a choice of tasks has them if it names them,
    or their tag."""
    foreign_id: str = ""
    """The id of an env of the suite `FOREIGN`."""

    @property
    def id(self) -> str:
        """The Gymnasium id."""
        return self.foreign_id or f"UI/{self.name}-v{self.version}"

    def is_called(self, name: str) -> bool:
        """Whether this is the task of an id, or of a name with or without its version."""
        return name in (self.id, self.name, self.id.removeprefix("UI/"))

    def load(self) -> type[Any]:
        """The task's class, imported now if it was not, with all sections in its docstring.

        Raises:
            TaskError: the class cannot be imported, or is no `Task` and no team's env.
            UserError: it is an env of others.
        """
        if self.suite == FOREIGN:
            raise UserError(
                f"{self.id} is no task of ui-gym but an env of others: it is played alone, as it "
                "is, and nothing more is known of it"
            )
        from ui_gym import extras  # `import ui_gym` needs none of it

        told = f"{self.id} ({self.entry_point})"
        found = extras.named(told, self.entry_point, TaskError, here=False)
        asked = "state" if self.suite == TEAMS else "judge"
        if not (isinstance(found, type) and hasattr(found, asked)):
            raise TaskError(f"{self.id} ({self.entry_point}) is {found!r}, and no Task")
        if self.suite != TEAMS:  # an env itself, whose docstring is whole
            self.document(found)
        return found

    def takes(self, *arguments: str) -> bool:
        """Whether the task's class, which is imported for it, takes arguments of these names."""
        return set(arguments) <= inspect.signature(self.load()).parameters.keys()

    def document(self, cls: type[Any]) -> None:
        """Give the docstring of the task's class all of Gymnasium's sections."""
        from ui_gym.contract.docstring import complete  # `import ui_gym` needs none of it

        cls.__doc__ = complete(
            cls, max_steps=self.max_steps, version=self.version, level=self.difficulty
        )
