"""compare_pptx_files: a presentation against the expected one, slide by slide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.office import examined
from ui_gym.desktop.osworld.metrics.slides_boxes import box_rules
from ui_gym.desktop.osworld.metrics.slides_reading import (
    background,
    bullets,
    notes,
    slideshow_pair,
    text_shapes,
)
from ui_gym.desktop.osworld.metrics.slides_text import (
    Examined,
    alignment,
    same_paragraphs,
    same_table,
)

EXAMINED: Mapping[str, bool] = {
    "examine_number_of_slides": True,
    "examine_shape": True,
    "examine_text": True,
    "examine_indent": True,
    "examine_font_name": True,
    "examine_font_size": True,
    "examine_font_bold": True,
    "examine_font_italic": True,
    "examine_color_rgb": True,
    "examine_font_underline": True,
    "examine_strike_through": True,
    "examine_alignment": True,
    "examine_title_bottom_position": False,
    "examine_table_bottom_position": False,
    "examine_right_position": False,
    "examine_top_position": False,
    "examine_shape_for_shift_size": False,
    "examine_image_size": False,
    "examine_modify_height": False,
    "examine_bullets": True,
    "examine_background_color": True,
    "examine_note": True,
}
"""The options, and what is examined unless a task says otherwise."""


@examined("compare_pptx_files")
def compare_pptx_files(result: Any, expected: Any, **options: Any) -> float:
    """1.0 where two presentations (.pptx) are the same in all that is examined, else 0.0.

    Options: those of `EXAMINED`, each true or false, and ``approximately_tolerance`` (0.005), by
    what part of itself a position or a size may differ. Slides must have as many shapes, and
    those of the same place in the order are compared. As in OSWorld, tables are compared by how
    their runs look and not by their texts, and a task that moves something must turn
    ``examine_shape`` off. Where OSWorld ends with an error (a shape without a position, a table
    against none, a colour of the theme behind a slide), the two differ if these things do.
    """
    mine, its = slideshow_pair(result, expected)
    examine: Examined = {name: bool(options.get(name, usual)) for name, usual in EXAMINED.items()}
    tolerance = float(options.get("approximately_tolerance", 0.005))
    if examine["examine_number_of_slides"] and len(mine.slides) != len(its.slides):
        return 0.0
    pairs = enumerate(zip(mine.slides, its.slides, strict=False), start=1)
    return float(all(_same_slide(number, *pair, examine, tolerance) for number, pair in pairs))


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
        if not box_rules(number, shape, other, examine, tolerance):
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
