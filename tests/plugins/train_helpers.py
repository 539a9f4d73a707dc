"""What tests of whole runs share: `ui-gym-train` here or as a process, and a run's metrics."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from waiting import eventually

from ui_gym_agents.training import cli


def train(*arguments: str) -> int:
    return cli.main(list(arguments))


def spawn(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ui_gym_agents.training.cli", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for something that comes while `process` runs."""
    assert eventually(lambda: condition() or process.poll() is not None, 120)
    assert process.poll() is None, process.communicate()[0]


def rows(run: Path | str) -> list[dict[str, Any]]:
    """The lines of a run's metrics so far, without what the clock says."""
    path = Path(run) / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines if line.endswith("}")]
    return [{k: v for k, v in row.items() if not k.startswith("time_")} for row in found]


def metrics(run: Path | str) -> list[dict[str, Any]]:
    """Those of its training steps."""
    return [row for row in rows(run) if row["kind"] == "train"]
