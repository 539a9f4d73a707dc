"""Suite: many tasks as one env. Each reset draws a task by its seed, or plays the one asked for.

The params of an episode are those that the task itself draws from the same seed, so that
``UI/Browser-v0`` with a seed that draws Login is ``UI/Login-v0`` with that seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ui_gym.contract import registry
from ui_gym.contract.arguments import choose, make_task
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.draws import pick
from ui_gym.contract.spec import Difficulty, TaskSpec
from ui_gym.contract.task import Task
from ui_gym.errors import UserError, nearest

MEMBER_TAG = "suite"
"""The tag of suites themselves, which are never drawn by a suite."""

EXTRA_TAG = "extra"
"""The tag of tasks for which more must be installed; a suite draws them only if they are named."""


SECTIONS = """
    ## Rewards
    Those of the task; all lie in [0, 1].

    ## Starting state
    That of the task; `info["task"]` names it.

    ## Episode end
    Termination: as in the task. `max_steps` is that of the task.

    ## Arguments
    | `tasks` | all | names of the tasks to draw from |
    | `category` | all | only tasks of this category |
    | `difficulty` | all | only tasks of this registered difficulty |
    | `level` | each task's own | the level at which they are played |
    | `compact` | the suite's | only tasks that have a compact form, in that form |
    | `arguments` | the suite's | arguments of each task that takes them, as `{"look": "dark"}` |
    """


def families(suite: str, *, extra: bool = False) -> list[TaskSpec]:
    """The tasks of a suite that are its own: not the suite as one env, nothing taken over, and
    only with `extra` those that need more than is installed by default, or that other distributions
    add: what a seed draws does not depend on what else is installed."""
    here = list(registry.specs(elsewhere=False))
    is_here = any(spec.suite == suite and MEMBER_TAG in spec.tags for spec in here)
    return [
        spec
        for spec in (here if is_here and not extra else registry.specs())
        if spec.suite == suite
        and MEMBER_TAG not in spec.tags
        and not spec.collection
        and (extra or EXTRA_TAG not in spec.tags)
    ]


def compact_families(suite: str) -> list[TaskSpec]:
    """Those of a suite's own tasks that have a compact form, which a tiny model can read."""
    return [spec for spec in families(suite) if spec.takes("compact")]


class Suite(Task[Any, Any]):
    """Base class of suites: tasks of one kind of device and one viewport.

    A subclass sets `base`, the base class of its tasks, and describes itself; the sections that
    all suites have are added to its docstring.
    """

    base: ClassVar[type[Task[Any, Any]]]
    compact: ClassVar[bool] = False
    """Whether it plays compact forms where the argument is not given."""
    arguments: ClassVar[Mapping[str, Any]] = {}
    """What it gives each task that takes it, where nothing is given."""
    has_oracle = True

    def __init_subclass__(cls) -> None:
        cls.viewport = cls.base.viewport
        cls.__doc__ = f"{cls.__doc__}{SECTIONS}"

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        return cls.base.pool(options)

    def __init__(
        self,
        *,
        tasks: Sequence[str] | None = None,
        category: str | None = None,
        difficulty: Difficulty | None = None,
        level: Difficulty | None = None,
        compact: bool | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        """Choose the tasks.

        Args:
            tasks: Their names or ids; all of the suite if None.
            category: Only those of this category.
            difficulty: Only those of this registered difficulty.
            level: The level at which each is played, where it has levels; its own if None.
            compact: Only those that have a compact form, in that form; as the suite says if None.
            arguments: Of each task that takes them; the suite's if None.

        Raises:
            UserError: no task is left, or one cannot be played here.
        """
        known = families(self.spec.suite)
        if tasks is None:
            chosen = known
        else:
            all_of_it = families(self.spec.suite, extra=True)
            chosen = [self._named(name, all_of_it) for name in tasks]
        if category is not None:
            choose(category, sorted({spec.category for spec in [*known, *chosen]}), "category")
            chosen = [spec for spec in chosen if spec.category == category]
        if difficulty is not None:
            levels = {spec.difficulty for spec in [*known, *chosen]}
            choose(difficulty, sorted(levels), "difficulty")
            chosen = [spec for spec in chosen if spec.difficulty == difficulty]
        compact = self.check_flag("compact", self.compact if compact is None else compact)
        if compact:
            chosen = [spec for spec in chosen if spec.takes("compact")]
        if not chosen:
            raise UserError(f"{self.spec.id}: no task is left to draw from")
        given = self.arguments if arguments is None else arguments
        self.members: Mapping[str, Task[Any, Any]] = {
            spec.id: make_task(spec.id, self._arguments(spec, level, compact, given))
            for spec in chosen
        }
        self.viewport = next(iter(self.members.values())).viewport
        self.max_steps = max(member.max_steps for member in self.members.values())
        self.mistakes = tuple(
            sorted({name for member in self.members.values() for name in member.mistakes})
        )

    def choose(self, seed: int, asked: str | None) -> Task[Any, Any]:
        ids = list(self.members)
        if asked is not None:
            return self.members[self._named(asked, [self.members[id].spec for id in ids]).id]
        # Not the generator that the task draws its params from: they must not hang together.
        rng = np.random.default_rng((seed, 1))
        return self.members[pick(rng, ids)]

    def _named(self, name: str, known: Sequence[TaskSpec]) -> TaskSpec:
        found = registry.spec(name)
        if found not in known:
            raise UserError(
                f"{self.spec.id} does not play {name!r}. "
                f"{nearest(name, [spec.name for spec in known])}"
            )
        return found

    @staticmethod
    def _arguments(
        spec: TaskSpec, level: Difficulty | None, compact: bool, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        own = {name: value for name, value in given.items() if spec.takes(name)}
        if level is not None and spec.load().levels:
            own["level"] = level
        return {**own, "compact": True} if compact else own
