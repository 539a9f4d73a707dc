"""compare_table: a workbook against the rules of a task, and against the expected workbook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ui_gym.desktop.osworld.metrics import table_parts as parts
from ui_gym.desktop.osworld.metrics.reading import examined, library, matches, opens, unknown
from ui_gym.desktop.osworld.metrics.sheets import WorkbookFile, WorkbookFiles
from ui_gym.desktop.osworld.metrics.table_styles import style, styles
from ui_gym.errors import UserError

Rule = Mapping[str, Any]
Check = Callable[[WorkbookFiles, Rule], bool]

PAIR = ("sheet_idx0", "sheet_idx1")
"""Where a rule names the two sheets that it compares."""


@examined()
def compare_table(result: Any, expected: Any = None, **options: Any) -> float:
    """1.0 where every one of ``rules`` holds for the workbook (.xlsx), else 0.0.

    A rule names the sheets that it is about: 0 or ``"RI0"`` the result's first, ``"RNSheet1"``
    its "Sheet1", ``"EI0"`` and ``"ENSheet1"`` those of the expected workbook. `RULES` has the
    types of rules. A sheet that the result lacks is 0.0; one that the expected workbook lacks is
    a mistake of the task, which OSWorld takes for an empty sheet or ends with.
    """
    if "rules" not in options:
        raise UserError("compare_table has no rules: give them in the task's 'options'")
    mine = _book(result)
    books = WorkbookFiles(mine, None if expected is None else _book(expected, expected=True))
    return all(_holds(rule, books) for rule in options["rules"])


def _book(path: Any, *, expected: bool = False) -> WorkbookFile:
    book = WorkbookFile(str(path), expected)
    _ = book.names  # whether it is a workbook at all
    return book


def _holds(rule: Rule, books: WorkbookFiles) -> bool:
    check, needed = RULES.get(rule.get("type", ""), (None, ()))
    if check is None:
        raise unknown("type of rule of compare_table", rule.get("type"), ", ".join(RULES))
    lacking = [key for key in needed if key not in rule]
    if lacking:
        raise UserError(f"the rule {dict(rule)} of compare_table lacks {', '.join(lacking)}")
    return check(books, rule)


def _compared(read: Callable[[WorkbookFile, str, Rule], Any]) -> Check:
    """A rule that holds where `read` tells the same of both of its sheets."""

    def check(books: WorkbookFiles, rule: Rule) -> bool:
        first, second = (books.find(rule[key]) for key in PAIR)
        return bool(read(*first, rule) == read(*second, rule))

    return check


def _sheet_name(books: WorkbookFiles, rule: Rule) -> bool:
    return books.expected is not None and books.result.names == books.expected.names


def _sheet_data(books: WorkbookFiles, rule: Rule) -> bool:
    (book, name), (other, its_name) = (books.find(rule[k]) for k in PAIR)
    return book.frame(name).same(other.frame(its_name), rule.get("precision", 4))


def _sheet_print(books: WorkbookFiles, rule: Rule) -> bool:
    first, second = (_printed(books, rule[key]) for key in PAIR)
    if rule.get("ignore_case", False):
        first, second = ([line.lower() for line in lines] for lines in (first, second))
    return first == second


def _printed(books: WorkbookFiles, place: int | str) -> list[str]:
    book, name = books.find(place)
    return book.printed(name)


def _sheet_fuzzy(books: WorkbookFiles, rule: Rule) -> bool:
    first, second = (_cells(books, rule[key]) for key in PAIR)
    areas = library("openpyxl.worksheet.cell_range").MultiCellRange
    letter = library("openpyxl.utils").get_column_letter
    for part in rule["rules"]:
        places = (
            f"{letter(column)}{row}"
            for area in areas(part["range"]).ranges
            for row, column in area.cells
        )
        if not all(_alike(first.get(place), second.get(place), part) for place in places):
            return False
    return True


def _cells(books: WorkbookFiles, place: int | str) -> dict[str, Any]:
    book, name = books.find(place)
    return book.cells(name)


def _alike(first: Any, second: Any, part: Rule) -> bool:
    mine, its = _normal(str(first), part), _normal(str(second), part)
    kind = part["type"]
    if kind == "includes":
        return its in mine
    if kind == "included_by":
        return mine in its
    if kind == "exact_match":
        return mine == its
    if kind == "fuzzy_match":
        ratio = library("rapidfuzz.fuzz").ratio(mine, its)
        return bool(ratio >= part.get("threshold", 85.0))
    raise unknown("type of sheet_fuzzy", kind, "includes, included_by, exact_match, fuzzy_match")


def _normal(text: str, part: Rule) -> str:
    for old, new in part.get("normalization", ()):
        text = text.replace(old, new)
    if "trim_leadings" in part:
        text = text.lstrip(part["trim_leadings"])
    if "trim_trailings" in part:
        text = text.rstrip(part["trim_trailings"])
    ignored = set(part.get("ignore_chars", ""))
    text = "".join(sign for sign in text if sign not in ignored)
    return text.lower() if part.get("ignore_case", False) else text


def _zoom(books: WorkbookFiles, rule: Rule) -> bool:
    book, name = books.find(rule["sheet_idx"])
    return matches(book.sheet(name).sheet_view.zoomScale or 100.0, rule)


VALIDATION = (
    *("ranges", "type", "formula1", "formula2", "operator", "allowBlank", "showDropDown"),
    *("showInputMessage", "showErrorMessage", "error", "errorTitle", "errorStyle", "prompt"),
    *("promptTitle", "imeMode"),
)
"""What a rule may ask of a data validation."""


def _data_validation(books: WorkbookFiles, rule: Rule) -> bool:
    """Whether there are as many validations as wanted, and each is one of those wanted."""
    book, name = books.find(rule["sheet_idx"])
    found = book.sheet(name).data_validations.dataValidation
    wanted: Sequence[Rule] = rule["dv_props"]
    for attribute in (attribute for props in wanted for attribute in props):
        if attribute not in VALIDATION:
            raise unknown("property of a data validation", attribute, ", ".join(VALIDATION))
    return len(found) >= len(wanted) and all(
        any(
            all(_valid(getattr(validation, name), demand) for name, demand in props.items())
            for props in wanted
        )
        for validation in found
    )


def _valid(value: Any, demand: Rule) -> bool:
    if demand["method"] != "spreadsheet_range":
        return matches(value, demand)
    areas = library("openpyxl.worksheet.cell_range").MultiCellRange
    least, most = (areas(ref) for ref in demand["ref"])
    return all(area in value for area in least.ranges) and all(
        area in most for area in value.ranges
    )


def _check_cell(books: WorkbookFiles, rule: Rule) -> bool:
    book, name = books.find(rule["sheet_idx"])
    place = rule["coordinate"]
    for prop, demand in rule["props"].items():
        if prop == "value":
            value: Any = book.cells(name).get(place)
        else:
            value = style(prop, book.sheet(name)[place])
        if not matches(value, demand):
            return False
    return True


RULES: Mapping[str, tuple[Check, tuple[str, ...]]] = {
    "sheet_name": (_sheet_name, ()),
    "sheet_data": (_sheet_data, PAIR),
    "sheet_print": (_sheet_print, PAIR),
    "sheet_fuzzy": (_sheet_fuzzy, (*PAIR, "rules")),
    "sparkline": (_compared(lambda book, name, _: parts.sparklines(book, name)), PAIR),
    "chart": (
        _compared(lambda book, name, r: parts.charts(book, name, r.get("chart_props", ()))),
        PAIR,
    ),
    "style": (_compared(lambda book, name, r: styles(book, name, r.get("props", ()))), PAIR),
    "freeze": (_compared(lambda book, name, _: book.sheet(name).freeze_panes), PAIR),
    "zoom": (_zoom, ("sheet_idx", "method", "ref")),
    "data_validation": (_data_validation, ("sheet_idx", "dv_props")),
    "row_props": (
        _compared(lambda book, name, r: parts.measures(book, name, "row", r.get("props", ()))),
        PAIR,
    ),
    "col_props": (
        _compared(lambda book, name, r: parts.measures(book, name, "column", r.get("props", ()))),
        PAIR,
    ),
    "filter": (_compared(lambda book, name, _: parts.filters(book, name)), PAIR),
    "pivot_table": (
        _compared(lambda book, name, r: parts.pivots(book, name, r.get("pivot_props", ()))),
        PAIR,
    ),
    "check_cell": (_check_cell, ("sheet_idx", "coordinate", "props")),
}
"""The types of rules: what decides, and what such a rule must have."""


@opens
def _sheet_in_view(path: str) -> Any:
    return WorkbookFile(path).styled.active


@examined(_sheet_in_view)
def compare_conference_city_in_order(sheet: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the cells C2 to C22 of the sheet in view hold the cities of ``expected``, in
    order; of a list of names, one is enough."""
    found = [cell.value for row in sheet["C2:C22"] for cell in row] if sheet is not None else []
    wanted = rules["expected"]
    if not found or len(wanted) < len(found):
        return 0.0
    return all(
        isinstance(city, str)
        and any(name in city for name in ([names] if isinstance(names, str) else names))
        for city, names in zip(found, wanted, strict=False)
    )
