"""Results as Markdown, and as the part of a document that they are kept in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ui_gym_agents.bench.results import BenchResult
from ui_gym_agents.bench.table import Comparison, gap_rows, run_rows
from ui_gym_agents.bench.teachers import LEARNED, teacher_rows
from ui_gym_agents.evaluation.report.statistics import percent
from ui_gym_agents.marked import put_between

BEGIN, END = "<!-- ui-gym-bench: results -->", "<!-- ui-gym-bench: end of results -->"
"""Between these lines of a document, the results are written."""


def as_markdown(
    table: Comparison, results: Mapping[Path, BenchResult], pictures: Sequence[str] = ()
) -> str:
    """The results, a section each: what teaches each task, pictures by their addresses, what
    carries over, all columns (those of runs that began with an earlier one apart, beside what they
    began with), and, folded away, a line for each run."""
    parts = [
        f"Held-out success, {table.mode}, in percent, by protocol {table.protocol}. Brackets are "
        "95 % intervals: of one run over its episodes (Wilson), or over the seeds that are named "
        "(Student's t, and nowhere narrower than that over the episodes).",
        "\n".join(table.remarks),
    ]
    if rows := teacher_rows(results, table.mode):
        parts += [
            "### What teaches what",
            f"The best of each way, on what it was trained on. Bold from {percent(LEARNED)} on; no "
            "better: its interval is not above that of what it began with, the parent or an "
            "earlier run.",
            _lines(rows),
        ]
    if pictures:
        parts.append("### While training")
        parts += [f"![Success on {Path(one).stem} while training]({one})" for one in pictures]
    if rows := gap_rows(results):
        told = "Greedy; means over the tasks of a row, of each over its seeds."
        parts += ["### What carries over", told, _lines(rows)]
    if columns := [c for c in table.columns if c not in table.begun]:
        parts += ["### Every task", _part(table, columns)]
    if columns := [c for c in table.columns if c in table.begun]:
        earlier = [c for c in table.columns if c in {*table.begun.values()} - {*columns}]
        parts += ["### After an earlier run", _part(table, columns, earlier)]
    if rows := run_rows(results, table.mode):
        fold = "<details>\n<summary>A line for each run and task</summary>"
        parts += ["### Every run", fold, _lines(rows), "</details>"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _part(table: Comparison, columns: Sequence[str], before: Sequence[str] = ()) -> str:
    return _lines([("task", *before, *columns), *table.text_rows(columns, before)])


def _lines(rows: Sequence[Sequence[str]]) -> str:
    """A table, of which the first row is the head."""
    head, *others = rows
    cells = (head, ["---"] * len(head), *others)
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def put_into(text: str, results: str) -> str:
    """A document with the results between its two marks; raises as `put_between`."""
    return put_between(text, BEGIN, END, f"\n\n{results.strip()}\n\n")
