"""Arithmetic of ``$((...))``: 32-bit signed integers, as in mksh. Nothing is assigned in it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|\|\||&&|[<>=!]=|[-+*/%<>!()])\s*", re.ASCII)

MAX_DEPTH = 30
"""Brackets and variables that name each other."""


class ArithmeticFault(Exception):
    """An expression that has no value; the message is mksh's."""


def _wrap(value: int) -> int:
    """The 32 bits of a number, signed."""
    return (value + 0x80000000) % 0x100000000 - 0x80000000


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: bool(a or b)},
    {"&&": lambda a, b: bool(a and b)},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _quotient, "%": lambda a, b: a - b * _quotient(a, b)},
)
"""The operators, those that bind less first."""


def evaluate(text: str, variables: Mapping[str, str], depth: int = 0) -> int:
    """The value of an expression. Raises `ArithmeticFault`."""
    return _Evaluation(text, variables, depth).value()


class _Evaluation:
    """One pass over an expression, which computes as it parses."""

    def __init__(self, text: str, variables: Mapping[str, str], depth: int) -> None:
        self.text, self.variables, self.depth = text, variables, depth
        self.tokens = list[str]()
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._fault(f"unexpected '{text[position:].strip()[:1]}'")
            self.tokens.append(match[1])
            position = match.end()

    def _fault(self, what: str) -> ArithmeticFault:
        return ArithmeticFault(f"{self.text}: {what}")

    def value(self) -> int:
        if not self.tokens:
            return 0
        result = self._level(0)
        if self.tokens:
            raise self._fault(f"unexpected '{self.tokens[0]}'")
        return result

    def _level(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._operand()
        left = self._level(level + 1)
        while self.tokens and self.tokens[0] in _LEVELS[level]:
            sign = self.tokens.pop(0)
            right = self._level(level + 1)
            if sign in "/%" and right == 0:
                raise self._fault("zero divisor")
            left = _wrap(int(_LEVELS[level][sign](left, right)))
        return left

    def _operand(self) -> int:
        if not self.tokens:
            raise self._fault("unexpected 'end of expression'")
        self._deeper()
        token = self.tokens.pop(0)
        if token == "(":
            result = self._level(0)
            if not self.tokens or self.tokens.pop(0) != ")":
                raise self._fault("missing )")
        elif token in ("-", "+", "!"):
            value = self._operand()
            result = {"-": _wrap(-value), "+": value, "!": int(not value)}[token]
        elif token[0].isdigit():
            result = _wrap(int(token[-4000:]))
        elif token[0].isalpha() or token[0] == "_":
            result = evaluate(self.variables.get(token, ""), self.variables, self.depth)
        else:
            raise self._fault(f"unexpected '{token}'")
        self.depth -= 1
        return result

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._fault("expression recurses on parameter")
