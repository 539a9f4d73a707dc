"""Task files of OSWorld: their schema, as it is, and what a file needs.

A file is a JSON object::

    {"id": ..., "instruction": ..., "config": [{"type": ..., "parameters": {...}}, ...],
     "evaluator": {"postconfig": [...], "func": ..., "conj": "and",
                   "result": {"type": ...}, "expected": {"type": ...}, "options": {...}}}

`func` may be a list of metrics; `result`, `expected` and `options`, where given, are then lists as
long. The metric ``infeasible`` needs nothing else. Keys that are not known are left alone. One key
is ours: ``"ui_gym": {"max_steps": 15, "device": "x11", "apps": ["mousepad"]}``.

Source: https://github.com/xlang-ai/OSWorld, ``evaluation_examples/README.md`` and
``desktop_env/desktop_env.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ui_gym.desktop.osworld.registry import GETTERS, METRICS, SETUPS, Config
from ui_gym.errors import UserError, nearest

INFEASIBLE = "infeasible"
"""The metric of tasks that cannot be done: all that counts is whether the agent says so."""

EMPTY_HISTORY = (
    "https://huggingface.co/datasets/xlangai/ubuntu_osworld_file_cache/resolve/main/chrome/"
    "44ee5668-ecd5-4366-a6ce-c1c9b8d4e938/history_empty.sqlite?download=true"
)
"""The history that the step ``update_browse_history`` begins with."""

DEVICES = ("x11", "osworld", "qemu")
"""The kinds of devices that a file may be meant for. Which machine it is, its player says."""

Conjunction = Literal["and", "or"]


@dataclass(frozen=True)
class SetupStep:
    """A step of ``config`` or ``postconfig``. `place` is where it stands, as ``config.2``."""

    kind: str
    parameters: Config
    place: str


@dataclass(frozen=True)
class EvaluatorCheck:
    """A metric with what it compares. Without an `expected` it is given the result alone."""

    metric: str
    result: Config
    expected: Config | None
    options: Config


@dataclass(frozen=True)
class TaskFile:
    """A task file that was read. Without `checks`, the task is infeasible."""

    id: str
    instruction: str
    path: Path
    config: tuple[SetupStep, ...]
    postconfig: tuple[SetupStep, ...]
    checks: tuple[EvaluatorCheck, ...]
    conjunction: Conjunction = "and"
    related_apps: tuple[str, ...] = ()
    max_steps: int | None = None
    """Ours: steps until truncation."""
    device: str | None = None
    """Ours: the device that it is meant for, where not every one will do."""
    apps: tuple[str, ...] = ()
    """Ours: the programs that must be installed."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The file as it is."""

    @property
    def infeasible(self) -> bool:
        """Whether the right answer is that it cannot be done."""
        return not self.checks

    @property
    def domain(self) -> str:
        """The folder that it lies in, which OSWorld names after the application."""
        return self.path.parent.name

    @property
    def steps(self) -> tuple[SetupStep, ...]:
        """Every setup step, before the episode and after it."""
        return (*self.config, *self.postconfig)


def read(path: Path | str) -> TaskFile:
    """Read a task file.

    Raises:
        UserError: it cannot be read, or is no task file; says all that is wrong, a line each.
    """
    path = Path(path)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the task file {path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"the task file {path} is not JSON: {error}") from error
    return parse(raw, path)


def parse(raw: object, path: Path) -> TaskFile:
    """The task file `raw`, which was read from `path`.

    Raises:
        UserError: see `read`.
    """
    reader = _TaskFileReader()
    try:
        task = reader.task(raw, path)
    except RecursionError:
        raise UserError(f"{path} is nested too deeply for a task file") from None
    if reader.problems:
        listed = "\n".join(f"  {problem}" for problem in reader.problems)
        raise UserError(f"{path} is no task file as OSWorld has them:\n{listed}")
    return task


def lacks(task: TaskFile) -> list[str]:
    """What the task names and is not known here, as ``"getter googledrive_file"``, each once."""
    setups = [("setup", step.kind) for step in task.steps if step.kind not in SETUPS]
    wanted = [config for check in task.checks for config in (check.result, check.expected)]
    types = [config["type"] for config in wanted if config is not None]
    getters = [("getter", kind) for kind in types if kind not in GETTERS]
    metrics = [("metric", c.metric) for c in task.checks if c.metric not in METRICS]
    return [f"{kind} {name}" for kind, name in dict.fromkeys(setups + getters + metrics)]


def urls(task: TaskFile) -> list[str]:
    """The addresses of all files that the task needs, each once, in the order of their use."""
    return list(dict.fromkeys(_urls(task)))


def _urls(task: TaskFile) -> Iterator[str]:
    brought = set()
    for step in task.steps:
        if step.kind == "download":
            files = [file for file in step.parameters.get("files", ()) if "url" in file]
            yield from (file["url"] for file in files)
            brought |= {str(file.get("path")).rpartition("/")[2] for file in files}
        if step.kind == "update_browse_history" and "History" not in brought:
            yield EMPTY_HISTORY
    for check in task.checks:
        for config in (check.result, check.expected):
            if config is not None and config["type"] == "cloud_file":
                paths = config.get("path", ())
                yield from [paths] if isinstance(paths, str) else paths


def find(path: Path | str) -> list[Path]:
    """The task files that a path stands for: the file itself, those beneath a folder, or those of
    a meta file (``{domain: [id, ...]}``, with the tasks in ``examples/<domain>/<id>.json`` beside),
    those included that are not there.

    Raises:
        UserError: there are none.
    """
    path = Path(path)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*.json") if _looks_like_a_task(file))
        if not found:
            raise UserError(f"no task file lies in {path}; it is where OSWorld's `examples` are")
        return found
    if not path.is_file():
        raise UserError(f"{path} is neither a folder of task files nor a file")
    named = _named(path)
    if named and not any(file.is_file() for file in named):
        raise _absent(path, named)
    return [path] if named is None else named


def read_meta(path: Path) -> list[Path] | None:
    """The task files that a meta file names, in its order; None if it is no such file.

    Raises:
        UserError: it names files that are not there.
    """
    named = _named(path)
    if absent := [file for file in named or () if not file.is_file()]:
        raise _absent(path, absent)
    return named


def _absent(path: Path, files: Sequence[Path]) -> UserError:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return UserError(f"{path} names {files[0]}{more}, which is not there")


def _named(path: Path) -> list[Path] | None:
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(meta, dict) or not meta or not all(map(_is_names, meta.values())):
        return None
    folder = path.parent / "examples"
    return [folder / domain / f"{name}.json" for domain, names in meta.items() for name in names]


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _looks_like_a_task(path: Path) -> bool:
    """Whether it may be meant as one: beside them lie settings, meta files and tables."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return False
    except (ValueError, RecursionError):
        return True  # to be told of
    return isinstance(raw, dict) and "evaluator" in raw and "instruction" in raw


class _TaskFileReader:
    """Reads a file's parts and keeps every problem, by the place where it is."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def task(self, raw: object, path: Path) -> TaskFile:
        whole = self.mapping(raw, "the file")
        evaluator = self.mapping(whole.get("evaluator"), "evaluator")
        ours = self.ours(whole.get("ui_gym", {}))
        conjunction = evaluator.get("conj", "and")
        if conjunction not in ("and", "or"):
            self.wrong("evaluator.conj", '"and" or "or"', conjunction)
        apps = whole.get("related_apps", [])
        return TaskFile(
            id=self.text(whole.get("id"), "id"),
            instruction=self.text(whole.get("instruction"), "instruction"),
            path=path,
            config=self.steps(whole.get("config", []), "config"),
            postconfig=self.steps(evaluator.get("postconfig", []), "evaluator.postconfig"),
            checks=self.checks(evaluator),
            conjunction=conjunction,
            related_apps=tuple(apps) if _is_names(apps) else (),
            max_steps=ours.get("max_steps"),
            device=ours.get("device"),
            apps=self.names(ours.get("apps", []), "ui_gym.apps"),
            raw=whole,
        )

    def ours(self, raw: object) -> Mapping[str, Any]:
        block = self.mapping(raw, "ui_gym")
        kinds = {"max_steps": int, "device": str, "apps": list}
        for name, value in block.items():
            if name not in kinds:
                self.problems.append(f"ui_gym: there is no key {name!r}. {nearest(name, kinds)}")
            elif type(value) is not kinds[name] or value == 0:
                self.wrong(f"ui_gym.{name}", f"of type {kinds[name].__name__}", value)
        if isinstance(block.get("device"), str) and block["device"] not in DEVICES:
            # An address would be told the token and sent the task's files.
            self.wrong(
                "ui_gym.device",
                f"one of {', '.join(DEVICES)}, no address",
                block["device"],
            )
        return block

    def names(self, value: object, place: str) -> tuple[str, ...]:
        if isinstance(value, list):
            return tuple(self.text(name, f"{place}.{n}") for n, name in enumerate(value))
        return ()

    def steps(self, raw: object, place: str) -> tuple[SetupStep, ...]:
        if not isinstance(raw, list):
            self.wrong(place, "a list of steps", raw)
            return ()
        found = []
        for number, value in enumerate(raw):
            here = f"{place}.{number}"
            step = self.mapping(value, here)
            kind = self.text(step.get("type"), f"{here}.type")
            parameters = self.mapping(step.get("parameters", {}), f"{here}.parameters")
            if kind == "download":
                self.downloads(parameters.get("files", []), f"{here}.parameters.files")
            found.append(SetupStep(kind, parameters, here))
        return tuple(found)

    def downloads(self, raw: object, place: str) -> None:
        if not isinstance(raw, list):
            self.wrong(place, "a list of files", raw)
            return
        for number, value in enumerate(raw):
            file = self.mapping(value, f"{place}.{number}")
            if "url" in file:
                self.text(file["url"], f"{place}.{number}.url")

    def checks(self, evaluator: Mapping[str, Any]) -> tuple[EvaluatorCheck, ...]:
        func = evaluator.get("func")
        if func == INFEASIBLE:
            return ()
        if isinstance(func, list) and func:
            names, many = func, True
        else:
            names, many = [func], False
        columns = [
            self.column(evaluator, key, len(names), many)
            for key in ("result", "expected", "options")
        ]
        found = []
        for number, (name, result, expected, options) in enumerate(
            zip(names, *columns, strict=True)
        ):
            suffix = f".{number}" if many else ""
            metric = self.text(name, f"evaluator.func{suffix}")
            if not result:
                self.wrong(f"evaluator.result{suffix}", "what the metric looks at", result)
            for key, config in (("result", result), ("expected", expected)):
                if config:
                    self.getter(config, f"evaluator.{key}{suffix}")
            found.append(EvaluatorCheck(metric, result or {}, expected or None, options or {}))
        return tuple(found)

    def getter(self, config: Mapping[str, Any], place: str) -> None:
        kind, paths = self.text(config.get("type"), f"{place}.type"), config.get("path", "")
        if kind == "cloud_file" and not isinstance(paths, str) and not _is_names(paths):
            self.wrong(f"{place}.path", "an address, or a list of them", paths)

    def column(
        self, evaluator: Mapping[str, Any], key: str, count: int, many: bool
    ) -> Sequence[Mapping[str, Any] | None]:
        """`result`, `expected` or `options`, one for each metric; None where there is none."""
        value = evaluator.get(key)
        if value is None or value == {} or value == []:
            return [None] * count
        if not many:
            return [self.mapping(value, f"evaluator.{key}")]
        if not isinstance(value, list) or len(value) != count:
            self.wrong(f"evaluator.{key}", f"a list of {count}, as `func` is", value)
            return [None] * count
        return [
            None if one is None else self.mapping(one, f"evaluator.{key}.{number}")
            for number, one in enumerate(value)
        ]

    def mapping(self, value: object, place: str) -> Mapping[str, Any]:
        if isinstance(value, dict):
            return value
        self.wrong(place, "an object", value)
        return {}

    def text(self, value: object, place: str) -> str:
        if not isinstance(value, str) or not value:
            self.wrong(place, "a text", value)
            return ""
        return value

    def wrong(self, place: str, wanted: str, value: object) -> None:
        said = f"must be {wanted}, not {json.dumps(value)[:60]}"
        if value is None:
            said = f"is missing; it must be {wanted}"
        self.problems.append(f"{place}: {said}")
