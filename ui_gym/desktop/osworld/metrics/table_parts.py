"""What lies on a sheet beside its cells, told in plain values that can be compared: charts,
sparklines, pivot tables, filters, the measures of rows and columns.

Each function takes a `WorkbookFile` and a sheet's name. The keys and values are those that
OSWorld's rules name (``chart_props``, ``pivot_props``, ``props``).
"""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import chain, library, unknown
from ui_gym.desktop.osworld.metrics.sheets import WorkbookFile

SPARKLINE = "{http://schemas.microsoft.com/office/spreadsheetml/2009/9/main}sparkline"
FORMULA = "{http://schemas.microsoft.com/office/excel/2006/main}f"
PLACE = "{http://schemas.microsoft.com/office/excel/2006/main}sqref"

MEASURES = {
    "row": ("hidden", "collapsed", "height"),
    "column": ("hidden", "collapsed", "width", "auto_size", "min", "max"),
}


def charts(book: WorkbookFile, name: str, props: Collection[str]) -> dict[str, Any]:
    """The charts by the ranges that they draw, each with the properties asked for.

    Two differences to OSWorld: ``anchor`` holds the row at which a chart begins (there the row at
    which it ends, twice), and a property that a chart does not have is None (there an error).
    """
    found = {}
    for chart in book.sheet(name)._charts:
        series = ";".join(f"{_range(s.val)},{_range(s.cat)}" for s in chart.series)
        found[series] = _asked("chart_props", props, CHART, chart)
    return found


def _range(source: Any) -> str:
    return chain(source, "numRef", "f") or chain(source, "strRef", "f") or ""


def _title(owner: Any) -> Any:
    return chain(owner, "title", "tx", "rich", "p", 0, "r", 0, "t")


def _anchor(chart: Any) -> list[Any]:
    places = (("_from", "col"), ("_from", "row"), ("to", "col"), ("to", "row"))
    ends = [chain(chart.anchor, *place) for place in places]
    return [chain(chart.anchor, "editAs"), *ends]


CHART: Mapping[str, Callable[[Any], Any]] = {
    "title": _title,
    "legend": lambda chart: chain(chart, "legend", "position"),
    "anchor": _anchor,
    "width": lambda chart: chart.width,
    "height": lambda chart: chart.height,
    "type": lambda chart: chart.tagname,
    "direction": lambda chart: chain(chart, "barDir"),
    "xtitle": lambda chart: _title(chain(chart, "x_axis")),
    "ytitle": lambda chart: _title(chain(chart, "y_axis")),
    "ztitle": lambda chart: _title(chain(chart, "z_axis")),
}


def _asked(
    option: str, props: Collection[str], known: Mapping[str, Callable[[Any], Any]], thing: Any
) -> dict[str, Any]:
    for prop in props:
        if prop not in known:
            raise unknown(f"property in {option!r}", prop, ", ".join(known))
    return {prop: known[prop](thing) for prop in props}


def sparklines(book: WorkbookFile, name: str) -> dict[str, str]:
    """The ranges that the sparklines draw, by the cells in which they lie."""
    lines = book.part(name).iter(SPARKLINE)
    return {_stripped(line, PLACE): _stripped(line, FORMULA) for line in lines}


def _stripped(line: ET.Element, tag: str) -> str:
    return (line.findtext(tag) or "").strip()


def pivots(book: WorkbookFile, name: str, props: Collection[str]) -> dict[str, Any]:
    """The pivot tables by the range that they sum up, each with the properties asked for.

    Columns at either end of that range that the table does not use are left out of it, and
    fields are counted from the first that is used.
    """
    found = {}
    for table in book.sheet(name)._pivots:
        items = [[(i.h, i.x) for i in f.items if i.x is not None] for f in table.pivotFields]
        left = _unused(items)
        right = _unused(items[left:][::-1])
        chosen = items[left : len(items) - right]
        found[_source(table, left, right)] = _pivot(table, left, chosen, props)
    return found


def _unused(items: list[list[Any]]) -> int:
    return len(list(itertools.takewhile(lambda field: not field, items)))


def _source(table: Any, left: int, right: int) -> str:
    place = library("openpyxl.utils").coordinate_to_tuple
    source = table.cache.cacheSource
    area = chain(source, "worksheetSource", "ref")
    if not area:  # a range with a name, or data from elsewhere
        return f"{source.type};{chain(source, 'worksheetSource', 'name')}"
    first, _, last = area.partition(":")
    (top, start), (bottom, end) = place(first), place(last or first)
    sheet = source.worksheetSource.sheet
    return f"{source.type};{(top, start + left)}:{(bottom, end - right)};{sheet}"


def _pivot(table: Any, left: int, items: list[list[Any]], props: Collection[str]) -> dict[str, Any]:
    def chosen(_: Any) -> list[Any]:
        return items if "ordered" in props else [set(field) for field in items]

    def data(table: Any) -> list[str]:
        named = "data_fields_name" in props
        return [
            f"{f.fld - left};{f.name if named else ''};{f.subtotal};{f.showDataAs}"
            for f in table.dataFields
        ]

    known: dict[str, Callable[[Any], Any]] = {
        "name": lambda t: t.name,
        "show_total": lambda t: t.visualTotals,
        "show_empty_row": lambda t: t.showEmptyRow,
        "show_empty_col": lambda t: t.showEmptyCol,
        "show_headers": lambda t: t.showHeaders,
        "location": lambda t: t.location,
        "selection": chosen,
        "filter": lambda t: (chosen(t), {field.fld for field in t.pageFields}),
        "col_fields": lambda t: [field.x - left for field in t.colFields],
        "row_fields": lambda t: [field.x - left for field in t.rowFields],
        "data_fields": data,
        # How the others are told, and nothing of their own.
        "data_fields_name": lambda _: None,
        "ordered": lambda _: None,
    }
    return _asked("pivot_props", props, known, table)


def filters(book: WorkbookFile, name: str) -> dict[str, Any]:
    """The automatic filter of a sheet: its range, the columns it filters, how it sorts."""
    auto = book.sheet(name).auto_filter
    columns = sorted((_filtered(column) for column in auto.filterColumn), key=lambda c: c["column"])
    return {"ref": auto.ref, "columns": columns, "sort": _sorting(auto.sortState)}


def _filtered(column: Any) -> dict[str, Any]:
    told = {
        "column": column.colId,
        "hidden": column.hiddenButton,
        "shown": column.showButton,
    }
    if column.filters is not None:
        told |= {"blank": column.filters.blank, "values": set(column.filters.filter)}
    custom = column.customFilters
    if custom is not None:
        tests = {(test.operator, test.val) for test in custom.customFilter}
        told |= {"all": custom._and, "tests": tests}
    return told


def _sorting(state: Any) -> dict[str, Any] | None:
    if state is None:
        return None
    names = ("descending", "sortBy", "ref", "customList", "dxfId", "iconSet", "iconId")
    return {
        "columns": state.columnSort,
        "case": state.caseSensitive,
        "method": state.sortMethod,
        "ref": state.ref,
        "keys": [[getattr(key, name) for name in names] for key in state.sortCondition],
    }


def measures(book: WorkbookFile, name: str, which: str, props: Collection[str]) -> dict[Any, Any]:
    """The measures of each row or column (`which`) that the file has some of."""
    for prop in props:
        if prop not in MEASURES[which]:
            raise unknown(f"property of a {which}", prop, ", ".join(MEASURES[which]))
    sheet = book.sheet(name)
    lines = sheet.row_dimensions if which == "row" else sheet.column_dimensions
    return {key: {prop: getattr(line, prop) for prop in props} for key, line in lines.items()}
