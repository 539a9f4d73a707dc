"""The protocol: which tasks, how much training, what is measured, and what it is compared with.

It is data (``protocol.toml``), read into frozen models. Its `digest` stands in every result, and
results of different protocols are not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ui_gym.contract import registry
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import families
from ui_gym.errors import UserError, nearest
from ui_gym_agents.protocols import VersionedProtocol, checked, read_toml

FILE = Path(__file__).with_name("protocol.toml")

Setting = str | int | float | bool | tuple[str, ...]
"""A value of a setting of `ui-gym-train`."""


class BenchPart(BaseModel):
    """Base of what is read from the benchmark's files: immutable, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BenchBudget(BenchPart):
    """How much training a run on one task may have; whichever ends first."""

    seconds: float = Field(gt=0)
    """Wall time of training."""
    episodes: int = Field(ge=1)
    cores: int = Field(ge=1)
    """CPU cores that `jobs` runs share."""
    jobs: int = Field(ge=1)
    threads: int = Field(ge=1)
    """Of torch, in each run."""


class MultiTaskBudget(BenchPart):
    """How much a run on many tasks may have, for each of them."""

    seconds_per_task: float = Field(gt=0)
    episodes_per_task: int = Field(ge=1)
    settings: dict[str, Setting] = Field(default_factory=dict)


class BesideEvaluation(BenchPart):
    """What the learned model is measured on as well: another split, or other `arguments` of the
    tasks that take them."""

    split: Literal["train", "heldout"] = "heldout"
    arguments: dict[str, Any] = Field(default_factory=dict)


class HeldOutEvaluation(BenchPart):
    """What is measured after training, and greedily beside that, by a name each."""

    split: Literal["train", "heldout"]
    episodes: int = Field(ge=1)
    beside: dict[str, BesideEvaluation] = Field(default_factory=dict)


class ControlSizes(BenchPart):
    """How much is played of what needs no training."""

    episodes: int = Field(ge=1)
    """Of the random agent, and of the parent's greedy answers."""
    instances: int = Field(ge=1)
    """That the parent has `attempts` sampled tries at."""
    attempts: int = Field(ge=1)


class BenchTaskSet(BenchPart):
    """A named choice of tasks."""

    suite: str
    names: tuple[str, ...] = ()
    """Without any, all families of the suite."""


class BenchProtocol(BenchPart, VersionedProtocol):
    """The whole protocol."""

    run_seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
    held_out_families: tuple[str, ...] = ()
    arguments: dict[str, Any] = Field(default_factory=dict)
    budget: BenchBudget
    multi: MultiTaskBudget
    evaluation: HeldOutEvaluation
    controls: ControlSizes
    settings: dict[str, Setting] = Field(default_factory=dict)
    sets: dict[str, BenchTaskSet]

    def has_form(self, spec: TaskSpec) -> bool:
        """Whether a task takes the arguments of the protocol, as its signature says."""
        return spec.takes(*self.arguments)

    def tasks(self, set_name: str) -> ChosenTasks:
        """The tasks of a set.

        Raises:
            UserError: there is no such set, or nothing of it is there.
        """
        if set_name not in self.sets:
            raise UserError(
                f"there is no set of tasks {set_name!r}. {nearest(set_name, self.sets)}"
            )
        asked = self.sets[set_name]
        known = {s.name: s for s in families(asked.suite, extra=True) if self.has_form(s)}
        names = asked.names or tuple(sorted(known))
        found = ChosenTasks(
            tuple(n for n in names if n in known), tuple(n for n in names if n not in known)
        )
        if not found.names:
            raise UserError(
                f"no task of the set {set_name!r} takes the arguments {self.arguments}; name "
                "others with --task"
            )
        return found

    def named(self, names: Sequence[str]) -> ChosenTasks:
        """Tasks that somebody names, by id or name.

        Raises:
            UserError: one is unknown, or does not take the protocol's arguments.
        """
        specs = [registry.spec(name) for name in names]
        for spec in specs:
            if not self.has_form(spec):
                suites = {asked.suite for asked in self.sets.values()}
                there = {s.name for suite in suites for s in families(suite) if self.has_form(s)}
                raise UserError(
                    f"{spec.name} takes no {', '.join(self.arguments)}, which the protocol "
                    f"{self.version} gives to all tasks. {nearest(spec.name, there)}"
                )
        return ChosenTasks(tuple(dict.fromkeys(spec.name for spec in specs)))

    def held_out(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of some tasks that are held out as families."""
        return tuple(name for name in names if name in self.held_out_families)


@dataclass(frozen=True)
class ChosenTasks:
    """Names of tasks; `missing` are those of a set that have not the form that is asked for."""

    names: tuple[str, ...]
    missing: tuple[str, ...] = ()


def load_protocol(path: Path | None = None) -> BenchProtocol:
    """The protocol of a file, by default the benchmark's own.

    Raises:
        UserError: the file cannot be read, or is no protocol; each mistake has a line.
    """
    path = path or FILE
    return checked(BenchProtocol, read_toml(path, "protocol"), f"{path} is no protocol")
