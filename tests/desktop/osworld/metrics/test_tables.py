"""Workbooks: the rules of compare_table, and what makes two sheets the same."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from cases_office_tables import (
    PAIR,
    RULES,
    Change,
    book,
    cell,
    chart,
    rule_cases,
    zoomed,
)
from metric_case import in_folder

from ui_gym.desktop.osworld.metrics.tables import compare_table
from ui_gym.errors import UserError


def judged(result: Any, expected: Any, kind: str, **parts: Any) -> float:
    return compare_table(result, expected, rules=[{"type": kind, **(parts or PAIR)}])


@pytest.mark.parametrize("name", RULES)
def test_a_rule_holds_for_what_matches_alone(name: str, tmp_path: Path) -> None:
    for case in in_folder(rule_cases(name), tmp_path):
        assert compare_table(*case.args, **case.options) == case.score


def test_all_rules_must_hold(tmp_path: Path) -> None:
    path = book(zoomed(300))(tmp_path / "a.xlsx")
    rules = [
        {"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "RI0"},
        {"type": "zoom", "sheet_idx": 0, "method": "lt", "ref": 260},
    ]
    assert compare_table(path, rules=rules[:1]) == 1.0
    assert compare_table(path, rules=rules) == 0.0


@pytest.mark.parametrize(
    ("first", "second"),
    [(0, "EI0"), ("RI0", "ENSheet1"), ("RNSheet1", 0), ("EI0", "RI0"), ("RI-1", "EI-1")],
)
def test_a_sheet_is_named_by_its_book_and_its_number_or_name(
    first: int | str, second: int | str, tmp_path: Path
) -> None:
    same, other = book()(tmp_path / "a.xlsx"), book(cell("A2", "Eve"))(tmp_path / "b.xlsx")
    places = {"sheet_idx0": first, "sheet_idx1": second}
    assert judged(same, same, "sheet_data", **places) == 1.0
    assert judged(same, other, "sheet_data", **places) == (1.0 if second == 0 else 0.0)


def test_a_sheet_that_the_result_lacks_is_no_success(tmp_path: Path) -> None:
    mine = book(title="Other")(tmp_path / "a.xlsx")
    wanted = book()(tmp_path / "b.xlsx")
    for kind in ("sheet_data", "chart", "style", "filter", "sparkline", "sheet_print"):
        assert judged(mine, wanted, kind, sheet_idx0="RNSheet1", sheet_idx1="ENSheet1") == 0.0
    assert judged(mine, wanted, "sheet_data", sheet_idx0=3, sheet_idx1="EI0") == 0.0


def test_a_mistake_of_a_task_is_told_and_not_scored(tmp_path: Path) -> None:
    path, broken = book()(tmp_path / "a.xlsx"), tmp_path / "broken.xlsx"
    charted = book(chart())(tmp_path / "c.xlsx")
    broken.write_bytes(b"no workbook")
    for expected, rules, message in (
        (path, {"sheet_idx0": 0, "sheet_idx1": "ENSums"}, "has no sheet 'ENSums'"),
        (None, {"sheet_idx0": 0, "sheet_idx1": "EI0"}, "there is none"),
        (path, {"sheet_idx0": "first", "sheet_idx1": "EI0"}, "RI, RN, EI or EN"),
        (path, {"sheet_idx0": 0}, "lacks sheet_idx1"),
        (str(broken), PAIR, "cannot be used"),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            judged(path, expected, "sheet_data", **rules)
    with pytest.raises(UserError, match="no type of rule of compare_table 'sheet_dta'"):
        judged(path, path, "sheet_dta")
    with pytest.raises(UserError, match="no property in 'chart_props' 'colour'"):
        judged(charted, charted, "chart", **PAIR, chart_props=["colour"])
    with pytest.raises(UserError, match="no style of a cell 'font_colour'"):
        judged(path, path, "style", **PAIR, props=["font_colour"])
    with pytest.raises(UserError, match="has no rules"):
        compare_table(path, path)


def test_names_of_sheets_are_compared_in_order(tmp_path: Path) -> None:
    def named(path: Path, *names: str) -> str:
        made = openpyxl.Workbook()
        made.remove(made.active)
        for name in names:
            made.create_sheet(name)
        made.save(path)
        return str(path)

    mine = named(tmp_path / "a.xlsx", "One", "Two")
    assert judged(mine, named(tmp_path / "b.xlsx", "One", "Two"), "sheet_name") == 1.0
    assert judged(mine, named(tmp_path / "c.xlsx", "Two", "One"), "sheet_name") == 0.0


def test_a_sheet_is_found_where_its_number_is_not_its_place(tmp_path: Path) -> None:
    """The numbers of a workbook's files need not be those of its sheets."""
    plain = book()(tmp_path / "a.xlsx")
    moved = tmp_path / "b.xlsx"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(moved, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith(".rels") or name == "[Content_Types].xml":
                data = data.replace(b"worksheets/sheet1.xml", b"worksheets/sheet7.xml")
            new.writestr(name.replace("sheet1.xml", "sheet7.xml"), data)
    rule = {"range": ["A1:B3"], "type": "exact_match"}
    assert judged(str(moved), plain, "sheet_fuzzy", **PAIR, rules=[rule]) == 1.0


@pytest.mark.parametrize(
    ("mine", "its", "same"),
    [
        ([1, 2], [1, 2], True),
        ([1, 2.5], [1, 2.50004], True),
        ([1, 2.5], [1, 2.5001], False),
        # A column has one type: whole numbers are not the same as one that is none.
        ([1, 2], [1, 2.00001], False),
        (["1", "2"], [1, 2], True),
        (["NA", "b"], [None, "b"], True),
        ([None, None], [None, None], True),
        ([1, None], [1, 0], False),
        (["a", "b"], ["a", "B"], False),
        ([True, False], ["TRUE", "false"], True),
        ([True, 2], [1, 2], True),
        ([datetime.datetime(2024, 5, 1)], [datetime.datetime(2024, 5, 1)], True),
        ([datetime.datetime(2024, 5, 1)], [datetime.datetime(2024, 5, 2)], False),
        (["#DIV/0!", 1.5], [None, 1.5], True),
        ([1, 2], [1, 2, None], True),
        ([1, 2], [1, None, 2], False),
    ],
)
def test_what_makes_two_columns_the_same(
    mine: Sequence[Any], its: Sequence[Any], same: bool, tmp_path: Path
) -> None:
    paths = [
        book(rows=[("h",), *((value,) for value in values)])(tmp_path / f"{name}.xlsx")
        for name, values in (("mine", mine), ("its", its))
    ]
    assert judged(*paths, "sheet_data") == float(same)


@pytest.mark.parametrize(
    ("mine", "its", "same"),
    [
        (("a", "b"), ("a", "b"), True),
        (("a", "b"), ("b", "a"), False),
        (("a", "a"), ("a", "a.1"), True),
        ((None, "b"), ("Unnamed: 0", "b"), True),
        ((1, 2), ("1", "2"), False),
    ],
)
def test_the_first_row_names_the_columns(
    mine: Sequence[Any], its: Sequence[Any], same: bool, tmp_path: Path
) -> None:
    paths = [
        book(rows=[header, (1, 2)])(tmp_path / f"{name}.xlsx")
        for name, header in (("mine", mine), ("its", its))
    ]
    assert judged(*paths, "sheet_data") == float(same)


def test_an_empty_sheet_is_the_same_as_another(tmp_path: Path) -> None:
    empty = book(rows=[])(tmp_path / "a.xlsx")
    assert judged(empty, book(rows=[])(tmp_path / "b.xlsx"), "sheet_data") == 1.0
    assert judged(empty, book()(tmp_path / "c.xlsx"), "sheet_data") == 0.0


def test_printed_sheets_are_the_csv_files_beside_the_workbooks(tmp_path: Path) -> None:
    paths = [book()(tmp_path / "a.xlsx"), book()(tmp_path / "b.xlsx")]
    (tmp_path / "a-Sheet1.csv").write_text("Name,Paid \nANN,3\n\n\n")
    (tmp_path / "b-Sheet1.csv").write_text("Name,Paid\nAnn,3\n")
    assert judged(*paths, "sheet_print") == 0.0
    assert judged(*paths, "sheet_print", **PAIR, ignore_case=True) == 1.0
    (tmp_path / "a-Sheet1.csv").unlink()
    assert judged(*paths, "sheet_print", **PAIR, ignore_case=True) == 0.0
    (tmp_path / "a-Sheet1.csv").write_text("Name,Paid\n")
    (tmp_path / "b-Sheet1.csv").unlink()
    with pytest.raises(UserError):
        judged(*paths, "sheet_print")


@pytest.mark.parametrize(
    ("mine", "its", "rule", "same"),
    [
        ("12 Main Rd", "12 Main Road", {"type": "exact_match"}, False),
        ("12 Main Rd", "12 Main Road", {"normalization": [["Rd", "Road"]]}, True),
        ("12 Main Roads", "12 Main Road", {"type": "includes"}, True),
        ("12 Main", "12 Main Road", {"type": "includes"}, False),
        ("12 Main", "12 Main Road", {"type": "included_by"}, True),
        ("12 MAIN ROAD", "12 Main Road", {"ignore_case": True}, True),
        ("+ (12) x", "12x", {"trim_leadings": "+ ", "ignore_chars": " ()"}, True),
        ("12x..", "12x", {"trim_trailings": "."}, True),
        ("12 Main Rood", "12 Main Road", {"type": "fuzzy_match"}, True),
        ("12 Main Rood", "12 Main Road", {"type": "fuzzy_match", "threshold": 95}, False),
        (3, 3.0, {}, True),
        (None, None, {}, True),
        (True, True, {}, True),
        (True, False, {}, False),
    ],
)
def test_cells_are_alike_by_the_rule_of_their_range(
    mine: Any, its: Any, rule: dict[str, Any], same: bool, tmp_path: Path
) -> None:
    paths = [
        book(cell("B2", value))(tmp_path / f"{name}.xlsx")
        for name, value in (("mine", mine), ("its", its))
    ]
    rules = [{"range": ["B2:B2"], "type": "exact_match"} | rule]
    assert judged(*paths, "sheet_fuzzy", **PAIR, rules=rules) == float(same)


def test_runs_of_one_text_are_read_together(tmp_path: Path) -> None:
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    rich = CellRichText("An", TextBlock(InlineFont(b=True), "n"))
    mine = book(cell("A2", rich))(tmp_path / "a.xlsx")
    wanted = book()(tmp_path / "b.xlsx")
    rules = [{"range": ["A2:A2"], "type": "exact_match"}]
    assert judged(mine, wanted, "sheet_fuzzy", **PAIR, rules=rules) == 1.0


def test_the_parts_of_a_pivot_table_are_compared(tmp_path: Path) -> None:
    props = ["col_fields", "row_fields", "data_fields", "filter", "name"]
    rows = [("x", "City", "Sum"), (1, "Bonn", 2), (2, "Rome", 4)]
    mine = book(pivot("B", subtotal="sum"), rows=rows)(tmp_path / "a.xlsx")
    for name, subtotal, score in (("same", "sum", 1.0), ("other", "average", 0.0)):
        wanted = book(pivot("B", subtotal=subtotal), rows=rows)(tmp_path / f"{name}.xlsx")
        assert judged(mine, wanted, "pivot_table", **PAIR, pivot_props=props) == score
        assert judged(mine, wanted, "pivot_table", **PAIR, pivot_props=props[:2]) == 1.0


def pivot(name: str, subtotal: str) -> Change:
    """A pivot table over A1:C3 with the second column as rows, and a sum or the like of the
    third."""
    from openpyxl.pivot import cache, fields, record
    from openpyxl.pivot import table as pivots

    def change(sheet: Any) -> None:
        source = cache.WorksheetSource(ref="A1:C3", sheet="Sheet1")
        columns = [
            cache.CacheField(name=title, sharedItems=cache.SharedItems())
            for title in ("x", "City", "Sum")
        ]
        definition = cache.CacheDefinition(
            cacheSource=cache.CacheSource(type="worksheet", worksheetSource=source),
            cacheFields=columns,
            refreshOnLoad=True,
        )
        definition.records = record.RecordList(r=[record.Record(_fields=[fields.Number(v=1)])])
        items = [pivots.FieldItem(x=0), pivots.FieldItem(x=1), pivots.FieldItem(t="default")]
        made = pivots.TableDefinition(
            name=name,
            cacheId=1,
            dataCaption="Values",
            location=pivots.Location(ref="E1:F4", firstHeaderRow=1, firstDataRow=1, firstDataCol=1),
            pivotFields=[
                pivots.PivotField(),
                pivots.PivotField(axis="axisRow", items=items),
                pivots.PivotField(dataField=True),
            ],
            rowFields=[pivots.RowColField(x=1)],
            dataFields=[pivots.DataField(name="Sum", fld=2, subtotal=subtotal)],
        )
        made.cache = definition
        sheet._pivots.append(made)

    return change


SPARKLINES = """<extLst><ext uri="{05C60535-1F16-4fd2-B633-F4F36F0B64E0}"
 xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"><x14:sparklineGroups
 xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><x14:sparklineGroup>
<x14:sparklines><x14:sparkline><xm:f>Sheet1!B2:B3</xm:f><xm:sqref>PLACE</xm:sqref></x14:sparkline>
</x14:sparklines></x14:sparklineGroup></x14:sparklineGroups></ext></extLst></worksheet>"""


def test_sparklines_are_compared_by_place_and_data(tmp_path: Path) -> None:
    plain = book()(tmp_path / "plain.xlsx")
    paths = []
    for name, place in (("a", "C2"), ("b", "C2"), ("c", "C3")):
        path = tmp_path / f"{name}.xlsx"
        with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
            for part in old.namelist():
                text = old.read(part).decode()
                if part.endswith("sheet1.xml"):
                    text = text.replace("</worksheet>", SPARKLINES.replace("PLACE", place))
                new.writestr(part, text)
        paths.append(str(path))
    assert judged(paths[0], paths[1], "sparkline") == 1.0
    assert judged(paths[0], paths[2], "sparkline") == 0.0
    assert judged(plain, paths[0], "sparkline") == 0.0


def test_a_workbook_that_is_cut_short_is_no_success(tmp_path: Path) -> None:
    wanted = book(cell("A2", "x" * 3000))(tmp_path / "wanted.xlsx")
    data = Path(wanted).read_bytes()
    cut = tmp_path / "cut.xlsx"
    kinds = ("sheet_name", "sheet_data", "sheet_fuzzy", "style", "chart", "filter", "freeze")
    for size in (0, 10, len(data) // 2, len(data) - 10):
        cut.write_bytes(data[:size])
        for kind in kinds:
            assert judged(str(cut), wanted, kind, **PAIR, rules=[]) == 0.0


def test_a_sheet_that_is_no_xml_is_no_success(tmp_path: Path) -> None:
    wanted = book()(tmp_path / "wanted.xlsx")
    spoilt = tmp_path / "spoilt.xlsx"
    with zipfile.ZipFile(wanted) as old, zipfile.ZipFile(spoilt, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data[: len(data) // 2] if name.endswith("sheet1.xml") else data)
    for kind in ("sheet_data", "sheet_fuzzy", "style"):
        assert judged(str(spoilt), wanted, kind, **PAIR, rules=[]) == 0.0
        with pytest.raises(UserError):
            judged(wanted, str(spoilt), kind, **PAIR, rules=[])


def test_a_sheet_with_a_cell_in_its_last_corner_is_too_large(tmp_path: Path) -> None:
    wanted = book()(tmp_path / "wanted.xlsx")
    mine = book(cell("XFD9000", "x"))(tmp_path / "mine.xlsx")
    assert judged(mine, wanted, "sheet_data") == 0.0
    assert judged(mine, wanted, "style", **PAIR, props=["font_color"]) == 0.0
