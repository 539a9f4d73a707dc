"""Where shapes are and how large: the rules of compare_pptx_files for that.

Lengths are in English Metric Units (914,400 to the inch). The numbers, titles and slides below are
those of the tasks that the options were made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import library
from ui_gym.desktop.osworld.metrics.slides_reading import kind

BOTTOM, RIGHT, TOP = 3_600_000, 4_320_000, 1_980_000
MOVED_TITLE = "Product Comparison"
SHIFTED_TEXT = "Elaborate on what you want to discuss."
SIDES = ("left", "top", "width", "height")


def box_rules(
    number: int, shape: Any, other: Any, examine: Mapping[str, bool], tolerance: float
) -> bool:
    """Whether a shape of the slide with this number (from 1) is where, and as large as, the option
    wants it beside the other presentation's."""
    boxes = _Boxes(shape, other, tolerance)
    rules = {
        "examine_title_bottom_position": lambda: _title_at_bottom(boxes),
        "examine_table_bottom_position": lambda: _table_at_bottom(number, boxes),
        "examine_right_position": lambda: _at_right(number, boxes),
        "examine_top_position": lambda: _at_top(number, boxes),
        "examine_shape_for_shift_size": lambda: boxes.same() or boxes.text() == SHIFTED_TEXT,
        "examine_shape": boxes.same,
        "examine_image_size": lambda: _image_size(boxes),
        "examine_modify_height": lambda: _height(boxes),
    }
    return all(rule() for name, rule in rules.items() if examine[name])


class _Boxes:
    """A shape and its counterpart."""

    def __init__(self, shape: Any, other: Any, tolerance: float) -> None:
        self.pair = (shape, other)
        self.tolerance = tolerance

    def same(self, *sides: str) -> bool:
        """Whether these sides (all of them) are the same, within the tolerance."""
        return all(
            self._near(*(getattr(shape, side) for shape in self.pair)) for side in sides or SIDES
        )

    def _near(self, mine: int | None, its: int | None) -> bool:
        if mine == its:
            return True
        if not mine or not its:
            return False
        return abs(mine - its) / max(abs(mine), abs(its)) <= self.tolerance

    def sides(self, name: str) -> tuple[int, int]:
        """A side of each."""
        mine, its = (getattr(shape, name) or 0 for shape in self.pair)
        return mine, its

    def text(self) -> str | None:
        """The text of both; None where they have none, or not the same."""
        if not all(shape.has_text_frame for shape in self.pair):
            return None
        mine, its = (str(shape.text) for shape in self.pair)
        return mine if mine == its else None

    def both(self, name: str) -> bool:
        """Whether both are shapes of this kind."""
        wanted = library("pptx.enum.shapes").MSO_SHAPE_TYPE[name]
        return all(kind(shape) == wanted for shape in self.pair)

    def wordless(self) -> bool:
        """Whether neither can hold text."""
        return not any(shape.has_text_frame for shape in self.pair)


def _title_at_bottom(boxes: _Boxes) -> bool:
    text = boxes.text()
    if text is None:
        return boxes.same()
    mine, its = boxes.sides("top")
    return text != MOVED_TITLE or (mine > its and mine >= BOTTOM)


def _table_at_bottom(number: int, boxes: _Boxes) -> bool:
    if number == 3 and boxes.both("TABLE"):
        mine, its = boxes.sides("top")
        return mine > its and mine >= BOTTOM
    return boxes.same()


def _at_right(number: int, boxes: _Boxes) -> bool:
    mine, its = boxes.sides("left")
    return number != 2 or not boxes.wordless() or (mine > its and mine >= RIGHT)


def _at_top(number: int, boxes: _Boxes) -> bool:
    mine, its = boxes.sides("top")
    return number != 2 or not boxes.both("PICTURE") or (mine < its and mine <= TOP)


def _image_size(boxes: _Boxes) -> bool:
    return boxes.same("width", "height") if boxes.both("PICTURE") else boxes.same()


def _height(boxes: _Boxes) -> bool:
    if boxes.wordless() or boxes.both("FREEFORM"):
        return boxes.same("height")
    return boxes.same()
