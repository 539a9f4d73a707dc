"""Text documents (.docx, .odt): what they say, against what is expected."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.desktop.osworld.metrics.images import decoded
from ui_gym.desktop.osworld.metrics.reading import Broken, examined, given, library, opens, ratio
from ui_gym.errors import UserError

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
ODT_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
ODT_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
ODT_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
ODT_FORMAT = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"


@opens
def word(path: str) -> Any:
    """python-docx's document."""
    return library("docx").Document(path)


def kind(path: object) -> str:
    """The ending of a file's name: ``".docx"``."""
    return Path(str(path)).suffix


@opens
def texts(path: str) -> list[str]:
    """The texts of the paragraphs of a .docx or .odt."""
    if kind(path) == ".odt":
        return odt_texts(path)
    return [paragraph.text for paragraph in word(path).paragraphs]


def texts_of(result: object, expected: object, *kinds: str) -> tuple[list[str], list[str]]:
    """The texts of the paragraphs of both documents, which are of one of these kinds."""
    if kind(result) != kind(expected) or kind(result) not in kinds:
        raise Broken(f"{result!r} and {expected!r} are not both one of {', '.join(kinds)}")
    return texts(result), given(texts, expected)


def joined(paragraphs: list[str]) -> str:
    """A document as one line, each stretch of white space in it a single space."""
    return re.sub(r"\s+", " ", "\n".join(paragraphs)).strip()


def odt_texts(path: str) -> list[str]:
    """The texts of an .odt's paragraphs: those of the body, then those of headers and footers.

    As in OSWorld, a heading is no paragraph, and of what lies in a paragraph only its own text and
    that of its spans counts: no tab, no further space, no link.
    """
    found = []
    for part in ("content.xml", "styles.xml"):
        for paragraph in odt_part(path, part).iter(f"{ODT_TEXT}p"):
            pieces = [paragraph.text or ""]
            for child in paragraph:
                if child.tag == f"{ODT_TEXT}span":
                    pieces += [child.text or "", *(inner.tail or "" for inner in child)]
                pieces.append(child.tail or "")
            found.append("".join(pieces))
    return found


def odt_part(path: str, name: str) -> ET.Element:
    """The XML of a part of an .odt; an empty one where it has no such part."""
    with zipfile.ZipFile(path) as file:
        if name not in file.namelist() and name != "content.xml":
            return ET.Element("none")
        return ET.fromstring(file.read(name))


@opens
def odt_has_yellow(path: str) -> bool:
    """Whether some of the text has a yellow background (``#ffff00``)."""
    content = odt_part(path, "content.xml")
    automatic = content.find(f"{ODT_OFFICE}automatic-styles")
    yellow = {
        style.get(f"{ODT_STYLE}name")
        for style in (automatic if automatic is not None else ())
        if any(child.get(f"{ODT_FORMAT}background-color") == "#ffff00" for child in style)
    }
    spans = content.iter(f"{ODT_TEXT}span")
    return any(span.get(f"{ODT_TEXT}style-name") in yellow for span in spans)


@examined()
def compare_docx_files(result: Any, expected: Any, **options: Any) -> float:
    """How far the paragraphs of two .docx, or of two .odt, are the same.

    Options: ``ignore_blanks`` (true unless said) takes every stretch of white space for a space,
    otherwise paragraph is compared with paragraph; ``ignore_case``; ``ignore_order`` of the
    paragraphs; ``delete_empty_lines``; ``fuzzy_match`` gives how alike the texts are in place of 0
    or 1, and so does ``content_only``, always without regard to white space.
    """
    both = texts_of(result, expected, ".docx", ".odt")
    mine, its = (_prepared(texts, options) for texts in both)
    if options.get("content_only", False):
        return ratio(joined(mine), joined(its))
    if options.get("ignore_blanks", True):
        mine, its = [joined(mine)], [joined(its)]
    if len(mine) != len(its):
        return 0.0
    if not options.get("fuzzy_match", False) or not mine:
        return mine == its
    return sum(map(ratio, mine, its)) / len(mine)


def _prepared(texts: list[str], options: Mapping[str, Any]) -> list[str]:
    if options.get("ignore_order", False):
        texts = sorted(texts)
    if options.get("delete_empty_lines", False):
        texts = [text for text in texts if text.strip()]
    return [text.lower() for text in texts] if options.get("ignore_case", False) else texts


def same_text(result: Any, expected: Any) -> bool:
    """Whether `compare_docx_files` finds no difference; many metrics want that first."""
    return compare_docx_files(result, expected) == 1.0


@examined()
def compare_docx_files_and_ignore_new_lines(result: Any, expected: Any, **options: Any) -> float:
    """1.0 where two .docx have the same paragraphs, empty ones left out; ``ignore_blanks`` as in
    `compare_docx_files`."""
    mine, its = ([p for p in texts if p] for texts in texts_of(result, expected, ".docx"))
    return joined(mine) == joined(its) if options.get("ignore_blanks", True) else mine == its


@examined(word, word)
def compare_docx_lines(mine: Any, its: Any) -> float:
    """1.0 where both have the same paragraphs, whatever their order and however often."""
    return set(_lines(mine)) == set(_lines(its))


@examined(word, word)
def compare_init_lines(mine: Any, its: Any) -> float:
    """1.0 where the shorter of the documents is how the longer one begins."""
    pairs = zip(mine.paragraphs, its.paragraphs, strict=False)
    return all(first.text == second.text for first, second in pairs)


@examined(word, word)
def compare_docx_tables(mine: Any, its: Any) -> float:
    """1.0 where the tables have the same rows and columns, and their cells the same text."""
    return list(map(_cells, mine.tables)) == list(map(_cells, its.tables))


def _cells(table: Any) -> list[list[str]]:
    # `table.cell(row, column)` would look through the whole table for each one.
    width, cells = len(table.columns), table._cells
    texts = [cell.text.strip() for cell in cells]
    return [texts[start : start + width] for start in range(0, len(texts), max(width, 1))]


@opens
def _pictures(path: str) -> list[bytes]:
    links = word(path).part.rels.values()
    blobs = [link.target_part.blob for link in links if "image" in link.reltype]
    return [decoded(io.BytesIO(blob), f"a picture in {path}").tobytes() for blob in blobs]


@examined(_pictures, _pictures)
def compare_docx_images(mine: list[bytes], its: list[bytes]) -> float:
    """1.0 where both hold the same pictures, pixel by pixel, in the order of the file."""
    return mine == its


def run_pairs(mine: Any, its: Any) -> Iterator[tuple[Any, Any]]:
    """The runs that are of the same place in the same paragraph of both documents."""
    for first, second in zip(mine.paragraphs, its.paragraphs, strict=False):
        yield from zip(first.runs, second.runs, strict=False)


@examined(word, word)
def compare_contains_image(mine: Any, its: Any) -> float:
    """1.0 where the same runs hold a picture."""
    return all(
        ("graphicData" in run._element.xml) == ("graphicData" in other._element.xml)
        for run, other in run_pairs(mine, its)
    )


@examined()
def compare_references(result: Any, expected: Any, **options: Any) -> float:
    """How alike the lists of references are: the paragraphs after the one that is
    ``reference_indicator`` ("References").

    What is no better than ``reference_base_result`` (0.5) is 0, and above it the score goes on
    from 0 to 1. Documents that both have no such list are 1, and so are two empty lists (an error
    in OSWorld).
    """
    mark = options.get("reference_indicator", "References")
    base = options.get("reference_base_result", 0.5)
    mine, its = (_after(texts, mark) for texts in texts_of(result, expected, ".docx"))
    if mine is None or its is None:
        return mine is its
    if len(mine) != len(its):
        return 0.0
    likeness = sum(map(ratio, mine, its)) / len(mine) if mine else 1.0
    return (likeness - base) / (1 - base) if likeness >= base + 0.01 else 0.0


def _after(paragraphs: list[str], mark: str) -> list[str] | None:
    if mark not in paragraphs:
        return None
    return [text for text in paragraphs[paragraphs.index(mark) + 1 :] if text.strip()]


def _trains(lines: Sequence[str]) -> list[str]:
    """The trains of the lines ``time, train, station, platform``."""
    parts = [line.split(",") for line in lines]
    return [line[1].strip() for line in parts if len(line) == 4]


def _lines(document: Any) -> list[str]:
    stripped = (paragraph.text.strip() for paragraph in document.paragraphs)
    return [line for line in stripped if line]


@examined(word)
def check_no_duplicates(initial: Any, result: Any) -> float:
    """1.0 where each train of the first document is in the second exactly once."""
    before, after = _trains(_lines(initial)), _trains(_lines(word(result)))
    return len(after) == len(set(after)) and set(after) == set(before)


@examined(word)
def compare_unique_train_records(document: Any, expected: Any, **options: Any) -> float:
    """1.0 where a document holds each train once, in lines that the initial document has, and the
    trains and the number of lines are those of the expected one.

    `expected` is a list: the expected document and the initial one.
    """
    if not isinstance(expected, list) or len(expected) < 2:
        raise UserError(f"a list of the expected and the initial document is wanted: {expected!r}")
    wanted, initial = (_lines(given(word, path)) for path in expected[:2])
    lines = _lines(document)
    trains = _trains(lines)
    return (
        set(lines) <= set(initial)
        and len(trains) == len(set(trains))
        and set(trains) == set(_trains(wanted))
        and len(lines) == len(wanted)
    )


@examined(word)
def fuzzy_place_math(document: Any, rules: Mapping[str, Any]) -> float:
    """How alike the three words of a document are to the nearest of the ``expected`` places; 0.0
    where there are not three words."""
    words = [w for paragraph in document.paragraphs for w in paragraph.text.split()]
    if len(words) != 3:
        return 0.0
    return sum(max((ratio(w, place) for place in rules["expected"]), default=0) for w in words) / 3
