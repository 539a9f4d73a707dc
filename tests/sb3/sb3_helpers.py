"""What tests of whole runs share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SMALL = (
    "--plugin", "sb3", "--tasks.ids", "PaintClick", "--env.num_envs", "3", "--run.records", "off",
    "--evaluation.episodes", "0", "--run.eval_every", "0", "--run.save_every", "0",
    "--trainer.size", "36", "--trainer.columns", "6", "--trainer.rows", "4",
    "--trainer.width", "8", "--trainer.n_steps", "8", "--trainer.batch_size", "12",
)  # fmt: skip
"""A run whose step takes a tenth of a second."""

Train = Callable[..., Path]


def metrics(run: Path, kind: str = "train") -> list[dict[str, Any]]:
    """The lines of a run's metrics of one kind, without what the clock says."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [
        {name: value for name, value in line.items() if not name.startswith("time_")}
        for line in lines
        if line["kind"] == kind
    ]
