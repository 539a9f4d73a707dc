"""One run of the benchmark from its beginning, or from where it was left, to its result file.

A run lives in a folder; beside it lie what its training said (``.log``) and the session
(``.json``): what was asked for and which children did it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui_gym.contract import registry
from ui_gym.errors import UserError
from ui_gym_agents import files
from ui_gym_agents.bench import plan
from ui_gym_agents.bench.plan import BenchPlaces, BenchRun
from ui_gym_agents.bench.protocol import BesideEvaluation
from ui_gym_agents.bench.results import (
    BenchResult,
    CurvePoint,
    MeasuredRate,
    TaskFigures,
    circumstances,
    hashes,
    parent_model,
    rate_of,
)
from ui_gym_agents.bench.running import BenchStopped, BenchWorker, ChildEnd
from ui_gym_agents.bench.session import (
    BenchFailure,
    BenchSession,
    Meter,
    evaluated,
    last_lines,
)
from ui_gym_agents.training import checkpoint
from ui_gym_agents.training.host import INTERRUPTED

USAGE_ERROR = 2
MODES = {"greedy": (), "sampled": ("--sample",)}
BY_TASK, BESIDE = "by-task-", "beside-"
"""How names of evaluations begin: of a run on many tasks, and as the protocol says beside."""


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
    figures: dict[str, TaskFigures] = {}
    if training.finished:
        folder = training.folder
        reports = evaluated(
            training.session, worker, _evaluations(run, folder), folder, training.meter
        )
        figures = _figures(run, folder, reports)
    result = gather(run, training, figures, jobs)
    result.write(path)
    return result


def gather(
    run: BenchRun, training: BenchTraining, figures: dict[str, TaskFigures], jobs: int
) -> BenchResult:
    """The result of a run that has ended.

    Raises:
        BenchFailure: its metrics are not of this run alone.
    """
    plugin, settings = run.algorithm_settings.plugin, training.session.settings
    ended = json.loads((training.folder / "result.json").read_text()) if training.finished else {}
    rows = training.metrics()
    if [row["step"] for row in rows] != [*range(1, len(rows) + 1)]:
        raise BenchFailure(
            f"{run.title}: {training.folder / 'metrics.jsonl'} does not tell steps 1 to "
            f"{len(rows)}, each once: another process wrote to it. Remove {training.folder}, and "
            "run it again"
        )
    elapsed = ended.get("seconds", rows[-1]["time_elapsed"] if rows else 0.0)
    newest = checkpoint.latest(training.folder / "checkpoints")
    return BenchResult(
        schema=1,
        kind="multi" if run.of_many else "run",
        status="finished" if training.finished else "failed",
        error="" if training.finished else last_lines(training.log),
        algorithm=run.algorithm,
        title=run.algorithm_settings.title,
        control=run.algorithm_settings.control,
        tasks=run.tasks,
        seed=run.seed,
        figures=figures,
        steps=len(rows),
        episodes=played(rows),
        stopped_by=ended.get("stopped_by", ""),
        curve=curve(rows),
        weights=hashes(newest) if newest else {},
        settings=settings,
        commands=tuple(child["command"] for child in training.session.children),
        seconds={"training": elapsed, **training.session.seconds()},
        **circumstances(run.protocol, parent_model(run.model, settings), plugin, run.tasks, jobs),
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


def _evaluations(run: BenchRun, folder: Path) -> dict[str, list[str]]:
    """What measures the model in a run's folder: one of many tasks task by task, and all of them
    as the protocol says beside, on the tasks that can be so."""
    evaluation, tasks = run.protocol.evaluation, (*run.tasks, *run.held_out)

    def command(
        name: str, tasks: tuple[str, ...], *flags: str, beside: BesideEvaluation | None = None
    ) -> list[str]:
        own = ("--run", str(folder), *flags)
        return plan.evaluation_command(
            run.protocol, tasks, evaluation.episodes, folder / name, *own, beside=beside
        )

    modes = MODES.items() if run.of_many else ()
    found = {(name := BY_TASK + mode): command(name, tasks, *flags) for mode, flags in modes}
    for each, asked in evaluation.beside.items():
        able = tuple(task for task in tasks if registry.spec(task).takes(*asked.arguments))
        if able:
            name = BESIDE + each
            found[name] = command(name, able, beside=asked)
    return found


def _figures(
    run: BenchRun, folder: Path, reports: dict[str, dict[str, Any]]
) -> dict[str, TaskFigures]:
    """The figures of each task: what the run measured of its only one, and the reports."""
    rates = {
        name: {registry.spec(task).name: rate_of(part) for task, part in report["by_task"].items()}
        for name, report in reports.items()
    }

    def of(task: str, kind: str) -> dict[str, MeasuredRate]:
        return {
            name.removeprefix(kind): each[task]
            for name, each in rates.items()
            if name.startswith(kind) and task in each
        }

    own = {} if run.of_many else _single(folder)
    return {
        task: TaskFigures(
            before=own.get("before", {}),
            after=own.get("after", {}) | of(task, BY_TASK),
            beside=of(task, BESIDE),
            held_out=task in run.held_out,
        )
        for task in (*run.tasks, *run.held_out)
    }


def _single(folder: Path) -> dict[str, dict[str, MeasuredRate]]:
    """What the run in a folder measured of its one task, before and after."""
    ended = json.loads((folder / "result.json").read_text())
    return {
        when: {mode: MeasuredRate(**rate) for mode, rate in ended[when].items()}
        for when in ("before", "after")
    }


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
