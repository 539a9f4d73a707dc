"""POSIX regular expressions, basic and extended, in bounded time.

Most patterns go to `re`. One that could make it backtrack for ages, or whose leftmost match `re`
would not make the longest, is matched by sets of positions: where a node may end, for all places
where it may begin at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ui_gym_phone.shell.regex_syntax import RegexFault, RegexNode, RegexParser, source_of

MAX_COST = 4_000_000
"""Steps that `re` may take at worst for one text; beyond, sets of positions are used."""


class Found(NamedTuple):
    """Where a pattern matched."""

    start: int
    end: int


@dataclass
class _Traits:
    """What tells whether `re` can be trusted with a pattern."""

    loops: int = 0
    optional: int = 0
    nested: bool = False
    choices: bool = False


class Regex:
    """A compiled pattern."""

    def __init__(self, tree: RegexNode, ignore_case: bool) -> None:
        self._tree = tree
        self._traits = _Traits()
        _examine(tree, self._traits, inside=False)
        flags = re.IGNORECASE if ignore_case else 0
        try:
            self._re = re.compile(source_of(tree), flags | re.DOTALL)
        except (re.error, OverflowError, RecursionError):
            raise RegexFault("Invalid regular expression") from None
        self._flags = flags

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
            if match is None or not self._traits.choices:
                return Found(*match.span()) if match else None
            begins = range(match.start(), match.start() + 1)
        for begin in begins:
            ends = self._ends(self._tree, text, frozenset((begin,)), spend)
            if ends:
                return Found(begin, max(ends))
        return None

    def _simple(self, size: int) -> bool:
        traits = self._traits
        easy = not traits.nested and traits.optional <= 10
        return easy and (traits.loops == 0 or size ** (traits.loops + 1) <= MAX_COST)

    def _ends(
        self, node: RegexNode, text: str, starts: frozenset[int], spend: Callable[[int], None]
    ) -> frozenset[int]:
        """Where the node may end that begins at one of `starts`."""
        spend(1 + (len(starts) >> 4))
        if node.kind == "cat":
            for each in node.inner:
                if not starts:
                    break
                starts = self._ends(each, text, starts, spend)
            return starts
        if node.kind == "alt":
            found = [self._ends(each, text, starts, spend) for each in node.inner]
            return frozenset().union(*found)
        if node.kind == "rep":
            return self._repeated(node, text, starts, spend)
        matches = re.compile(source_of(node), self._flags | re.DOTALL).match
        ends = [match.end() for at in starts if (match := matches(text, at)) is not None]
        return frozenset(ends)

    def _repeated(
        self, node: RegexNode, text: str, starts: frozenset[int], spend: Callable[[int], None]
    ) -> frozenset[int]:
        for _ in range(node.low):
            if not starts:
                break
            starts = self._ends(node.inner[0], text, starts, spend)
        reached, new, left = starts, starts, node.high
        while new and (left is None or left > node.low):
            new = self._ends(node.inner[0], text, new, spend) - reached
            reached |= new
            left = None if left is None else left - 1
        return reached


@lru_cache(maxsize=512)
def compile_regex(
    pattern: str, *, extended: bool, ignore_case: bool = False, whole: bool = False
) -> Regex:
    """A pattern of `grep`. With `whole` it matches nothing less than a whole text.

    Raises:
        RegexFault: it is none.
    """
    parser = RegexParser(pattern, extended)
    tree = parser.alternatives(0)
    if parser.position < len(pattern):
        raise RegexFault("Unmatched ) or \\)")
    if whole:
        tree = RegexNode("cat", inner=(RegexNode("bol"), tree, RegexNode("eol")))
    return Regex(tree, ignore_case)


def _examine(node: RegexNode, traits: _Traits, *, inside: bool) -> None:
    if node.kind == "alt":
        traits.choices = True
        traits.nested |= inside
    looped = False
    if node.kind == "rep":
        looped = node.high is None or node.high > 3
        traits.loops += looped
        traits.optional += not looped
        traits.nested |= inside
    for each in node.inner:
        _examine(each, traits, inside=inside or looped)


__all__ = ["Found", "Regex", "RegexFault", "compile_regex"]
