"""PDF files: their text, their pictures, the number of their pages."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from ui_gym.desktop.osworld.metrics.office import examined, opened, pair
from ui_gym.desktop.osworld.metrics.pictures import perceptual_hash
from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    given,
    library,
    read_json,
    unknown,
)

RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
ALIKE = 5
"""By how many of its 64 bits the hash of a picture may differ."""


def _text(path: str) -> str:
    pages = library("pypdf").PdfReader(path).pages
    return "\n".join(page.extract_text() for page in pages).strip()


@examined("compare_pdfs")
def compare_pdfs(result: Any, expected: Any) -> float:
    """How alike the texts of two files are, in [0, 1]; of two lists, the mean over their pairs.

    As some tasks give the expected file as the result, a pair of which either cannot be read is 0.
    """
    if not isinstance(expected, list):
        result, expected = [result], [expected]
    pairs = zip(result or (), expected, strict=False)
    return sum(_likeness(*paths) for paths in pairs) / len(expected) if expected else 0.0


def _likeness(result: object, expected: object) -> float:
    try:
        first, second = opened(result, _text), opened(expected, _text)
    except Broken:
        return 0.0
    return float(library("rapidfuzz.fuzz").ratio(first, second)) / 100


@examined("compare_pdf_images")
def compare_pdf_images(result: Any, expected: Any, **options: Any) -> float:
    """The part of the pictures that look the same, by their perceptual hashes; 0.0 where there is
    not the same number of them, 1.0 where there are none."""
    mine, its = pair(_hashes, result, expected)
    if len(mine) != len(its):
        return 0.0
    same = [np.count_nonzero(a != b) <= ALIKE for a, b in zip(mine, its, strict=True)]
    return sum(same) / len(same) if same else 1.0


def _hashes(path: str) -> list[Any]:
    pages = library("pypdf").PdfReader(path).pages
    found = [picture.image for page in pages for picture in page.images]
    return [perceptual_hash(image) for image in found if image is not None]


@examined("check_pdf_pages")
def check_pdf_pages(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the number of pages is in the ``relation`` (``"le"``) to ``ref_value``."""
    relation = rules["relation"]
    if relation not in RELATIONS:
        raise unknown("relation", relation, ", ".join(RELATIONS))
    pages = opened(result, lambda path: len(library("pypdf").PdfReader(path).pages))
    return float(getattr(operator, relation)(pages, rules["ref_value"]))


@examined("is_gold_text_included_in_pdf")
def is_gold_text_included_in_pdf(result: Any, expected: Any) -> float:
    """1.0 where every value of a JSON object, a file, is in the text of a PDF file."""
    text = opened(result, _text)
    wanted = given(read_json, expected)
    return float(all(str(value) in text for value in wanted.values()))
