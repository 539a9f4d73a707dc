"""``python -m tests.fuzz``: feeds readers and servers what nobody means, and tells what came of it.

From the repository's folder::

    python -m tests.fuzz                                     # all targets, with whole counts
    python -m tests.fuzz dialects checkpoints --count 5000 --seed 3 --report fuzz.json
    python -m tests.fuzz --again fuzz-cases/dialects/0123456789abcdef.case

It ends with status 1 if an outcome was unexpected; the case of each kind lies in `--cases`. Ctrl-C
ends it, and what was counted until then is told.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.fuzz.children import fuzz_apart
from tests.fuzz.running import FuzzReport, again, load
from tests.fuzz.targets import TARGETS


def main(arguments: Sequence[str] | None = None) -> int:
    known = "\n".join(f"  {name:14} {k.count:>9,}  {k.about}" for name, k in TARGETS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description=__doc__,
        epilog=f"targets:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all of them by default")
    parser.add_argument("--count", type=int, metavar="N", help="parts for each target")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--report", type=Path, metavar="FILE", help="where the report is written")
    parser.add_argument(
        "--cases", type=Path, default=Path("fuzz-cases"), metavar="FOLDER",
        help="where cases with unexpected outcomes are kept (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--again", type=Path, metavar="FILE", help="feed a kept case once more")
    given = parser.parse_args(arguments)
    for name in given.targets:
        if name not in TARGETS:
            parser.error(f"there is no target {name!r}; the targets are {', '.join(TARGETS)}")
    if given.again is not None:
        return _again(given.again, parser)
    reports: list[FuzzReport] = []
    ended = False
    for name in given.targets or TARGETS:
        report, ended = _run(name, given.count, given.seed, given.cases)
        reports.append(report)
        if given.report is not None:
            _write(given.report, reports)
        if ended:
            break
    if any(report.failures for report in reports):
        return 1
    return 130 if ended else 0


def _run(name: str, count: int | None, seed: int, cases: Path) -> tuple[FuzzReport, bool]:
    """What came of a target, and whether somebody ended it before its end."""
    kind = TARGETS[name]
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[found]}"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(name, total=count or kind.count, found="")
        report, ended = FuzzReport(name, seed), False

        def news(told: FuzzReport) -> None:
            nonlocal report
            report = told
            found = f"[red]{report.failures} unexpected" if report.failures else ""
            progress.update(bar, completed=report.count, found=found)

        try:
            news(
                fuzz_apart(
                    kind.where, name, count or kind.count, seed, bounds=kind.bounds,
                    folder=cases, news=news,
                )
            )  # fmt: skip
        except KeyboardInterrupt:
            ended = True
    told = report.as_json()
    sys.stdout.write(
        f"{name}: {report.count:,} in {report.seconds:.0f} s ({told['per_second']:g}/s), "
        f"slowest {report.slowest_ms:.0f} ms, memory {report.memory_peak:.0f} MiB "
        f"({report.memory_before:.0f} before), {report.failures} unexpected\n"
    )
    for finding in report.unexpected.values():
        sys.stdout.write(f"  {finding.count} x {finding.what}  {finding.file}\n")
    return report, ended


def _write(path: Path, reports: Sequence[FuzzReport]) -> None:
    machine = {
        "python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count(),
    }  # fmt: skip
    told = {"machine": machine, "targets": [report.as_json() for report in reports]}
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _again(file: Path, parser: argparse.ArgumentParser) -> int:
    name = file.parent.name
    if name not in TARGETS or not file.is_file():
        parser.error(f"{file} is no case that was kept: it would be FOLDER/TARGET/HASH.case")
    kind = TARGETS[name]
    report = again(load(kind.where), file, kind.bounds)
    for finding in report.unexpected.values():
        sys.stdout.write(f"{finding.told}\n")
    sys.stdout.write(f"{name}: {json.dumps(report.as_json()['outcomes'])}\n")
    return int(report.failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
