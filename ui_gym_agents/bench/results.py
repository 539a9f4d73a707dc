"""Result files: what one run, or the controls of one task, came to, and all that bears on it.

A file is JSON, written whole or not at all. It says enough to run again (`rerun`).
"""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ui_gym.child_process import cores
from ui_gym.contract import registry
from ui_gym.errors import UserError
from ui_gym_agents import files
from ui_gym_agents.bench.protocol import BenchPart, BenchProtocol
from ui_gym_agents.policy.weights import resolve
from ui_gym_agents.protocols import checked
from ui_gym_agents.training.facts import facts, without_secrets

SCHEMA = 1

PACKAGES = (
    "ui-gym", "ui-gym-tiny", "ui-gym-grpo", "ui-gym-sft", "gymnasium", "numpy", "peft",
    "tokenizers", "torch", "transformers",
)  # fmt: skip


class MeasuredRate(BenchPart):
    """A success rate over `n` episodes, with its 95 % interval (Wilson's)."""

    success: float
    low: float
    high: float
    n: int


class TaskFigures(BenchPart):
    """What was measured of a task; rates by how answers are chosen, ``greedy`` or ``sampled``."""

    before: dict[str, MeasuredRate] = Field(default_factory=dict)
    """Of the parent."""
    after: dict[str, MeasuredRate] = Field(default_factory=dict)
    beside: dict[str, MeasuredRate] = Field(default_factory=dict)
    """What else was measured after training, greedily, by its name in the protocol."""
    held_out: bool = False
    """Whether it was never trained on, as a family."""
    blind: float | None = None
    """What somebody reaches who does all right and guesses which thing is meant."""
    random: MeasuredRate | None = None
    """A random agent."""
    pass_at_k: dict[int, float] = Field(default_factory=dict)
    """Of the parent: that one of k tries at an instance succeeds."""


class CurvePoint(BenchPart):
    """A step of training: episodes and seconds so far, and the success while it played."""

    step: int
    episodes: float
    seconds: float
    success: float | None


class ProtocolName(BenchPart):
    """Which protocol a result is of."""

    version: str
    hash: str


class ParentModel(BenchPart):
    """What training begins with, and the hashes of its weights' files (SHA-256)."""

    name: str
    files: dict[str, str]
    adapter: dict[str, str] = Field(default_factory=dict)
    """Of the adapter that an earlier run learned (`policy.adapter`), where there was one."""


class BenchResult(BenchPart):
    """A result file."""

    result_schema: int = Field(default=SCHEMA, alias="schema")
    kind: Literal["run", "multi", "controls"]
    status: Literal["finished", "failed"] = "finished"
    error: str = ""
    """Why it failed."""
    protocol: ProtocolName
    algorithm: str
    title: str = ""
    control: bool = False
    """Whether nothing is to be learned by the algorithm."""
    tasks: tuple[str, ...]
    """What is trained on, and of controls: what was measured."""
    seed: int
    figures: dict[str, TaskFigures]
    """By task."""
    steps: int = 0
    episodes: float = 0
    stopped_by: str = ""
    curve: tuple[CurvePoint, ...] = ()
    weights: dict[str, str] = Field(default_factory=dict)
    """The files of what was learned, with their hashes (SHA-256)."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """The flags of `ui-gym-train` by key, without those that say where."""
    command: str = ""
    """The command line of the benchmark."""
    commands: tuple[str, ...] = ()
    """Those of its children, in order."""
    seconds: dict[str, float] = Field(default_factory=dict)
    """``training`` alone; ``wall`` and ``cpu`` of all that its children did."""
    parent: ParentModel
    commit: str | None
    dirty: bool
    versions: dict[str, str]
    machine: dict[str, Any]
    jobs: int
    """How many runs went on side by side."""

    @property
    def task(self) -> str:
        """The task, where it is of one."""
        return self.tasks[0]

    @property
    def learner_played(self) -> bool:
        """Whether the episodes of training are the policy's, and their success its own. `sft`
        learns from those of an oracle or of records, where it is not told otherwise."""
        source = self.settings.get("trainer.source", "oracle")
        return self.settings.get("plugin") != "sft" or source == "policy"

    def began_with(self, other: BenchResult) -> bool:
        """Whether training began with the adapter that `other` learned."""
        adapter = self.parent.adapter
        return bool(adapter) and adapter.items() <= other.weights.items()

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        text = self.model_dump_json(indent=1, by_alias=True, exclude_defaults=False)
        files.replace(path, text + "\n")


def read_result(path: Path) -> BenchResult:
    """A result file.

    Raises:
        UserError: it cannot be read, is none, or is of a later version.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"the result {path} cannot be read: {error}") from error
    if not isinstance(values, dict) or "schema" not in values:
        raise UserError(f"{path} is no result of ui-gym-bench: it has no schema")
    if values["schema"] != SCHEMA:
        raise UserError(
            f"{path} is written in schema {values['schema']}, and this ui-gym reads {SCHEMA}; use "
            "the version that it names"
        )
    return checked(BenchResult, values, f"{path} is no result of ui-gym-bench")


def find_results(places: Iterable[Path]) -> dict[Path, BenchResult]:
    """The results of files and folders, by their paths.

    Raises:
        UserError: there is none, or one is damaged.
    """
    paths: dict[Path, None] = {}
    for place in places:
        if not place.exists():
            raise UserError(f"{place} is not there; ui-gym-bench run writes results")
        found = sorted(place.rglob("*.json")) if place.is_dir() else [place]
        paths.update(dict.fromkeys(p for p in found if not p.name.startswith(".")))
    if not paths:
        raise UserError(f"there is no result in {', '.join(map(str, places))}")
    return {path: read_result(path) for path in paths}


def circumstances(
    protocol: BenchProtocol, parent: ParentModel, plugin: str, tasks: Sequence[str], jobs: int
) -> dict[str, Any]:
    """What stands in every result: protocol, parent, code, versions and machine."""
    suites = {registry.spec(task).suite for task in tasks}
    told = facts(plugin, suites)
    code = told["code"]
    return {
        "protocol": {"version": protocol.version, "hash": protocol.digest},
        "parent": parent,
        "commit": code and code.removesuffix("-dirty"),
        "dirty": bool(code and code.endswith("-dirty")),
        "versions": {"python": told["python"], **_versions(), **told["versions"]},
        "machine": {**told["machine"], "cores_used": min(cores(), protocol.budget.cores)},
        "jobs": jobs,
        "command": shlex.join(without_secrets([Path(sys.argv[0]).name, *sys.argv[1:]])),
    }


def parent_model(model: str, settings: Mapping[str, Any]) -> ParentModel:
    """A model, and the adapter that settings of `ui-gym-train` name, with the hashes of their
    weights. `UserError` where there is no such model."""
    adapter = settings.get("policy.adapter")
    return ParentModel(
        name=model,
        files=hashes(resolve(model)),
        adapter=hashes(Path(adapter)) if adapter else {},
    )


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of the weights' files of a folder, by name; nothing, where it is not there."""
    paths = sorted(folder.glob("*.safetensors"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def rate_of(report: Mapping[str, Any]) -> MeasuredRate:
    """The success rate of a report of `ui-gym-eval`, or of a part of it."""
    low, high = report["interval"]
    return MeasuredRate(success=report["success"], low=low, high=high, n=report["n"])


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def check_same(
    result: BenchResult, path: Path, protocol: BenchProtocol, settings: Mapping[str, Any]
) -> None:
    """`UserError` where a result is there, and is not of what is asked for now."""
    differ = [] if result.protocol.hash == protocol.digest else ["protocol"]
    asked = json.loads(json.dumps(settings))
    differ += sorted(
        key
        for key in asked.keys() | result.settings.keys()
        if asked.get(key) != result.settings.get(key)
    )
    if differ:
        raise UserError(
            f"{path} is the result of another {', '.join(differ)}: choose another --out, or give "
            "the algorithm another name"
        )
