"""Which tasks there are: each registered task is a Gymnasium id, known before it is imported."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import gymnasium
from gymnasium.envs.registration import EnvSpec

from ui_gym.contract.spec import FOREIGN, TEAMS, Difficulty, TaskSpec
from ui_gym.errors import TaskError, UserError, nearest

if TYPE_CHECKING:
    from ui_gym.contract.task import Task

ENTRY_POINT_GROUP = "ui_gym.tasks"
"""Third parties add tasks here: ``MyTask = "my_package.my_module:MyTask"``."""

T = TypeVar("T", bound="type[Task[Any, Any]]")


_SPECS: dict[str, TaskSpec] = {}

_ELSEWHERE: dict[str, bool] = {}
"""Tasks that other distributions declare, and whether their classes were asked to describe them."""

_MISSING: dict[str, tuple[TaskSpec, str]] = {}
"""Tasks that could be had, and what to do for it."""


def register(
    name: str,
    *,
    suite: str,
    category: str = "other",
    difficulty: Difficulty = "medium",
    max_steps: int = 30,
    tags: Sequence[str] = (),
    version: int = 0,
) -> Callable[[T], T]:
    """Class decorator: make a task known as the env ``UI/<name>-v<version>``."""

    def decorate(cls: T) -> T:
        cls.spec = TaskSpec(
            name=name,
            suite=suite,
            entry_point=f"{cls.__module__}:{cls.__qualname__}",
            category=category,
            difficulty=difficulty,
            max_steps=max_steps,
            tags=tuple(tags),
            version=version,
            summary=(inspect.getdoc(cls) or "").split("\n", 1)[0],
        )
        cls.spec.document(cls)
        _add(cls.spec)
        return cls

    return decorate


def declare(new: TaskSpec) -> None:
    """Make a task known whose class is imported when it is made."""
    if new.id not in _SPECS:
        _add(new)


def declare_missing(absent: TaskSpec, remedy: str) -> None:
    """Say of a task what must be done before there is such a one."""
    _MISSING[absent.id] = (absent, remedy)
    _register_env(absent)


def declare_table(path: Path) -> None:
    """Make the tasks of a table known, which ``docs/tasks_table.py`` writes from their classes."""
    table = json.loads(path.read_text(encoding="utf-8"))
    absent = {
        collection: remedy
        for collection, remedy in table["needs"].items()
        if importlib.util.find_spec(collection) is None
    }
    for row in table["tasks"]:
        found = TaskSpec(**{**row, "tags": tuple(row.get("tags", ()))})
        if found.collection in absent:
            declare_missing(found, absent[found.collection])
        else:
            declare(found)


def specs(*, collections: bool = False, elsewhere: bool = True) -> Iterator[TaskSpec]:
    """Every registered task, by id; those of collections too where they are wanted.

    Tasks of other distributions (`elsewhere`) are imported, so that they are described rightly.
    """
    for task, is_described in list(_ELSEWHERE.items()):
        if elsewhere and not is_described:
            _describe(task)
    known = (
        spec
        for spec in _SPECS.values()
        if (collections or not spec.collection) and (elsewhere or spec.id not in _ELSEWHERE)
    )
    return iter(sorted(known, key=lambda spec: spec.id))


def spec(task: str) -> TaskSpec:
    """The task of an id (``UI/DataEntry-v0``) or a name (``DataEntry``: its newest version).

    Any other id that Gymnasium knows, with or without the module that registers it
    (``their_envs:Theirs/Spot-v0``), is one of the suite `FOREIGN`.
    """
    for declared, is_described in list(_ELSEWHERE.items()):
        if not is_described and declared in _SPECS and _SPECS[declared].is_called(task):
            _describe(declared)
    if task in _SPECS:
        return _SPECS[task]
    versions = [s for s in _SPECS.values() if s.is_called(task)]
    if not versions:
        for absent, remedy in _MISSING.values():
            if absent.is_called(task):
                raise UserError(f"{absent.id} is not installed: {remedy}")
        if (foreign := _foreign(task)) is not None:
            return foreign
        raise UserError(f"there is no task {task!r}. {nearest(task, _SPECS)}")
    return max(versions, key=lambda s: s.version)


def _foreign(task: str) -> TaskSpec | None:
    """An env that others registered, or a task of the module that `task` names; None if there is
    neither."""
    module, _, name = task.rpartition(":")
    try:
        if module:
            importlib.import_module(module)
        if name in _SPECS:
            return _SPECS[name]
        found = gymnasium.spec(name)
    except gymnasium.error.Error:
        return None
    except ImportError as error:
        raise UserError(f"the module of {task} cannot be imported: {error}") from error
    return TaskSpec(
        name=found.name, suite=FOREIGN, entry_point=str(found.entry_point),
        max_steps=found.max_episode_steps or TaskSpec.max_steps, version=found.version or 0,
        summary="An env of others.", foreign_id=task,
    )  # fmt: skip


def register_entry_points() -> None:
    """Register the tasks that other distributions declare; they are imported when they are
    described or made.

    The name of an entry point is the task's, with ``-v<version>`` if it is not 0.
    """
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        name, version = _NAME.fullmatch(entry.name).groups()  # type: ignore[union-attr]
        declared = TaskSpec(
            name=name, suite="custom", entry_point=entry.value, version=int(version or 0)
        )
        if declared.id not in _SPECS:
            _ELSEWHERE[declared.id] = False
            _add(declared)


def _describe(task: str) -> None:
    """Import a task that another distribution declares: its `@register` says what it is."""
    _ELSEWHERE[task] = True
    declared = _SPECS[task]
    try:
        cls = declared.load()
    except TaskError as error:
        _SPECS[task] = replace(declared, summary=str(error))
        return
    own: TaskSpec | None = cls.__dict__.get("spec")
    if own is None:
        summary = (inspect.getdoc(cls) or "").split("\n", 1)[0]
        _SPECS[task] = replace(declared, summary=summary)
    elif own.id != task:  # the entry point has a name of its own
        _SPECS[task] = replace(
            own, name=declared.name, version=declared.version, entry_point=declared.entry_point
        )


_NAME = re.compile(r"(.*?)(?:-v(\d+))?", re.DOTALL)


def _add(new: TaskSpec) -> None:
    _SPECS[new.id] = new
    _register_env(new)


def _register_env(new: TaskSpec) -> None:
    # A task that was declared by its entry point and is imported now keeps its registration.
    if new.id not in gymnasium.registry:
        teams = "ui_gym.multiagent.registered:make_teams"
        # `gymnasium.register` looks through all envs for each new one, which takes long with many.
        gymnasium.registry[new.id] = EnvSpec(
            id=new.id,
            entry_point="ui_gym.playing.env:UIEnv",
            vector_entry_point=teams if new.suite == TEAMS else "ui_gym.playing.vector:UIVectorEnv",
            kwargs={"task": new.id},
        )
