"""Which tasks: a `TaskSource` picks them from the registry by suite, id, category and the like.

A list of sources concatenates (`select`). Every refusal names the value and the nearest known one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ui_gym import extras
from ui_gym.contract import registry
from ui_gym.contract.spec import Difficulty, TaskSpec
from ui_gym.errors import UserError, nearest

RECIPE_SUITE = "android"
"""The suite that the demo tasks of the CUA recipe live in."""


class TaskSource(BaseModel):
    """A choice of tasks.

    `ids`, `file` and `custom` name tasks; where none of them is given, all registered tasks are
    meant (those of a collection, such as MiniWoB++, only if `tags` has its name). The filters
    (`suite`, `category`, `difficulty`, `tags`) then narrow them down.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    suite: str | None = Field(
        default=None, description="Only tasks of this suite, such as browser."
    )
    ids: tuple[str, ...] = Field(default=(), description="Tasks by id or name, in this order.")
    category: str | None = Field(default=None, description="Only tasks of this category.")
    difficulty: Difficulty | None = Field(
        default=None, description="Only tasks of this difficulty."
    )
    tags: tuple[str, ...] = Field(
        default=(), description="Only tasks that carry all of these tags."
    )
    split: Literal["train", "heldout"] | None = Field(
        default="train",
        description="Which part of each task's parameters is drawn from; null: all.",
    )
    file: Path | None = Field(
        default=None,
        description="A file that names tasks: an id a line, or JSON lines with an id each; or one "
        "of OSWorld's meta files.",
    )
    custom: tuple[str, ...] = Field(
        default=(), description="Task classes of your own, as my_package.my_module:MyTask."
    )
    limit: int | None = Field(default=None, ge=1, description="At most this many tasks.")
    seed: int | None = Field(
        default=None, description="Draws the tasks that `limit` keeps; null: the first ones."
    )

    def select(self) -> list[TaskSpec]:
        """The tasks, each once. All tasks of a meta file are one, with different arguments: see
        `meta_tasks`.

        Raises:
            UserError: an unknown name, a damaged file, or nothing is left.
        """
        chosen = [registry.spec(name) for name in self.ids]
        if self.file is not None:
            chosen += _read(self.file)
        chosen += [_import_task(path) for path in self.custom]
        if not (self.ids or self.file or self.custom):
            chosen = [
                task
                for task in registry.specs(collections=True)
                if not task.collection or task.collection in self.tags
            ]
        kept = self._filtered(list(dict.fromkeys(chosen)))
        if not kept:
            raise UserError(f"no task is left by {self._described()}; `ui-gym list` shows them all")
        if self.limit is None or self.limit >= len(kept):
            return kept
        return (
            kept[: self.limit] if self.seed is None else Random(self.seed).sample(kept, self.limit)
        )

    @classmethod
    def from_recipe(cls, fields: Mapping[str, Any]) -> TaskSource:
        """Read the task source of the CUA-RL recipe (`source_type`, `task_ids`, ...).

        `demo_training` and `demo_eval` are the Android suite's training and held-out parameters.
        The recipe's own demo tasks are known by its ids (`task_ids`), and together by the tags
        ``cua-recipe`` and ``demo_training`` or ``demo_eval``; see `ui_gym.android.recipe`.

        Raises:
            UserError: an unknown `source_type` or field, or a field that is missing.
        """
        rest = dict(fields)
        kind = rest.pop("source_type", None)
        if kind not in _RECIPE_KINDS:
            raise UserError(
                f"there is no source_type {kind!r}. {nearest(str(kind), _RECIPE_KINDS)}"
            )
        ours: dict[str, Any] = dict(_RECIPE_KINDS[kind])
        for theirs, name in (
            ("task_ids", "ids"),
            ("file_path", "file"),
            ("custom_tasks", "custom"),
        ):
            value = rest.pop(theirs, None)
            if value:
                ours[name] = value
            elif _RECIPE_NEEDS.get(kind) == theirs:
                raise UserError(f"source_type {kind!r} needs {theirs}")
        for sentence in ours.get("custom", ()):
            if ":" not in sentence or " " in sentence.strip():
                raise UserError(
                    f"the custom task {sentence!r} is a sentence, and nothing could judge it; "
                    "write a Task class and name it as my_package.my_module:MyTask"
                )
        for name in _RECIPE_FILTERS:
            if name in rest:
                ours[name] = rest.pop(name)
        if rest:
            unknown = next(iter(rest))
            known = ("source_type", *_RECIPE_NAMES, *_RECIPE_FILTERS)
            raise UserError(f"a task source has no field {unknown!r}. {nearest(unknown, known)}")
        try:
            return cls(**ours)
        except ValidationError as error:
            first = error.errors()[0]
            raise UserError(
                f"task source: {'.'.join(map(str, first['loc']))}: {first['msg']} "
                f"(got {first['input']!r})"
            ) from error

    def _filtered(self, tasks: list[TaskSpec]) -> list[TaskSpec]:
        for name in ("suite", "category", "difficulty"):
            wanted = getattr(self, name)
            if wanted is None:
                continue
            known = {getattr(task, name) for task in registry.specs(collections=True)}
            if name != "difficulty" and wanted not in known:
                raise UserError(f"no task has the {name} {wanted!r}. {nearest(wanted, known)}")
            tasks = [task for task in tasks if getattr(task, name) == wanted]
        known_tags = {tag for task in registry.specs(collections=True) for tag in task.tags}
        for tag in self.tags:
            if tag not in known_tags:
                raise UserError(f"no task has the tag {tag!r}. {nearest(tag, known_tags)}")
        return [task for task in tasks if set(self.tags) <= set(task.tags)]

    def _described(self) -> str:
        given = self.model_dump(mode="json", exclude_defaults=True)
        return ", ".join(f"{key}={value!r}" for key, value in given.items()) or "an empty registry"


def select(sources: TaskSource | Sequence[TaskSource]) -> list[TaskSpec]:
    """The tasks of one source or of several, concatenated, each once."""
    if isinstance(sources, TaskSource):
        return sources.select()
    return list(dict.fromkeys(task for source in sources for task in source.select()))


_RECIPE_KINDS: dict[str, dict[str, Any]] = {
    "demo_training": {"suite": RECIPE_SUITE, "split": "train"},
    "demo_eval": {"suite": RECIPE_SUITE, "split": "heldout"},
    "demo_all": {"suite": RECIPE_SUITE, "split": None},
    "ids": {},
    "file": {},
    "custom": {},
}
_RECIPE_NEEDS = {"ids": "task_ids", "file": "file_path", "custom": "custom_tasks"}
_RECIPE_NAMES = {"task_ids": "ids", "file_path": "file", "custom_tasks": "custom"}
_RECIPE_FILTERS = ("category", "difficulty", "limit", "seed", "split")


def meta_tasks(path: Path) -> list[tuple[TaskSpec, dict[str, str]]] | None:
    """The tasks of one of OSWorld's meta files (``{domain: [id, ...]}``), each with its arguments.

    None if it is no such file.

    Raises:
        UserError: a task file that it names is not there.
    """
    from ui_gym.desktop.osworld.spec import OSWORLD
    from ui_gym.desktop.osworld.taskfile import read_meta

    files = read_meta(path)
    return None if files is None else [(OSWORLD, {"task_file": str(file)}) for file in files]


def _read(path: Path) -> list[TaskSpec]:
    """The tasks that a file names; a line that names none is refused with its number."""
    if (named := meta_tasks(path)) is not None:
        return [spec for spec, _ in named]
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the task file {path} cannot be read: {error}") from error
    tasks = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            tasks.append(registry.spec(_task_of(line)))
        except (UserError, ValueError) as error:
            raise UserError(f"{path}:{number}: {error}") from error
    if not tasks:
        raise UserError(f"the task file {path} names no task; write one id a line")
    return tasks


def _task_of(line: str) -> str:
    """The id in a line of a task file: the bare id, a JSON string, or an object with an id."""
    if line[0] not in '{["':
        return line
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON ({error.msg} at column {error.colno})") from error
    keys: Iterable[str] = ("id", "task", "task_id")
    if isinstance(value, dict):
        value = next((value[key] for key in keys if key in value), None)
    if not isinstance(value, str):
        raise ValueError('a line holds a task id, or an object such as {"id": "UI/DataEntry-v0"}')
    return value


def _import_task(path: str) -> TaskSpec:
    """Import a task class by ``module:Class``; its `@register` makes it known."""
    found = extras.named(f"the custom task {path!r}", path, UserError)
    spec = getattr(found, "spec", None)
    if not isinstance(spec, TaskSpec):
        raise UserError(f"{path!r} is no registered task; decorate the class with @register(...)")
    return spec
