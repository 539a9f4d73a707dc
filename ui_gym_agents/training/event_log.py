"""The event log: what happened in a run and when, a JSON line each, in the run's folder.

``events.jsonl`` is only ever appended to. With the files of episodes it is all that records are
made of (`ui_gym_agents.records`), while the run goes on or years later. A line holds ``at`` (ISO
8601 in UTC), ``event`` (the name of a method of `RunListener`) and what that method was told.
"""

from __future__ import annotations

import json
import math
import os
import socket
import threading
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents import store
from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.episode import Purpose
from ui_gym_agents.files import append, cut, finite
from ui_gym_agents.training.listeners import (
    Learned,
    RunInfo,
    RunListener,
    Status,
    SuccessReport,
)

FILE = "events.jsonl"


class EventLog(RunListener):
    """Writes the log of the run in `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()  # Faults and alerts come from other threads.
        self._unwritten: list[str] = []

    def begun(self, run: RunInfo) -> None:
        # How far the episodes of earlier processes go: those of void steps among them are void.
        paths = {name: self._directory / name for name in files(self._directory)}
        for path in paths.values():
            cut(path)  # else a torn line would count, and void as much of what is played anew
        sizes = {name: path.stat().st_size for name, path in paths.items()}
        self._write(
            "begun",
            training=identity(self._directory) or uuid.uuid4().hex,
            name=self._directory.absolute().name,
            resumed=run.resumed,
            config=run.config.model_dump(mode="json"),
            host=socket.gethostname(),
            process=os.getpid(),
            files=sizes,
            facts=dict(run.facts),
        )

    def step_begun(self, step: int, steps: int) -> None:
        self._write("step_begun", step=step, steps=steps)

    def fault(self, fault: EpisodeFault) -> None:
        self._write("fault", **asdict(fault))

    def alert(self, step: int, rule: str, message: str) -> None:
        self._write("alert", step=step, rule=rule, message=message)

    def learned(self, step: int, episodes: Learned) -> None:
        told = {name: [_number(value) for value in of] for name, of in episodes.items()}
        self._write("learned", step=step, episodes=told)

    def step_finished(self, step: int, metrics: Mapping[str, float], elapsed: float) -> None:
        self._write("step_finished", step=step, metrics=finite(metrics), elapsed=elapsed)

    def evaluation_begun(self, purpose: Purpose, episodes: int) -> None:
        self._write("evaluation_begun", purpose=asdict(purpose), episodes=episodes)

    def evaluation_finished(self, purpose: Purpose, report: SuccessReport, elapsed: float) -> None:
        low, high = report.interval
        whole = report.to_json() if hasattr(report, "to_json") else None
        self._write(
            "evaluation_finished",
            purpose=asdict(purpose),
            success=float(report.success),
            n=int(report.n),
            low=float(low),
            high=float(high),
            elapsed=elapsed,
            report=whole and finite(whole),
        )

    def saving(self, step: int) -> None:
        for name in (FILE, *files(self._directory)):
            with (self._directory / name).open("rb") as file:
                os.fsync(file.fileno())

    def checkpoint(self, step: int, path: Path) -> None:
        self._write("checkpoint", step=step, name=path.name)

    def ended(self, status: Status, step: int, error: str = "") -> None:
        if (self._directory / FILE).exists():
            self._write("ended", status=status, step=step, error=error)

    def _write(self, event: str, **values: Any) -> None:
        line = {"at": datetime.now(UTC).isoformat(), "event": event, **values}
        with self._lock:
            # What found no room goes with what comes next, so that none of it is missing.
            self._unwritten.append(json.dumps(line))
            append(self._directory / FILE, self._unwritten)
            self._unwritten = []


def _number(value: float | None) -> float | None:
    """A number as JSON can say it: None for one that is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def files(directory: Path) -> list[str]:
    """The files of episodes in a run's folder, relative to it; those of training first."""
    found = [directory / "episodes" / store.FILE, *directory.glob(f"evaluations/*/{store.FILE}")]
    return sorted(str(path.relative_to(directory)) for path in found if path.exists())


def identity(directory: Path) -> str | None:
    """The id of the run in `directory`, the same in any database; None where nothing is logged.

    Raises:
        UserError: the log is damaged.
    """
    path = directory / FILE
    if not path.exists():
        return None
    with path.open("rb") as lines:
        first = lines.readline()
    if not first.endswith(b"\n"):
        return None
    try:
        return str(json.loads(first)["training"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged: its first line tells of no run ({error})") from None
