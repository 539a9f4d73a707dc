"""The protocol of the scoreboard: which episodes a served model is measured on.

It is data (``protocol_v1.toml``), read into a frozen model. Its `digest` stands in every row of the
scoreboard, and rows of different protocols are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

import ui_gym  # noqa: F401 - registers the ids
from ui_gym.contract import registry
from ui_gym.errors import UserError, nearest
from ui_gym_agents.protocols import VersionedProtocol, checked, read_toml
from ui_gym_agents.tasks.sources import TaskEntry

if TYPE_CHECKING:
    from ui_gym_agents.evaluation.plan import EvaluationPlan

ALL = "all"
"""What all suites together are called."""

FOLDER = Path(__file__).parent

TaskIds = Annotated[tuple[str, ...], Field(min_length=1)]


class ScoreboardPart(BaseModel):
    """Base of what is read from the scoreboard's files: immutable, and without unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, from_attributes=True
    )


class ScoreboardProtocol(ScoreboardPart, VersionedProtocol):
    """The whole protocol."""

    split: Literal["train", "heldout"]
    instances: int = Field(ge=1)
    """Of each task."""
    attempts: int = Field(ge=1)
    """Episodes of each instance."""
    seed: int = Field(ge=0)
    """Of what an agent draws."""
    observation: Literal["screenshot", "elements", "both"]
    tasks: dict[str, TaskIds] = Field(min_length=1)
    """Ids by suite."""

    @property
    def episodes(self) -> int:
        """Of each task."""
        return self.instances * self.attempts

    def suites(self, asked: str | None) -> tuple[str, ...]:
        """The suites that are meant: one, or all.

        Raises:
            UserError: the protocol has no such suite.
        """
        if asked in (None, ALL):
            return tuple(self.tasks)
        if asked not in self.tasks:
            known = (*self.tasks, ALL)
            raise UserError(
                f"the protocol {self.version} has no suite {asked!r}. {nearest(str(asked), known)}"
            )
        return (str(asked),)

    def entries(self, suite: str | None = None) -> Iterator[TaskEntry]:
        """The tasks of one suite, or of all.

        Raises:
            UserError: one is not there any more or of another suite, or the protocol has no such
                suite.
        """
        for name in self.suites(suite):
            for task in self.tasks[name]:
                try:
                    spec = registry.spec(task)
                except UserError as error:
                    raise UserError(
                        f"the protocol {self.version} plays {task}, which this ui-gym has not: "
                        f"use a version that has it ({error})"
                    ) from None
                if spec.suite != name:
                    raise UserError(f"{task} is a task of the suite {spec.suite}, and not {name}")
                yield TaskEntry(spec, split=self.split)

    def plan(self, settings: EvaluationPlan, suite: str | None = None) -> EvaluationPlan:
        """`settings` with all that the protocol fixes."""
        return replace(
            settings,
            tasks=tuple(self.entries(suite)), arguments={}, max_steps=None,
            episodes=self.instances, attempts=self.attempts, seed=self.seed,
            observation=self.observation, protocol=self.name,
        )  # fmt: skip


def load_protocol(name: str) -> ScoreboardProtocol:
    """A protocol by its version, or that of a file of one's own (``NAME.toml``).

    Raises:
        UserError: there is none, or the file is no protocol; each mistake has a line.
    """
    known = {path.stem.partition("_")[2]: path for path in FOLDER.glob("protocol_*.toml")}
    if name not in known and not name.endswith(".toml"):
        raise UserError(f"there is no protocol {name!r}. {nearest(name, known)}")
    path = known.get(name, Path(name))
    return checked(ScoreboardProtocol, read_toml(path, "protocol"), f"{path} is no protocol")
