"""The controls that need no training: what is reached by guessing, by chance, and by the parent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ui_gym_agents.bench import plan
from ui_gym_agents.bench.plan import BenchPlaces
from ui_gym_agents.bench.protocol import BenchProtocol
from ui_gym_agents.bench.results import (
    BenchResult,
    TaskFigures,
    circumstances,
    parent_model,
    rate_of,
)
from ui_gym_agents.bench.running import BenchWorker
from ui_gym_agents.bench.session import BenchSession, Meter, evaluated

CONTROLS = "controls"
"""What results of controls say in the place of an algorithm."""
DIALECT = "cells"
"""What the random agent writes: as the shipped models do, whose points are few."""


@dataclass(frozen=True)
class TaskControls:
    """The controls of one task, for one model."""

    protocol: BenchProtocol
    model: str
    task: str

    @property
    def title(self) -> str:
        return f"{CONTROLS} {self.task}"

    def result(self, places: BenchPlaces) -> Path:
        """Where their result goes."""
        return plan.result_path(places.out, self.model, CONTROLS, self.task)

    def folder(self, places: BenchPlaces) -> Path:
        """Where their evaluations live."""
        model = self.result(places).parent.parent.name
        return places.runs / self.protocol.name / f"{model}-{CONTROLS}-{self.task}"

    def commands(self, places: BenchPlaces) -> dict[str, list[str]]:
        """The commands that play, by the names of their reports' folders."""
        sizes, folder = self.protocol.controls, self.folder(places)
        parent = ("--model", self.model)
        sampled = (*parent, "--sample", "--attempts", str(sizes.attempts))
        asked: dict[str, tuple[int, tuple[str, ...]]] = {
            "random": (sizes.episodes, ("--agent", "random", "--dialect", DIALECT)),
            "greedy": (sizes.episodes, parent),
            "sampled": (sizes.instances, sampled),
        }
        return {
            name: plan.evaluation_command(
                self.protocol, (self.task,), episodes, folder / name, *own
            )
            for name, (episodes, own) in asked.items()
        }


def play_controls(
    controls: TaskControls, places: BenchPlaces, jobs: int, worker: BenchWorker, meter: Meter
) -> BenchResult:
    """Play what is missing of the controls of a task, and write their result file.

    Raises:
        BenchStopped: somebody stopped it.
        BenchFailure: a child failed.
    """
    folder = controls.folder(places)
    session = BenchSession.open(folder.with_name(f"{folder.name}.json"), {})
    reports = evaluated(session, worker, controls.commands(places), folder, meter)
    figures = TaskFigures(
        before={mode: rate_of(reports[mode]) for mode in ("greedy", "sampled")},
        blind=reports["random"]["blind_rate"],
        random=rate_of(reports["random"]),
        pass_at_k=reports["sampled"]["pass_at_k"],
    )
    result = BenchResult(
        schema=1,
        kind="controls",
        algorithm=CONTROLS,
        title="what needs no training",
        tasks=(controls.task,),
        seed=0,
        figures={controls.task: figures},
        commands=tuple(child["command"] for child in session.children),
        seconds=session.seconds(),
        **circumstances(
            controls.protocol, parent_model(controls.model, {}), "", (controls.task,), jobs
        ),
    )
    result.write(controls.result(places))
    return result
