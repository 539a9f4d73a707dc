"""The comparison: a row a task, a column an algorithm, and what nobody ran is empty.

A cell is the mean of its runs' held-out success with the 95 % interval over seeds (Student's t, and
nowhere narrower than that over the episodes); of one run alone, that run's own interval (Wilson's)
over its episodes. A run that failed is told as failed, and is in no mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.bench.controls import CONTROLS
from ui_gym_agents.bench.results import BenchResult, MeasuredRate, TaskFigures
from ui_gym_agents.evaluation.report.statistics import over_runs, percent


@dataclass(frozen=True)
class BenchCell:
    """What several seeds of an algorithm came to on a task; of controls, one figure."""

    seeds: tuple[int, ...] = ()
    success: float | None = None
    low: float | None = None
    high: float | None = None
    failed: tuple[int, ...] = ()
    """Seeds whose run failed."""
    held_out: bool = False
    """Whether the task was never trained on."""

    def __str__(self) -> str:
        told = []
        if self.success is not None:
            told.append(f"{percent(self.success)}{_ends(self.low, self.high)}")
        if len(self.seeds) > 1:
            told.append(f"{len(self.seeds)} seeds")
        if self.failed:
            told.append("failed" if not told else f"{len(self.failed)} failed")
        if self.held_out and told:
            told.append("held out")
        return ", ".join(told)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "seeds": list(self.seeds), "success": self.success, "low": self.low,
            "high": self.high, "failed": list(self.failed), "held_out": self.held_out,
        }  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """A table of results."""

    rows: tuple[str, ...]
    """Tasks."""
    columns: tuple[str, ...]
    """Controls and algorithms."""
    cells: Mapping[tuple[str, str], BenchCell]
    mode: str
    """How answers were chosen: greedy or sampled."""
    protocol: str
    """Its version and hash."""
    begun: Mapping[str, str] = field(default_factory=dict)
    """Of columns whose runs began with what an earlier run learned: that run's column; of one that
    is not among the results, a column that is empty."""
    remarks: tuple[str, ...] = field(default=())

    def cell(self, task: str, column: str) -> BenchCell:
        """A cell; an empty one where nothing was run."""
        return self.cells.get((task, column), BenchCell())

    def text_rows(
        self, columns: Sequence[str], before: Sequence[str] = ()
    ) -> list[tuple[str, ...]]:
        """Of each task that has any of `columns`: its name, the cells of `before`, and its own."""
        return [
            (task, *(str(self.cell(task, column)) for column in (*before, *columns)))
            for task in self.rows
            if any((task, column) in self.cells for column in columns)
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain values: the cells that there are, by task and column."""
        return {
            "protocol": self.protocol,
            "mode": self.mode,
            "columns": list(self.columns),
            "tasks": {
                task: {
                    column: self.cells[task, column].to_json()
                    for column in self.columns
                    if (task, column) in self.cells
                }
                for task in self.rows
            },
            "remarks": list(self.remarks),
        }


def compare_results(
    results: Mapping[Path, BenchResult], order: Sequence[str], mode: str = "greedy"
) -> Comparison:
    """The table of results.

    Args:
        results: By their paths.
        order: Algorithms in the order of their columns; others come behind them.
        mode: Whether greedy or sampled answers are told.

    Raises:
        UserError: they are of several protocols, or two are of the same run.
    """
    _check_one_protocol(results)
    models = _model_suffixes(results)
    grouped: dict[tuple[str, str], list[tuple[Path, BenchResult]]] = {}
    cells: dict[tuple[str, str], BenchCell] = {}
    columns: set[str] = set()
    begun: dict[str, str] = {}
    for path, result in results.items():
        suffix = models[result.parent.name]
        if result.kind == CONTROLS:
            for task, figures in result.figures.items():
                told = _controls(figures, mode)
                cells |= {(task, f"{name}{suffix}"): cell for name, cell in told.items()}
                columns |= {f"{name}{suffix}" for name in told}
            continue
        column = column_of(result) + suffix
        columns.add(column)
        if result.parent.adapter:
            earlier = (column_of(o) + suffix for o in results.values() if result.began_with(o))
            begun[column] = next(earlier, "")
        for task in result.figures or dict.fromkeys(result.tasks):
            grouped.setdefault((task, column), []).append((path, result))
    for (task, column), runs in grouped.items():
        cells[task, column] = _cell(task, runs, mode)
    first = next(iter(results.values())).protocol
    return Comparison(
        rows=tuple(sorted({task for task, _ in cells})),
        columns=tuple(sorted(columns, key=lambda name: _rank(name, order))),
        cells=cells,
        mode=mode,
        protocol=f"{first.version} ({first.hash[:8]})",
        begun=begun,
        remarks=tuple(_remarks(results.values())),
    )


def _check_one_protocol(results: Mapping[Path, BenchResult]) -> None:
    found: dict[str, Path] = {}
    for path, result in results.items():
        found.setdefault(result.protocol.hash, path)
    if len(found) > 1:
        named = ", ".join(f"{path} ({digest[:8]})" for digest, path in found.items())
        raise UserError(
            f"results of {len(found)} protocols are not compared: {named}; give those of one"
        )


def _model_suffixes(results: Mapping[Path, BenchResult]) -> dict[str, str]:
    """What stands behind the name of a column of each model: nothing, where there is but one."""
    models = {result.parent.name for result in results.values()}
    return {name: f" ({name})" if len(models) > 1 else "" for name in models}


def column_of(result: BenchResult) -> str:
    """The column of a run: its algorithm, and of one on many tasks that it is."""
    if result.kind != "multi":
        return result.algorithm
    held = any(figures.held_out for figures in result.figures.values())
    return f"{result.algorithm}, {'held-out' if held else 'many tasks'}"


CONTROL_COLUMNS = ("blind guess", "random", "parent", "parent, pass@k")


def _controls(figures: TaskFigures, mode: str) -> dict[str, BenchCell]:
    """The columns of a task's controls."""
    found = {}
    blind, random, parent, tries = CONTROL_COLUMNS
    if figures.blind is not None:
        found[blind] = BenchCell(success=figures.blind)
    if figures.random is not None:
        found[random] = _of_one(figures.random)
    if mode in figures.before:
        found[parent] = _of_one(figures.before[mode])
    if figures.pass_at_k:
        most = max(figures.pass_at_k)
        found[tries.replace("k", str(most))] = BenchCell(success=figures.pass_at_k[most])
    return found


def _of_one(rate: MeasuredRate, *seeds: int) -> BenchCell:
    return BenchCell(seeds, rate.success, rate.low, rate.high)


def _cell(task: str, runs: Sequence[tuple[Path, BenchResult]], mode: str) -> BenchCell:
    rates: dict[int, MeasuredRate] = {}
    failed: list[int] = []
    homes: dict[int, Path] = {}
    for path, result in runs:
        if result.seed in homes:
            raise UserError(
                f"{homes[result.seed]} and {path} are results of the same run ({result.algorithm}, "
                f"{task}, seed {result.seed}): leave one of them out"
            )
        homes[result.seed] = path
        rate = result.figures[task].after.get(mode) if task in result.figures else None
        if rate is None:
            failed.append(result.seed)
        else:
            rates[result.seed] = rate
    held_out = any(task in r.figures and r.figures[task].held_out for _, r in runs)
    seeds, lost = tuple(sorted(rates)), tuple(sorted(failed))
    if not rates:
        return BenchCell(failed=lost, held_out=held_out)
    if len(rates) == 1:
        (rate,) = rates.values()
        return BenchCell(seeds, rate.success, rate.low, rate.high, lost, held_out)
    episodes = min(rate.n for rate in rates.values())
    success, low, high = over_runs([rates[seed].success for seed in seeds], episodes)
    return BenchCell(seeds, success, low, high, lost, held_out)


def _rank(column: str, order: Sequence[str]) -> tuple[int, int, str]:
    for place, name in enumerate(CONTROL_COLUMNS):
        if column.startswith(name.removesuffix("k")) and column.startswith("parent,") == (
            name.startswith("parent,")
        ):
            return 0, place, column
    name = column.partition(",")[0].partition(" (")[0]
    return 1, order.index(name) if name in order else len(order), column


def _remarks(results: Iterable[BenchResult]) -> Iterator[str]:
    """What bears on the whole table."""
    runs = [result for result in results if result.kind != CONTROLS]
    if dirty := sum(result.dirty for result in runs):
        yield f"{dirty} of {len(runs)} runs were made with changes that are in no commit."
    machines = Counter(str(result.machine.get("cpu")) for result in runs)
    if machines:
        told = ", ".join(f"{cpu} ({count} runs)" for cpu, count in machines.most_common())
        yield f"Processors: {told}."


# -- as rows of text --


def run_rows(results: Mapping[Path, BenchResult], mode: str) -> list[tuple[str, ...]]:
    """A head, and a row for each run and task that it was measured on; nothing, of no run."""
    runs = [result for result in results.values() if result.kind != CONTROLS]
    measured = [figures for result in runs for figures in result.figures.values()]
    modes = [mode, *sorted({name for figures in measured for name in figures.after} - {mode})]
    beside = list(dict.fromkeys(name for figures in measured for name in figures.beside))
    models = _model_suffixes(results)
    rows = []
    for result in runs:
        known = list(_known_before(result, results.values()))
        minutes = result.seconds.get("training", 0.0) / 60
        failed = result.status == "failed"
        for task in result.figures or result.tasks:
            figures = result.figures.get(task, TaskFigures())
            before = next((of[task] for of in known if task in of), figures.before)
            rows.append((
                column_of(result) + models[result.parent.name], task, str(result.seed),
                _rate(before.get(mode)),
                *("failed" if failed else _rate(figures.after.get(name)) for name in modes),
                *(_rate(figures.beside.get(name)) for name in beside),
                str(result.steps), f"{result.episodes:.0f}", f"{minutes:.1f}",
                _first_line(result.error) if failed else result.stopped_by,
            ))  # fmt: skip
    head = (
        "algorithm", "task", "seed", "before", *modes, *(name.replace("_", " ") for name in beside),
        "steps", "episodes", "minutes", "ended by",
    )  # fmt: skip
    return [head, *sorted(rows)] if rows else []


def _known_before(
    run: BenchResult, results: Iterable[BenchResult]
) -> Iterator[dict[str, dict[str, MeasuredRate]]]:
    """What others measured, by task, of that with which a run began: the run that learned its
    adapter, or the controls of its parent."""
    for other in results:
        if run.began_with(other):
            yield {task: figures.after for task, figures in other.figures.items()}
        elif other.kind == CONTROLS and other.parent == run.parent:
            yield {task: figures.before for task, figures in other.figures.items()}


HELD_OUT_PARAMETERS, HELD_OUT_FAMILIES = "held-out parameters", "held-out families"


def gap_rows(results: Mapping[Path, BenchResult]) -> list[tuple[str, ...]]:
    """A head, and rows of means for each algorithm: its success on held-out parameters and on what
    was measured beside them, in percent, and of how many tasks; of each, the mean of its seeds.

    Nothing, where nothing was measured beside. Tasks of which more was measured than of others
    have a row of their own, so that a row compares the same tasks.
    """
    models = _model_suffixes(results)
    found: dict[tuple[str, tuple[str, ...]], dict[str, dict[str, list[float]]]] = {}
    for result in results.values():
        for task, figures in result.figures.items():
            if "greedy" not in figures.after or result.kind == CONTROLS:
                continue
            measured = {HELD_OUT_FAMILIES: figures.after["greedy"]}
            if not figures.held_out:
                measured = {HELD_OUT_PARAMETERS: figures.after["greedy"], **figures.beside}
            column = column_of(result) + models[result.parent.name]
            parts = found.setdefault((column, tuple(sorted(figures.beside))), {})
            for name, rate in measured.items():
                of_task = parts.setdefault(name.replace("_", " "), {}).setdefault(task, [])
                of_task.append(rate.success)
    names = dict.fromkeys(name for parts in found.values() for name in parts)
    if len(names) < 2:
        return []
    rows = sorted(found.items(), key=lambda row: (row[0][0], -len(row[0][1])))
    return [("algorithm", *names)] + [
        (column, *(_mean(parts.get(name, {})) for name in names)) for (column, _), parts in rows
    ]


def _mean(rates: Mapping[str, Sequence[float]]) -> str:
    means = [mean(seeds) for seeds in rates.values()]
    return f"{percent(mean(means))} ({len(means)})" if means else ""


def _rate(rate: MeasuredRate | None) -> str:
    return "" if rate is None else f"{percent(rate.success)}{_ends(rate.low, rate.high)}"


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" ({100 * low:.0f} to {100 * high:.0f})"


def _first_line(text: str) -> str:
    last = text.strip().rpartition("\n")[2]
    return " ".join(last.replace("|", "/").split())[:120]
