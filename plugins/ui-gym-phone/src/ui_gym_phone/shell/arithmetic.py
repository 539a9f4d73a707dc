"""Arithmetic of ``$((...))``, ``((...))`` and ``let``: 32-bit signed integers, as in mksh."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

_TOKEN = re.compile(
    r"\s*(?:(\d+#[0-9a-zA-Z_@]+|0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|"
    r"(<<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|[-+*/%<>=!~&^|?:(),]))",
    re.ASCII,
)
_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_ASSIGN = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="))

MAX_DEPTH = 30
"""Brackets and variables that name each other."""


class ArithmeticFault(Exception):
    """An expression that has no value; the message is mksh's."""


def evaluate(
    text: str,
    variables: Mapping[str, str],
    assign: Callable[[str, str], None] | None = None,
    depth: int = 0,
) -> int:
    """The value of an expression. `assign` sets a variable; without it assignments are errors."""
    return _Evaluation(text, variables, assign, depth).value()


def wrap(value: int) -> int:
    """The 32 bits of a number, signed."""
    return (value + 0x80000000) % 0x100000000 - 0x80000000


class _Evaluation:
    """One pass over an expression, which computes as it parses."""

    def __init__(
        self,
        text: str,
        variables: Mapping[str, str],
        assign: Callable[[str, str], None] | None,
        depth: int,
    ) -> None:
        self.text, self.variables, self.assign, self.depth = text, variables, assign, depth
        self.tokens = self._split(text)
        self.index = 0
        self.skipping = 0
        """Above 0 in a branch that does not count: nothing is assigned or divided there."""

    def _split(self, text: str) -> list[str]:
        tokens, position, end = list[str](), 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._fault(f"unexpected '{text[position:].strip()[:1]}'")
            tokens.append(match.group().strip())
            position = match.end()
        return tokens

    def _fault(self, what: str) -> ArithmeticFault:
        return ArithmeticFault(f"{self.text}: {what}")

    def value(self) -> int:
        if not self.tokens:
            return 0
        result = self._comma()
        if self.index < len(self.tokens):
            raise self._fault(f"unexpected '{self.tokens[self.index]}'")
        return result

    def _peek(self) -> str:
        return self.tokens[self.index] if self.index < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.index += 1
        return token

    def _comma(self) -> int:
        result = self._assignment()
        while self._peek() == ",":
            self._take()
            result = self._assignment()
        return result

    def _assignment(self) -> int:
        name = self._peek()
        follows = self.tokens[self.index + 1 : self.index + 2]
        if follows and follows[0] in _ASSIGN and (name[:1].isalpha() or name[:1] == "_"):
            self.index += 2
            self._deeper()
            right = self._assignment()
            self.depth -= 1
            if follows[0] != "=":
                right = self._apply(follows[0][:-1], self._variable(name), right)
            return self._set(name, right)
        return self._ternary()

    def _ternary(self) -> int:
        condition = self._binary(1)
        if self._peek() != "?":
            return condition
        self._take()
        self._deeper()
        first = self._branch(bool(condition), self._assignment)
        if self._take() != ":":
            raise self._fault("unexpected 'end of expression'")
        second = self._branch(not condition, self._assignment)
        self.depth -= 1
        return first if condition else second

    def _branch(self, counts: bool, read: Callable[[], int]) -> int:
        self.skipping += not counts
        result = read()
        self.skipping -= not counts
        return result

    def _binary(self, level: int) -> int:
        left = self._unary()
        while _BINARY.get(self._peek(), 0) >= level:
            operator = self._take()
            above = _BINARY[operator] + 1
            if operator in ("&&", "||"):
                decided = bool(left) == (operator == "||")
                right = self._branch(not decided, partial(self._binary, above))
                left = int(operator == "||" if decided else bool(right))
            else:
                left = self._apply(operator, left, self._binary(above))
        return left

    def _unary(self) -> int:
        token = self._take()
        if token in ("+", "-", "!", "~", "++", "--", "("):
            self._deeper()
            result = self._prefix(token)
            self.depth -= 1
            return result
        if not token:
            raise self._fault("unexpected 'end of expression'")
        if token[0].isdigit():
            return self._number(token)
        if token[0].isalpha() or token[0] == "_":
            old = self._variable(token)
            if self._peek() in ("++", "--"):
                self._set(token, wrap(old + (1 if self._take() == "++" else -1)))
            return old
        raise self._fault(f"unexpected '{token}'")

    def _prefix(self, token: str) -> int:
        if token == "(":
            result = self._comma()
            if self._take() != ")":
                raise self._fault("missing )")
            return result
        if token in ("++", "--"):
            name = self._take()
            if not (name[:1].isalpha() or name[:1] == "_"):
                raise self._fault(f"{token} requires lvalue")
            return self._set(name, wrap(self._variable(name) + (1 if token == "++" else -1)))
        value = self._unary()
        return {"+": value, "-": wrap(-value), "!": int(not value), "~": ~value}[token]

    def _apply(self, operator: str, left: int, right: int) -> int:
        if operator in ("/", "%"):
            if right == 0:
                if self.skipping:
                    return 0
                raise self._fault("zero divisor")
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return wrap(quotient if operator == "/" else left - right * quotient)
        if operator in ("<<", ">>"):
            return wrap(left << (right & 31) if operator == "<<" else left >> (right & 31))
        simple: dict[str, Callable[[], int]] = {
            "+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right,
            "&": lambda: left & right, "|": lambda: left | right, "^": lambda: left ^ right,
            "<": lambda: int(left < right), "<=": lambda: int(left <= right),
            ">": lambda: int(left > right), ">=": lambda: int(left >= right),
            "==": lambda: int(left == right), "!=": lambda: int(left != right),
        }  # fmt: skip
        return wrap(simple[operator]())

    def _number(self, token: str) -> int:
        base, hashed, digits = token.partition("#")
        try:
            if hashed:
                return wrap(int(digits, int(base)))
            return wrap(int(token, 16) if token[1:2] in ("x", "X") else int(token[-4000:]))
        except ValueError:
            raise ArithmeticFault(f"{token}: bad number") from None

    def _variable(self, name: str) -> int:
        text = self.variables.get(name, "").strip()
        if not text:
            return 0
        self._deeper()
        result = evaluate(text, self.variables, self.assign, self.depth)
        self.depth -= 1
        return result

    def _set(self, name: str, value: int) -> int:
        if not self.skipping:
            if self.assign is None:
                raise self._fault("not an lvalue")
            self.assign(name, str(value))
        return value

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._fault("expression recurses on parameter")
