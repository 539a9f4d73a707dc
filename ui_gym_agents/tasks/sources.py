"""Where a run's tasks come from: the catalogue, task files, and the CUA-RL recipe's sources.

A `TaskEntry` is one thing to train on: a task, perhaps with arguments of its own, a split, and
fixed seeds (its instances). A task file holds one a line: a bare id or name, or a JSON object::

    UI/Login-v0
    {"id": "DataEntry", "arguments": {"compact": true, "length": 4}, "weight": 2}
    {"id": "DataEntry", "seeds": [17], "split": "train", "success": 0.25, "episodes": 8}

Empty lines and lines that begin with ``#`` are skipped. `TaskLine` says what the keys mean; the
recipe's names ``task``, ``task_id`` (for `id`), ``seed`` and ``max_turns`` are read as well.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ui_gym.catalog import TaskSource, meta_tasks
from ui_gym.contract import registry
from ui_gym.contract.arguments import make_task
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import MEMBER_TAG, Suite
from ui_gym.contract.task import Split
from ui_gym.errors import UIGymError, UserError, nearest
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents import files

ENV_ARGUMENTS = frozenset(
    name
    for cls in (UIEnv, UIVectorEnv)
    for name, parameter in inspect.signature(cls.__init__).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
)
"""What may stand beside a task's own arguments, because the env takes it."""

_ALIASES = {"task": "id", "task_id": "id", "max_turns": "max_steps"}
_DESCRIPTIVE = ("name", "description", "difficulty", "tags")
"""Keys of the recipe's lines that say what the task's registration says here."""
_MANY_SEEDS = 4


class TaskFileError(UserError):
    """A task file is damaged; `problems` has a line for each mistake, with file and line number."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class TaskLine(BaseModel):
    """A line of a task file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(description="The task's id or name.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="The task's arguments.")
    split: Split | None = Field(default=None, description="Which parameters are drawn; null: all.")
    seeds: tuple[Annotated[int, Field(ge=0, strict=True)], ...] = Field(
        default=(), description="The instances that are meant; without any, all are."
    )
    weight: float = Field(
        default=1.0, gt=0, allow_inf_nan=False, description="How often it is drawn, beside others."
    )
    category: str | None = Field(default=None, description="Its category, for quotas.")
    max_steps: int | None = Field(default=None, ge=1, description="Steps until it is cut.")
    success: float | None = Field(
        default=None, ge=0, le=1, description="Its success rate as measured, for people."
    )
    episodes: int | None = Field(default=None, ge=1, description="Episodes behind `success`.")


@dataclass(frozen=True)
class TaskEntry:
    """One thing to train on. `arguments` are its own, beside those that all tasks of a run get."""

    spec: TaskSpec
    arguments: Mapping[str, Any] = field(default_factory=dict)
    split: Split | None = "train"
    seeds: tuple[int, ...] = ()
    weight: float = 1.0
    category: str = ""
    """For quotas; the registered one by default."""
    max_steps: int | None = None
    success: float | None = field(default=None, compare=False)
    episodes: int | None = field(default=None, compare=False)
    origin: str = field(default="", compare=False)
    """Where it is written, as ``file:line``; empty if nowhere."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "category", self.category or self.spec.category)

    @property
    def variant(self) -> str:
        """What the env plays: the task's id and the arguments of its own."""
        own = dict(self.arguments)
        if self.max_steps is not None:
            own["max_steps"] = self.max_steps
        text = json.dumps(own, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return self.spec.id + (text if own else "")

    @property
    def name(self) -> str:
        """What tells it from all others of a run: variant, split and seeds."""
        seeds = ",".join(map(str, self.seeds[:_MANY_SEEDS]))
        if len(self.seeds) > _MANY_SEEDS:
            digest = hashlib.sha256(repr(self.seeds).encode()).hexdigest()[:8]
            seeds = f"{self.seeds[0]}..({len(self.seeds)}):{digest}"
        split = "" if self.split == "train" else f" {self.split or 'all'}"
        return self.variant + split + (f" @{seeds}" if seeds else "")

    def to_json(self) -> dict[str, Any]:
        """The line of a task file that gives this entry again."""
        line: dict[str, Any] = {"id": self.spec.id}
        if self.arguments:
            line["arguments"] = dict(self.arguments)
        line["split"] = self.split
        if self.seeds:
            line["seeds"] = list(self.seeds)
        if self.weight != 1.0:
            line["weight"] = self.weight
        if self.category != self.spec.category:
            line["category"] = self.category
        for key in ("max_steps", "success", "episodes"):
            if getattr(self, key) is not None:
                line[key] = getattr(self, key)
        return line


def entries_of(
    source: TaskSource, *, split: Split | None = "train", arguments: Mapping[str, Any] | None = None
) -> list[TaskEntry]:
    """The entries of a source, filtered and limited as it says. A suite as one env
    (``UI/Browser-v0``) stands for its tasks.

    Args:
        source: Where from. Its own `split` is taken where it was set.
        split: That of entries that set none.
        arguments: What every task of the run is given, for the check of a file's lines.

    Raises:
        UserError: an unknown name, or nothing is left.
        TaskFileError: of the source's file, with every line that is wrong.
    """
    split = source.split if "split" in source.model_fields_set else split
    bare = TaskSource(split=split)

    def known(**names: Any) -> list[TaskEntry]:
        specs = bare.model_copy(update=names).select()
        return [TaskEntry(spec, split=split) for spec in specs]

    entries: list[TaskEntry] = []
    if source.ids:
        entries += known(ids=source.ids)
    if source.file is not None:
        entries += read_task_file(source.file, split=split, arguments=arguments)
    if source.custom:
        entries += known(custom=source.custom)
    if not (source.ids or source.file or source.custom):
        whole = source.model_copy(update={"limit": None})
        specs = [spec for spec in whole.select() if MEMBER_TAG not in spec.tags]
        entries = [TaskEntry(spec, split=split) for spec in specs]
    members = [member for entry in entries for member in _members(entry)]
    return _limited(source, _filtered(source, merge(members)))


def _members(entry: TaskEntry) -> list[TaskEntry]:
    """The entry; if it is a suite as one env, one for each of the tasks that this draws from."""
    if MEMBER_TAG not in entry.spec.tags:
        return [entry]
    suite = make_task(entry.spec.id, entry.arguments)
    assert isinstance(suite, Suite)
    level = entry.arguments.get("level")
    return [
        replace(
            entry,
            spec=member.spec,
            arguments={"level": level} if level is not None and member.levels else {},
            category="" if entry.category == entry.spec.category else entry.category,
        )
        for member in suite.members.values()
    ]


def merge(entries: Iterable[TaskEntry]) -> list[TaskEntry]:
    """Each entry once, in order.

    Raises:
        TaskFileError: two of one name differ in weight or category.
    """
    found: dict[str, TaskEntry] = {}
    problems = []
    for entry in entries:
        first = found.setdefault(entry.name, entry)
        if first != entry:
            where = f" at {first.origin}" if first.origin else ""
            problems.append(
                f"{_at(entry)}{entry.name} is given twice with different weight or category "
                f"(first{where}); leave one of them out"
            )
    if problems:
        raise TaskFileError(problems)
    return list(found.values())


def read_task_file(
    path: Path, *, split: Split | None = "train", arguments: Mapping[str, Any] | None = None
) -> list[TaskEntry]:
    """The entries of a task file, in order; also of OSWorld's meta files (``test_all.json``).

    Args:
        path: The file.
        split: That of lines that name none.
        arguments: What every task is given beside its own arguments.

    Raises:
        TaskFileError: with every line that is wrong: no JSON, an unknown task, key or argument.
        UserError: the file cannot be read, or is empty.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the task file {path} cannot be read: {error}") from error
    if (named := meta_tasks(path)) is not None:
        return [TaskEntry(spec, given, split, origin=str(path)) for spec, given in named]
    shared = {k: v for k, v in (arguments or {}).items() if k not in ENV_ARGUMENTS}
    entries, problems = [], []
    # Not splitlines: a JSON string may hold other line separators as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip().removeprefix("\ufeff")
        if not line or line.startswith("#"):
            continue
        origin = f"{path}:{number}"
        try:
            entries.append(_entry(line, origin, split, shared))
        except (UIGymError, ValueError) as error:
            problems += [f"{origin}: {problem}" for problem in str(error).split("\n")]
    if problems:
        raise TaskFileError(problems)
    if not entries:
        raise UserError(f"the task file {path} names no task; write one id a line")
    return merge(entries)


def write_task_file(path: Path, entries: Iterable[TaskEntry]) -> None:
    """Write a task file that `read_task_file` reads; it is there whole or not at all."""
    lines = (json.dumps(entry.to_json(), ensure_ascii=False) + "\n" for entry in entries)
    files.replace(path, "".join(lines))


def from_recipe(value: Any) -> Any:
    """A source in the CUA-RL recipe's words (with a `source_type`) as a `TaskSource`; whatever
    else comes, as it is.

    Raises:
        ValueError: a field of it is unknown, missing or wrong.
    """
    if not isinstance(value, Mapping) or "source_type" not in value:
        return value
    try:
        return TaskSource.from_recipe(value)
    except UserError as error:
        raise ValueError(str(error)) from error


# -- one line --


def _entry(line: str, origin: str, split: Split | None, shared: Mapping[str, Any]) -> TaskEntry:
    """`UIGymError` or `ValueError`, with a line for each problem."""
    values = _values(line)
    parsed = _checked(values)
    try:
        spec = registry.spec(parsed.id)
    except UserError as error:
        sentence = values.get("description")
        hint = (
            " Its description is a sentence, and nothing could judge it; write a Task class and "
            "name it by --tasks.custom my_package.my_module:MyTask"
            if sentence
            else ""
        )
        raise UserError(f"{error}{hint}") from error
    if parsed.arguments:
        _try_arguments(spec, {**shared, **parsed.arguments})
    told = {
        "split": split,
        **parsed.model_dump(exclude={"id"}, exclude_unset=True),
        "category": parsed.category or "",
    }
    return TaskEntry(spec, origin=origin, **told)


def _try_arguments(spec: TaskSpec, arguments: Mapping[str, Any]) -> None:
    """Make the task once: it knows best what it takes."""
    try:
        make_task(spec.id, arguments)
    except UIGymError:
        raise
    except Exception as error:  # a constructor that does not check its arguments
        raise ValueError(f"{spec.id} cannot be made with {dict(arguments)}: {error!r}") from error


def _values(line: str) -> dict[str, Any]:
    """A line as an object with our keys. `ValueError` if it is neither an id nor an object."""
    if line[0] not in '{["':
        return {"id": line}
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON ({error.msg} at column {error.colno})") from error
    if isinstance(value, str):
        return {"id": value}
    if not isinstance(value, dict):
        raise ValueError('a line holds a task id, or an object such as {"id": "UI/DataEntry-v0"}')
    ours: dict[str, Any] = {}
    for key, inner in value.items():
        name = "seeds" if key == "seed" else _ALIASES.get(key, str(key))
        if name in ours:
            raise ValueError(f"{name} is given twice, as {name!r} and as {key!r}")
        ours[name] = [inner] if key == "seed" else inner
    return ours


def _checked(values: Mapping[str, Any]) -> TaskLine:
    """The line's model. `ValueError` with a line for each key that is wrong."""
    try:
        return TaskLine(**{k: v for k, v in values.items() if k not in _DESCRIPTIVE})
    except ValidationError as error:
        problems = []
        for problem in error.errors():
            key = ".".join(map(str, problem["loc"]))
            if problem["type"] == "extra_forbidden":
                known = [*TaskLine.model_fields, *_ALIASES, "seed"]
                problems.append(f"a line has no key {key!r}. {nearest(key, known)}")
            elif problem["type"] == "missing":
                problems.append(f'{key} is missing; write {{"{key}": "UI/DataEntry-v0", ...}}')
            else:
                problems.append(f"{key}: {problem['msg']} (got {problem['input']!r})")
        raise ValueError("\n".join(problems)) from error


# -- filters --


def _filtered(source: TaskSource, entries: list[TaskEntry]) -> list[TaskEntry]:
    ids = tuple(dict.fromkeys(entry.spec.id for entry in entries))
    filters = {"suite": source.suite, "difficulty": source.difficulty, "tags": source.tags}
    if any(filters.values()):
        kept = {spec.id for spec in TaskSource(ids=ids).model_copy(update=filters).select()}
        entries = [entry for entry in entries if entry.spec.id in kept]
    if source.category is None:
        return entries
    # A line's own category counts, which the catalogue does not know.
    chosen = [entry for entry in entries if entry.category == source.category]
    if not chosen:
        known = {entry.category for entry in entries}
        raise UserError(
            f"no task has the category {source.category!r}. {nearest(source.category, known)}"
        )
    return chosen


def _limited(source: TaskSource, entries: list[TaskEntry]) -> list[TaskEntry]:
    """The first `limit` entries, or as many drawn by the source's seed."""
    if source.limit is None or source.limit >= len(entries):
        return entries
    if source.seed is None:
        return entries[: source.limit]
    return Random(source.seed).sample(entries, source.limit)


def variants(entries: Iterable[TaskEntry]) -> Iterator[TaskEntry]:
    """The first entry of each variant, in order."""
    seen: dict[str, TaskEntry] = {}
    for entry in entries:
        seen.setdefault(entry.variant, entry)
    return iter(seen.values())


def _at(entry: TaskEntry) -> str:
    return f"{entry.origin}: " if entry.origin else ""
