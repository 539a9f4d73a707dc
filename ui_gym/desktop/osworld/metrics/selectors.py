"""CSS selectors as XPath, as far as rules over an accessibility tree go."""

from __future__ import annotations

import re

from ui_gym.errors import UserError

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
