"""Runs in processes of their own: one that dies is an outcome, and its memory is the target's."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import signal
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.fuzz.running import Bounds, FuzzReport, fuzz, kept, limit_memory, load

MOST_DEATHS = 10
"""Processes that may die until a run ends."""

SILENCE = 600.0
"""Seconds without news after which a process counts as hanging."""

LAST = "last"
"""The file that says which case is fed, should the process die of it: its number, and the case."""


def fuzz_apart(
    where: str,
    name: str,
    count: int,
    seed: int,
    *,
    bounds: Bounds | None = None,
    folder: Path | None = None,
    news: Callable[[FuzzReport], None] = lambda report: None,
) -> FuzzReport:
    """As `fuzz`, in processes of their own: after one that died, the next goes on behind the case
    that it died of. What that one had fed since its last news is counted by nobody."""
    whole = FuzzReport(name, seed)
    first = deaths = 0
    while whole.count < count and deaths < MOST_DEATHS:
        before = whole.count
        with tempfile.TemporaryDirectory(prefix="ui-gym-fuzz-") as scratch:
            asked = (where, name, count - before, seed, first, bounds, folder, Path(scratch))
            ended, report = _child(asked, lambda found: news(_sum(whole, found)))
            if report is not None:
                whole.add(report)
            if ended == 0:
                break
            deaths += 1
            number, _, case = (Path(scratch) / LAST).read_bytes().partition(b"\n")
        what = f"Died: {_how(ended)}"
        file = "" if folder is None else str(kept(folder, name, case, what))
        whole.note(what, f"{what}, of case {int(number)}", file)
        whole.outcomes["died"] += 1
        whole.count += 1
        first = int(number) + 1
    return whole


def _sum(whole: FuzzReport, part: FuzzReport) -> FuzzReport:
    found = FuzzReport(whole.target, whole.seed)
    found.add(whole)
    found.add(part)
    return found


def _child(
    asked: tuple[Any, ...], news: Callable[[FuzzReport], None]
) -> tuple[int | None, FuzzReport | None]:
    """Run in a process; how it ended (None: it hung), and what it told last."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(*asked, theirs))
    process.start()
    theirs.close()
    last: FuzzReport | None = None
    try:
        while True:
            if not ours.poll(SILENCE):
                process.kill()
                process.join()
                return None, last
            last = ours.recv()
            news(last)
    except EOFError:
        process.join()
        return process.exitcode, last
    finally:
        process.kill()
        process.join()
        ours.close()


def _work(
    where: str, name: str, count: int, seed: int, first: int, bounds: Bounds | None,
    folder: Path | None, scratch: Path, told: Connection,
) -> None:  # fmt: skip
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it hears that, and ends it
    logging.lastResort = None  # errors are the targets' to notice, and a bar is on the screen
    made = load(where)
    limited = []

    def make() -> Any:
        target = made()
        if not limited:
            limit_memory()
            limited.append(True)
        return target

    with (scratch / LAST).open("wb", buffering=0) as last:

        def before(number: int, case: bytes) -> None:
            last.seek(0)
            last.write(f"{number}\n".encode() + case)
            last.truncate()

        report = fuzz(
            make, name, count, seed, first=first, bounds=bounds, folder=folder,
            news=told.send, before=before,
        )  # fmt: skip
    told.send(report)
    told.close()


def _how(exitcode: int | None) -> str:
    if exitcode is None:
        return f"no news for {SILENCE:g} s"
    with contextlib.suppress(ValueError):
        return signal.Signals(-exitcode).name
    return f"exit status {exitcode}"
