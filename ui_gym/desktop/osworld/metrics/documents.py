"""What text documents say: their paragraphs, tables and pictures against the expected ones."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ui_gym.desktop.osworld.metrics.docs_reading import (
    joined,
    kind,
    texts_pair,
    word,
    word_pair,
)
from ui_gym.desktop.osworld.metrics.office import examined, pair
from ui_gym.desktop.osworld.metrics.reading import Broken, given, library
from ui_gym.errors import UserError


def _ratio(first: str, second: str) -> float:
    """How alike two texts are, in [0, 1]."""
    return float(library("rapidfuzz.fuzz").ratio(first, second)) / 100.0


def _same_kind(result: object, expected: object, *kinds: str) -> None:
    if kind(result) != kind(expected) or kind(result) not in kinds:
        raise Broken(f"{result!r} and {expected!r} are not both one of {', '.join(kinds)}")


@examined("compare_docx_files")
def compare_docx_files(result: Any, expected: Any, **options: Any) -> float:
    """How far the paragraphs of two .docx, or of two .odt, are the same.

    Options: ``ignore_blanks`` (true unless said) takes every stretch of white space for a space,
    otherwise paragraph is compared with paragraph; ``ignore_case``; ``ignore_order`` of the
    paragraphs; ``delete_empty_lines``; ``fuzzy_match`` gives how alike the texts are in place of 0
    or 1, and so does ``content_only``, always without regard to white space.
    """
    _same_kind(result, expected, ".docx", ".odt")
    mine, its = (_prepared(texts, options) for texts in texts_pair(result, expected))
    if options.get("content_only", False):
        return _ratio(joined(mine), joined(its))
    if options.get("ignore_blanks", True):
        mine, its = [joined(mine)], [joined(its)]
    if len(mine) != len(its):
        return 0.0
    if not options.get("fuzzy_match", False) or not mine:
        return float(mine == its)
    return sum(map(_ratio, mine, its)) / len(mine)


def _prepared(texts: list[str], options: Mapping[str, Any]) -> list[str]:
    if options.get("ignore_order", False):
        texts = sorted(texts)
    if options.get("delete_empty_lines", False):
        texts = [text for text in texts if text.strip()]
    return [text.lower() for text in texts] if options.get("ignore_case", False) else texts


def same_text(result: Any, expected: Any) -> bool:
    """Whether `compare_docx_files` finds no difference; many metrics want that first."""
    return compare_docx_files(result, expected) == 1.0


@examined("compare_docx_files_and_ignore_new_lines")
def compare_docx_files_and_ignore_new_lines(result: Any, expected: Any, **options: Any) -> float:
    """1.0 where two .docx have the same paragraphs, empty ones left out; ``ignore_blanks`` as in
    `compare_docx_files`."""
    _same_kind(result, expected, ".docx")
    mine, its = ([p for p in texts if p] for texts in texts_pair(result, expected))
    if options.get("ignore_blanks", True):
        return float(joined(mine) == joined(its))
    return float(mine == its)


@examined("compare_docx_lines")
def compare_docx_lines(result: Any, expected: Any) -> float:
    """1.0 where both have the same paragraphs, whatever their order and however often."""
    mine, its = (
        {p.text.strip() for p in document.paragraphs} - {""}
        for document in word_pair(result, expected)
    )
    return float(mine == its)


@examined("compare_init_lines")
def compare_init_lines(result: Any, expected: Any) -> float:
    """1.0 where the shorter of the documents is how the longer one begins."""
    mine, its = word_pair(result, expected)
    pairs = zip(mine.paragraphs, its.paragraphs, strict=False)
    return float(all(first.text == second.text for first, second in pairs))


@examined("compare_docx_tables")
def compare_docx_tables(result: Any, expected: Any) -> float:
    """1.0 where the tables have the same rows and columns, and their cells the same text."""
    mine, its = ([_cells(t) for t in document.tables] for document in word_pair(result, expected))
    return float(mine == its)


def _cells(table: Any) -> list[list[str]]:
    # `table.cell(row, column)` would look through the whole table for each one.
    width, cells = len(table.columns), table._cells
    texts = [cell.text.strip() for cell in cells]
    return [texts[start : start + width] for start in range(0, len(texts), max(width, 1))]


@examined("compare_docx_images")
def compare_docx_images(result: Any, expected: Any) -> float:
    """1.0 where both hold the same pictures, pixel by pixel, in the order of the file."""
    mine, its = pair(_pictures, result, expected)
    return float(mine == its)


def _pictures(path: str) -> list[bytes]:
    image = library("PIL.Image")
    links = library("docx").Document(path).part.rels.values()
    blobs = [link.target_part.blob for link in links if "image" in link.reltype]
    return [image.open(io.BytesIO(blob)).tobytes() for blob in blobs]


@examined("compare_contains_image")
def compare_contains_image(result: Any, expected: Any) -> float:
    """1.0 where the same runs hold a picture."""
    mine, its = word_pair(result, expected)
    for first, second in zip(mine.paragraphs, its.paragraphs, strict=False):
        for run, other in zip(first.runs, second.runs, strict=False):
            if ("graphicData" in run._element.xml) != ("graphicData" in other._element.xml):
                return 0.0
    return 1.0


@examined("compare_references")
def compare_references(result: Any, expected: Any, **options: Any) -> float:
    """How alike the lists of references are: the paragraphs after the one that is
    ``reference_indicator`` ("References").

    What is no better than ``reference_base_result`` (0.5) is 0, and above it the score goes on
    from 0 to 1. Documents that both have no such list are 1, and so are two empty lists (an error
    in OSWorld).
    """
    _same_kind(result, expected, ".docx")
    mark = options.get("reference_indicator", "References")
    base = options.get("reference_base_result", 0.5)
    mine, its = (_after(texts, mark) for texts in texts_pair(result, expected))
    if mine is None or its is None:
        return float(mine is its)
    if len(mine) != len(its):
        return 0.0
    likeness = sum(map(_ratio, mine, its)) / len(mine) if mine else 1.0
    return (likeness - base) / (1 - base) if likeness >= base + 0.01 else 0.0


def _after(paragraphs: list[str], mark: str) -> list[str] | None:
    if mark not in paragraphs:
        return None
    return [text for text in paragraphs[paragraphs.index(mark) + 1 :] if text.strip()]


def _train(line: str) -> str | None:
    """The train of a line ``time, train, station, platform``."""
    parts = line.split(",")
    return parts[1].strip() if len(parts) == 4 else None


def _trains(lines: Sequence[str]) -> list[str]:
    return [train for train in map(_train, lines) if train is not None]


@examined("check_no_duplicates")
def check_no_duplicates(initial: Any, result: Any) -> float:
    """1.0 where each train of the first document is in the second exactly once."""
    before = _trains([p.text for p in word(initial).paragraphs])
    after = _trains([p.text for p in word(result).paragraphs])
    return float(len(after) == len(set(after)) and set(after) == set(before))


@examined("compare_unique_train_records")
def compare_unique_train_records(result: Any, expected: Any, **options: Any) -> float:
    """1.0 where a document holds each train once, in lines that the initial document has, and the
    trains and the number of lines are those of the expected one.

    `expected` is a list: the expected document and the initial one.
    """
    lines = _lines(result)
    if not isinstance(expected, list) or len(expected) < 2:
        raise UserError(f"a list of the expected and the initial document is wanted: {expected!r}")
    wanted, initial = (given(_lines, path) for path in expected[:2])
    trains = _trains(lines)
    return float(
        set(lines) <= set(initial)
        and len(trains) == len(set(trains))
        and set(trains) == set(_trains(wanted))
        and len(lines) == len(wanted)
    )


def _lines(path: object) -> list[str]:
    stripped = (paragraph.text.strip() for paragraph in word(path).paragraphs)
    return [line for line in stripped if line]


@examined("fuzzy_place_math")
def fuzzy_place_math(result: Any, rules: Mapping[str, Any]) -> float:
    """How alike the three words of a document are to the nearest of the ``expected`` places; 0.0
    where there are not three words."""
    words = [w for paragraph in word(result).paragraphs for w in paragraph.text.split()]
    if len(words) != 3:
        return 0.0
    return sum(max((_ratio(w, place) for place in rules["expected"]), default=0) for w in words) / 3
