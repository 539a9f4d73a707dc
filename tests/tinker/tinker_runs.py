"""What tests of the trainer share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ui_gym_tinker import TinkerTrainer

Make = Callable[..., TinkerTrainer]

CLOSE = 2e-3
"""Absolute: batches on the server depend on who asks when, and so do the last bits of floats."""


def run(trainer: TinkerTrainer, first: int, last: int) -> list[dict[str, float]]:
    """The metrics of steps, without what the clock says."""
    found = []
    for trainer.context.step in range(first, last + 1):
        metrics = trainer.step()
        found.append({k: v for k, v in metrics.items() if not k.startswith("time_")})
    return found


def same(rows: Sequence[dict[str, float]], others: Sequence[dict[str, float]]) -> bool:
    """Whether two runs went the same way: equal counts, and losses that are close."""
    return len(rows) == len(others) and all(
        row.keys() == other.keys() and all(abs(row[key] - other[key]) <= CLOSE for key in row)
        for row, other in zip(rows, others, strict=True)
    )
