"""Room on the disk, looked at before it is too late.

What a run needs is measured from the run itself: its newest checkpoint, and what its episodes took
in its fullest step. With less than three checkpoints and a step's episodes left, it is told; with
less than one checkpoint, nothing begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ui_gym_agents import pack
from ui_gym_agents.files import NoRoom
from ui_gym_agents.store import PICTURES
from ui_gym_agents.training import checkpoint
from ui_gym_agents.training.listeners import RunInfo, RunListener

SPARE = 3
"""Checkpoints for which there should be room: the next one is written beside the old ones."""
LEAST = 16 << 20
"""Bytes without which no run begins, whatever its checkpoints take."""


@dataclass(frozen=True)
class FreeRoom:
    """What is free for this user: bytes, and files where the file system counts them."""

    bytes: int
    files: int | None


def free(path: Path) -> FreeRoom:
    """What is free on the disk that `path` lies on. `OSError` where that is not known."""
    told = os.statvfs(path)
    return FreeRoom(told.f_bavail * told.f_frsize, told.f_favail if told.f_files else None)


def checkpoint_bytes(directory: Path) -> int:
    """The size of the newest checkpoint of the run in `directory`; 0 if there is none."""
    newest = checkpoint.latest(directory / "checkpoints")
    if newest is None:
        return 0
    return sum(path.stat().st_size for path in newest.rglob("*") if path.is_file())


def episode_bytes(directory: Path) -> int:
    """What the training episodes of the run in `directory` take, pictures included; those of
    evaluations lie elsewhere and are few."""
    folder = directory / "episodes"
    found = (*folder.glob("*.jsonl"), *(folder / PICTURES).glob(f"{pack.NAME}*"))
    return sum(path.stat().st_size for path in found)


def refuse_if_full(directory: Path) -> None:
    """Refuse to begin in a run's folder where not even one checkpoint has room.

    Raises:
        NoRoom: says how much is free and how much it takes.
    """
    found, needed = free(directory), max(LEAST, checkpoint_bytes(directory))
    if found.bytes < needed:
        raise NoRoom(
            f"there is no room for a run in {directory}: {_mb(found.bytes)} are free, and a "
            f"checkpoint takes {_mb(needed)}. Make room (ui-gym-records du, ui-gym-records gc), or "
            "choose another --run.directory"
        )
    if found.files == 0:
        raise NoRoom(f"there is no room for another file in {directory}; delete some there")


class DiskWatch(RunListener):
    """Tells before each save, and when a run begins, that room runs out: once, until there is more.

    `tell` gets the alert (`RunListener.alert`).
    """

    def __init__(self, directory: Path, tell: Callable[[int, str, str], None]) -> None:
        self._directory = directory
        self._tell = tell
        self._before = self._most = 0
        self._low = False

    def begun(self, run: RunInfo) -> None:
        self._before = episode_bytes(self._directory)
        self._look(run.resumed or 0)

    def step_finished(self, step: int, metrics: Mapping[str, float], elapsed: float) -> None:
        now = episode_bytes(self._directory)
        self._most = max(self._most, now - self._before)
        self._before = now

    def saving(self, step: int) -> None:
        self._look(step)

    def _look(self, step: int) -> None:
        found = free(self._directory)
        one = checkpoint_bytes(self._directory)
        needed = SPARE * one + self._most
        short = found.bytes < needed
        if short and not self._low:
            self._tell(
                step, "disk",
                f"{_mb(found.bytes)} are free on the disk of {self._directory}, less than "
                f"{SPARE} checkpoints of {_mb(one)} and a step's episodes, {_mb(self._most)}; "
                "ui-gym-records gc gives room back",
            )  # fmt: skip
        self._low = short


def _mb(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
