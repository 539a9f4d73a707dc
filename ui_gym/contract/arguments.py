"""What a person gives to an env, checked: the task and its arguments, choices, reset options."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ui_gym.contract import registry
from ui_gym.contract.spec import TEAMS
from ui_gym.contract.task import SPLITS, Split, Task
from ui_gym.errors import UserError, nearest

OBSERVATIONS = ("screenshot", "elements", "both")
REWARDS = ("success", "progress")
RESET_OPTIONS = ("task", "split", "oracle", "ground_truth")


def choose(value: Any, options: Sequence[Any], what: str) -> Any:
    """`value` if it is one of `options`, else a `UserError` with the nearest of them."""
    if value in options:
        return value
    known = [option for option in options if isinstance(option, str)]
    raise UserError(f"there is no {what} {value!r}. {nearest(str(value), known)}")


def make_task(
    task: str | Task[Any, Any], arguments: Mapping[str, Any], env_arguments: Sequence[str] = ()
) -> Task[Any, Any]:
    """A task of its own for one env, from an id, a name or a `Task`.

    Args:
        task: What was asked for. A `Task` is copied, so that envs never share one.
        arguments: Keyword arguments of the task.
        env_arguments: Names that the env itself knows, for the hint at an unknown argument.

    Raises:
        UserError: there is no such task, or it takes no such argument.
    """
    if isinstance(task, Task):
        if not hasattr(task, "spec"):
            raise UserError(f"{type(task).__name__} is not registered; decorate it with @register")
        if arguments:
            raise UserError(
                f"{_listed(arguments)} cannot be given beside a Task object; give it to the "
                f"constructor of {type(task).__name__}"
            )
        return copy.copy(task)
    if not isinstance(task, str):
        raise UserError(f"a task is an id, a name or a Task, not {task!r}")
    spec = registry.spec(task)
    if spec.suite == TEAMS:
        raise UserError(
            f"{spec.id} is played by several agents, and is no env of one: ui-gym-train "
            f"--tasks.ids {spec.name} learns from it, without other tasks, and "
            "ui_gym.multiagent.shared_board_v0 makes one (docs/multiagent.md)"
        )
    cls: type[Task[Any, Any]] = spec.load()
    parameters = inspect.signature(cls).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    own = [n for n, p in parameters.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    unknown = [name for name in arguments if name not in own]
    if unknown and not takes_any:
        hint = nearest(unknown[0], [*own, *env_arguments])
        raise UserError(f"{spec.id} takes no argument {unknown[0]!r}. {hint}")
    missing = [n for n in own if parameters[n].default is inspect.Parameter.empty]
    missing = [n for n in missing if n not in arguments]
    if missing:
        raise UserError(f"{spec.id} needs the argument {_listed(missing)}")
    made = cls(**arguments)
    if not hasattr(cls, "spec"):  # declared by an entry point, but without @register
        cls.spec = spec
    made.made_with = dict(arguments)
    return made


def check_viewport(viewport: object) -> tuple[int, int]:
    """(width, height) in pixels, or a `UserError`."""
    pair = tuple(viewport) if isinstance(viewport, Sequence | np.ndarray) else ()
    if len(pair) != 2 or not all(isinstance(n, int | np.integer) and 0 < n < 10_000 for n in pair):
        raise UserError(f"viewport is (width, height) in pixels, not {viewport!r}")
    return int(pair[0]), int(pair[1])


@dataclass(frozen=True)
class ResetOptions:
    """What one reset was asked for. `rates` is None without an oracle."""

    task: str | None
    split: Split | None
    rates: dict[str, float] | None
    ground_truth: bool

    @classmethod
    def read(
        cls, options: Mapping[str, Any] | None, task: Task[Any, Any], split: Split | None
    ) -> ResetOptions:
        """Check the `options` of a reset of `task`, whose env draws from `split` by default."""
        options = options or {}
        for key in options:
            choose(key, RESET_OPTIONS, "reset option")
        return cls(
            task=options.get("task"),
            split=choose(options.get("split", split), (*SPLITS, None), "split"),
            rates=_rates(options.get("oracle"), task),
            ground_truth=choose(options.get("ground_truth", False), (False, True), "ground_truth"),
        )


def _rates(oracle: Any, task: Task[Any, Any]) -> dict[str, float] | None:
    if oracle is None or oracle is False:
        return None
    if not task.has_oracle:
        raise UserError(f"{task.spec.id} has no oracle: nobody wrote down how it is solved")
    if oracle is True:
        return {}
    if not isinstance(oracle, Mapping):
        raise UserError(f"oracle is True or a dict of mistakes to rates, not {oracle!r}")
    for mistake, rate in oracle.items():
        choose(mistake, task.mistakes, f"mistake of {task.spec.id}")
        if not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise UserError(f"the rate of the mistake {mistake!r} is 0 to 1, not {rate!r}")
    return dict(oracle)


def _listed(names: Mapping[str, Any] | Sequence[str]) -> str:
    return ", ".join(map(repr, names))
