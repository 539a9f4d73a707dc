"""Tables in terminals of several widths, and plain lines where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ui_gym.tools.doctor import Finding, findings_table
from ui_gym.tools.terminal import ShownColumn, fitting, print_table

COLUMNS = (
    ShownColumn("task"),
    ShownColumn("suite", rank=2),
    ShownColumn("steps", rank=1, right=True),
    ShownColumn("what to do", least=20),
)
ROWS = [
    ("UI/DataEntry-v0", "browser", "40", "Copy the people that the goal names into the form."),
    ("UI/AndroidQuickSettings-v0", "android", "8", "Turn\ttiles\non or off."),
]


def printed(width: int | None, columns: Sequence[ShownColumn] = COLUMNS) -> list[str]:
    """The lines of the table in a terminal so wide, or in a pipe."""
    stream = StringIO()
    terminal = width is not None
    console = Console(file=stream, force_terminal=terminal, color_system=None, width=width or 20)
    print_table(console, columns, ROWS)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize(
    ("width", "headings"),
    [(60, ["task", "steps", "what to do"]), (80, ["task", "suite", "steps", "what to do"]),
     (120, ["task", "suite", "steps", "what to do"])],
)  # fmt: skip
def test_a_row_is_a_line_and_what_matters_least_is_left_out(
    width: int, headings: list[str]
) -> None:
    head, first, second = printed(width)
    assert " ".join(head.split()) == " ".join(headings)
    assert first.startswith("UI/DataEntry-v0 ")
    assert second.startswith("UI/AndroidQuickSettings-v0 ")
    assert all(cell_len(line) <= width for line in (head, first, second))
    whole = first.rstrip().endswith("into the form.")
    assert whole == (width == 120)
    assert whole or first.rstrip().endswith("…")


def test_a_column_that_folds_is_told_in_full() -> None:
    lines = printed(60, (*COLUMNS[:3], ShownColumn("what to do", least=20, folds=True)))
    assert len(lines) > 3
    assert set(ROWS[0][3].split()) <= set(" ".join(lines).split())
    assert all(cell_len(line) <= 60 for line in lines)


def test_no_terminal_gets_every_cell_in_full_with_tabs_between() -> None:
    assert printed(None) == [
        "UI/DataEntry-v0\tbrowser\t40\tCopy the people that the goal names into the form.",
        "UI/AndroidQuickSettings-v0\tandroid\t8\tTurn tiles on or off.",
    ]


def test_a_column_that_always_stays_is_kept_in_the_narrowest_terminal() -> None:
    assert list(fitting(COLUMNS, ROWS, 10)) == [0, 3]


def test_a_column_of_nothing_but_empty_cells_keeps_its_heading() -> None:
    assert fitting([ShownColumn("a"), ShownColumn("empty")], [("1", Text(""))], 40) == {0: 1, 1: 5}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_the_doctor_found_breaks_no_word(width: int) -> None:
    found = [
        Finding("chromium-headless-shell", "warn", "not found; another Chromium works, more slowly",
                "apt-get install chromium-headless-shell"),
        Finding("a first screenshot", "ok", "800x600 in 0.5 s"),
    ]  # fmt: skip
    stream = StringIO()
    console = Console(file=stream, force_terminal=True, color_system=None, width=width)
    console.print(findings_table(found))
    text = stream.getvalue()
    words = set(text.split())
    for finding in found:
        assert set(f"{finding.name} {finding.found} {finding.remedy}".split()) <= words
    assert all(len(line) <= width for line in text.splitlines())
