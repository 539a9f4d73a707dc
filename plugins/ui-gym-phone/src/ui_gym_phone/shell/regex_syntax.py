"""Parser of POSIX regular expressions: a pattern as a tree, and as `re` writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ui_gym_phone.shell.globs import bracket_class

MAX_COUNT = 255
"""The largest count in braces: POSIX' RE_DUP_MAX."""

MAX_DEPTH = 30


class RegexFault(Exception):
    """A pattern that is none; the message is the C library's."""


@dataclass(frozen=True)
class RegexNode:
    """A node of a pattern: ``set any bol eol word start end not_word cat alt rep``."""

    kind: str
    text: str = ""
    inner: tuple[RegexNode, ...] = ()
    low: int = 0
    high: int | None = None


class RegexParser:
    """Parses one pattern. `alternatives` is the grammar's start."""

    def __init__(self, pattern: str, extended: bool) -> None:
        self.pattern, self.extended = pattern, extended
        self.position = 0

    def _ahead(self, token: str) -> bool:
        """Whether an operator is next, which a basic pattern writes with a backslash."""
        return self.pattern.startswith(token if self.extended else "\\" + token, self.position)

    def _skip(self, token: str) -> None:
        self.position += len(token) + (not self.extended)

    def _bar(self) -> bool:
        """Whether another alternative follows; basic patterns have none, unlike GNU's."""
        return self.extended and self.pattern.startswith("|", self.position)

    def alternatives(self, depth: int) -> RegexNode:
        if depth > MAX_DEPTH:
            raise RegexFault("Regular expression too big")
        found = [self._branch(depth)]
        while self._bar():
            self.position += 1
            found.append(self._branch(depth))
        return found[0] if len(found) == 1 else RegexNode("alt", inner=tuple(found))

    def _branch(self, depth: int) -> RegexNode:
        items = list[RegexNode]()
        while self.position < len(self.pattern):
            if self._bar() or (self._ahead(")") and (depth or not self.extended)):
                break
            items.append(self._repeated(self._atom(not items, depth)))
        return RegexNode("cat", inner=tuple(items))

    def _atom(self, first: bool, depth: int) -> RegexNode:
        pattern, start = self.pattern, self.position
        char = pattern[start]
        if self._ahead("("):
            self._skip("(")
            inner = self.alternatives(depth + 1)
            if not self._ahead(")"):
                raise RegexFault("Unmatched ( or \\(")
            self._skip(")")
            return inner
        self.position += 1
        if char == ".":
            return RegexNode("any")
        if char == "[":
            found = bracket_class(pattern, start + 1, negations="^", escapes=False)
            if found is None:
                raise RegexFault("Invalid regular expression")
            self.position = found[1]
            try:
                re.compile(found[0])
            except re.error:
                raise RegexFault("Invalid range end") from None
            return RegexNode("set", found[0])
        if char == "^" and (self.extended or first):
            return RegexNode("bol")
        if char == "$" and (self.extended or self._ends_branch()):
            return RegexNode("eol")
        if char == "\\":
            return self._escape()
        return RegexNode("set", re.escape(char))

    def _ends_branch(self) -> bool:
        return self.position >= len(self.pattern) or self._ahead(")")

    def _escape(self) -> RegexNode:
        if self.position >= len(self.pattern):
            raise RegexFault("Trailing backslash")
        char = self.pattern[self.position]
        self.position += 1
        special = {"<": "start", ">": "end", "b": "word", "B": "not_word"}
        if char in special:
            return RegexNode(special[char])
        if char in "wWsS":
            return RegexNode("set", "\\" + char)
        if char in "123456789":
            raise RegexFault("Invalid back reference")
        return RegexNode("set", re.escape(char))

    def _repeated(self, node: RegexNode) -> RegexNode:
        stacked = 0
        while self.position < len(self.pattern):
            bounds = self._bounds(node)
            if bounds is None:
                return node
            if node.kind == "rep" and bounds == (node.low, node.high) == (0, None):
                continue  # a** is a*
            stacked += 1
            if stacked > 5:
                raise RegexFault("Invalid preceding regular expression")
            node = RegexNode("rep", inner=(node,), low=bounds[0], high=bounds[1])
        return node

    def _bounds(self, node: RegexNode) -> tuple[int, int | None] | None:
        if node.kind in ("bol", "eol") and not self.extended:
            return None
        if self.pattern[self.position] == "*":
            self.position += 1
            return 0, None
        if self.extended and self.pattern[self.position] in "+?":
            self.position += 1
            return (1, None) if self.pattern[self.position - 1] == "+" else (0, 1)
        if not self._ahead("{"):
            return None
        closing = r"\}" if self.extended else r"\\\}"
        start = self.position + (1 if self.extended else 2)
        found = re.compile(r"(\d*)(,?)(\d*)" + closing, re.ASCII).match(self.pattern, start)
        if found is None or not (found[1] or found[2]):
            if self.extended and not self.pattern[start : start + 1].isdigit():
                return None
            raise RegexFault("Unmatched \\{" if found is None else "Invalid content of \\{\\}")
        self.position = found.end()
        low = int(found[1][:6] or "0")
        high = low if not found[2] else int(found[3][:6]) if found[3] else None
        if max(low, high or 0) > MAX_COUNT or (high is not None and high < low):
            raise RegexFault("Invalid content of \\{\\}")
        return low, high


def source_of(node: RegexNode) -> str:
    """The pattern as `re` writes it."""
    kind = node.kind
    if kind == "set":
        return node.text
    if kind == "cat":
        return "".join(map(source_of, node.inner))
    if kind == "alt":
        return "(?:" + "|".join(map(source_of, node.inner)) + ")"
    if kind == "rep":
        high = "" if node.high is None else node.high
        return f"(?:{source_of(node.inner[0])}){{{node.low},{high}}}"
    return {
        "any": ".", "bol": r"\A", "eol": r"\Z", "word": r"\b", "not_word": r"\B",
        "start": r"\b(?=\w)", "end": r"\b(?<=\w)",
    }[kind]  # fmt: skip
