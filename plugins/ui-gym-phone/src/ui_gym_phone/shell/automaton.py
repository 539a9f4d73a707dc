"""Automaton: a regular expression run in time that grows with the text alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ui_gym_phone.shell.regex_syntax import RegexFault, RegexNode

MAX_STATES = 4000
MAX_CACHE = 20_000


@dataclass
class _State:
    """`kind` is ``set`` (takes a character), ``split``, ``assert`` or ``accept``."""

    kind: str
    matches: Callable[[str], object] | None = None
    what: str = ""
    following: list[int] = field(default_factory=list)


class Automaton:
    """Thompson's construction, run with sets of states that are cached as they appear."""

    def __init__(self, tree: RegexNode, flags: int) -> None:
        self._flags = flags
        self._states = [_State("accept")]
        self._start = self._build(tree, 0)
        self._cache: dict[tuple[frozenset[int], str, str], tuple[bool, frozenset[int]]] = {}

    def test(self, text: str, spend: Callable[[int], None]) -> bool:
        """Whether it matches anywhere, in one pass."""
        start = frozenset([self._start])
        states, before = start, ""
        for index, char in enumerate((*text, "")):
            accepted, states = self._step(states, before, char)
            if accepted:
                return True
            states |= start
            before = char
            if not index & 63:
                spend(8)
        return False

    def search(self, text: str, start: int, spend: Callable[[int], None]) -> tuple[int, int] | None:
        """The leftmost match, the longest there."""
        if start == 0 and not self.test(text, spend):
            return None
        for begin in range(start, len(text) + 1):
            states, end = frozenset([self._start]), -1
            position = begin
            while states and position <= len(text):
                before = text[position - 1] if position else ""
                char = text[position] if position < len(text) else ""
                accepted, states = self._step(states, before, char)
                end = position if accepted else end
                position += 1
            spend(1 + (position - begin >> 2))
            if end >= 0:
                return begin, end
        return None

    def _step(self, states: frozenset[int], before: str, char: str) -> tuple[bool, frozenset[int]]:
        """Whether a match ends between two characters, and the states after the second."""
        key = (states, before if before == "" else "w" if _is_word(before) else "-", char)
        found = self._cache.get(key)
        if found is not None:
            return found
        waiting, reached = list(states), set(states)
        accepted, after = False, set[int]()
        while waiting:
            state = self._states[waiting.pop()]
            if state.kind == "accept":
                accepted = True
            elif state.kind == "set":
                if char and state.matches is not None and state.matches(char):
                    after.update(state.following)
            elif state.kind == "split" or _holds(state.what, before, char):
                for each in state.following:
                    if each not in reached:
                        reached.add(each)
                        waiting.append(each)
        if len(self._cache) > MAX_CACHE:
            self._cache.clear()
        result = self._cache[key] = (accepted, frozenset(after))
        return result

    def _add(self, state: _State) -> int:
        if len(self._states) >= MAX_STATES:
            raise RegexFault("Regular expression too big")
        self._states.append(state)
        return len(self._states) - 1

    def _build(self, node: RegexNode, after: int) -> int:
        """Add the states of a node; the first of them. `after` is what follows."""
        kind = node.kind
        if kind == "set":
            matches = re.compile(node.text, self._flags | re.DOTALL).fullmatch
            return self._add(_State("set", matches, following=[after]))
        if kind == "any":
            return self._add(_State("set", bool, following=[after]))
        if kind == "cat":
            for each in reversed(node.inner):
                after = self._build(each, after)
            return after
        if kind == "alt":
            choices = [self._build(each, after) for each in node.inner]
            return self._add(_State("split", following=choices))
        if kind == "rep":
            return self._repeat(node, after)
        return self._add(_State("assert", what=kind, following=[after]))

    def _repeat(self, node: RegexNode, after: int) -> int:
        inner = node.inner[0]
        if node.high is None:
            loop = self._add(_State("split"))
            self._states[loop].following = [self._build(inner, loop), after]
            first = loop
        else:
            first = after
            for _ in range(node.high - node.low):
                body = self._build(inner, first)
                first = self._add(_State("split", following=[body, after]))
        for _ in range(node.low):
            first = self._build(inner, first)
        return first


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _holds(what: str, before: str, char: str) -> bool:
    """Whether an assertion holds between two characters; an empty one is the text's end."""
    if what == "bol":
        return not before
    if what == "eol":
        return not char
    left, right = bool(before) and _is_word(before), bool(char) and _is_word(char)
    if what == "start":
        return right and not left
    if what == "end":
        return left and not right
    return (left != right) == (what == "word")
