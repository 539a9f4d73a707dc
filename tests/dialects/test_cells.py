from __future__ import annotations

import pytest

from ui_gym.contract.action import Click, Drag, Press, Scroll, Type
from ui_gym.dialects.cells import Cells
from ui_gym.errors import ActionError

SIZE = (320, 256)
cells = Cells()


def test_the_thought_stands_before_the_last_line() -> None:
    text = cells.render([Click(252, 76)], SIZE, thought="3 Carl Abel First")
    assert text == "3 Carl Abel First\nclick(<x31><y9>)"
    assert cells.parse(text, SIZE) == [Click(252, 76)]


def test_every_kind_of_point_is_written_in_cells() -> None:
    said = [Drag(12, 20, 28, 4), Scroll(4, 4, dy=200), Click(4, 4, button="right", count=2)]
    text = cells.render(said, SIZE)
    assert text == (
        "drag(<x1><y2>, <x3><y0>); scroll(<x0><y0>, dy=200); "
        'click(<x0><y0>, button="right", count=2)'
    )
    assert cells.parse(text, SIZE) == said


def test_a_point_inside_a_string_stays_text() -> None:
    said = [Type('say "<x1><y2>" or \\'), Click(12, 20), Type("it's <x3><y4>")]
    assert cells.parse(cells.render(said, SIZE), SIZE) == said


def test_spaces_between_the_tokens_of_a_point_do_no_harm() -> None:
    assert cells.parse("click(<x1> <y2>)\n", SIZE) == [Click(12, 20)]


def test_a_cell_cut_by_the_edge_is_read_as_a_pixel_of_the_screen() -> None:
    assert cells.grid((321, 9)) == (41, 2)
    assert cells.parse("click(<x40><y1>)", (321, 9)) == [Click(320, 8)]


def test_a_cell_outside_the_screen_is_named_with_the_bounds() -> None:
    with pytest.raises(ActionError, match=r"<x40><y1> is outside .* <x0> to <x39>") as caught:
        cells.parse("click(<x40><y1>)", SIZE)
    assert caught.value.kind == "argument"


def test_what_cannot_be_read_is_answered_in_cells() -> None:
    with pytest.raises(ActionError, match=r"as in click\(<x3><y5>\)") as caught:
        cells.parse("click(<x3>)", SIZE)
    assert caught.value.kind == "parse"


def test_only_the_last_line_is_the_action() -> None:
    assert cells.parse('click(<x1><y1>)\npress("enter")', SIZE) == [Press("enter")]


def test_another_cell_size_gives_another_grid() -> None:
    coarse = Cells(16)
    assert coarse.render([Click(40, 8)], SIZE) == "click(<x2><y0>)"
    assert coarse.parse("click(<x2><y0>)", SIZE) == [Click(40, 8)]
    assert "20 columns and 16 rows" in coarse.prompt(SIZE)
    with pytest.raises(ValueError, match="at least one pixel"):
        Cells(0)
