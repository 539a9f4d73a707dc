"""Text documents (.docx, .odt) as the metrics look at them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from typing import Any

from ui_gym.desktop.osworld.metrics.office import opened, pair
from ui_gym.desktop.osworld.metrics.reading import library

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
ODT_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
ODT_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
ODT_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
ODT_FORMAT = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"


def word(path: object) -> Any:
    """python-docx's document. `Broken` where there is none."""
    return opened(path, lambda file: library("docx").Document(file))


def word_pair(result: object, expected: object) -> tuple[Any, Any]:
    """The documents that an agent left and that the task expects, by python-docx."""
    return pair(lambda file: library("docx").Document(file), result, expected)


def kind(path: object) -> str:
    """The ending of a file's name: ``".docx"``."""
    return Path(str(path)).suffix


def texts(path: str) -> list[str]:
    """The texts of the paragraphs of a .docx or .odt."""
    if kind(path) == ".odt":
        return odt_texts(path)
    return [paragraph.text for paragraph in library("docx").Document(path).paragraphs]


def texts_pair(result: object, expected: object) -> tuple[list[str], list[str]]:
    """The texts of the paragraphs of both documents."""
    return pair(texts, result, expected)


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
