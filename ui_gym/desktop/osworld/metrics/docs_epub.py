"""Books (.epub): compare_epub."""

from __future__ import annotations

import difflib
import zipfile
from typing import Any

from ui_gym.desktop.osworld.metrics.office import examined, pair
from ui_gym.desktop.osworld.metrics.reading import library

OWN = {"toc.ncx": "navPoint", "content.opf": "dc:identifier"}
"""What differs from one making of a book to the next: lines with these words."""


@examined("compare_epub")
def compare_epub(result: Any, expected: Any) -> float:
    """How alike the parts of two books are, line by line: their contents and their pages (.html),
    each part compared with the one of the same place in the order of their names.

    Other than in OSWorld, a part without a counterpart counts as 0.
    """
    mine, its = pair(_parts, result, expected)
    if not mine:
        return 0.0
    alike = [
        difflib.SequenceMatcher(a=first, b=second).ratio()
        for first, second in zip(mine, its, strict=False)
    ]
    return sum(alike) / max(len(mine), len(its))


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
