"""FormulaSheet's logic, and its page: what formulas come to, and how they are entered."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from task_helpers import draws, goals, judge, levels, mistakes_fail, perform, verdicts

from ui_gym.browser.content import formulas
from ui_gym.browser.content.books import BOOKS
from ui_gym.browser.content.formulas import SheetError
from ui_gym.browser.moves import click
from ui_gym.browser.tasks.formula_sheet import FormulaJob, FormulaSheet, FormulaSheetParams
from ui_gym.contract.action import Press, Type
from ui_gym.errors import UserError

# Rows 2 to 4 of figures in B to E; F and G for difference and product; totals in rows 6 to 8.
PARAMS = FormulaSheetParams(
    book=0, rows=("pine desk", "oak stool", "ash tray"),
    numbers=((50, 9, 20, 12), (60, 4, 30, 40), (41, 8, 25, 33)),
    totals=("sum", "average", "max"),
    jobs=(FormulaJob("sum", (5, 1), (1, 1), (3, 1)), FormulaJob("product", (2, 6), (2, 3), (2, 4))),
    theme=0, phrasing=0,
)  # fmt: skip


def edit(cell: str, text: str) -> Any:
    return ("edit", {"row": int(cell[1:]) - 1, "column": ord(cell[0]) - ord("A"), "text": text})


SUM, TIMES = edit("B6", "=SUM(B2:B4)"), edit("G3", "=D3*E3")

test_formula_sheet_scores = verdicts(
    FormulaSheet(rows=3),
    PARAMS,
    {
        "both": (SUM, TIMES, 1.0, True),
        "written otherwise": (edit("B6", "= b4+B3 + b2"), edit("G3", "=(E3*D3)/1"), 1.0, True),
        "by way of a mean": (edit("B6", "=AVERAGE(B2:B4)*count(B2:B4)"), TIMES, 1.0, True),
        "one": (SUM, 1 / 3, False, "1 of 2 formulas are right, 0 other cells are changed"),
        "typed": (edit("B6", "151"), TIMES, 1 / 3, False),
        "typed as a formula": (edit("B6", "=151"), TIMES, 1 / 3, False),
        "partly typed": (edit("B6", "=B2+B3+41"), TIMES, 1 / 3, False),
        "one short": (edit("B6", "=SUM(B2:B3)"), TIMES, 1 / 3, False),
        "one more": (edit("B6", "=SUM(B2:C4)"), TIMES, 1 / 3, False),
        "of itself": (edit("B6", "=SUM(B2:B6)"), TIMES, 1 / 3, False),
        "mended": (edit("B6", "=SUM(B2:B3)"), TIMES, SUM, 1.0, True),
        "another too": (SUM, edit("C6", "=SUM(C2:C4)"), TIMES, 1 / 3, False),
        "another taken back": (edit("C6", "1"), SUM, TIMES, edit("C6", ""), 1.0, True),
        "a figure changed": (edit("B2", "51"), SUM, TIMES, 1 / 3, False),
        "a figure as it was": (edit("B2", "50.0"), SUM, TIMES, 1.0, True),
        "by another cell": (edit("H1", "=B2"), edit("B6", "=H1+B3+B4"), TIMES, 1 / 3, False),
        "emptied": (SUM, TIMES, edit("A1", ""), 1 / 3, False),
        "nonsense": (edit("B6", "=SUM(B2:"), edit("G3", "=" + "(" * 190), 0.0, False),
        "outside": (SUM, TIMES, ("edit", {"row": None, "text": "x"}), 1 / 3, False),
        "empty": (("edit", {}), 0.0, False),
    },
)


def test_formula_sheet_a_highest_figure_has_to_be_of_all_rows() -> None:
    task, highest = FormulaSheet(rows=3), FormulaJob("max", (7, 1), (1, 1), (3, 1))
    params = FormulaSheetParams(**{**vars(PARAMS), "jobs": (highest,)})
    assert judge(task, params, edit("B8", "=MAX(B2:B4)")).success
    for short in ("=MAX(B2:B3)", "=MAX(B3:B4)", "=B3", "=MAX(B2:B3,41)"):
        assert not judge(task, params, edit("B8", short)).success


def test_formula_sheet_goal_names_cells() -> None:
    assert FormulaSheet(rows=3).goal(PARAMS) == (
        "Enter formulas for the sum of B2 to B4 in B6 and D3 times E3 in G3. They have to follow "
        "when a figure changes."
    )
    assert FormulaSheet(rows=3, named=True).goal(PARAMS) == (
        'Enter formulas for the sum of the column "Ordered" in the row "Total" and "Sold" times '
        '"Price" of oak stool in the column "Takings". They have to follow when a figure changes.'
    )


def played(params: FormulaSheetParams) -> list[Any]:
    """Entries as the oracle makes them."""
    worth = {job: str(_worth(params, job)) if job.typed else job.formula for job in params.jobs}
    return [
        ("edit", {"row": job.cell[0], "column": job.cell[1], "text": text})
        for job, text in worth.items()
    ]


def _worth(params: FormulaSheetParams, job: FormulaJob) -> float:
    cells = {
        (row, column): str(number)
        for row, numbers in enumerate(params.numbers, 1)
        for column, number in enumerate(numbers, 1)
    }
    return round(float(formulas.value({**cells, job.cell: job.formula}, job.cell)), 2)


test_formula_sheet_mistakes = mistakes_fail(FormulaSheet, played)


@levels(FormulaSheet)
def test_formula_sheet_asks_for_empty_cells(task: Any) -> None:
    books, kinds = set(), set()
    for params in draws(task):
        books.add(params.book)
        cells = task.page_params(params)["cells"]
        asked = [job.cell for job in params.jobs]
        assert len(set(asked)) == len(asked) == task.formulas
        for job in params.jobs:
            kinds.add(job.kind)
            assert cells[job.cell[0]][job.cell[1]] == ""
            assert cells[job.first[0]][job.first[1]].isdigit()
            assert cells[job.last[0]][job.last[1]].isdigit()
    assert books == set(range(len(BOOKS)))
    assert kinds == {"sum", "average", "max", "difference", "product"}


CELLS = {(0, 0): "Name", (1, 1): "4", (2, 1): "2.5", (3, 1): "-1", (1, 2): "=B2*2", (2, 2): "=C3"}

FORMULAS: dict[str, Any] = {
    "=1+2*3": 7, "=(1+2)*3": 9, "=-B2+10": 6, "=10/4/5": 0.5, "=2--3": 5, "=+B2": 4, "=B9": 0,
    "=SUM(B2:B4)": 5.5, "=sum( B4 : B2 )": 5.5, "=SUM(A1:B3)": 6.5, "=SUM(B2;B3,1)": 7.5,
    "=AVERAGE(B2:B5)": Fraction(11, 6), "=MIN(B2:B4)": -1, "=MAX(B2:B4,9)": 9, "=MAX(B7:B9)": 0,
    "=COUNT(A1:B9)": 3, "=C2+1": 9, "=SUM(B2:C2)": 12, "=SUM(B2:B3)*MAX(1,2)": 13, "=1.": 1,
    "=.5": 0.5, "=": None, "=1+": None, "=A1+1": None, "=1/0": None, "=AVERAGE(B7:B9)": None,
    "=C3": None, "=D9": None, "=SUM(1": None, "=SUM": None, "=FOO(1)": None, "=B2:B3": None,
    "=1 2": None, "=AA1": None, "=B0": None, "=#": None, "=CONSTRUCTOR(1)": None,
    "=" + "1+" * 110 + "1": None, "=" + "(" * 90 + "1" + ")" * 90: 1,
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), FORMULAS.items(), ids=[t[:24] for t in FORMULAS])
def test_formulas_come_to_their_number(text: str, wanted: Any) -> None:
    cells = {**CELLS, (8, 3): text}
    if wanted is None:
        with pytest.raises(SheetError):
            formulas.value(cells, (8, 3))
    else:
        assert formulas.value(cells, (8, 3)) == Fraction(wanted)


def test_formulas_that_are_nested_too_deep_are_refused() -> None:
    deep = {(row, 0): "=" + "(" * 90 + f"A{row + 2}" + ")" * 90 for row in range(60)}
    with pytest.raises(SheetError, match="too deep"):
        formulas.value(deep, (0, 0))


class Counted(dict[Any, str]):
    """Cells that count how often they are looked up."""

    lookups = 0

    def get(self, *key: Any) -> Any:
        self.lookups += 1
        return super().get(*key)


def test_formulas_of_cells_that_are_named_often_work_each_out_once() -> None:
    cells = Counted({(0, 0): "=" + "+".join(["A2"] * 60), (1, 0): "=" + "+".join(["A3"] * 60)})
    cells[2, 0] = "1"
    assert formulas.value(cells, (0, 0)) == 3600
    assert cells.lookups == 3


def chain(form: str, first: str, length: int) -> list[str]:
    """Texts of the cells A1, A2 and so on, the last of which is `first`: each of the next one."""
    return [form.replace("#", f"A{row + 2}") for row in range(length)] + [first]


CHAINS = {
    "named often": chain("=" + "+".join(["#"] * 45), "1", 24),
    "in ranges": chain("=" + "+".join(["MAX(#:A99)"] * 14), "1", 24),
    "squared": chain("=#*#", "7", 30),
    "divided": chain("=#/.0000000001", "7", 40),
    "summed": chain(f"=SUM(#,#,{'9' * 90})*{'9' * 90}", "7", 4),
}


@pytest.mark.parametrize("texts", CHAINS.values(), ids=CHAINS)
def test_numbers_that_take_too_much_are_refused_by_judge_and_page(
    make_device: Any, texts: list[str]
) -> None:
    task = FormulaSheet(rows=3)
    device = make_device(task.viewport)
    sheet = [[text, *[""] * 7] for text in texts]
    device.load(task.page, {**task.page_params(PARAMS), "cells": sheet}, seed=0)
    cells = {(row, 0): text for row, text in enumerate(texts)}
    refused = []
    for cell, said in zip(cells, device.state()["shown"], strict=True):
        try:
            wanted = formulas.value(cells, cell)
        except SheetError as error:
            refused.append(str(error))
            assert said[0] == "#NUM!"
        else:
            assert float(said[0]) == pytest.approx(float(wanted))
    assert 0 < len(refused) < len(texts)
    assert set(refused) <= {"cells are read more than 1000 times", "a number is too long"}


def test_fractions_that_grow_too_long_are_refused() -> None:
    thirds = dict(enumerate(chain("=#*#", "=1/3", 40)))
    with pytest.raises(SheetError, match="a number is too long"):
        formulas.value({(row, 0): text for row, text in thirds.items()}, (0, 0))


def test_the_page_computes_as_the_judge_does(make_device: Any) -> None:
    task = FormulaSheet(rows=3)
    device = make_device(task.viewport)
    sheet = [["" for _ in range(8)] for _ in range(len(FORMULAS) + 12)]
    for (row, column), text in CELLS.items():
        sheet[row][column] = text
    for row, text in enumerate(FORMULAS, 10):
        sheet[row][4] = text if text != "=D9" else "=E" + str(row + 1)
    told = {**task.page_params(PARAMS), "cells": sheet}
    device.load(task.page, told, seed=0)
    shown = [row[4] for row in device.state()["shown"][10:]]
    for (text, wanted), said in zip(FORMULAS.items(), shown, strict=False):
        if wanted is None:
            assert said.startswith("#"), (text, said)
        else:
            assert float(said) == round(float(wanted), 2), (text, said)


def test_formula_sheet_keys_and_buttons(make_device: Any) -> None:
    task = FormulaSheet(rows=3)
    device = make_device(task.viewport)
    task.setup(device, PARAMS)
    at_sum = click(device, "#cell-5-1")
    state = perform(device, at_sum, Type("=SUM(B2:B4)"))
    assert (state["here"], state["editing"]) == ([5, 1], True)
    assert not device.events
    state = perform(device, Press("escape"))
    assert (state["editing"], state["text"]) == (False, "")
    assert not device.events
    state = perform(device, Type("=SUM(B2:B4)"), click(device, "#accept"))
    assert (state["shown"][5][1], state["text"]) == ("151", "=SUM(B2:B4)")
    state = perform(device, click(device, "#cell-1-1"), Type("51"), Press("tab"))
    assert (state["shown"][5][1], state["here"]) == ("152", [1, 2])
    state = perform(device, Type("7"), click(device, "#cancel"))
    assert (state["cells"][1][2], state["editing"]) == ("9", False)
    state = perform(device, Press("down"), Press("delete"))
    assert (state["here"], state["cells"][2][2]) == ([2, 2], "")
    # Leaving a cell by a click elsewhere enters what was typed.
    state = perform(device, Type("=1/0"), at_sum)
    assert (state["shown"][2][2], state["here"]) == ("#DIV/0!", [5, 1])
    assert [event.data["text"] for event in device.events] == ["=SUM(B2:B4)", "51", "", "=1/0"]
    assert state["focused"] == "formula"


def test_formula_sheet_compact_goals_name_cells_and_kinds() -> None:
    task, kinds = FormulaSheet(compact=True, formulas=2), set()
    for params, goal in goals(task):
        for job in params.jobs:
            kinds.add(job.kind)
            cells = [formulas.address(cell) for cell in (job.first, job.last, job.cell)]
            first, last, cell = cells
            assert re.search(rf"{first} (to|\*) {last} in {cell}\.", goal)
    assert kinds == {"sum", "max", "product"}


def test_formula_sheet_compact_page_refuses_what_has_no_room() -> None:
    with pytest.raises(UserError, match="rows must be 2 to 3, not 9"):
        FormulaSheet(compact=True, level="medium")
    with pytest.raises(UserError, match="named is False"):
        FormulaSheet(compact=True, named=True)
    with pytest.raises(UserError, match="rows must be 3 to 30, not 2"):
        FormulaSheet(rows=2)
