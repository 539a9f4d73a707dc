"""PDF files, books (.epub) and web pages."""

from __future__ import annotations

import difflib
import operator
import zipfile
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from ui_gym.desktop.osworld.metrics.images import perceptual_hash
from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    examined,
    given,
    library,
    opens,
    ratio,
    read_json,
    read_text,
    scored,
    unknown,
)

RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
ALIKE = 5
"""By how many of its 64 bits the hash of a picture may differ."""


@opens
def _pdf_pages(path: str) -> list[Any]:
    return list(library("pypdf").PdfReader(path).pages)


@opens
def pdf_texts(path: str) -> list[str]:
    """The text of each page of a PDF file."""
    return [page.extract_text() for page in _pdf_pages(path)]


def _text(path: object) -> str:
    return "\n".join(pdf_texts(path)).strip()


@examined()
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
        first, second = _text(result), _text(expected)
    except Broken:
        return 0.0
    return ratio(first, second)


@opens
def _hashes(path: str) -> list[Any]:
    """The perceptual hashes of the pictures."""
    found = [picture.image for page in _pdf_pages(path) for picture in page.images]
    return [perceptual_hash(image) for image in found if image is not None]


@examined(_hashes, _hashes)
def compare_pdf_images(mine: list[Any], its: list[Any], **options: Any) -> float:
    """The part of the pictures that look the same, by their perceptual hashes; 0.0 where there is
    not the same number of them, 1.0 where there are none."""
    if len(mine) != len(its):
        return 0.0
    same = [np.count_nonzero(a != b) <= ALIKE for a, b in zip(mine, its, strict=True)]
    return sum(same) / len(same) if same else 1.0


@examined()
def check_pdf_pages(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where the number of pages is in the ``relation`` (``"le"``) to ``ref_value``."""
    relation = rules["relation"]
    if relation not in RELATIONS:
        raise unknown("relation", relation, ", ".join(RELATIONS))
    return bool(getattr(operator, relation)(len(_pdf_pages(result)), rules["ref_value"]))


@examined(_text, read_json)
def is_gold_text_included_in_pdf(text: str, wanted: Any) -> float:
    """1.0 where every value of a JSON object, a file, is in the text of a PDF file."""
    return all(str(value) in text for value in wanted.values())


OWN = {"toc.ncx": "navPoint", "content.opf": "dc:identifier"}
"""What differs from one making of a book to the next: lines with these words."""


@opens
def _parts(path: str) -> list[list[str]]:
    """The lines of each part, in the order of the parts' names."""
    with zipfile.ZipFile(path) as file:
        return [
            _lines(name, file.read(name).decode())
            for name in sorted(file.namelist())
            if name in OWN or name.endswith(".html")
        ]


def _lines(name: str, text: str) -> list[str]:
    if name in OWN:
        return [line for line in text.splitlines() if OWN[name] not in line]
    html = library("lxml.html")
    page = html.fromstring(text.replace("\n", "").replace("\r", "").encode())
    return str(html.tostring(page, pretty_print=True, encoding="unicode")).splitlines()


@examined(_parts, _parts)
def compare_epub(mine: list[list[str]], its: list[list[str]]) -> float:
    """How alike the parts of two books are, line by line: their contents and their pages (.html),
    each part compared with the one of the same place in the order of their names.

    Other than in OSWorld, a part without a counterpart counts as 0.
    """
    if not mine:
        return 0.0
    alike = [
        difflib.SequenceMatcher(a=first, b=second).ratio()
        for first, second in zip(mine, its, strict=False)
    ]
    return sum(alike) / max(len(mine), len(its))


PageNode = str | tuple[str, str, dict[str, str]]
"""A text, or an element's (tag, text of everything in it, attributes)."""


@scored()
def compare_htmls(result: object, expected: object, **options: Any) -> float:
    """1 if both pages have the same elements (tag, text, attributes) and texts, in order.

    ``ignore_sdnum`` leaves out the attribute in which LibreOffice writes the language of a number.
    OSWorld stops at the end of the shorter page; here both must end together.
    """
    ignored = {"sdnum"} if options.get("ignore_sdnum") else set()

    def nodes(path: object) -> Iterator[PageNode]:
        return _nodes(_page(path), ignored)

    pairs = zip_longest(nodes(result), given(lambda path: list(nodes(path)), expected))
    return all(one == other for one, other in pairs)


def _page(path: object) -> Any:
    html = library("lxml.html")
    try:
        return html.document_fromstring(read_text(path).encode("utf-8"))
    except (ValueError, library("lxml.etree").ParserError) as error:
        raise Broken(f"{path} is no page: {error}") from error


def _nodes(element: Any, ignored: set[str]) -> Iterator[PageNode]:
    for event in _walk(element):
        if isinstance(event, str):
            yield event
        elif isinstance(event.tag, str):
            attributes = {key: value for key, value in event.attrib.items() if key not in ignored}
            yield event.tag, event.text_content().strip(), attributes


def _walk(element: Any) -> Iterator[Any]:
    """Elements and texts in document order, without recursion: a page may be deep."""
    stack = [element]
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, str):
            continue
        children: list[Any] = [item.text] if item.text else []
        for child in item:
            children.append(child)
            if child.tail:
                children.append(child.tail)
        stack.extend(reversed(children))
