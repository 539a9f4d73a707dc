"""How the cells of two sheets look: the rule `style`, conditional formats included."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases_office_tables import book, conditional, green, styled
from openpyxl.styles import Font

from ui_gym.desktop.osworld.metrics.tables import compare_table


def same_colours(result: str, expected: str) -> bool:
    places = {"sheet_idx0": 0, "sheet_idx1": "EI0"}
    rule = {"type": "style", **places, "props": ["font_color"]}
    return compare_table(result, expected, rules=[rule]) == 1.0


NUMBERS = (("d", "n"), ("a", 1), ("bc", 2), ("a", 3), (None, 40))


@pytest.mark.parametrize(
    ("area", "formula", "operator", "places"),
    [
        ("B2:B5", "2", "greaterThan", ["B4", "B5"]),
        ("B2:B5", "MAX($B$2:$B$5)", "equal", ["B5"]),
        ("B2:B5", "3;2", "between", ["B3", "B4"]),
        ("B2:B5", "2;3", "notBetween", ["B2", "B5"]),
        ("A2:B5", '"a"', "equal", ["A2", "A4"]),
        ("A2:B5", "2", "lessThan", ["B2"]),
        ("A2:B5", '"a"', "notEqual", ["A3", "B2", "B3", "B4", "B5"]),
        ("B2:B5", "B2>AVERAGE($B$2:$B$4)", None, ["B4", "B5"]),
        ("A2:B5", '$A2="A"', None, ["A2", "A4", "B2", "B4"]),
        ("B2:B5", "AND(B2>=2,NOT(B2=3))", None, ["B3", "B5"]),
        ("B2:B5", "OR(MOD(B2,2)=1,B2=LARGE($B$2:$B$5,1))", None, ["B2", "B4", "B5"]),
        ("A2:A5", 'NOT(ISERROR(SEARCH("C",A2)))', None, ["A3"]),
        ("A2:A5", "COUNTIF($A$2:$A$5,A2)>1", None, ["A2", "A4"]),
        ("B2:B5", 'COUNTIF($B$2:$B$5,">"&B2)=0', None, ["B5"]),
        ("A2:A5", "LEN(A2)-1=B2-1", None, ["A2", "A3"]),
        ("B2:B5", 'IF(A2="a",B2^2>1,FALSE)', None, ["B4"]),
        # 45,331 is the 9th of February 2024, a Friday.
        ("B2:B5", "WEEKDAY(B2+45291,2)>=5", None, ["B5"]),
        ("B2:B5", "-B2<-50%*4", None, ["B4", "B5"]),
        ("B2:B5", "1/(B2-1)>0.4", None, ["B3", "B4"]),
    ],
)
def test_a_conditional_format_counts_for_the_cells_that_it_holds_for(
    area: str, formula: str, operator: str | None, places: list[str], tmp_path: Path
) -> None:
    mine = book(conditional(area, formula, operator), rows=NUMBERS)(tmp_path / "a.xlsx")
    wanted = book(*green(*places), rows=NUMBERS)(tmp_path / "b.xlsx")
    assert same_colours(mine, wanted)
    plain = book(rows=NUMBERS)(tmp_path / "c.xlsx")
    assert not same_colours(mine, plain)


@pytest.mark.parametrize(
    "formula",
    ["FROBNICATE(B2)", "B2>(", "Other!B2>1", "{1,2}", "B2>1)", "1+" + "(" * 900 + "1" + ")" * 900],
)
def test_a_formula_that_is_not_known_leaves_its_format_out(formula: str, tmp_path: Path) -> None:
    mine = book(conditional("B2:B5", formula), rows=NUMBERS)(tmp_path / "a.xlsx")
    plain = book(rows=NUMBERS)(tmp_path / "b.xlsx")
    assert same_colours(mine, plain)


def test_a_cell_without_a_colour_is_no_error(tmp_path: Path) -> None:
    mine = book(styled("A1", font=Font(color=None)))(tmp_path / "a.xlsx")
    assert same_colours(mine, mine)
