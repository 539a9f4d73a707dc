"""RunDirectory: the folder that a run lives in, and that one process at a time may use.

config.yaml     what was asked for, merged
metrics.jsonl   a line a step and a line an evaluation
events.jsonl    what happened and when, for records
workers.json    what its processes and slots do now, every two seconds
control.jsonl   what it was asked to do while it went on
overrides.jsonl episodes that somebody judged otherwise
log.txt         what happened, with the time
episodes/       recorded episodes of training
evaluations/    those of each evaluation, and its report
checkpoints/    what a run resumes from
result.json     the outcome, once there is one
lock            held by the process that runs, with its pid and command
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from ui_gym.errors import UserError
from ui_gym_agents import files

WORKERS = "workers.json"
"""What the parts of a run do just now (`heartbeat`)."""

SPARE = 8
"""Descriptors that a run keeps for its end: if it has no other left, it has to tell of that."""


class RunDirectory:
    """A run's folder, locked for this process until `close`."""

    def __init__(self, path: Path, *, lock: bool = True) -> None:
        """Lock the existing folder `path`; see `create` and `resume`.

        Without `lock`, it belongs to another process of the same run.

        Raises:
            UserError: another process uses it, or it cannot be written to.
        """
        self.path = path
        self.log_level = logging.INFO
        """The least that is logged, as `logging` counts."""
        self.log_format: Literal["text", "json"] = "text"
        try:
            for part in (self.episodes, self.checkpoints):
                part.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(path) if lock else -1
        except OSError as error:
            raise UserError(f"the run directory {path} cannot be used: {error}") from error
        self._spare: list[int] = []
        try:
            for _ in range(SPARE if lock else 0):
                self._spare.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:  # so few may be open
            self.let_go()

    @classmethod
    def create(cls, path: Path | None, plugin: str, root: Path = Path("runs")) -> Self:
        """A new run's folder: `path`, or a new ``<root>/<plugin>-<date>-<time>``.

        Raises:
            UserError: it holds a run already, or is in use.
        """
        if path is None:
            path = _unused(root / f"{plugin}-{datetime.now():%Y%m%d-%H%M%S}")
        elif (path / "config.yaml").exists() or (path / "metrics.jsonl").exists():
            # Say first who uses it, if somebody does: that is what the caller did not expect.
            cls(path).close()
            raise UserError(
                f"{path} holds a run already; continue it with --resume {path}, or choose "
                "another --run.directory"
            )
        return cls(path)

    @classmethod
    def resume(cls, path: Path) -> Self:
        """The folder of an earlier run.

        Raises:
            UserError: it holds no run, or is in use.
        """
        if not (path / "config.yaml").is_file():
            raise UserError(f"{path} holds no run to resume: {path / 'config.yaml'} is not there")
        return cls(path)

    @property
    def episodes(self) -> Path:
        return self.path / "episodes"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def evaluation(self, step: int, greedy: bool) -> Path:
        """A new folder for the episodes of an evaluation after `step`.

        A number behind its name tells it from an earlier one, which another evaluation after this
        step has, or a process that was killed in it: no episode is ever deleted.
        """
        name = f"step_{step:06}-{'greedy' if greedy else 'sampled'}"
        names = (name if n == 1 else f"{name}-{n}" for n in itertools.count(1))
        folders = (self.path / "evaluations" / name for name in names)
        return next(folder for folder in folders if not folder.exists())

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    def append_metrics(self, record: Mapping[str, Any]) -> None:
        """Add one line, whole or not at all; numbers that are not finite become null."""
        line = json.dumps(files.finite(record), allow_nan=False, ensure_ascii=False)
        files.append(self.metrics, [line])

    def sync_metrics(self) -> None:
        """Force the lines so far onto the disk: a checkpoint must not outlive its metrics."""
        if self.metrics.exists():
            with self.metrics.open("rb") as file:
                os.fsync(file.fileno())

    def read_metrics(self) -> Iterator[dict[str, Any]]:
        """The lines so far; a torn last line is left out.

        Raises:
            UserError: a line in the middle is damaged.
        """
        for number, (line, _) in enumerate(files.whole_lines(self.metrics), start=1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise UserError(
                    f"{self.metrics}:{number}: this line is damaged ({error}); repair or delete it"
                ) from error

    def cut_metrics(self, step: int) -> None:
        """Drop the lines that were written after `step` was finished, and a torn last line."""
        kept = [
            r for r in self.read_metrics() if r.get("step", 0) <= step and r.get("kind") != "final"
        ]
        text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in kept)
        self.write("metrics.jsonl", text)

    def write(self, name: str, text: str) -> None:
        """Replace a file of the folder in one go: readers see the old or the new text."""
        files.replace(self.path / name, text)

    def log(self, message: str, level: int = logging.INFO) -> None:
        """Add a line, or several, with the time to log.txt; nothing where none can be.

        What begins with ``warning:`` or ``alert:`` is a warning, whatever its `level`.
        """
        if message.startswith(("warning:", "alert:")):
            level = max(level, logging.WARNING)
        if level < self.log_level:
            return
        if self.log_format == "json":
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            name = logging.getLevelName(level).lower()
            line = json.dumps({"at": at, "level": name, "message": message})
        else:
            line = f"{datetime.now().isoformat(timespec='milliseconds')} {message}"
        with suppress(files.NotWritten):  # What the run cannot do without says so itself.
            files.append(self.path / "log.txt", [line])

    def let_go(self) -> None:
        """Give up the descriptors that were kept for the end of a run that has none left."""
        while self._spare:
            os.close(self._spare.pop())

    def close(self) -> None:
        """Let others use the folder. Closing twice is harmless."""
        self.let_go()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _unused(path: Path) -> Path:
    """`path`, created now; with a number behind it where another run took it this second."""
    for number in range(1, 1000):
        candidate = path if number == 1 else path.with_name(f"{path.name}-{number}")
        try:
            candidate.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(f"the run directory {candidate} cannot be made: {error}") from error
        return candidate
    raise UserError(f"a thousand run directories are called {path}; name one by --run.directory")


def _lock(path: Path) -> int:
    """An advisory lock on the folder; the kernel lets go of it when the process ends."""
    try:
        descriptor = files.lock(path / "lock")
    except BlockingIOError:
        holder = (path / "lock").read_text(errors="replace").strip()
        raise UserError(
            f"the run directory {path} is in use by {holder or 'another process'}; wait for it to "
            "end, or choose another --run.directory"
        ) from None
    started = time.strftime("%Y-%m-%d %H:%M:%S")
    holder = f"process {os.getpid()} (since {started}): {shlex.join(sys.argv)}\n"
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, holder.encode(), 0)
    return descriptor
