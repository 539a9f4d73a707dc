"""Keeps what was measured in benchmarks/results.csv, and writes its ratios to benchmarks/README.md.

pytest benchmarks --benchmark-json=FILE && python benchmarks/report.py [FILE ...]

Groups that these files do not measure stay as they are.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent
README = FOLDER / "README.md"
RESULTS = FOLDER / "results.csv"

OURS = "ui-gym"
RATE = "per_second"
PAIRED = "times_ui-gym"
"""What a benchmark says of itself that was timed in turns with ours."""
RATIO = "times_"
"""Before the name of a peer: by how much ours is faster, where both are one benchmark."""

HEAD = """# Benchmarks

Medians. Figures of a group come from one run, side by side, on the machine that it names; only
their ratios travel to other machines, and not unchanged: on two cores of an Intel Xeon MiniWoB++
steps were once 11.3x (N=1) and 5.9x (N=4), and a click and a picture 6.7x and 7.4x of Selenium's
and Playwright's 12.8 and 11.6 a second.

How each is taken stands in the test of its name. To repeat:

    tox -e bench

| measured | beside | ui-gym is faster by | on |
| --- | --- | --- | --- |
"""
FOOT = """
Every figure, with those that have no peer (capture by size, number of slots and way; resets;
desktop applications; memory), stands in [results.csv](results.csv). [Learning
curves](learning/README.md) are runs of their own.
"""


class Figure(NamedTuple):
    """One value of one benchmark."""

    group: str
    benchmark: str
    measure: str
    value: str
    machine: str


def main() -> int:
    figures = list(_kept())
    for name in sys.argv[1:]:
        new = list(_measured(Path(name)))
        groups = {figure.group for figure in new}
        figures = [figure for figure in figures if figure.group not in groups] + new
    figures.sort(key=lambda figure: figure.group)  # the order within a group stays
    with RESULTS.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([Figure._fields, *figures])
    README.write_text(HEAD + "".join(_rows(figures)) + FOOT)
    return 0


def _kept() -> Iterator[Figure]:
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            yield from (Figure(*row) for row in list(csv.reader(file))[1:])


def _measured(path: Path) -> Iterator[Figure]:
    """The figures of a file of pytest-benchmark."""
    told = json.loads(path.read_text())
    cpu = told["machine_info"]["cpu"]
    machine = f"{cpu['count']} cores of {cpu.get('brand_raw', 'a processor')}"
    for bench in told["benchmarks"]:
        group = bench["group"] or bench["fullname"].split("::")[1].split("[")[0]
        for measure, value in bench["extra_info"].items():
            yield Figure(group, bench["name"], measure, str(value), machine)


def _rows(figures: Iterable[Figure]) -> Iterator[str]:
    """A line of the table for each comparison."""
    groups: dict[str, dict[str, dict[str, Figure]]] = defaultdict(lambda: defaultdict(dict))
    for figure in figures:
        groups[figure.group][figure.benchmark][figure.measure] = figure
    for group, benches in groups.items():
        for name, values in benches.items():
            for peer, ratio, machine in _ratios(name, values, benches.get(OURS, {})):
                what = group if name in (peer, OURS) else name
                yield f"| {what} | {peer} | {ratio:.1f}x | {machine} |\n"


def _ratios(
    name: str, values: dict[str, Figure], ours: dict[str, Figure]
) -> Iterator[tuple[str, float, str]]:
    """The peer, by how much ours is faster, and the machine, as far as a benchmark compares."""
    machine = next(iter(values.values())).machine
    if PAIRED in values:
        yield name, float(values[PAIRED].value), machine
    elif name != OURS and RATE in ours and RATE in values:
        yield name, float(ours[RATE].value) / float(values[RATE].value), machine
    else:
        for measure, figure in values.items():
            if measure.startswith(RATIO):
                yield measure.removeprefix(RATIO), float(figure.value), machine


if __name__ == "__main__":
    sys.exit(main())
