"""A round of jobs as people see it: bars while it goes on, a line for each that ends, a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ui_gym.errors import UIGymError, UserError
from ui_gym_agents import command
from ui_gym_agents.bench.results import BenchResult
from ui_gym_agents.bench.running import BenchJob, BenchWorker, JobPool
from ui_gym_agents.bench.session import Meter
from ui_gym_agents.evaluation.report.statistics import percent


@dataclass(frozen=True)
class PlannedResult:
    """Something that makes a result file; `play` is given a worker and what shows how far it is."""

    title: str
    result: Path
    play: Callable[[BenchWorker, Meter], BenchResult]


class WorkFailed(UIGymError):
    """Some of the work could not be done; the rest is."""


@dataclass
class WorkRound:
    """Does work side by side, and tells how it goes."""

    pool: JobPool
    console: Console
    problems: list[str] = field(default_factory=list)

    def do(self, work: Sequence[PlannedResult]) -> None:
        """Do all of it.

        Raises:
            Interrupted: somebody stopped it.
            WorkFailed, UserError: some of it could not be done; each reason has a line.
        """
        done = 0
        wrong: list[UserError] = []
        with _progress(self.console) as progress:
            whole = progress.add_task("all", total=len(work), told="")
            jobs = [BenchJob(one.title, self._worker(one, progress)) for one in work]

            def ended(job: BenchJob[BenchResult], future: Future[BenchResult]) -> None:
                nonlocal done
                progress.advance(whole)
                error = future.exception()
                if error is None:
                    done += 1
                    self._tell(job.title, future.result())
                elif isinstance(error, UIGymError):
                    wrong.extend([error] if isinstance(error, UserError) else [])
                    self.problems.append(str(error))
                    self._say(f"{job.title}: {error}", "red")
                else:
                    raise error

            try:
                self.pool.each(jobs, ended)
            except KeyboardInterrupt:
                raise command.Interrupted(
                    f"interrupted: {done} of {len(work)} are done; the same command goes on"
                ) from None
        if self.problems:
            text = f"{len(self.problems)} of {len(work)} could not be done, see above"
            raise UserError(text) if len(wrong) == len(self.problems) else WorkFailed(text)

    def _worker(
        self, one: PlannedResult, progress: Progress
    ) -> Callable[[BenchWorker], BenchResult]:
        def work(worker: BenchWorker) -> BenchResult:
            with _bar(progress, one.title) as meter:
                return one.play(worker, meter)

        return work

    def _tell(self, title: str, result: BenchResult) -> None:
        if result.status == "failed":
            last = result.error.rpartition("\n")[2]
            self._say(f"{title}: failed after {result.steps} steps: {last}", "red")
            return
        rates = [
            percent(figures.after["greedy"].success)
            for figures in result.figures.values()
            if "greedy" in figures.after
        ]
        told = f": {rates[0]} greedy" if len(rates) == 1 else ""
        self._say(f"{title}: done{told}", "")

    def _say(self, text: str, style: str) -> None:
        self.console.print(Text(text, style=style), soft_wrap=True)


@contextmanager
def shown(console: Console, title: str) -> Iterator[Meter]:
    """A bar for one thing, and what sets it."""
    with _progress(console) as progress, _bar(progress, title) as meter:
        yield meter


def _progress(console: Console) -> Progress:
    alone = not console.is_terminal  # nobody watches a bar in a file
    return Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(), console=console, transient=True, disable=alone,
    )  # fmt: skip


@contextmanager
def _bar(progress: Progress, title: str) -> Iterator[Meter]:
    bar = progress.add_task(title, total=1.0, told="")

    def meter(share: float, told: str) -> None:
        progress.update(bar, completed=share, told=told)

    try:
        yield meter
    finally:
        progress.remove_task(bar)
