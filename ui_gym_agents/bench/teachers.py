"""What teaches what: of each task, the best that each way of learning made of the parent.

The ways: rewards of the policy's own episodes, demonstrations, one run on many tasks, and a run
that begins with the adapter of an earlier one, which is what it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ui_gym_agents.bench.controls import CONTROLS
from ui_gym_agents.bench.results import BenchResult
from ui_gym_agents.bench.table import BenchCell, Comparison, column_of, compare_results
from ui_gym_agents.evaluation.report.statistics import percent

WAYS = REWARDS, DEMONSTRATIONS, MANY, AFTER = (
    "rewards alone", "demonstrations", "many tasks at once", "after an earlier run",
)  # fmt: skip
LEARNED = 0.9
"""The success from which on a task counts as learned."""


@dataclass(frozen=True)
class BestTaught:
    """What the best of the `tried` columns came to on a task, and what it began with."""

    column: str
    taught: BenchCell
    before: BenchCell
    tried: int

    @property
    def success(self) -> float:
        return self.taught.success or 0.0

    def __str__(self) -> str:
        told = percent(self.success)
        if (self.taught.low or 0.0) <= (self.before.high or 0.0):
            told += ", no better"
        elif self.success >= LEARNED:
            told = f"**{told}**"
        return f"{told} ({self.column}{f', best of {self.tried}' if self.tried > 1 else ''})"


def teacher_rows(results: Mapping[Path, BenchResult], mode: str) -> list[tuple[str, ...]]:
    """A head, and a row for each task that a parent was trained on, the best learned first.

    Nothing, where none was.
    """
    parents = sorted({result.parent.name for result in results.values()})
    found: list[tuple[str, str, list[BestTaught | None]]] = []
    for parent in parents:
        own = {path: one for path, one in results.items() if one.parent.name == parent}
        table, columns = compare_results(own, (), mode), _columns(own)
        found += [
            (parent, task, [_best(table, task, columns[way]) for way in WAYS])
            for task in table.rows
        ]
    trained = [row for row in found if any(row[2])]
    trained.sort(key=lambda row: (row[0], *(-(one.success if one else 0) for one in row[2])))
    named = 0 if len(parents) > 1 else 1
    head = ("parent", "task", *WAYS)
    rows = [(parent, task, *(str(o or "") for o in each)) for parent, task, each in trained]
    return [row[named:] for row in (head, *rows)] if rows else []


def _columns(results: Mapping[Path, BenchResult]) -> dict[str, list[str]]:
    """The columns of each way, without the controls."""
    found: dict[str, list[str]] = {way: [] for way in WAYS}
    for result in results.values():
        if result.kind == CONTROLS or result.control:
            continue
        columns = found[_way(result)]
        if (column := column_of(result)) not in columns:
            columns.append(column)
    return found


def _way(result: BenchResult) -> str:
    if result.parent.adapter:
        return AFTER
    if result.kind == "multi":
        return MANY
    return REWARDS if result.learner_played else DEMONSTRATIONS


def _best(table: Comparison, task: str, columns: Sequence[str]) -> BestTaught | None:
    """The best of some columns on a task that they were trained on."""
    cells = {column: table.cell(task, column) for column in columns}
    tried = {
        column: cell
        for column, cell in cells.items()
        if cell.success is not None and not cell.held_out
    }
    if not tried:
        return None
    best = max(tried, key=lambda column: tried[column].success or 0.0)
    before = table.cell(task, table.begun.get(best, "parent"))
    return BestTaught(best, tried[best], before, len(tried))
