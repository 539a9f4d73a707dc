"""POSIX regular expressions, basic and extended, in bounded time.

Most patterns go to `re`. One that could make it backtrack for ages, or whose leftmost match `re`
would not make the longest, is matched by sets of positions: where a node may end, for all places
where it may begin at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ui_gym_phone.shell.globs import bracket_class

MAX_COST = 4_000_000
"""Steps that `re` may take at worst for one text; beyond, sets of positions are used."""

MAX_COUNT = 255
"""The largest count in braces: POSIX' RE_DUP_MAX."""

MAX_DEPTH = 30

_ESCAPES = {"<": r"\b(?=\w)", ">": r"\b(?<=\w)", **{c: "\\" + c for c in "bBwWsS"}}


class RegexFault(Exception):
    """A pattern that is none; the message is the C library's."""


class Found(NamedTuple):
    """Where a pattern matched."""

    start: int
    end: int


class RegexNode(NamedTuple):
    """A node of a pattern: ``one`` sign or place, ``cat``, ``alt``, or ``rep`` of its first node.
    `source` is how `re` writes it."""

    kind: str
    source: str
    inner: tuple[RegexNode, ...] = ()
    low: int = 0
    high: int | None = None

    @property
    def looped(self) -> bool:
        """Whether it may repeat often enough to cost."""
        return self.kind == "rep" and (self.high is None or self.high > 3)

    def below(self, inside: bool = False) -> Iterator[tuple[RegexNode, bool]]:
        """All nodes, and whether they are inside of a loop."""
        yield self, inside
        for each in self.inner:
            yield from each.below(inside or self.looped)


class Regex:
    """A compiled pattern."""

    def __init__(self, tree: RegexNode, ignore_case: bool) -> None:
        self._tree = tree
        self._flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
        try:
            self._re = re.compile(tree.source, self._flags)
        except (re.error, OverflowError, RecursionError):
            raise RegexFault("Invalid regular expression") from None
        nodes = list(tree.below())
        self._choices = any(node.kind == "alt" for node, _ in nodes)
        self._loops = sum(node.looped for node, _ in nodes)
        optional = sum(node.kind == "rep" and not node.looped for node, _ in nodes)
        nested = any(inside and node.kind in ("alt", "rep") for node, inside in nodes)
        self._easy = not nested and optional <= 10

    def test(self, text: str, spend: Callable[[int], None]) -> bool:
        """Whether it matches anywhere."""
        if self._simple(len(text)):
            return self._re.search(text) is not None
        return bool(self._ends(self._tree, text, frozenset(range(len(text) + 1)), spend))

    def search(self, text: str, start: int, spend: Callable[[int], None]) -> Found | None:
        """The leftmost match from `start` on, the longest there."""
        begins = range(start, len(text) + 1)
        if self._simple(len(text)):
            match = self._re.search(text, start)
            if match is None or not self._choices:
                return Found(*match.span()) if match else None
            begins = range(match.start(), match.start() + 1)
        for begin in begins:
            ends = self._ends(self._tree, text, frozenset((begin,)), spend)
            if ends:
                return Found(begin, max(ends))
        return None

    def _simple(self, size: int) -> bool:
        return self._easy and (self._loops == 0 or size ** (self._loops + 1) <= MAX_COST)

    def _ends(
        self, node: RegexNode, text: str, starts: frozenset[int], spend: Callable[[int], None]
    ) -> frozenset[int]:
        """Where the node may end that begins at one of `starts`."""
        spend(1 + (len(starts) >> 4))
        if node.kind == "cat":
            for each in node.inner:
                starts = self._ends(each, text, starts, spend) if starts else starts
            return starts
        if node.kind == "alt":
            return frozenset().union(*(self._ends(i, text, starts, spend) for i in node.inner))
        if node.kind == "rep":
            for _ in range(node.low):
                starts = self._ends(node.inner[0], text, starts, spend) if starts else starts
            reached, new, left = starts, starts, node.high
            while new and (left is None or left > node.low):
                new = self._ends(node.inner[0], text, new, spend) - reached
                reached |= new
                left = None if left is None else left - 1
            return reached
        matches = re.compile(node.source, self._flags).match
        return frozenset(match.end() for at in starts if (match := matches(text, at)) is not None)


@lru_cache(maxsize=512)
def compile_regex(
    pattern: str, *, extended: bool, ignore_case: bool = False, whole: bool = False
) -> Regex:
    """A pattern of `grep`. With `whole` it matches nothing less than a whole text.

    Raises:
        RegexFault: it is none.
    """
    parser = _RegexParser(pattern, extended)
    tree = parser.alternatives(0)
    if parser.position < len(pattern):
        raise RegexFault("Unmatched ) or \\)")
    if whole:
        tree = _joined([RegexNode("one", r"\A"), tree, RegexNode("one", r"\Z")])
    return Regex(tree, ignore_case)


def _joined(items: list[RegexNode]) -> RegexNode:
    return RegexNode("cat", "".join(each.source for each in items), tuple(items))


class _RegexParser:
    """Parses one pattern. `alternatives` is the grammar's start."""

    def __init__(self, pattern: str, extended: bool) -> None:
        self.pattern, self.extended = pattern, extended
        self.position = 0

    def _accept(self, token: str) -> bool:
        """Take an operator, which a basic pattern writes with a backslash, if it is next."""
        if found := self._ahead(token):
            self.position += len(token) + (not self.extended)
        return found

    def _ahead(self, token: str) -> bool:
        return self.pattern.startswith(token if self.extended else "\\" + token, self.position)

    def _bar(self) -> bool:
        """Whether another alternative follows; basic patterns have none, unlike GNU's."""
        return self.extended and self._ahead("|")

    def alternatives(self, depth: int) -> RegexNode:
        if depth > MAX_DEPTH:
            raise RegexFault("Regular expression too big")
        found = [self._branch(depth)]
        while self._bar():
            self.position += 1
            found.append(self._branch(depth))
        source = "(?:" + "|".join(each.source for each in found) + ")"
        return found[0] if len(found) == 1 else RegexNode("alt", source, tuple(found))

    def _branch(self, depth: int) -> RegexNode:
        items = list[RegexNode]()
        while self.position < len(self.pattern):
            if self._bar() or (self._ahead(")") and (depth or not self.extended)):
                break
            items.append(self._repeated(self._atom(not items, depth)))
        return _joined(items)

    def _atom(self, first: bool, depth: int) -> RegexNode:
        if self._accept("("):
            inner = self.alternatives(depth + 1)
            if not self._accept(")"):
                raise RegexFault("Unmatched ( or \\(")
            return inner
        char = self.pattern[self.position]
        self.position += 1
        if char == "[":
            return RegexNode("one", self._class())
        if char == "\\":
            return RegexNode("one", self._escape())
        ends = self.extended or self.position >= len(self.pattern) or self._ahead(")")
        if (char == "^" and (self.extended or first)) or (char == "$" and ends):
            return RegexNode("one", r"\A" if char == "^" else r"\Z")
        return RegexNode("one", "." if char == "." else re.escape(char))

    def _class(self) -> str:
        found = bracket_class(self.pattern, self.position, negations="^", escapes=False)
        if found is None:
            raise RegexFault("Invalid regular expression")
        source, self.position = found
        try:
            re.compile(source)
        except re.error:
            raise RegexFault("Invalid range end") from None
        return source

    def _escape(self) -> str:
        if self.position >= len(self.pattern):
            raise RegexFault("Trailing backslash")
        char = self.pattern[self.position]
        self.position += 1
        if char in "123456789":
            raise RegexFault("Invalid back reference")
        return _ESCAPES.get(char, re.escape(char))

    def _repeated(self, node: RegexNode) -> RegexNode:
        stacked = 0
        while self.position < len(self.pattern) and (bounds := self._bounds(node)) is not None:
            if node.kind == "rep" and bounds == (node.low, node.high) == (0, None):
                continue  # a** is a*
            stacked += 1
            if stacked > 5:
                raise RegexFault("Invalid preceding regular expression")
            low, high = bounds
            source = f"(?:{node.source}){{{low},{'' if high is None else high}}}"
            node = RegexNode("rep", source, (node,), low, high)
        return node

    def _bounds(self, node: RegexNode) -> tuple[int, int | None] | None:
        """How often the node is repeated, if what follows says so."""
        if node.source in (r"\A", r"\Z") and not self.extended:
            return None
        if (char := self.pattern[self.position]) == "*" or (self.extended and char in "+?"):
            self.position += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        start = self.position
        if not self._accept("{"):
            return None
        closing = r"\}" if self.extended else r"\\\}"
        found = re.compile(r"(\d*)(,?)(\d*)" + closing, re.ASCII).match(self.pattern, self.position)
        if found is None or not (found[1] or found[2]):
            if self.extended and not self.pattern[self.position : self.position + 1].isdigit():
                self.position = start
                return None
            raise RegexFault("Unmatched \\{" if found is None else "Invalid content of \\{\\}")
        self.position = found.end()
        low = int(found[1][:6] or "0")
        high = low if not found[2] else int(found[3][:6]) if found[3] else None
        if max(low, high or 0) > MAX_COUNT or (high is not None and high < low):
            raise RegexFault("Invalid content of \\{\\}")
        return low, high
