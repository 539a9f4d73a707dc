"""The text of shapes and tables: paragraph by paragraph, run by run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import library
from ui_gym.desktop.osworld.metrics.slides_reading import font_rgb, struck

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
