"""Metrics of an accessibility tree, whose elements CSS selectors or XPath find."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import Broken, as_text, library, ratio, scored, unknown
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


@scored()
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
            alike = operator.eq if rule.get("exact", True) else ratio
            score *= max(float(alike(rule["text"], text or "")) for text in texts)
    return score


def _path(rule: Mapping[str, Any]) -> str:
    if "xpath" in rule:
        return str(rule["xpath"])
    if "selectors" not in rule:
        raise UserError(f"a rule over the tree needs 'xpath' or 'selectors': {dict(rule)!r}")
    return as_xpath(", ".join(rule["selectors"]))


_STRING = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\''
_WORD = r"(?:[\w-]|\\.)+"
_TOKEN = re.compile(
    rf"""
    (?P<space>\s*[>+~]\s*|\s+)
  | (?P<comma>\s*,\s*)
  | \[\s*(?P<key>(?:{_WORD}\|)?{_WORD})\s*
      (?:(?P<test>[~|^$*]?=)\s*(?P<value>{_STRING}|{_WORD})\s*)?\]
  | :(?P<pseudo>first-child|last-child|nth-child\((?P<nth>\d+)\))
  | (?P<tag>{_WORD}|\*)
    """,
    re.VERBOSE,
)
_STEPS = {
    "": "//",
    ">": "/",
    "+": "/following-sibling::*[1]/self::",
    "~": "/following-sibling::",
}
_TESTS = {
    "=": "{key} = {value}",
    "^=": "starts-with({key}, {value})",
    "*=": "contains({key}, {value})",
    "$=": "substring({key}, string-length({key}) - string-length({value}) + 1) = {value}",
    "~=": "contains(concat(' ', normalize-space({key}), ' '), concat(' ', {value}, ' '))",
    "|=": "({key} = {value} or starts-with({key}, concat({value}, '-')))",
}


def as_xpath(selector: str) -> str:
    """The XPath of a CSS selector.

    Types, attributes with a namespace (``[attr|id="x"]``), the operators and combinators of CSS 3,
    lists, ``:first-child``, ``:last-child`` and ``:nth-child(3)``. `UserError` for anything else.
    """
    text, position = selector.strip(), 0
    path, fresh = "", True  # fresh: the next step has no tag yet
    step = "//"
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None or (fresh and (found["space"] or found["comma"])):
            raise UserError(f"cannot read the selector {selector!r} at {text[position:]!r}")
        position = found.end()
        if found["space"]:
            step, fresh = _STEPS[found["space"].strip()], True
        elif found["comma"]:
            path, step, fresh = f"{path} | ", "//", True
        elif found["tag"]:
            if not fresh:
                raise UserError(f"cannot read the selector {selector!r} at {found[0]!r}")
            path, fresh = path + step + _named(_unescaped(found["tag"])), False
        else:
            path, fresh = f"{path}{step}*" if fresh else path, False
            path += f"[{_condition(found)}]"
    if fresh:
        raise UserError(f"the selector {selector!r} ends too early")
    return path


def _condition(found: re.Match[str]) -> str:
    if found["pseudo"]:
        if found["pseudo"] == "last-child":
            return "not(following-sibling::*)"
        return f"count(preceding-sibling::*) = {int(found['nth'] or 1) - 1}"
    key = "@" + _unescaped(found["key"]).replace("|", ":")
    if not found["test"]:
        return key
    value = found["value"]
    value = _unescaped(value[1:-1] if value[0] in "\"'" else value)
    return _TESTS[found["test"]].format(key=key, value=_literal(value))


def _named(tag: str) -> str:
    return "*" if tag == "*" else f"*[name() = {_literal(tag)}]"


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _literal(text: str) -> str:
    """A text in XPath, which knows no escapes."""
    if "'" not in text:
        return f"'{text}'"
    parts = ', "\'", '.join(f"'{part}'" for part in text.split("'"))
    return f"concat({parts})"
