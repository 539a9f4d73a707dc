"""The scores of an evaluation: by domain, in all, and without the tasks that cannot be done.

An agent that always gives up has all infeasible tasks right, so scores stand with and without them.
OSWorld's score is a mean of floats; beside it stands the share of tasks that were wholly done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from ui_gym.tools.terminal import ShownColumn, print_table
from ui_gym_agents.evaluation.report.statistics import percent, wilson


@dataclass(frozen=True)
class Score:
    """One task's."""

    domain: str
    infeasible: bool
    value: float

    @property
    def success(self) -> bool:
        return self.value >= 1.0


@dataclass(frozen=True)
class ScoreFigures:
    """The figures of some tasks. Without any, the rates are None."""

    n: int
    score: float | None
    success: float | None
    interval: tuple[float, float]
    """95 % confidence interval of `success`."""

    @classmethod
    def of(cls, scores: Sequence[Score]) -> ScoreFigures:
        n, wins = len(scores), sum(score.success for score in scores)
        mean = sum(score.value for score in scores) / n if n else None
        return cls(n, mean, wins / n if n else None, wilson(wins, n))

    def to_json(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "score": self.score,
            "success": self.success,
            "interval": list(self.interval),
        }


@dataclass(frozen=True)
class Scores:
    """All figures. `failed` and `skipped` are the tasks without a score, and why."""

    total: ScoreFigures
    feasible: ScoreFigures
    by_domain: Mapping[str, tuple[ScoreFigures, ScoreFigures]]
    """Of each domain all tasks, and those that can be done."""
    failed: Mapping[str, str]
    skipped: Mapping[str, str]

    @classmethod
    def of(
        cls, scores: Sequence[Score], failed: Mapping[str, str], skipped: Mapping[str, str]
    ) -> Scores:
        domains = dict.fromkeys(score.domain for score in scores)
        return cls(
            *_both(scores),
            by_domain={d: _both([s for s in scores if s.domain == d]) for d in domains},
            failed=dict(failed),
            skipped=dict(skipped),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values; the figures in all stand at the top level."""
        return {
            **self.total.to_json(),
            "feasible": self.feasible.to_json(),
            "by_domain": {
                domain: {**whole.to_json(), "feasible": feasible.to_json()}
                for domain, (whole, feasible) in self.by_domain.items()
            },
            "failed": dict(self.failed),
            "skipped": dict(self.skipped),
        }

    def print(self, console: Console) -> None:
        """A line a domain, and one for all."""
        rows = [(domain, *_cells(*parts)) for domain, parts in self.by_domain.items()]
        print_table(console, DOMAINS, [*rows, ("all", *_cells(self.total, self.feasible))])


DOMAINS = (
    ShownColumn("domain"),
    ShownColumn("n", right=True),
    ShownColumn("score", right=True),
    ShownColumn("success", right=True),
    ShownColumn("95 %", rank=1, right=True),
    ShownColumn("feasible", rank=3, right=True),
    ShownColumn("score", rank=4, right=True),
    ShownColumn("success", rank=2, right=True),
)


def _both(scores: Sequence[Score]) -> tuple[ScoreFigures, ScoreFigures]:
    return ScoreFigures.of(scores), ScoreFigures.of(
        [score for score in scores if not score.infeasible]
    )


def _cells(whole: ScoreFigures, feasible: ScoreFigures) -> list[str]:
    low, high = whole.interval
    return [
        str(whole.n), percent(whole.score, "-"), percent(whole.success, "-"),
        f"{100 * low:.0f} to {100 * high:.0f} %",
        str(feasible.n), percent(feasible.score, "-"), percent(feasible.success, "-"),
    ]  # fmt: skip
