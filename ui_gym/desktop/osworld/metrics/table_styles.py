"""How the cells of a sheet look, conditional formats included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import Broken, chain, library, unknown
from ui_gym.desktop.osworld.metrics.sheets import CellValue, WorkbookFile
from ui_gym.desktop.osworld.metrics.table_formula import (
    CellContext,
    FormulaNode,
    Unsupported,
    compiled,
)
from ui_gym.desktop.osworld.metrics.table_frame import MAX_CELLS
from ui_gym.desktop.osworld.metrics.table_functions import Fault, ordered

FONT = {
    "font_name": ("name",),
    "font_family": ("family",),
    "font_color": ("color", "rgb"),
    "font_bold": ("bold",),
    "font_italic": ("italic",),
    "font_underline": ("underline",),
    "font_size": ("size",),
}
STYLES = (*FONT, "number_format", "fill_type", "bgcolor", "fgcolor", "hyperlink", "merge")


def style(name: str, cell: Any, conditional: Any = None) -> Any:
    """One style of a cell, by OSWorld's name for it; None where it has none.

    Colours are aRGB (``"FFFF0000"`` is red); one of the theme is told by no more than that it is.
    Fonts and number formats are those of cells that hold something. ``bgcolor`` and ``fgcolor``
    are both the colour that is seen behind the text. ``merge`` is true for a merged cell that is
    not the first. Other than in OSWorld, a cell without a colour is no error, and a hyperlink is
    its address.
    """
    if name not in STYLES:
        raise unknown("style of a cell", name, ", ".join(STYLES))
    if name == "merge":
        return isinstance(cell, library("openpyxl.cell.cell").MergedCell)
    if name in {"bgcolor", "fgcolor"}:
        seen = _colour(chain(conditional, "fill", "bgColor", "rgb"))
        return seen or _colour(chain(cell, "fill", "fgColor", "rgb"))
    if name == "fill_type":
        return chain(conditional, "fill", "tagname") or chain(cell, "fill", "tagname")
    if cell.value is None:
        return None
    if name == "hyperlink":
        link = cell.hyperlink
        return "" if link is None else link.target or link.location or ""
    if name == "number_format":
        if cell.data_type != "n":
            return None
        return chain(conditional, "numFmt", "formatCode") or cell.number_format
    own = chain(cell, "font", *FONT[name])
    changed = chain(conditional, "font", *FONT[name])
    chosen = own if changed is None else changed
    return _colour(chosen) if name == "font_color" else chosen


def _colour(value: Any) -> str | None:
    # Where a colour is one of the theme, openpyxl gives its own descriptor for the rgb.
    return value if value is None or isinstance(value, str) else "theme"


def styles(book: WorkbookFile, name: str, props: Sequence[str]) -> dict[str, list[Any]]:
    """The styles asked for, of every cell of the sheet, by its coordinate.

    Of conditional formats, those with a formula and those that compare a cell count, as in
    OSWorld; a formula that `table_formula` does not know leaves its format out. Other than there,
    a formula that looks at further cells is computed.
    """
    sheet = book.sheet(name)
    if sheet.max_row * sheet.max_column > MAX_CELLS:
        raise Broken(f"a sheet of {sheet.max_row} x {sheet.max_column} cells is too large")
    own = {"merge", "hyperlink"} & set(props)
    kept: dict[Any, list[Any]] = {}
    found = {}
    for cell in (cell for row in sheet.iter_rows() for cell in row):
        # A sheet has many cells and few formats; looking one up anew takes ten times as long.
        key = cell.coordinate if own else _format(cell)
        if key not in kept:
            kept[key] = [style(prop, cell) for prop in props]
        found[cell.coordinate] = kept[key]
    for place, conditional in _conditional(sheet, book, name):
        found[place] = [style(prop, sheet[place], conditional) for prop in props]
    return found


def _format(cell: Any) -> tuple[bytes, bool, str]:
    """All that the styles of a cell follow from, but its merging and its link."""
    return bytes(cell._style or b""), cell.value is None, cell.data_type


def _conditional(sheet: Any, book: WorkbookFile, name: str) -> Iterator[tuple[str, Any]]:
    """The cells that a conditional format applies to, each with that format."""
    for area in sheet.conditional_formatting:
        cells = book.cells(name)
        ranges = [cell_range.bounds for cell_range in area.cells.ranges]
        left, top = min(bounds[0] for bounds in ranges), min(bounds[1] for bounds in ranges)
        for rule in area.rules:
            holds = _condition(rule)
            if holds is None:
                continue
            for place, row, column in _filled(ranges, cells):
                if _is_true(holds, cells[place], CellContext(cells, row - top, column - left)):
                    yield place, rule.dxf


def _filled(
    ranges: Sequence[tuple[int, int, int, int]], cells: Mapping[str, CellValue]
) -> Iterator[tuple[str, int, int]]:
    """The cells in these ranges that hold something, with their rows and columns."""
    split = library("openpyxl.utils").coordinate_to_tuple
    # The other way round would be slow: a format may be of a whole column.
    for place, value in cells.items():
        if value is None:
            continue
        row, column = split(place)
        if any(a <= column <= c and b <= row <= d for a, b, c, d in ranges):
            yield place, row, column


Condition = Callable[[CellValue, CellContext], bool]


def _is_true(holds: Condition, value: CellValue, at: CellContext) -> bool:
    try:
        return holds(value, at)
    except (Fault, TypeError):  # TypeError: a function with a wrong number of arguments
        return False


def _condition(rule: Any) -> Condition | None:
    """What decides on a cell; None for a kind of rule that is not looked at."""
    try:
        parts = [compiled(formula) for formula in rule.formula]
    except Unsupported:
        return None
    if rule.type == "cellIs" and parts:
        return _comparison(rule.operator, parts)
    by_formula = {"expression", "containsText", "notContainsText", "beginsWith", "endsWith"}
    if rule.type in by_formula | {"containsErrors", "notContainsErrors"} and parts:
        return lambda _, at: bool(parts[0](at))
    return None


def _comparison(sign: str, parts: Sequence[FormulaNode]) -> Condition | None:
    """What compares a cell. A text and a number are not equal, and nothing else."""

    def holds(value: CellValue, at: CellContext) -> bool:
        pairs = [ordered(value, part(at)) for part in parts]
        if any(first[0] != second[0] for first, second in pairs):
            return sign == "notEqual"
        orders = [(first > second) - (first < second) for first, second in pairs]
        if sign in {"between", "notBetween"}:
            # Whichever of the two limits is the lower one.
            return (min(orders) <= 0 <= max(orders)) == (sign == "between")
        return SIGNS[sign](orders[0])

    wanted = 2 if sign in {"between", "notBetween"} else 1
    known = wanted == 2 or sign in SIGNS
    return holds if known and len(parts) == wanted else None


SIGNS: Mapping[str, Callable[[int], bool]] = {
    "equal": lambda order: order == 0,
    "notEqual": lambda order: order != 0,
    "lessThan": lambda order: order < 0,
    "lessThanOrEqual": lambda order: order <= 0,
    "greaterThan": lambda order: order > 0,
    "greaterThanOrEqual": lambda order: order >= 0,
}
