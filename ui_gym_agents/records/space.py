"""The room that runs take, and which of it may be given back.

A run that is at work is never touched: one whose folder is locked, or whose heartbeat is young (it
may be another machine's). Its newest checkpoint is never deleted, however old the run is.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents import files, store
from ui_gym_agents.training import checkpoint, event_log
from ui_gym_agents.training.run_directory import WORKERS, RunDirectory

DATABASE = "records.sqlite"
"""As in `target.FILE`, without SQLAlchemy: `du` needs no database."""
ALIVE_SECONDS = 120.0
"""A heartbeat that is younger than this is of a run that may be at work."""
LEFT = ("config.yaml", "metrics.jsonl", "result.json", "log.txt", "lock")
"""What stays of a run that is deleted but for its newest checkpoint: what makes sense of it."""


@dataclass
class RunSpace:
    """The bytes of a run's folder by what they are, as blocks on the disk; `files`: how many."""

    run: str
    pictures: int = 0
    episodes: int = 0
    checkpoints: int = 0
    database: int = 0
    other: int = 0
    files: int = 0

    @property
    def total(self) -> int:
        return self.pictures + self.episodes + self.checkpoints + self.database + self.other

    def to_json(self) -> dict[str, Any]:
        """Its numbers by name, the total among them."""
        return {**asdict(self), "total": self.total}


def runs_in(folder: Path) -> list[Path]:
    """The runs' folders in `folder`, or itself if it is one, in the order of their names.

    Raises:
        UserError: there is no such folder.
    """
    if is_run(folder):
        return [folder]
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}; --runs names another")
    return sorted(path for path in folder.iterdir() if is_run(path))


def is_run(folder: Path) -> bool:
    """Whether a run lives in `folder`."""
    return not folder.is_symlink() and all(
        (folder / name).exists() for name in ("config.yaml", "checkpoints")
    )


def measure(run: Path) -> RunSpace:
    """What the folder of a run takes. Files that go meanwhile count for nothing."""
    found = RunSpace(run.name)
    for path, size in _sizes(run):
        kind = _kind(path.relative_to(run).parts)
        setattr(found, kind, getattr(found, kind) + size)
        found.files += 1
    return found


def _sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every file below a folder with the bytes that it takes, links not followed."""
    for at, _, names in os.walk(folder):
        for name in names:
            path = Path(at, name)
            with suppress(FileNotFoundError):
                told = path.lstat()
                # A file system that has not placed a file yet tells of no blocks.
                yield path, max(told.st_size, 512 * told.st_blocks)


def _kind(parts: Sequence[str]) -> str:
    if store.PICTURES in parts:
        return "pictures"
    if parts[0].startswith(DATABASE):
        return "database"
    if parts[0] in ("episodes", "evaluations"):
        return "episodes"
    return "checkpoints" if parts[0] == "checkpoints" else "other"


# -- what may go --


@dataclass(frozen=True)
class Removal:
    """What is to go of a run: `paths` in its folder, or all of it; and its records, if `records`.

    `bytes` and `files` are what that gives back; `what` says it in words.
    """

    run: Path
    what: str
    paths: tuple[Path, ...]
    bytes: int
    files: int
    records: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain values, paths relative to the run."""
        paths = [str(path.relative_to(self.run)) for path in self.paths]
        return {**asdict(self), "run": self.run.name, "paths": paths}


@dataclass(frozen=True)
class RemovalPlan:
    """Removals, and the runs that were passed over, each with the reason."""

    removals: list[Removal] = field(default_factory=list)
    passed: dict[str, str] = field(default_factory=dict)


def plan(runs: Sequence[Path], keep: int | None, pictures_older: timedelta | None) -> RemovalPlan:
    """What would go, if all runs but the newest `keep` were deleted, and the pictures of runs that
    ended longer than `pictures_older` ago. None: nothing for that reason. Nothing is changed.

    A run's age is the time since the last event of its log. One without a log, of which a
    checkpoint is all that is left, is older than all others and takes no place among the newest.
    """
    found = RemovalPlan()
    last = {run: last_event(run) for run in runs}
    now = datetime.now(UTC)
    ordered = sorted(runs, key=lambda run: last[run], reverse=True)
    for place, run in enumerate(ordered):
        beyond = keep is not None and place >= keep
        old = pictures_older is not None and NEVER < last[run] < now - pictures_older
        removal = _deletion(run) if beyond else _pictures(run) if old else None
        if removal is None:
            continue
        reason = at_work(run)
        if reason:
            found.passed[run.name] = reason
        else:
            found.removals.append(removal)
    return found


def _deletion(run: Path) -> Removal | None:
    """All of a run but its newest checkpoint and what makes sense of that."""
    newest = checkpoint.latest(run / "checkpoints")
    if newest is None:
        return _removal(run, "the whole run, which has no checkpoint", [run], records=True)
    kept = {run / "checkpoints", *(run / name for name in LEFT)}
    inner = [path for path in run.iterdir() if path not in kept]
    inner += [path for path in (run / "checkpoints").iterdir() if path != newest]
    # The log says whose records these are: it goes last, should this be cut short.
    inner.sort(key=lambda path: path.name == event_log.FILE)
    inner = [path for path in inner if path.is_file() or any(_sizes(path))]
    return _removal(run, f"all but {newest.name}", inner, records=True) if inner else None


def _pictures(run: Path) -> Removal | None:
    folders = [run / "episodes" / store.PICTURES, *run.glob(f"evaluations/*/{store.PICTURES}")]
    inner = [folder for folder in folders if folder.is_dir() and any(_sizes(folder))]
    return _removal(run, "pictures", inner) if inner else None


def _removal(run: Path, what: str, paths: Sequence[Path], *, records: bool = False) -> Removal:
    sizes = [size for path in paths for size in _each(path)]
    return Removal(run, what, tuple(paths), sum(sizes), len(sizes), records)


def _each(path: Path) -> Iterator[int]:
    if path.is_dir() and not path.is_symlink():
        yield from (size for _, size in _sizes(path))
    else:
        yield path.lstat().st_size


NEVER = datetime.min.replace(tzinfo=UTC)


def last_event(run: Path) -> datetime:
    """When something happened in a run last, as its log says; `NEVER` where it has none.

    What a copy does to the times of files has no part in it, unless the log is damaged.
    """
    log = run / event_log.FILE
    if not log.exists():
        return NEVER
    newest = b""
    for line, _ in files.whole_lines(log):
        newest = line
    try:
        return datetime.fromisoformat(json.loads(newest)["at"])
    except (ValueError, KeyError, TypeError):
        return datetime.fromtimestamp(log.stat().st_mtime, UTC)


def at_work(run: Path) -> str | None:
    """Why a run must be left alone, if so: it is locked, or gave a sign of life just now."""
    if (run / "lock").exists():
        try:
            os.close(files.lock(run / "lock"))
        except BlockingIOError:
            return "it is in use"
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads((run / WORKERS).read_text())
        age = datetime.now(UTC) - datetime.fromisoformat(told["at"])
        if told["status"] == "running" and abs(age.total_seconds()) < ALIVE_SECONDS:
            return f"it runs on {told['host']}"
    return None


@contextmanager
def holding(run: Path) -> Iterator[None]:
    """Keep every process from using the run in `run`.

    Raises:
        UserError: it is in use, or went to work meanwhile.
    """
    reason = at_work(run)
    if reason:
        raise UserError(f"{run} is left alone: {reason}")
    directory = RunDirectory(run)
    try:
        yield
    finally:
        directory.close()


def remove(removal: Removal) -> None:
    """Delete the files of a removal; call it while `holding` its run.

    Raises:
        OSError: something cannot be deleted; what was deleted before is gone.
    """
    newest = checkpoint.latest(removal.run / "checkpoints")
    for path in removal.paths:
        if newest is not None and (newest == path or path in newest.parents):
            raise UserError(f"{path} is kept: the newest checkpoint, {newest}, came meanwhile")
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
