"""Children of the benchmark: commands side by side on their cores, stopped without a loss."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from ui_gym.errors import UserError
from ui_gym_agents.bench.child import USAGE
from ui_gym_agents.bench.protocol import BenchBudget

T = TypeVar("T")

LOOK_EVERY = 0.25
"""Seconds between two looks at what a child wrote."""
LEAVE_SECONDS = 180.0
"""How long a child may take to finish its step and save, once it is to stop."""

CHILD_MODULE = "ui_gym_agents.bench.child"


class BenchStopped(Exception):
    """Somebody stopped the benchmark: what is half done goes on another time."""


class StopWish:
    """Whether, and how often, somebody asked to stop. Of all children at once."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self.times = 0

    def ask(self) -> None:
        """The first time, steps are finished and saved; the second, children leave at once."""
        self.times += 1
        self._asked.set()

    def check(self) -> None:
        """`BenchStopped` where somebody asked."""
        if self._asked.is_set():
            raise BenchStopped

    def pause(self, seconds: float) -> None:
        """Wait a while, or until somebody asks for the first time."""
        if self.times:
            threading.Event().wait(seconds)
        else:
            self._asked.wait(seconds)


@dataclass(frozen=True)
class ChildEnd:
    """How a child ended: its exit status (negative: the signal), and what it took in seconds."""

    status: int
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class BenchWorker:
    """What one of several jobs side by side may use."""

    cores: tuple[int, ...]
    threads: int
    stop: StopWish
    children: int = 1
    """How many commands it may run at a time, each in a thread of its own."""

    def run(
        self, command: Sequence[str], log: Path, look: Callable[[], None] = lambda: None
    ) -> ChildEnd:
        """Run a command of this package to its end; what it says goes to `log`.

        `look` is called from time to time. When somebody asks to stop, the child is interrupted,
        and a second time at the second wish.
        """
        self.stop.check()
        log.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder, log.open("a") as said:
            usage = Path(folder) / "usage"
            begun = time.monotonic()
            process = subprocess.Popen(
                [sys.executable, "-m", CHILD_MODULE, ",".join(map(str, self.cores)), *command],
                stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True,
                env=_environment(self.threads, usage),
            )  # fmt: skip
            try:
                self._follow(process, look)
            finally:
                _end(process)
            cpu = float(usage.read_text()) if usage.exists() else 0.0
        return ChildEnd(process.returncode, time.monotonic() - begun, cpu)

    def _follow(self, process: subprocess.Popen[bytes], look: Callable[[], None]) -> None:
        told, deadline = 0, float("inf")
        while process.poll() is None:
            look()
            while told < self.stop.times:
                told += 1
                deadline = time.monotonic() + LEAVE_SECONDS
                process.send_signal(signal.SIGINT)
            if time.monotonic() > deadline:
                return
            self.stop.pause(LOOK_EVERY)
        look()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing of a child: it is ended by force where it is still there."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.wait(timeout=10)


def _environment(threads: int, usage: Path) -> dict[str, str]:
    """Ours without the settings that it may hold of runs: the protocol says them all."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not (name.startswith("UI_GYM_") and ("__" in name or name == "UI_GYM_PLUGIN"))
    }
    return {**kept, "OMP_NUM_THREADS": str(threads), USAGE: str(usage)}


def shares(budget: BenchBudget, jobs: int) -> list[tuple[int, ...]]:
    """The cores of each of `jobs` jobs: as many jobs share as many cores as the budget says.

    Raises:
        UserError: there are too few cores, so that the minutes would not be the protocol's.
    """
    there = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    there = there or list(range(os.cpu_count() or 1))
    groups = [
        tuple(there[i : i + budget.cores])
        for i in range(0, len(there) - budget.cores + 1, budget.cores)
    ] or [tuple(there)]
    if jobs > len(groups) * budget.jobs:
        raise UserError(
            f"{jobs} jobs would share {len(there)} cores, and the protocol gives {budget.cores} "
            f"cores to {budget.jobs}: at most --jobs {len(groups) * budget.jobs} here"
        )
    return [groups[job // budget.jobs] for job in range(jobs)]


@dataclass(frozen=True)
class BenchJob(Generic[T]):
    """Something to do with a worker; `title` is what people call it."""

    title: str
    work: Callable[[BenchWorker], T]


@dataclass
class JobPool:
    """Does jobs side by side; Ctrl-C stops all of them, and waits until they have saved."""

    budget: BenchBudget
    jobs: int
    stop: StopWish = field(default_factory=StopWish)

    def each(
        self, jobs: Sequence[BenchJob[T]], done: Callable[[BenchJob[T], Future[T]], None]
    ) -> None:
        """Do all jobs; `done` is told of each as it ends, in this thread.

        Raises:
            KeyboardInterrupt: somebody stopped it; no child is left.
        """
        # A job that has its cores alone runs as many children as jobs would share them.
        children = self.budget.jobs if self.jobs == 1 else 1
        free: queue.Queue[tuple[int, ...]] = queue.Queue()
        for cores in shares(self.budget, self.jobs):
            free.put(cores)

        def work(job: BenchJob[T]) -> T:
            self.stop.check()
            cores = free.get()
            try:
                return job.work(BenchWorker(cores, self.budget.threads, self.stop, children))
            finally:
                free.put(cores)

        with ThreadPoolExecutor(self.jobs) as pool:
            waiting = {pool.submit(work, job): job for job in jobs}
            while waiting:
                try:
                    ended, _ = wait(waiting, LOOK_EVERY, FIRST_COMPLETED)
                    for future in ended:
                        job = waiting.pop(future)
                        if not isinstance(future.exception(), BenchStopped):
                            done(job, future)
                except KeyboardInterrupt:
                    self.stop.ask()
                except BaseException:
                    self.stop.ask()  # nothing goes on where nobody is told of it
                    raise
        if self.stop.times:
            raise KeyboardInterrupt
