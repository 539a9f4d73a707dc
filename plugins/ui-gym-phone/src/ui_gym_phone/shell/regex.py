"""POSIX regular expressions, basic and extended, in bounded time.

Most patterns go to `re`. One that could make it backtrack for ages, or whose leftmost match `re`
would not make the longest, is run as an automaton whose states are made when they are reached.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ui_gym_phone.shell.automaton import Automaton
from ui_gym_phone.shell.regex_syntax import RegexFault, RegexNode, RegexParser, source_of

MAX_COST = 4_000_000
"""Steps that `re` may take at worst for one text; beyond, the automaton is used."""


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
        self._automaton: Automaton | None = None

    def test(self, text: str, spend: Callable[[int], None]) -> bool:
        """Whether it matches anywhere."""
        if self._simple(len(text)):
            return self._re.search(text) is not None
        return self._states().test(text, spend)

    def search(self, text: str, start: int, spend: Callable[[int], None]) -> Found | None:
        """The leftmost match from `start` on, the longest there."""
        if self._simple(len(text)) and not self._traits.choices:
            match = self._re.search(text, start)
            return Found(*match.span()) if match else None
        bounds = self._states().search(text, start, spend)
        return Found(*bounds) if bounds else None

    def _simple(self, size: int) -> bool:
        traits = self._traits
        easy = not traits.nested and traits.optional <= 10
        return easy and (traits.loops == 0 or size ** (traits.loops + 1) <= MAX_COST)

    def _states(self) -> Automaton:
        if self._automaton is None:
            self._automaton = Automaton(self._tree, self._flags)
        return self._automaton


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
