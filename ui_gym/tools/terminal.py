"""What commands print: tables that fit a terminal, and plain lines where there is none.

In a terminal, a row is a line: columns that matter less are left out where the width does not do,
and long text is cut with an ellipsis. Anywhere else (a pipe, a file) a row is a line of cells with
tabs between them, without headings, in full: for `cut`, `grep` and `wc -l`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

Cell = str | Text

GAP = 2
"""Spaces between two columns."""


@dataclass(frozen=True)
class ShownColumn:
    """A column of a table.

    Attributes:
        heading: What stands above it; nothing in a table whose columns have no headings.
        rank: Of columns that do not all fit, those of the highest rank are left out first; a
            column of rank 0 never is.
        least: The fewest characters that its text may be cut to; None: it is never cut.
        folds: Whether its text goes on in further lines, rather than being cut.
        right: Whether it stands at the right edge, as numbers do.
        style: How rich paints it.
    """

    heading: str = ""
    rank: int = 0
    least: int | None = None
    folds: bool = False
    right: bool = False
    style: str = ""


def print_table(
    console: Console, columns: Sequence[ShownColumn], rows: Sequence[Sequence[Cell]]
) -> None:
    """Print rows as `console` can take them: all columns are told where there is no terminal."""
    if console.is_terminal:
        console.print(make_table(columns, rows, console.width))
    else:
        print_lines(console, ("\t".join(map(plain, row)) for row in rows))


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Print lines that stay lines, however narrow the reader is taken to be."""
    for line in lines:
        # Not by `console.print`, which would make spaces of tabs.
        console.file.write(line + "\n")
    console.file.flush()


def plain(cell: Cell) -> str:
    """A cell's text on one line, without tabs."""
    return " ".join(str(cell).split()) if any(c in str(cell) for c in "\t\r\n") else str(cell)


def make_table(columns: Sequence[ShownColumn], rows: Sequence[Sequence[Cell]], width: int) -> Table:
    """A table of the columns that fit into `width` characters, a row a line."""
    shown = fitting(columns, rows, width)
    headed = any(column.heading for column in columns)
    table = Table(
        box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim", show_header=headed
    )
    for index, size in shown.items():
        column = columns[index]
        table.add_column(
            column.heading,
            justify="right" if column.right else "left",
            style=column.style,
            width=size,
            no_wrap=not column.folds,
            overflow="fold" if column.folds else "ellipsis",
        )
    for row in rows:
        cells = (row[index] for index in shown)
        table.add_row(*(c if isinstance(c, Text) else Text(plain(c)) for c in cells))
    return table


def fitting(
    columns: Sequence[ShownColumn], rows: Sequence[Sequence[Cell]], width: int
) -> dict[int, int]:
    """Which columns fit into `width` characters, by their index, and how wide each is."""
    whole = [
        max(cell_len(text) for text in (column.heading, *(plain(row[i]) for row in rows)))
        for i, column in enumerate(columns)
    ]
    least = [
        size if column.least is None else min(size, max(column.least, cell_len(column.heading)))
        for size, column in zip(whole, columns, strict=True)
    ]
    kept = [i for i in range(len(columns)) if whole[i]]
    while kept and sum(least[i] + GAP for i in kept) - GAP > width:
        last = max(kept, key=lambda i: (columns[i].rank, i))
        if columns[last].rank == 0:
            break
        kept.remove(last)
    sizes = {i: least[i] for i in kept}
    room = width - sum(size + GAP for size in sizes.values()) + GAP
    for i in kept:  # what is left over goes to the text that was cut, the first columns first
        more = min(whole[i] - sizes[i], max(0, room))
        sizes[i] += more
        room -= more
    return sizes
