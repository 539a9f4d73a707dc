"""What one evaluation in OSWorld's way is: its options, and the task files that it plays."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ui_gym.contract import registry
from ui_gym.contract.arguments import choose, make_task
from ui_gym.contract.task import Task
from ui_gym.errors import UIGymError, UserError, nearest
from ui_gym_agents.seeds import derive_noise

TASK = "UI/OSWorld-v0"
OBSERVATION_TYPES = ("screenshot", "a11y_tree", "screenshot_a11y_tree", "som")
TRAJECTORY_LENGTH = 15
ALL = "all"
"""The domain that stands for every one."""


@dataclass(frozen=True)
class OSWorldOptions:
    """The options of OSWorld's runner that mean something here, by its own names."""

    result_dir: Path
    agent: str = "policy"
    """As `ui-gym-eval --agent` has it."""
    script: Path | None = None
    adapter: Path | None = None
    model: str = ""
    """The model of the agent, and the name of its folder of results."""
    action_space: str = "pyautogui"
    """The dialect that the agent writes."""
    observation_type: str = "screenshot"
    screen_width: int = 1920
    screen_height: int = 1080
    max_steps: int | None = None
    """None: as the task files have it, which is 15 where they say nothing."""
    max_trajectory_length: int | None = None
    """How many pictures the agent is shown, the present one included. None: as the policy's model
    was trained, where that is known, or `TRAJECTORY_LENGTH`."""
    temperature: float = 0.6
    top_p: float = 0.9
    """Of served models."""
    max_tokens: int = 1500
    sleep_after_execution: float = 0.0
    """Seconds between acting and looking, beside what the screen takes to come to rest."""
    test_all_meta_path: Path | None = None
    test_config_base_dir: Path | None = None
    domain: str = ALL
    trial_id: str = ""
    num_envs: int = 1
    device: str = "auto"
    seed: int = 0
    task: str = TASK
    arguments: dict[str, Any] = field(default_factory=dict)
    """Further arguments of the task."""

    def __post_init__(self) -> None:
        choose(self.observation_type, OBSERVATION_TYPES, "observation type")
        for name in (self.model_name, self.trial_id):
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise UserError(f"{name!r} cannot be the name of a folder of results")

    @property
    def model_name(self) -> str:
        """The name of the folder of results: the model's, or the agent's if it has none."""
        if self.model:
            return Path(self.model).name if Path(self.model).is_absolute() else self.model
        kind, _, rest = self.agent.partition(":")
        return (rest.rpartition("@")[0] or rest or kind) if kind == "openai" else self.agent

    @property
    def folder(self) -> Path:
        """Where the results of this model are."""
        return self.result_dir / self.action_space / self.observation_type / self.model_name

    @property
    def shows_elements(self) -> bool:
        return self.observation_type != "screenshot"

    def to_json(self) -> dict[str, Any]:
        """All options as plain values, for ``args.json``."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {k: str(v) if isinstance(v, Path) else v for k, v in values.items()}


@dataclass(frozen=True)
class PlannedTask:
    """One task file to play."""

    domain: str
    id: str
    task: Task[Any, Any]

    @property
    def key(self) -> str:
        return f"{self.domain}/{self.id}"

    @property
    def seed(self) -> int:
        """The episode's seed. Each task has its own, by which views of it are known."""
        return derive_noise("osworld", self.key) % 2**31

    @property
    def infeasible(self) -> bool:
        """Whether the right answer is that it cannot be done."""
        return bool(getattr(getattr(self.task, "file", None), "infeasible", False))


@dataclass(frozen=True)
class Plan:
    """The tasks of a meta file: those that can be played, and why the others cannot."""

    items: tuple[PlannedTask, ...]
    skipped: dict[str, str]


def make_plan(options: OSWorldOptions) -> Plan:
    """Read the meta file and every task file that it names.

    Raises:
        UserError: the meta file cannot be read, or no task of it can be played.
    """
    meta = options.test_all_meta_path or _default_meta(options)
    base = options.test_config_base_dir or meta.parent
    items, skipped = [], {}
    for domain, name in _chosen(read_meta(meta), options.domain, meta):
        try:
            items.append(_item(options, base, domain, name))
        except UIGymError as error:
            skipped[f"{domain}/{name}"] = str(error)
    if options.agent == "oracle" and not all(item.task.has_oracle for item in items):
        raise UserError("the oracle cannot play task files: nobody wrote down how they are solved")
    if not items and not skipped:
        raise UserError(f"{meta} names no task of the domain {options.domain!r}")
    if not items:
        key, why = next(iter(skipped.items()))
        raise UserError(f"none of the {len(skipped)} tasks of {meta} can be played; {key}: {why}")
    return Plan(tuple(items), skipped)


def read_meta(path: Path) -> dict[str, list[str]]:
    """The ids of a meta file, by their domain.

    Raises:
        UserError: it cannot be read, or is none.
    """
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"the meta file {path} cannot be read: {error}") from error
    if not isinstance(meta, dict) or not all(_are_names(names) for names in meta.values()):
        raise UserError(
            f"{path} is no meta file: it must hold an object of lists, as in "
            '{"chrome": ["id", ...], ...}'
        )
    for domain, names in meta.items():
        for name in (domain, *names):
            if name in ("", ".", "..") or "/" in name:
                raise UserError(f"{path}: {name!r} cannot be the name of a file")
    return meta


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _default_meta(options: OSWorldOptions) -> Path:
    if options.test_config_base_dir is not None:
        return options.test_config_base_dir / "test_all.json"
    own = getattr(registry.spec(options.task).load(), "examples", None)
    if not isinstance(own, Path):
        raise UserError("name the tasks: --test-all-meta-path FILE, as evaluation_examples has it")
    return own


def _chosen(meta: dict[str, list[str]], domain: str, path: Path) -> Iterator[tuple[str, str]]:
    """Each task of the domain once."""
    if domain != ALL and domain not in meta:
        raise UserError(f"{path} has no domain {domain!r}. {nearest(domain, [ALL, *meta])}")
    for one, names in meta.items():
        if domain in (ALL, one):
            yield from ((one, name) for name in dict.fromkeys(names))


def _item(options: OSWorldOptions, base: Path, domain: str, name: str) -> PlannedTask:
    # OSWorld's runners are told the folder of `examples`, or `examples` itself.
    places = [base / "examples" / domain / f"{name}.json", base / domain / f"{name}.json"]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise UserError(f"neither {places[0]} nor {places[1]} is there")
    task = make_task(options.task, {**options.arguments, "task_file": str(found)})
    missing: list[str] = task.missing() if hasattr(task, "missing") else []
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UserError(
            f"needs {missing[0]}{more}, which the file cache lacks; "
            f"to have it: ui-gym osworld fetch {found}"
        )
    task.viewport = (options.screen_width, options.screen_height)
    return PlannedTask(domain, name, task)
