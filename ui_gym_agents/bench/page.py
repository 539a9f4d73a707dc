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
    """The table, what bears on it, what teaches each task, pictures by their addresses, what
    carries over, and a line for each run."""
    lines = [
        f"Held-out success, {table.mode}, in percent, by protocol {table.protocol}. Brackets are "
        "95 % intervals: of one run over its episodes (Wilson), or over the seeds that are named "
        "(Student's t, and nowhere narrower than that over the episodes).",
        "",
        *_lines([("task", *table.columns), *table.text_rows()]),
        "",
        *table.remarks,
    ]
    if rows := teacher_rows(results, table.mode):
        told = (
            f"Bold from {percent(LEARNED)} on; no better: its interval is not above the parent's."
        )
        lines += ["", f"What teaches what: the best of each way, on what it was trained on. {told}"]
        lines += ["", *_lines(rows)]
    for picture in pictures:
        lines += ["", f"![Success on {Path(picture).stem} while training]({picture})"]
    if rows := gap_rows(results):
        lines += [
            "",
            "What carries over (greedy; means over the tasks of a row, of each over its seeds):",
            "",
        ]
        lines += _lines(rows)
    if runs := run_rows(results, table.mode):
        lines += ["", "Every run:", "", *_lines(runs)]
    return "\n".join(lines).rstrip() + "\n"


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table, of which the first row is the head."""
    head, *others = rows
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *others)]


def put_into(text: str, results: str) -> str:
    """A document with the results between its two marks; raises as `put_between`."""
    return put_between(text, BEGIN, END, f"\n\n{results.strip()}\n\n")
