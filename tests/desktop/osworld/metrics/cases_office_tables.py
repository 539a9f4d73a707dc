"""Cases of metrics of workbooks."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
from metric_case import Case, Cases, Made, against, alone
from openpyxl.chart import BarChart, LineChart, Reference
from openpyxl.formatting.rule import CellIsRule, FormulaRule
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

Change = Callable[[Any], Any]

ROWS = (("Name", "Paid"), ("Ann", 3), ("Bob", 7.25))
PAIR = {"sheet_idx0": 0, "sheet_idx1": "EI0"}
GREEN, RED = "FF00FF00", "FFFF0000"


def book(*changes: Change, rows: Sequence[Sequence[Any]] = ROWS, title: str = "Sheet1") -> Made:
    """A workbook of one sheet with these rows, and with what `changes` do to the sheet."""

    def write(path: Path) -> None:
        made = openpyxl.Workbook()
        sheet = made.active
        sheet.title = title
        for row in rows:
            sheet.append(row)
        for change in changes:
            change(sheet)
        made.save(path)

    return Made("xlsx", write)


def cell(place: str, value: Any) -> Change:
    return lambda sheet: sheet.__setitem__(place, value)


def set_all(find: Callable[[Any], Any], values: dict[str, Any]) -> Change:
    """Sets attributes of what is found on a sheet."""

    def change(sheet: Any) -> None:
        for name, value in values.items():
            setattr(find(sheet), name, value)

    return change


def styled(place: str, **styles: Any) -> Change:
    return set_all(lambda sheet: sheet[place], styles)


def chart(
    kind: type = BarChart, title: str = "Sums", first: int = 2, direction: str = "col"
) -> Change:
    def change(sheet: Any) -> None:
        made = kind()
        made.title = title
        made.x_axis.title = f"{title} of x"
        if kind is BarChart:
            made.type = direction
        made.add_data(Reference(sheet, min_col=first, min_row=1, max_row=3), titles_from_data=True)
        made.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
        sheet.add_chart(made, "E5")

    return change


def frozen(place: str) -> Change:
    return set_all(lambda sheet: sheet, {"freeze_panes": place})


def zoomed(scale: int) -> Change:
    return set_all(lambda sheet: sheet.sheet_view, {"zoomScale": scale})


def validated(formula: str, area: str = "D2:D29") -> Change:
    def change(sheet: Any) -> None:
        validation = DataValidation(type="list", formula1=formula)
        validation.add(area)
        sheet.add_data_validation(validation)

    return change


def row(number: int, **measures: Any) -> Change:
    return set_all(lambda sheet: sheet.row_dimensions[number], measures)


def column(letter: str, **measures: Any) -> Change:
    return set_all(lambda sheet: sheet.column_dimensions[letter], measures)


def filtered(area: str, *values: str, sort: str | None = None) -> Change:
    def change(sheet: Any) -> None:
        sheet.auto_filter.ref = area
        if values:
            sheet.auto_filter.add_filter_column(0, list(values))
        if sort:
            sheet.auto_filter.add_sort_condition(sort)

    return change


def conditional(area: str, formula: str, operator: str | None = None) -> Change:
    """A green font in the cells for which a formula, or a comparison with it, holds."""

    def change(sheet: Any) -> None:
        font = Font(color=GREEN)
        if operator is None:
            rule = FormulaRule(formula=[formula], font=font)
        else:
            rule = CellIsRule(operator=operator, formula=formula.split(";"), font=font)
        sheet.conditional_formatting.add(area, rule)

    return change


def green(*places: str) -> list[Change]:
    return [styled(place, font=Font(color=GREEN)) for place in places]


FONT = Font(color=GREEN, bold=True)
FILL = PatternFill("solid", fgColor=RED)
PASS_OR_FAIL = {
    "ranges": {"method": "spreadsheet_range", "ref": ["D2:D29", "D2:D1048576"]},
    "type": {"method": "eq", "ref": "list"},
    "formula1": {"method": "str_set_eq", "ref": ["Pass", "Fail"]},
}

Rule = dict[str, Any]
RULES: dict[str, tuple[Rule, Sequence[Change], Sequence[Change], Sequence[Change]]] = {
    "sheet_data": (PAIR, (), (cell("C5", None),), (cell("B3", 7.26),)),
    "sheet_data, rounded": (PAIR | {"precision": 1}, (), (cell("B3", 7.21),), (cell("B3", 7.4),)),
    "sheet_fuzzy": (
        PAIR | {"rules": [{"range": ["A2:A3", "B1:B1"], "type": "exact_match"}]},
        (),
        (cell("B2", 99),),
        (cell("A3", "Rob"),),
    ),
    "chart": (
        PAIR | {"chart_props": ["type", "title", "xtitle"]},
        (chart(),),
        (chart(), cell("A9", "x")),
        (chart(title="Other"),),
    ),
    "chart, its type": (PAIR | {"chart_props": ["type"]}, (chart(),), (), (chart(LineChart),)),
    "chart, its data": (PAIR, (chart(),), (), (chart(first=1),)),
    "chart, its direction": (
        PAIR | {"chart_props": ["type", "direction"]},
        (chart(),),
        (),
        (chart(direction="bar"),),
    ),
    "style": (
        PAIR | {"props": ["font_color", "font_bold"]},
        (styled("B2", font=FONT),),
        (styled("B2", font=FONT), styled("B3", fill=FILL)),
        (styled("B3", font=FONT),),
    ),
    "style, a fill": (
        PAIR | {"props": ["bgcolor"]},
        (styled("C9", fill=FILL),),
        (),
        (styled("C9", fill=PatternFill("solid", fgColor=GREEN)),),
    ),
    "style, a number's": (
        PAIR | {"props": ["number_format"]},
        (styled("B3", number_format="0.00"),),
        (),
        (styled("B3", number_format="0.0"),),
    ),
    "freeze": (PAIR, (frozen("B2"),), (), (frozen("A2"),)),
    "row_props": (PAIR | {"props": ["hidden"]}, (row(2, hidden=True),), (), (row(3, hidden=True),)),
    "col_props": (PAIR | {"props": ["width"]}, (column("A", width=30),), (), ()),
    "filter": (PAIR, (filtered("A1:B3", "Ann"),), (), (filtered("A1:B3", "Bob"),)),
    "filter, sorted": (
        PAIR,
        (filtered("A1:B3", sort="B2:B3"),),
        (),
        (filtered("A1:B3", sort="A2:A3"),),
    ),
    "zoom": (
        {"sheet_idx": 0, "method": "lt", "ref": 260},
        (),
        (zoomed(150),),
        (zoomed(300),),
    ),
    "data_validation": (
        {"sheet_idx": 0, "dv_props": [PASS_OR_FAIL]},
        (),
        (validated('"Fail,Pass"'),),
        (validated('"Pass"'),),
    ),
    "data_validation, its range": (
        {"sheet_idx": 0, "dv_props": [PASS_OR_FAIL]},
        (),
        (validated('"Fail,Pass"', "D2:D500"),),
        (validated('"Fail,Pass"', "D3:D29"),),
    ),
    "check_cell": (
        {
            "sheet_idx": "RNSheet1",
            "coordinate": "B2",
            "props": {
                "value": {"method": "approx:0.1", "ref": 3.05},
                "font_bold": {"method": "eq", "ref": True},
            },
        },
        (),
        (styled("B2", font=FONT),),
        (),
    ),
    "check_cell, merged": (
        {"sheet_idx": 0, "coordinate": "B5", "props": {"merge": {"method": "eq", "ref": True}}},
        (),
        (lambda sheet: sheet.merge_cells("A5:B5"),),
        (lambda sheet: sheet.merge_cells("B5:C5"),),
    ),
    "check_cell, linked": (
        {
            "sheet_idx": 0,
            "coordinate": "A2",
            "props": {"hyperlink": {"method": "eq", "ref": "https://example.org/"}},
        },
        (),
        (styled("A2", hyperlink="https://example.org/"),),
        (styled("A2", hyperlink="https://example.com/"),),
    ),
}
"""By a rule's type (and what of it is meant): its parts, the expected sheet's changes, those of a
result that matches beside the expected ones if it has none of its own, those of one that does
not."""


def rule_cases(name: str) -> list[Case]:
    parts, expected, right, wrong = RULES[name]
    options = {"rules": [{"type": name.partition(",")[0], **parts}]}
    matching, other = book(*(right or expected)), book(*wrong)
    return against(book(*expected), (1, matching, options), (0, other, options))


def cities(*first: Any) -> Made:
    """Twenty-one cities in the third column, these first."""
    names = [*first, *["Bonn, Germany"] * (21 - len(first))]
    return book(rows=[(), *((None, None, city) for city in names)])


WANTED = ["Rome", ["Banff", "Alberta"], *["Bonn"] * 19]

CASES: Cases = {
    "compare_table": [
        case for name in ("sheet_data", "style", "check_cell") for case in rule_cases(name)
    ],
    "compare_conference_city_in_order": alone(
        (1, cities("Rome, Italy", "Alberta, Canada"), {"expected": WANTED}),
        (0, cities("Banff", "Rome"), {"expected": WANTED}),
        (0, cities("Rome", datetime.datetime(2024, 1, 1)), {"expected": WANTED}),
        (0, cities("Rome", "Banff"), {"expected": WANTED[:5]}),
    ),
}
