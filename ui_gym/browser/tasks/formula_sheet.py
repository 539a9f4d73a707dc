"""Formula sheet: enter formulas into the named cells of a small spreadsheet, which computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from numpy.random import Generator

from ui_gym.browser.content import formulas, phrases, tables
from ui_gym.browser.content.books import BOOKS, COMPACT_BOOK, Book
from ui_gym.browser.content.formulas import Cell, SheetError, address
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, count_scrolls, reveal
from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

Kind = Literal["sum", "average", "max", "difference", "product"]
TOTALS: tuple[Kind, ...] = ("sum", "average", "max")
FUNCTIONS: dict[Kind, str] = {"sum": "SUM", "average": "AVERAGE", "max": "MAX"}
LABELS: dict[Kind, str] = {"sum": "Total", "average": "Average", "max": "Highest"}
COMPACT_TOTALS: tuple[Kind, ...] = ("sum", "max")
COMPACT_LABELS: dict[Kind, str] = {"sum": "Sum", "max": "Max"}
BY_CELL: dict[Kind, str] = {
    "sum": "the sum of {first} to {last} in {cell}",
    "average": "the average of {first} to {last} in {cell}",
    "max": "the highest of {first} to {last} in {cell}",
    "difference": "{first} minus {last} in {cell}",
    "product": "{first} times {last} in {cell}",
}
BY_NAME: dict[Kind, str] = {
    "sum": 'the sum of the column "{column}" in the row "{row}"',
    "average": 'the average of the column "{column}" in the row "{row}"',
    "max": 'the highest of the column "{column}" in the row "{row}"',
    "difference": '"{first}" minus "{last}" of {row} in the column "{column}"',
    "product": '"{first}" times "{last}" of {row} in the column "{column}"',
}
GOALS = (
    "Enter formulas for {jobs}. They have to follow when a figure changes.",
    "Let the sheet compute {jobs}. Use formulas, not typed numbers, and change nothing else.",
    "The sheet needs {jobs}. Write each as a formula of its cells; leave all else as it is.",
)
COMPACT_KINDS: dict[Kind, str] = {
    "sum": "Sum {first} to {last} in {cell}.",
    "max": "Max {first} to {last} in {cell}.",
    "product": "Put {first} * {last} in {cell}.",
}
RAISE = 10_000
"""More than any figure of a sheet."""
COLUMNS, LINES = 8, 24
"""Of the sheet, at least."""
COMPACT_COLUMNS, COMPACT_LINES = 4, 5
ROW_HEIGHT = 34
"""Of the sheet, in pixels."""
ROOM = 580
"""The least height of the rows in sight, in pixels."""
THEMES = 6
COMPACT = -1
"""Stands for the book of the compact page."""


@dataclass(frozen=True)
class FormulaJob:
    """A formula that is asked for: in `cell`, of the cells from `first` to `last`, or of both."""

    kind: Kind
    cell: Cell
    first: Cell
    last: Cell
    typed: bool = False
    """Whether the number is typed that it comes to."""

    @property
    def formula(self) -> str:
        first, last = address(self.first), address(self.last)
        if self.kind in FUNCTIONS:
            return f"={FUNCTIONS[self.kind]}({first}:{last})"
        return f"={first}{'*' if self.kind == 'product' else '-'}{last}"


@dataclass(frozen=True)
class FormulaSheetParams:
    """All that varies between episodes."""

    book: int
    rows: tuple[str, ...]
    numbers: tuple[tuple[int, ...], ...]
    totals: tuple[Kind, ...]
    """What the rows below the numbers are for."""
    jobs: tuple[FormulaJob, ...]
    theme: int
    phrasing: int


@register("FormulaSheet", suite="browser", category="table", difficulty="medium", max_steps=16)
class FormulaSheet(Family[FormulaSheetParams]):
    """Enter formulas into the named cells of a small spreadsheet, which computes.

    ## Description
    A sheet of sales, branches, hours or parts, with a formula bar. Rows for totals, averages and
    highest figures are empty, and so are columns for differences and products; the goal asks for
    formulas in some of these cells, which it names as B12 or, at the hard level, by row and column.
    A click selects a cell; what is typed replaces what it holds, and Enter enters it; the buttons
    beside the bar do, too, or give up. The sheet computes + - * / and SUM, AVERAGE, MIN, MAX and
    COUNT.

    ## Action space
    Clicking a cell, typing, Enter and scrolling are all that is needed.

    ## Rewards
    1 if every named cell holds a formula that comes to the right number, and would with other
    figures in the sheet, and no other cell is changed. A typed number is not right. Before that,
    of n formulas, n + 1 shares: one for each that is right, less one for each other changed cell.

    ## Starting state
    The sheet scrolled to its top, its first cell selected.

    ## Episode end
    Termination: the formulas are right, and nothing else is changed. A wrong one can be repaired.
    `max_steps` is about twice what is needed.

    ## Arguments
    | `rows` | of the level (compact: 3) | rows of figures, 3 to 30, compact 2 to 3 |
    | `formulas` | of the level (compact: 1) | how many are asked for, 1 to 4, compact to 2 |
    | `named` | of the level (compact: False) | whether cells are named by their row and column |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "formula_sheet.html"
    mistakes = ("cell", "range", "typed")
    excesses = ("another",)
    compact_values = {"rows": 3, "formulas": 1, "named": False}
    rows: int = whole(2, 30, easy=5, medium=9, hard=20)
    formulas: int = whole(1, 4, easy=1, medium=2, hard=3)
    named: bool = flag(easy=False, medium=False, hard=True)

    def prepare(self) -> None:
        if self.compact:
            self.check_range("rows", self.rows, 2, 3)
            self.check_range("formulas", self.formulas, 1, 2)
            if self.named:
                raise UserError("FormulaSheet: the compact page names cells as B4; named is False")
            self.max_steps = 6 * self.formulas
            return
        self.check_range("rows", self.rows, 3, 30)
        scrolls = count_scrolls((self.rows + 5) * ROW_HEIGHT, ROOM)
        self.max_steps = 2 * self.formulas * (3 + scrolls)

    def sample(self, rng: Generator) -> FormulaSheetParams:
        book = COMPACT if self.compact else int(rng.integers(len(BOOKS)))
        about = _book(book)
        total = pick(rng, COMPACT_TOTALS)
        params = FormulaSheetParams(
            book=book,
            rows=tables.names(about.rows, self.rows, False, rng),
            numbers=tuple(
                tuple(int(rng.integers(low, high + 1)) for _, low, high in about.columns)
                for _ in range(self.rows)
            ),
            totals=(total,) if self.compact else TOTALS,
            jobs=(),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(GOALS))),
        )
        possible = _possible(params)
        # Totals and what belongs to a row come about equally often.
        of_rows = [job for job in possible if job.kind in ("difference", "product")]
        of_columns = [job for job in possible if job not in of_rows]
        jobs: list[FormulaJob] = []
        while len(jobs) < self.formulas:
            pool = of_rows if rng.random() < 0.5 else of_columns
            job = pick(rng, pool)
            if job.cell not in [one.cell for one in jobs]:
                jobs.append(job)
        return replace(params, jobs=tuple(jobs))

    def goal(self, params: FormulaSheetParams) -> str:
        if self.compact:
            return " ".join(_said(params, job, COMPACT_KINDS[job.kind]) for job in params.jobs)
        ways = BY_NAME if self.named else BY_CELL
        jobs = phrases.listing(_said(params, job, ways[job.kind]) for job in params.jobs)
        return GOALS[params.phrasing].format(jobs=jobs)

    def page_params(self, params: FormulaSheetParams) -> dict[str, Any]:
        about, cells = _book(params.book), _cells(params)
        lines = COMPACT_LINES if self.compact else max(LINES, len(params.rows) + 7)
        columns = COMPACT_COLUMNS if self.compact else COLUMNS
        return {
            **{name: getattr(about, name) for name in ("app", "mark", "title")},
            "cells": [[cells.get((row, i), "") for i in range(columns)] for row in range(lines)],
            "theme": params.theme,
        }

    def judge(
        self, device: BrowserDevice, params: FormulaSheetParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        before = _cells(params)
        now, nowhere = dict(before), 0
        for event in device.events:
            if event.type == "edit":
                row, column = event.data.get("row"), event.data.get("column")
                if isinstance(row, int) and isinstance(column, int):
                    now[row, column] = str(event.data.get("text", ""))
                else:
                    nowhere += 1
        asked = {job.cell for job in params.jobs}
        wrong = nowhere + sum(
            not tables.same(text, before.get(place, ""))
            for place, text in now.items()
            if place not in asked
        )
        right = sum(_is_right(job, now, params) for job in params.jobs)
        notes = f"{right} of {len(asked)} formulas are right, {wrong} other cells are changed"
        if right == len(asked) and not wrong:
            return Verdict(1.0, done=True, notes=notes)
        return Verdict(max(0, right - wrong) / (len(asked) + 1), notes=notes)

    def oracle(self, device: BrowserDevice, params: FormulaSheetParams) -> Steps:
        for job in params.jobs:
            where = address(job.cell)
            entry = _worth(job, _cells(params)) if job.typed else job.formula
            if not self.compact:
                yield from because(
                    f"{where} is not in sight.", reveal(device, _at(job), "#pane", head=ROW_HEIGHT)
                )
            thought = f"{where} {entry}" if self.compact else f"{where} has to hold {entry}."
            yield Demo(click(device, _at(job)), where if self.compact else thought)
            yield Demo(Type(entry), thought)
            yield Demo(Press("enter"), thought)

    def overdone(self, params: FormulaSheetParams, excess: str) -> FormulaSheetParams:
        """``another``: a figure is replaced by a formula."""
        return replace(params, jobs=(FormulaJob("difference", (1, 1), (1, 2), (2, 2)),))

    def misread(
        self, params: FormulaSheetParams, mistake: str, rng: Generator
    ) -> FormulaSheetParams:
        """``cell``: a formula is entered in the cell beside its own. ``range``: it leaves out the
        last figure, or takes it from the row beside. ``typed``: its number is typed."""
        jobs = list(params.jobs)
        slip = int(rng.integers(len(jobs)))
        job = jobs[slip]
        (row, column), (last, last_column) = job.cell, job.last
        if mistake == "cell":
            jobs[slip] = replace(job, cell=(row, column + (1 if column == 1 else -1)))
        elif mistake == "range":
            beside = last - 1 if last > 1 else last + 1
            jobs[slip] = replace(job, last=(beside, last_column))
        else:
            jobs[slip] = replace(job, typed=True)
        return replace(params, jobs=tuple(jobs))

    def blind_rate(self, params: FormulaSheetParams) -> float:
        """Who cannot tell what the goal means enters no right formula."""
        return 0.0


def _book(book: int) -> Book:
    return COMPACT_BOOK if book == COMPACT else BOOKS[book]


def _at(job: FormulaJob) -> str:
    return f"#cell-{job.cell[0]}-{job.cell[1]}"


def _titles(about: Book) -> list[str]:
    """Of all columns."""
    computed = [title for title in (about.difference, about.product) if title]
    return [about.corner, *(title for title, _, _ in about.columns), *computed]


def _first_total(params: FormulaSheetParams) -> int:
    """The row of the first total: below an empty one, where there is room."""
    return len(params.rows) + (1 if params.book == COMPACT else 2)


def _cells(params: FormulaSheetParams) -> dict[Cell, str]:
    """What the sheet holds at the start."""
    cells = {(0, i): title for i, title in enumerate(_titles(_book(params.book)))}
    for row, (name, numbers) in enumerate(zip(params.rows, params.numbers, strict=True), 1):
        cells[row, 0] = name
        cells |= {(row, i): str(number) for i, number in enumerate(numbers, 1)}
    labels = COMPACT_LABELS if params.book == COMPACT else LABELS
    for row, kind in enumerate(params.totals, _first_total(params)):
        cells[row, 0] = labels[kind]
    return cells


def _possible(params: FormulaSheetParams) -> list[FormulaJob]:
    """All formulas that may be asked for."""
    about, last = _book(params.book), len(params.rows)
    numbers = len(about.columns)
    jobs = [
        FormulaJob(kind, (row, column), (1, column), (last, column))
        for row, kind in enumerate(params.totals, _first_total(params))
        for column in range(1, numbers + 1)
    ]
    product = numbers + 1 + bool(about.difference)
    for row in range(1, last + 1):
        jobs.append(FormulaJob("product", (row, product), (row, numbers - 1), (row, numbers)))
        if about.difference:
            jobs.append(FormulaJob("difference", (row, numbers + 1), (row, 1), (row, 2)))
    return jobs


def _said(params: FormulaSheetParams, job: FormulaJob, form: str) -> str:
    """A job in words: its cells by their letters, or by names of rows and columns."""
    cells, (row, column) = _cells(params), job.cell
    if "{column}" in form:
        first, last = cells[0, job.first[1]], cells[0, job.last[1]]
        return form.format(row=cells[row, 0], column=cells[0, column], first=first, last=last)
    return form.format(cell=address(job.cell), first=address(job.first), last=address(job.last))


def _worth(job: FormulaJob, cells: Mapping[Cell, str]) -> str:
    """The number that a job comes to, as the page writes it."""
    number = f"{float(formulas.value({**cells, job.cell: job.formula}, job.cell)):.2f}"
    return number.rstrip("0").rstrip(".")


def _is_right(job: FormulaJob, now: Mapping[Cell, str], params: FormulaSheetParams) -> bool:
    """Whether a cell comes to what it should, with the shown figures and with others."""
    if not now.get(job.cell, "").strip().startswith("="):
        return False  # as it is while nothing is entered, at most steps
    return all(
        _comes_to({**now, **figures}, job.cell)
        == formulas.value({**figures, job.cell: job.formula}, job.cell)
        for figures in _worlds(params)
    )


def _comes_to(cells: Mapping[Cell, str], cell: Cell) -> Fraction | None:
    try:
        return formulas.value(cells, cell)
    except SheetError:
        return None


def _worlds(params: FormulaSheetParams) -> Iterator[dict[Cell, str]]:
    """The shown figures; then others: each changed by a number of its own, or those of one row
    raised above all others, so that each figure counts in some of them."""
    shown = {
        (row, column): number
        for row, numbers in enumerate(params.numbers, 1)
        for column, number in enumerate(numbers, 1)
    }
    yield {cell: str(number) for cell, number in shown.items()}
    yield {cell: str(number + i * i + 3) for i, (cell, number) in enumerate(shown.items())}
    for raised in range(1, len(params.rows) + 1):
        yield {
            (row, column): str(number + (RAISE + 17 * column if row == raised else 0))
            for (row, column), number in shown.items()
        }
