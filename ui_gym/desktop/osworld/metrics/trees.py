"""Metrics of an accessibility tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import Broken, as_text, library, scored, unknown
from ui_gym.desktop.osworld.metrics.selectors import as_xpath
from ui_gym.errors import UserError

PARTS = {
    "st": "state",
    "attr": "attributes",
    "cp": "component",
    "doc": "document",
    "docattr": "document/attributes",
    "txt": "text",
    "val": "value",
    "act": "action",
    "class": "class",
    "role": "role",
}
SYSTEMS = ("ubuntu", "windows", "macos")


def namespaces(system: str) -> dict[str, str]:
    """The prefixes that rules may use, in the tree of a system."""
    base = f"https://accessibility.{system}.example.org/ns/"
    return {prefix: base + part for prefix, part in PARTS.items()}


@scored("check_accessibility_tree")
def check_accessibility_tree(
    result: object, rules: Sequence[Mapping[str, Any]], osname: str = "ubuntu"
) -> float:
    """The product over the rules of how well each is met.

    A rule has an ``xpath``, or ``selectors`` (CSS, joined by commas), which must find an element;
    and may have ``text``, which one of these must hold: exactly, or with ``exact: false`` nearly
    (``rapidfuzz.fuzz.ratio``).
    """
    if osname not in SYSTEMS:
        raise unknown("system", osname, ", ".join(SYSTEMS))
    etree = library("lxml.etree")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        tree = etree.fromstring(as_text(result).encode(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Broken(f"not a tree: {error}") from error
    score = 1.0
    for rule in rules:
        path = _path(rule)
        try:
            found = tree.xpath(path, namespaces=namespaces(osname))
        except etree.XPathError as error:
            raise UserError(f"cannot search for {path!r}: {error}") from error
        if not found:
            return 0.0
        if "text" in rule:
            texts = [getattr(element, "text", element) for element in found]
            exact = rule.get("exact", True)
            score *= max(_alike(rule["text"], text or "", exact) for text in texts)
    return score


def _path(rule: Mapping[str, Any]) -> str:
    if "xpath" in rule:
        return str(rule["xpath"])
    if "selectors" not in rule:
        raise UserError(f"a rule over the tree needs 'xpath' or 'selectors': {dict(rule)!r}")
    return as_xpath(", ".join(rule["selectors"]))


def _alike(wanted: str, text: str, exact: bool) -> float:
    if exact:
        return float(wanted == text)
    return float(library("rapidfuzz.fuzz").ratio(wanted, text)) / 100
