"""The metric that compares web pages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import Broken, given, library, read_text, scored

FormulaNode = str | tuple[str, str, dict[str, str]]
"""A text, or an element's (tag, text of everything in it, attributes)."""


@scored("compare_htmls")
def compare_htmls(result: object, expected: object, **options: Any) -> float:
    """1 if both pages have the same elements (tag, text, attributes) and texts, in order.

    ``ignore_sdnum`` leaves out the attribute in which LibreOffice writes the language of a number.
    OSWorld stops at the end of the shorter page; here both must end together.
    """
    ignored = {"sdnum"} if options.get("ignore_sdnum") else set()

    def nodes(path: object) -> Iterator[FormulaNode]:
        return _nodes(_page(path), ignored)

    pairs = zip_longest(nodes(result), given(lambda path: list(nodes(path)), expected))
    return float(all(one == other for one, other in pairs))


def _page(path: object) -> Any:
    html = library("lxml.html")
    try:
        return html.document_fromstring(read_text(path).encode("utf-8"))
    except (ValueError, library("lxml.etree").ParserError) as error:
        raise Broken(f"{path} is no page: {error}") from error


def _nodes(element: Any, ignored: set[str]) -> Iterator[FormulaNode]:
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
