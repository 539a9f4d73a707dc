"""compare_pptx_files: a presentation against the expected one, slide by slide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import examined, library
from ui_gym.desktop.osworld.metrics.slides import (
    background,
    bullets,
    font_rgb,
    kind,
    notes,
    slideshow,
    struck,
    text_shapes,
)

EXAMINED: Mapping[str, bool] = dict.fromkeys(
    (
        *("examine_number_of_slides", "examine_shape", "examine_text", "examine_indent"),
        *("examine_font_name", "examine_font_size", "examine_font_bold", "examine_font_italic"),
        *("examine_color_rgb", "examine_font_underline", "examine_strike_through"),
        *("examine_alignment", "examine_bullets", "examine_background_color", "examine_note"),
    ),
    True,
) | dict.fromkeys(
    (
        *("examine_title_bottom_position", "examine_table_bottom_position"),
        *("examine_right_position", "examine_top_position", "examine_shape_for_shift_size"),
        *("examine_image_size", "examine_modify_height"),
    ),
    False,
)
"""The options, and what is examined unless a task says otherwise."""


@examined(slideshow, slideshow)
def compare_pptx_files(mine: Any, its: Any, **options: Any) -> float:
    """1.0 where two presentations (.pptx) are the same in all that is examined, else 0.0.

    Options: those of `EXAMINED`, each true or false, and ``approximately_tolerance`` (0.005), by
    what part of itself a position or a size may differ. Slides must have as many shapes, and
    those of the same place in the order are compared. As in OSWorld, tables are compared by how
    their runs look and not by their texts, and a task that moves something must turn
    ``examine_shape`` off. Where OSWorld ends with an error (a shape without a position, a table
    against none, a colour of the theme behind a slide), the two differ if these things do.
    """
    examine: Examined = {name: bool(options.get(name, usual)) for name, usual in EXAMINED.items()}
    tolerance = float(options.get("approximately_tolerance", 0.005))
    if examine["examine_number_of_slides"] and len(mine.slides) != len(its.slides):
        return 0.0
    pairs = enumerate(zip(mine.slides, its.slides, strict=False), start=1)
    return all(_same_slide(number, *pair, examine, tolerance) for number, pair in pairs)


def _same_slide(number: int, mine: Any, its: Any, examine: Examined, tolerance: float) -> bool:
    shapes, others = list(mine.shapes), list(its.shapes)
    if len(shapes) != len(others):
        return False
    if examine["examine_background_color"] and background(mine) != background(its):
        return False
    if examine["examine_note"] and notes(mine) != notes(its):
        return False
    compared = False
    for shape, other in zip(shapes, others, strict=True):
        boxes = _Boxes(number, (shape, other), tolerance)
        if not all(rule(boxes) for name, rule in BOX_RULES.items() if examine[name]):
            return False
        if getattr(shape, "has_table", False) and not same_table(shape, other, examine):
            return False
        if shape.has_text_frame and other.has_text_frame:
            if not same_paragraphs(shape, other, examine):
                return False
            compared = compared or any(p.runs for p in shape.text_frame.paragraphs)
    if examine["examine_bullets"] and compared and not _same_bullets(mine, its):
        return False
    return _same_text_shapes(mine, its, examine)


def _same_bullets(mine: Any, its: Any) -> bool:
    first, second = bullets(mine), bullets(its)
    return first is None or second is None or first == second


def _same_text_shapes(mine: Any, its: Any, examine: Examined) -> bool:
    """Texts and alignments, those in groups too."""
    first, second = list(text_shapes(mine.shapes)), list(text_shapes(its.shapes))
    if len(first) != len(second):
        return False
    if not examine["examine_alignment"]:
        return True
    for shape, other in zip(first, second, strict=True):
        if examine["examine_text"] and shape.text.strip() != other.text.strip():
            return False
        paragraphs, others = shape.text_frame.paragraphs, other.text_frame.paragraphs
        if list(map(alignment, paragraphs)) != list(map(alignment, others)):
            return False
    return True


Examined = Mapping[str, bool]
"""What is examined, by the names of the options of compare_pptx_files."""


def alignment(paragraph: Any) -> Any:
    """How a paragraph is aligned; one that does not say is aligned to the left."""
    left = library("pptx.enum.text").PP_ALIGN.LEFT
    return left if paragraph.alignment is None else paragraph.alignment


def same_paragraphs(shape: Any, other: Any, examine: Examined) -> bool:
    """Whether two shapes hold the same paragraphs, as far as is examined."""
    if examine["examine_text"] and shape.text.strip() != other.text.strip():
        return False
    paragraphs, others = shape.text_frame.paragraphs, other.text_frame.paragraphs
    return len(paragraphs) == len(others) and all(
        _same_paragraph(mine, its, examine) for mine, its in zip(paragraphs, others, strict=True)
    )


def _same_paragraph(mine: Any, its: Any, examine: Examined) -> bool:
    if examine["examine_alignment"] and alignment(mine) != alignment(its):
        return False
    if examine["examine_text"] and mine.text != its.text:
        return False
    if examine["examine_indent"] and mine.level != its.level:
        return False
    runs, others = mine.runs, its.runs
    return len(runs) == len(others) and all(
        _same_run(run, other, examine) for run, other in zip(runs, others, strict=True)
    )


def _same_run(run: Any, other: Any, examine: Examined) -> bool:
    mine, its = run.font, other.font
    tests = {
        "examine_font_name": lambda: mine.name == its.name,
        "examine_font_size": lambda: mine.size == its.size,
        "examine_font_bold": lambda: _both(mine.bold, its.bold),
        "examine_font_italic": lambda: _both(mine.italic, its.italic),
        "examine_color_rgb": lambda: _same_rgb(run, other),
        "examine_font_underline": lambda: _same_underline(mine.underline, its.underline),
        "examine_strike_through": lambda: struck(run) == struck(other),
    }
    return all(test() for name, test in tests.items() if examine[name])


def _both(mine: bool | None, its: bool | None) -> bool:
    # What does not say whether it is bold is not.
    return bool(mine) == bool(its)


def _same_rgb(run: Any, other: Any) -> bool:
    """Whether two runs have the same red, green and blue, if each has them by itself."""
    mine, its = font_rgb(run), font_rgb(other)
    return mine is None or its is None or mine == its


def _same_underline(mine: Any, its: Any) -> bool:
    """Whether two lines are the same. One that is not said is as good as none, or as any but the
    plain one (as in OSWorld)."""
    if mine == its:
        return True
    return (mine is None or its is None) and True not in (mine, its)


def same_table(shape: Any, other: Any, examine: Examined) -> bool:
    """Whether two tables are of one size, and their runs look the same. Texts are not compared;
    bold, italic and underlined always are."""
    if not getattr(other, "has_table", False):
        return False
    mine, its = shape.table, other.table
    if (len(mine.rows), len(mine.columns)) != (len(its.rows), len(its.columns)):
        return False
    cells = zip(mine.iter_cells(), its.iter_cells(), strict=False)
    return all(_same_cell(cell, counterpart, examine) for cell, counterpart in cells)


def _same_cell(cell: Any, other: Any, examine: Examined) -> bool:
    paragraphs, others = cell.text_frame.paragraphs, other.text_frame.paragraphs
    if [len(p.runs) for p in paragraphs] != [len(p.runs) for p in others]:
        return False
    for paragraph, its in zip(paragraphs, others, strict=True):
        for run, counterpart in zip(paragraph.runs, its.runs, strict=True):
            font, wanted = run.font, counterpart.font
            if examine["examine_color_rgb"] and not _same_rgb(run, counterpart):
                return False
            if not (_both(font.bold, wanted.bold) and _both(font.italic, wanted.italic)):
                return False
            if not _same_underline(font.underline, wanted.underline):
                return False
    return True


MOVED_TITLE = "Product Comparison"
SHIFTED_TEXT = "Elaborate on what you want to discuss."
BOTTOM, RIGHT, TOP = 3_600_000, 4_320_000, 1_980_000
"""Where tasks want what they move: in English Metric Units (914,400 to the inch), on the slides and
with the texts of the tasks that the options were made for."""
SIDES = ("left", "top", "width", "height")


@dataclass(frozen=True)
class _Boxes:
    """A shape of the slide with this number (from 1), and its counterpart in the other
    presentation; how far they are where, and as large as, an option wants it."""

    number: int
    pair: tuple[Any, Any]
    tolerance: float

    def same(self, *sides: str) -> bool:
        """Whether these sides (all of them) are the same, within the tolerance."""
        return all(self._near(*self._both(side)) for side in sides or SIDES)

    def _both(self, name: str) -> tuple[Any, Any]:
        return getattr(self.pair[0], name), getattr(self.pair[1], name)

    def _near(self, mine: int | None, its: int | None) -> bool:
        if mine == its:
            return True
        if not mine or not its:
            return False
        return abs(mine - its) / max(abs(mine), abs(its)) <= self.tolerance

    def _moved(self, side: str) -> tuple[int, int]:
        """How far a shape has moved, and where it is now."""
        mine, its = self._both(side)
        return (mine or 0) - (its or 0), mine or 0

    def _text(self) -> str | None:
        """The text of both; None where they have none, or not the same."""
        if not all(self._both("has_text_frame")):
            return None
        mine, its = map(str, self._both("text"))
        return mine if mine == its else None

    def _are(self, name: str) -> bool:
        """Whether both are shapes of this kind."""
        wanted = library("pptx.enum.shapes").MSO_SHAPE_TYPE[name]
        return all(kind(shape) == wanted for shape in self.pair)

    def _wordless(self) -> bool:
        """Whether neither can hold text."""
        return not any(self._both("has_text_frame"))

    def _at_bottom(self) -> bool:
        moved, top = self._moved("top")
        return moved > 0 and top >= BOTTOM

    def title_at_bottom(self) -> bool:
        text = self._text()
        return self.same() if text is None else text != MOVED_TITLE or self._at_bottom()

    def table_at_bottom(self) -> bool:
        return self._at_bottom() if self.number == 3 and self._are("TABLE") else self.same()

    def at_right(self) -> bool:
        moved, left = self._moved("left")
        return self.number != 2 or not self._wordless() or (moved > 0 and left >= RIGHT)

    def at_top(self) -> bool:
        moved, top = self._moved("top")
        return self.number != 2 or not self._are("PICTURE") or (moved < 0 and top <= TOP)

    def shifted(self) -> bool:
        return self.same() or self._text() == SHIFTED_TEXT

    def picture_sized(self) -> bool:
        return self.same("width", "height") if self._are("PICTURE") else self.same()

    def as_high(self) -> bool:
        alone = self._wordless() or self._are("FREEFORM")
        return self.same("height") if alone else self.same()


BOX_RULES: Mapping[str, Callable[[_Boxes], bool]] = {
    "examine_title_bottom_position": _Boxes.title_at_bottom,
    "examine_table_bottom_position": _Boxes.table_at_bottom,
    "examine_right_position": _Boxes.at_right,
    "examine_top_position": _Boxes.at_top,
    "examine_shape_for_shift_size": _Boxes.shifted,
    "examine_shape": _Boxes.same,
    "examine_image_size": _Boxes.picture_sized,
    "examine_modify_height": _Boxes.as_high,
}
