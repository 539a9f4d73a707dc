"""Fuzzing: cases that are drawn from a seed are fed to a target, and what comes of each is counted.

A target yields one word for each part of a case. Whatever else it does is an unexpected outcome:
an exception that is not documented, more processor time for a part or more memory than `Bounds`
allow, or the end of the process. The first case of each kind is kept as a file, which can be
played again (``python -m tests.fuzz --again FILE``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib
import json
import logging
import os
import random
import resource
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from waiting import eventually

MOST_KINDS = 50

NEWS_SECONDS = 0.3
"""How often a run tells how far it is."""


class FuzzTarget(Protocol):
    """Something that reads what others wrote."""

    def case(self, rng: random.Random) -> bytes:
        """A case, of one part or several, that depends on nothing but `rng`."""

    def feed(self, case: bytes) -> Iterator[str]:
        """Feed a case; the outcome of each of its parts, in a word or two.

        Raises:
            Unexpected: an outcome that may not be. So is any other exception.
        """

    def close(self) -> None:
        """End what the target started. May be repeated."""


class Unexpected(Exception):
    """What a target did and may not do."""


class OverTime(BaseException):
    """A part took too long. No `Exception`, since what is tested may catch those."""


@dataclass(frozen=True)
class Bounds:
    """What a target may use."""

    seconds: float = 10.0
    """Of processor time for one part, whatever else the machine does."""
    memory: int = 512 << 20
    """Bytes by which the process may grow in the whole run."""


@dataclass
class Finding:
    """A kind of unexpected outcome."""

    what: str
    """The exception's class and where it came from; tells kinds apart."""
    count: int
    told: str
    """The traceback of the first one."""
    file: str = ""
    """Where the first one's case is kept."""


@dataclass
class FuzzReport:
    """What came of a run."""

    target: str
    seed: int
    count: int = 0
    """Parts that were fed."""
    cases: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    slowest_ms: float = 0.0
    slowest_case: int = -1
    """The number of the case in which the slowest part was."""
    memory_before: float = 0.0
    """MiB that the process had at most before the first case."""
    memory_peak: float = 0.0
    """MiB that it had at most."""
    unexpected: dict[str, Finding] = field(default_factory=dict)

    @property
    def failures(self) -> int:
        """How many outcomes were unexpected."""
        return sum(finding.count for finding in self.unexpected.values())

    def add(self, other: FuzzReport) -> None:
        """Count what another process found, after this one, of the same run."""
        if other.slowest_ms > self.slowest_ms:
            self.slowest_ms, self.slowest_case = other.slowest_ms, other.slowest_case
        self.count += other.count
        self.cases += other.cases
        self.seconds += other.seconds
        self.outcomes += other.outcomes
        self.memory_before = max(self.memory_before, other.memory_before)
        self.memory_peak = max(self.memory_peak, other.memory_peak)
        for what, finding in other.unexpected.items():
            self.note(finding.what, finding.told, finding.file, finding.count)
            assert what in self.unexpected

    def note(self, what: str, told: str, file: str = "", count: int = 1) -> Finding:
        found = self.unexpected.setdefault(what, Finding(what, 0, told, file))
        found.count += count
        return found

    def as_json(self) -> dict[str, Any]:
        told = dataclasses.asdict(self)
        told["per_second"] = round(self.count / self.seconds, 1) if self.seconds else 0.0
        for name in ("seconds", "slowest_ms", "memory_before", "memory_peak"):
            told[name] = round(told[name], 2)
        told["outcomes"] = dict(sorted(self.outcomes.items()))
        told["unexpected"] = list(told["unexpected"].values())
        return told


def load(where: str) -> Callable[[], FuzzTarget]:
    """What makes the target that ``module:Class`` names."""
    module, _, name = where.partition(":")
    made: Callable[[], FuzzTarget] = getattr(importlib.import_module(module), name)
    return made


def drawn(name: str, seed: int, number: int) -> random.Random:
    """What case `number` of a run is drawn from."""
    return random.Random(f"{name}:{seed}:{number}")


def fuzz(
    make: Callable[[], FuzzTarget],
    name: str,
    count: int,
    seed: int,
    *,
    first: int = 0,
    bounds: Bounds | None = None,
    folder: Path | None = None,
    most_kinds: int = MOST_KINDS,
    news: Callable[[FuzzReport], None] = lambda report: None,
    before: Callable[[int, bytes], None] = lambda number, case: None,
) -> FuzzReport:
    """Feed a target with parts until `count` were fed.

    Args:
        make: Makes the target, again after each unexpected outcome.
        name: Of the target.
        first: The number of the first case.
        bounds: What the target may use.
        folder: Where cases of unexpected outcomes are kept.
        most_kinds: So many kinds of these end the run.
        news: Is told how far it is, now and then.
        before: Is told each case before it is fed.
    """
    bounds = bounds or Bounds()
    report = FuzzReport(name, seed)
    target = make()
    report.memory_before = report.memory_peak = peak_memory()
    allowed = report.memory_before + bounds.memory / 2**20
    began = last = time.perf_counter()
    number = first
    try:
        while report.count < count and len(report.unexpected) < most_kinds:
            case = target.case(drawn(name, seed, number))
            before(number, case)
            found = _fed(target, case, number, bounds, report)
            report.memory_peak = peak_memory()
            if found is None and report.memory_peak > allowed:
                found = ("OverMemory", f"{report.memory_peak:.0f} MiB: {allowed:.0f} are allowed")
                allowed = report.memory_peak + bounds.memory / 2**20  # the next one counts anew
            if found is not None:
                finding = report.note(*found)
                if finding.count == 1 and folder is not None:
                    finding.file = str(kept(folder, name, case, finding.told))
                with contextlib.suppress(Exception):  # it is broken
                    target.close()
                target = make()
            number += 1
            report.seconds = time.perf_counter() - began
            if report.seconds + began - last > NEWS_SECONDS:
                last = report.seconds + began
                news(report)
    finally:
        target.close()
    return report


def _fed(
    target: FuzzTarget, case: bytes, number: int, bounds: Bounds, report: FuzzReport
) -> tuple[str, str] | None:
    """Feed one case; what was unexpected, as its kind and its traceback."""
    report.cases += 1
    parts = target.feed(case)
    while True:
        began = time.perf_counter()
        try:
            with _processor_time(bounds.seconds):
                outcome = next(parts, None)
        except (Exception, OverTime) as error:
            report.count += 1
            report.outcomes["unexpected"] += 1
            return _kind(error), "".join(traceback.format_exception(error))
        if outcome is None:
            return None
        taken = 1000 * (time.perf_counter() - began)
        if taken > report.slowest_ms:
            report.slowest_ms, report.slowest_case = taken, number
        report.count += 1
        report.outcomes[outcome] += 1


def _kind(error: BaseException) -> str:
    """An error's class and the place where it was raised; of what a target found, its words."""
    if isinstance(error, Unexpected):
        return f"Unexpected: {str(error).splitlines()[0][:120]}"
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, OverTime):  # it is interrupted anywhere
        return "OverTime"
    return f"{type(error).__name__} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"


@contextlib.contextmanager
def _processor_time(seconds: float) -> Iterator[None]:
    """`OverTime` once this process has used so many seconds of its processors.

    Time on the wall would be another one on a busy machine; and pytest has the alarm clock.
    """

    def over(*_: object) -> None:
        raise OverTime(f"a part took more than {seconds:g} s of processor time")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def peak_memory() -> float:
    """MiB that this process had at most. What `getrusage` says is that of the parent, where that
    had more when it started this one."""
    status = Path("/proc/self/status").read_bytes()
    return int(status.partition(b"VmHWM:")[2].split()[0]) / 1024


def kept(folder: Path, name: str, case: bytes, told: str) -> Path:
    """Keep a case, and what came of it beside; the file, whose folder is the target's name."""
    file = folder / name / f"{hashlib.sha256(case).hexdigest()[:16]}.case"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(case)
    file.with_suffix(".txt").write_text(told, encoding="utf-8", errors="backslashreplace")
    return file


def again(make: Callable[[], FuzzTarget], file: Path, bounds: Bounds | None = None) -> FuzzReport:
    """Feed a case that was kept once more."""
    report = FuzzReport(file.parent.name, 0)
    target = make()
    try:
        found = _fed(target, file.read_bytes(), 0, bounds or Bounds(), report)
    finally:
        target.close()
    if found is not None:
        report.note(*found, file=str(file))
    return report


class Overheard(logging.Handler):
    """What servers in this process say of faults: errors in logs, and exceptions of threads.

    Args:
        loggers: Those beside the root that hand nothing on to it.
    """

    def __init__(self, *loggers: str) -> None:
        super().__init__(logging.ERROR)
        self._faults: list[str] = []
        self._loggers = [logging.getLogger(name) for name in ("", *loggers)]
        for logger in self._loggers:
            logger.addHandler(self)
        self._before = threading.excepthook
        threading.excepthook = self._died

    def close(self) -> None:
        for logger in self._loggers:
            logger.removeHandler(self)
        if threading.excepthook == self._died:
            threading.excepthook = self._before
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        told = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            told = f"{_kind(record.exc_info[1])}\n{told}\n"
            told += "".join(traceback.format_exception(record.exc_info[1]))
        self._faults.append(told)

    def check(self, wait: float = 0.0) -> None:
        """`Unexpected` if there was a fault since the last look, or within `wait` seconds."""
        if eventually(lambda: self._faults, wait):
            told = self._faults[0]
            self._faults.clear()
            raise Unexpected(told)

    def _died(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            told = "".join(traceback.format_exception(args.exc_value))
            self._faults.append(f"{_kind(args.exc_value)} in a thread\n{told}")


def listed(parts: list[bytes]) -> bytes:
    """Parts as one case, which a person can read."""
    return json.dumps([part.decode("latin-1") for part in parts]).encode()


def parts_of(case: bytes) -> list[bytes]:
    """The parts of such a case."""
    return [part.encode("latin-1") for part in json.loads(case)]


def limit_memory(more: int = 8 << 30) -> None:
    """From now on this process gets so many bytes more of addresses, and then a `MemoryError`:
    what asks for too much harms no other process of the machine."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.RLIM_INFINITY))
