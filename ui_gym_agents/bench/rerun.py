"""Running again from a result file alone, and whether the same comes of it.

`ui-gym-train` promises that a run repeats to the bit on one kind of CPU with the same versions. The
budget in minutes would not end it after the same step, so that the number of steps of the result
does; what hangs on the configured number, such as a falling learning rate, is as it was.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.bench import plan
from ui_gym_agents.bench.protocol import load_protocol
from ui_gym_agents.bench.results import (
    BenchResult,
    CurvePoint,
    circumstances,
    hashes,
    parent_model,
)
from ui_gym_agents.bench.running import BenchStopped, BenchWorker, ChildEnd
from ui_gym_agents.bench.session import BenchFailure, Meter, last_lines
from ui_gym_agents.bench.training import curve, metrics_of, unlocked
from ui_gym_agents.training import checkpoint, control
from ui_gym_agents.training.host import INTERRUPTED

COMPARED = ("python", "torch", "transformers", "ui-gym", "browser")
"""Versions that a difference is told of."""


KEEP = 1_000_000
"""Checkpoints: all that a quick run may make before it has learned that it is to stop."""


@dataclass(frozen=True)
class RerunReport:
    """What came of running again."""

    equal: bool
    differences: tuple[str, ...]
    """What is not as it was in what was learned, a line each; empty where all is equal."""
    circumstances: tuple[str, ...]
    """What is not as it was on the machine, a line each."""
    curve: tuple[CurvePoint, ...]


def check_rerun(result: BenchResult) -> None:
    """`UserError` where a result cannot be run again from its file."""
    if result.kind == "controls":
        raise UserError("controls are measured again by ui-gym-bench controls; nothing is trained")
    if not result.steps:
        raise UserError("the result has no step of training to run again")
    here = parent_model(result.parent.name, result.settings)
    if here.files != result.parent.files:
        raise UserError(
            f"the model {result.parent.name} here is not the parent of the result: its weights "
            "have another hash; install the version of ui-gym-tiny that the result names"
        )
    if here.adapter != result.parent.adapter:
        path = result.settings.get("policy.adapter")
        raise UserError(
            f"the adapter {path} here is not the one that the result began with: it is not there, "
            "or its weights have another hash"
        )


def play_rerun(result: BenchResult, folder: Path, worker: BenchWorker, meter: Meter) -> RerunReport:
    """Train as many steps as the result has, in `folder`, which is made anew, and compare.

    Raises:
        UserError: the folder is in use, or the result cannot be run again.
        BenchStopped: somebody stopped it.
        BenchFailure: the run failed.
    """
    check_rerun(result)
    if folder.exists():
        with unlocked(folder):
            shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    settings = dict(result.settings)
    for limit in ("run.time_limit", "run.episode_limit"):
        settings.pop(limit, None)
    settings |= {
        "run.save_every": result.steps, "run.keep": KEEP, "evaluation.before": False,
        "evaluation.episodes": 0,
    }  # fmt: skip
    log = folder.with_name(f"{folder.name}.log")
    asked = False

    def look() -> None:
        nonlocal asked
        done = len(metrics_of(folder))
        meter(min(1.0, done / result.steps), f"step {done} of {result.steps}")
        if not asked and done >= result.steps:
            asked = True
            control.ask(folder, "stop")

    end = worker.run(plan.train_command(settings, folder), log, look)
    if worker.stop.times:
        raise BenchStopped
    if not (end.status == 0 or (end.status == INTERRUPTED and asked)):
        _fail(end, log)
    return compare(result, folder)


def compare(result: BenchResult, folder: Path) -> RerunReport:
    """What a run in `folder` has otherwise than a result, as far as the result goes."""
    rows = metrics_of(folder)[: result.steps]
    found = curve(rows)
    saved = checkpoint.all_of(folder / "checkpoints")
    last = next((p for p in saved if p.name == f"step_{result.steps:06d}"), None)
    weights = hashes(last) if last else {}
    for path in saved:
        shutil.rmtree(path)  # nobody goes on from a run that was run again
    differences = tuple(_differences(result, found, weights))
    return RerunReport(not differences, differences, tuple(_elsewhere(result)), found)


def _differences(
    result: BenchResult, found: tuple[CurvePoint, ...], weights: dict[str, str]
) -> Iterator[str]:
    if len(found) < result.steps:
        yield f"{len(found)} steps instead of {result.steps}"
    for then, now in zip(result.curve, found, strict=False):
        before, after = ((p.step, p.episodes, p.success) for p in (then, now))
        if before != after:
            yield f"step {then.step}: episodes, success {after[1:]} instead of {before[1:]}"
            break
    if result.weights and weights != result.weights:
        yield "the weights that were learned are others"


def _elsewhere(result: BenchResult) -> Iterator[str]:
    """What is not as it was where the result was made."""
    told: dict[str, Any] = _here(result)
    if told["machine"].get("cpu") != result.machine.get("cpu"):
        yield f"processor: {told['machine'].get('cpu')} instead of {result.machine.get('cpu')}"
    for name in COMPARED:
        then, now = result.versions.get(name), told["versions"].get(name)
        if then != now:
            yield f"{name}: {now} instead of {then}"
    if told["commit"] != result.commit:
        yield f"code: commit {told['commit']} instead of {result.commit}"
    for when, dirty in (("now", told["dirty"]), ("then", result.dirty)):
        if dirty:
            yield f"code: {when} with changes that are in no commit"


def _here(result: BenchResult) -> dict[str, Any]:
    """Versions, code and machine of here, for the plugin and tasks of a result."""
    plugin = str(result.settings.get("plugin", ""))
    return circumstances(load_protocol(), result.parent, plugin, result.tasks, 1)


def _fail(end: ChildEnd, log: Path) -> None:
    raise BenchFailure(
        f"running again failed with status {end.status}, see {log}: {last_lines(log)}"
    )
