"""What the commands of the benchmark share: choosing what is run, and doing what is missing."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ui_gym.errors import UserError
from ui_gym.tools.terminal import print_lines
from ui_gym_agents.bench.algorithms import BenchAlgorithm, find_algorithm
from ui_gym_agents.bench.plan import BenchPlaces, BenchRun, train_command
from ui_gym_agents.bench.protocol import BenchProtocol, ChosenTasks, load_protocol
from ui_gym_agents.bench.results import check_same, read_result
from ui_gym_agents.bench.running import JobPool, shares
from ui_gym_agents.bench.training import play_run
from ui_gym_agents.bench.work import PlannedResult, WorkRound
from ui_gym_agents.policy.weights import resolve


def chosen_tasks(
    path: Path | None, set_name: str, names: Sequence[str] | None
) -> tuple[BenchProtocol, ChosenTasks]:
    """The protocol, and what is played; those of a set that are not there are told of."""
    kept = load_protocol(path)
    if names:
        return kept, kept.named(names)
    chosen = kept.tasks(set_name)
    if chosen.missing:
        text = f"not there yet in this form, and left out: {', '.join(chosen.missing)}"
        Console(stderr=True).print(Text(text, style="yellow"), soft_wrap=True)
    return kept, chosen


def chosen_algorithms(
    names: Sequence[str], plugin: str | None, given: Sequence[str]
) -> list[tuple[str, BenchAlgorithm]]:
    """The algorithms that are named; `find_algorithm` says how one of your own is."""
    if len(names) > 1 and (plugin is not None or given):
        raise UserError("--plugin and --set describe one algorithm: give one --algorithm")
    return [find_algorithm(name, plugin=plugin, given=given) for name in names]


def side_by_side(kept: BenchProtocol, jobs: int | None, results: Iterable[Path]) -> int:
    """How many jobs side by side, which are no more than the results that are missing.

    Raises:
        UserError: there are too few cores for what was asked for.
    """
    side = kept.budget.jobs if jobs is None else jobs
    shares(kept.budget, side)
    return max(1, min(side, sum(not path.exists() for path in results)))


def play_runs(
    plans: Sequence[BenchRun],
    kept: BenchProtocol,
    places: BenchPlaces,
    jobs: int | None,
    dry: bool,
) -> None:
    """Do the runs that have no result yet; with `dry`, say their commands.

    Raises:
        UserError: something that is asked for cannot be had.
        Interrupted, WorkFailed: see `WorkRound.do`.
    """
    for plan in plans:
        resolve(plan.model)
    if dry:
        lines = [shlex.join(train_command(p.settings(), p.folder(places))) for p in plans]
        print_lines(Console(), lines)
        return
    side = side_by_side(kept, jobs, (plan.result(places) for plan in plans))
    work = [
        PlannedResult(
            plan.title,
            plan.result(places),
            partial(play_run, plan, places, side),
        )
        for plan in plans
    ]
    do_missing(work, kept, side, {plan.result(places): plan.settings() for plan in plans})


def do_missing(
    work: Sequence[PlannedResult],
    kept: BenchProtocol,
    jobs: int,
    settings: dict[Path, dict[str, Any]],
) -> None:
    """Do what has no result yet; what has one must be of the same protocol and settings."""
    console = Console(stderr=True)
    there = [one for one in work if one.result.exists()]
    for one in there:
        found = read_result(one.result)
        check_same(found, one.result, kept, settings[one.result])
        if found.status == "failed":
            text = f"{one.title} has failed before; to try again, remove {one.result}"
            console.print(Text(text, style="yellow"), soft_wrap=True)
    if there:
        text = f"{len(there)} of {len(work)} have a result already"
        console.print(Text(text, style="dim"), soft_wrap=True)
    WorkRound(JobPool(kept.budget, jobs), console).do([one for one in work if one not in there])


def read_document(path: Path) -> str:
    """The text of a document. `UserError` where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the document {path} cannot be read: {error}") from error
