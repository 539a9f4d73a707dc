"""One run of the benchmark from its beginning, or from where it was left, to its result file.

A run lives in a folder; beside it lie what its children said (``.log``) and the session
(``.json``): what was asked for and which children did it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ui_gym.contract import registry
from ui_gym.errors import UIGymError, UserError
from ui_gym_agents import files
from ui_gym_agents.bench import plan
from ui_gym_agents.bench.plan import BenchPlaces, BenchRun
from ui_gym_agents.bench.results import (
    BenchResult,
    CurvePoint,
    MeasuredRate,
    TaskFigures,
    circumstances,
    hashes,
    rate_of,
)
from ui_gym_agents.bench.running import BenchStopped, BenchWorker, ChildEnd
from ui_gym_agents.training import checkpoint
from ui_gym_agents.training.host import INTERRUPTED

Meter = Callable[[float, str], None]
"""Is told how far a job is (0 to 1), and in words."""

USAGE_ERROR = 2
MODES = {"greedy": (), "sampled": ("--sample",)}
LAST_LINES = 12


class BenchFailure(UIGymError):
    """A child of the benchmark failed before there was anything to tell of it."""


@dataclass
class BenchSession:
    """The children of a run so far, kept in a file beside its folder."""

    path: Path
    settings: dict[str, Any]
    children: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path, settings: dict[str, Any]) -> BenchSession:
        """That of an earlier try, or a new one.

        Raises:
            UserError: the earlier try had other settings.
        """
        settings = json.loads(json.dumps(settings))
        if not path.exists():
            return cls(path, settings)
        kept = json.loads(path.read_text())
        if kept["settings"] != settings:
            differ = sorted(
                key
                for key in kept["settings"].keys() | settings.keys()
                if kept["settings"].get(key) != settings.get(key)
            )
            raise UserError(
                f"the run in {path.with_suffix('')} was begun with another {', '.join(differ)}; "
                "remove that folder and the files beside it, or choose another --runs"
            )
        return cls(path, settings, kept["children"])

    def run(
        self, worker: BenchWorker, command: list[str], log: Path, look: Callable[[], None]
    ) -> ChildEnd:
        """Run a child, and keep that it ran."""
        child: dict[str, Any] = {"command": shlex.join(command)}
        self.children.append(child)
        self._write()
        end = worker.run(command, log, look)
        child |= {
            "status": end.status,
            "seconds": round(end.seconds, 3),
            "cpu_seconds": round(end.cpu_seconds, 3),
        }
        self._write()
        return end

    def total(self, what: str) -> float:
        """Seconds of all children whose end was seen."""
        return round(sum(float(child.get(what, 0.0)) for child in self.children), 3)

    def _write(self) -> None:
        values = {"settings": self.settings, "children": self.children}
        files.replace(self.path, json.dumps(values, indent=1) + "\n")


@dataclass
class BenchTraining:
    """A run that goes on in `folder`; `meter` shows how far it is."""

    run: BenchRun
    folder: Path
    settings: dict[str, Any]
    meter: Meter = lambda share, text: None

    def __post_init__(self) -> None:
        self.log = self.folder.with_name(f"{self.folder.name}.log")
        self.session = BenchSession.open(
            self.folder.with_name(f"{self.folder.name}.json"), self.settings
        )

    def train(self, worker: BenchWorker) -> None:
        """Train to the end of the budget, and have it measured, unless that was done before.

        Raises:
            BenchStopped: somebody stopped it; what is saved goes on another time.
            BenchFailure: the child failed before its first step.
            UserError: the settings are wrong.
        """
        self._forget_what_saved_nothing()
        if not self.finished:
            self._child(
                worker,
                plan.resume_command(self.folder)
                if self._saved
                else plan.train_command(self.settings, self.folder),
            )

    @property
    def finished(self) -> bool:
        return (self.folder / "result.json").is_file()

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of the steps so far."""
        return metrics_of(self.folder)

    # -- inside --

    @property
    def _saved(self) -> bool:
        return checkpoint.latest(self.folder / "checkpoints") is not None

    def _forget_what_saved_nothing(self) -> None:
        """Begin anew where nothing was saved, unless that run goes on just now."""
        if not self.folder.exists():
            return
        with unlocked(self.folder):
            if not self.finished and not self._saved:
                shutil.rmtree(self.folder)

    def _child(self, worker: BenchWorker, command: list[str]) -> None:
        end = self.session.run(worker, command, self.log, self._tell)
        if end.status == 0:
            return
        if worker.stop.times:
            raise BenchStopped
        self._explain(end)

    def _tell(self) -> None:
        rows = self.metrics() if self.folder.exists() else []
        if not rows:
            self.meter(0.0, "measuring the parent")
            return
        last = rows[-1]
        share = max(last["time_elapsed"] / self.run.seconds, played(rows) / self.run.episodes)
        rate = last.get("success")
        told = "" if rate is None else f", {100 * rate:.0f} %"
        self.meter(min(1.0, share), f"step {last['step']}{told}")

    def _explain(self, end: ChildEnd) -> None:
        """Raise where there is nothing to tell of a failed child; else it has failed as a run."""
        said = last_lines(self.log)
        if end.status == USAGE_ERROR:
            raise UserError(f"{self.run.title}: {said}")
        if end.status < 0 or end.status == INTERRUPTED:
            raise BenchFailure(
                f"{self.run.title} was ended from outside (status {end.status}); the same command "
                "goes on"
            )
        if not self.metrics():
            raise BenchFailure(
                f"{self.run.title} failed before its first step, see {self.log}: {said}"
            )


def play_run(
    run: BenchRun, places: BenchPlaces, jobs: int, worker: BenchWorker, meter: Meter
) -> BenchResult:
    """Train, measure, and write the result file.

    Raises:
        BenchStopped, BenchFailure, UserError: see `BenchTraining.train`.
    """
    path = run.result(places)
    training = BenchTraining(run, run.folder(places), run.settings(), meter)
    training.train(worker)
    figures = _single(run, training)
    if run.of_many and training.finished:
        figures = _by_task(run, training, worker)
    if training.finished:
        figures = _beside(run, training, worker, figures)
    result = gather(run, training, figures, jobs)
    result.write(path)
    return result


def gather(
    run: BenchRun, training: BenchTraining, figures: dict[str, TaskFigures], jobs: int
) -> BenchResult:
    """The result of a run that has ended."""
    plugin = run.algorithm_settings.plugin
    ended = json.loads((training.folder / "result.json").read_text()) if training.finished else {}
    rows = training.metrics()
    elapsed = ended.get("seconds", rows[-1]["time_elapsed"] if rows else 0.0)
    newest = checkpoint.latest(training.folder / "checkpoints")
    return BenchResult(
        schema=1,
        kind="multi" if run.of_many else "run",
        status="finished" if training.finished else "failed",
        error="" if training.finished else last_lines(training.log),
        algorithm=run.algorithm,
        title=run.algorithm_settings.title,
        tasks=run.tasks,
        seed=run.seed,
        figures=figures,
        steps=len(rows),
        episodes=played(rows),
        stopped_by=ended.get("stopped_by", ""),
        curve=curve(rows),
        weights=hashes(sorted(newest.glob("*.safetensors"))) if newest else {},
        settings=training.session.settings,
        commands=tuple(child["command"] for child in training.session.children),
        seconds={
            "training": elapsed,
            "wall": training.session.total("seconds"),
            "cpu": training.session.total("cpu_seconds"),
        },
        **circumstances(run.protocol, run.model, plugin, run.tasks, jobs),
    )


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    """The lines of the steps that the run in a folder has done."""
    lines = (json.loads(line) for line, _ in files.whole_lines(folder / "metrics.jsonl"))
    return [row for row in lines if row["kind"] == "train"]


def curve(rows: list[dict[str, Any]]) -> tuple[CurvePoint, ...]:
    """The learning curve of metrics."""
    return tuple(
        CurvePoint(
            step=row["step"],
            episodes=played(rows[: index + 1]),
            seconds=row["time_elapsed"],
            success=row.get("success"),
        )
        for index, row in enumerate(rows)
    )


def played(rows: list[dict[str, Any]]) -> float:
    """The episodes of some steps, by their metrics; a trainer that tells none has played none."""
    return float(sum(row.get("episodes") or 0 for row in rows))


def last_lines(log: Path) -> str:
    """The end of what children said."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return "\n".join([line for line in lines if line][-LAST_LINES:])


def _single(run: BenchRun, training: BenchTraining) -> dict[str, TaskFigures]:
    """What the run itself measured of its one task."""
    if run.of_many or not training.finished:
        return {}
    ended = json.loads((training.folder / "result.json").read_text())
    before, after = (
        {mode: MeasuredRate(**rate) for mode, rate in ended[when].items()}
        for when in ("before", "after")
    )
    return {run.tasks[0]: TaskFigures(before=before, after=after)}


def _by_task(run: BenchRun, training: BenchTraining, worker: BenchWorker) -> dict[str, TaskFigures]:
    """What is measured, task by task, of a run that learned many."""
    tasks, episodes = (*run.tasks, *run.held_out), run.protocol.evaluation.episodes
    found: dict[str, dict[str, MeasuredRate]] = {task: {} for task in tasks}
    for mode, flags in MODES.items():
        training.meter(1.0, f"measuring {len(tasks)} tasks, {mode}")
        out = training.folder / f"by-task-{mode}"
        own = ("--run", str(training.folder), *flags)
        command = plan.evaluation_command(run.protocol, tasks, episodes, out, *own)
        report = evaluated(training.session, worker, command, out, training.log)
        for task, part in by_name(report).items():
            found[task][mode] = rate_of(part)
    return {
        task: TaskFigures(after=rates, held_out=task in run.held_out)
        for task, rates in found.items()
    }


def _beside(
    run: BenchRun, training: BenchTraining, worker: BenchWorker, figures: dict[str, TaskFigures]
) -> dict[str, TaskFigures]:
    """The figures with what the protocol measures beside them, of the tasks that can be so."""
    evaluation = run.protocol.evaluation
    for name, asked in evaluation.beside.items():
        tasks = tuple(task for task in figures if registry.spec(task).takes(*asked.arguments))
        if not tasks:
            continue
        training.meter(1.0, f"measuring {name.replace('_', ' ')}")
        out = training.folder / f"beside-{name}"
        command = plan.evaluation_command(
            run.protocol, tasks, evaluation.episodes, out, "--run", str(training.folder),
            beside=asked,
        )  # fmt: skip
        report = evaluated(training.session, worker, command, out, training.log)
        for task, part in by_name(report).items():
            beside = figures[task].beside | {name: rate_of(part)}
            figures[task] = figures[task].model_copy(update={"beside": beside})
    return figures


def evaluated(
    session: BenchSession, worker: BenchWorker, command: list[str], out: Path, log: Path
) -> dict[str, Any]:
    """The report of a command of `ui-gym-eval`, which goes on where it was stopped.

    Raises:
        BenchStopped: somebody stopped it.
        BenchFailure: it failed.
    """
    end = session.run(worker, command, log, lambda: None)
    if worker.stop.times:
        raise BenchStopped
    if end.status:
        raise BenchFailure(f"{shlex.join(command)} failed, see {log}: {last_lines(log)}")
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    return report


def by_name(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of a report by the names of tasks, rather than by their ids."""
    parts = report["by_task"].items()
    return {registry.spec(task).name: part for task, part in parts}


@contextlib.contextmanager
def unlocked(folder: Path) -> Iterator[None]:
    """A run's folder, while nobody else uses it. `UserError` where somebody does."""
    try:
        descriptor = files.lock(folder / "lock")
    except BlockingIOError:
        raise UserError(
            f"the run in {folder} goes on just now, in another process: wait for it, or stop it"
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)
