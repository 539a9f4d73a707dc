"""Conditions: `test`, ``[`` and ``[[``."""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Callable, Mapping
from typing import Protocol

from ui_gym_phone.shell.arithmetic import ArithmeticFault, evaluate
from ui_gym_phone.shell.expansion import Expander, ExpansionFault
from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.session import Session
from ui_gym_phone.shell.syntax import Expression, Word
from ui_gym_phone.state.files import Files

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b, "-ne": lambda a, b: a != b, "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b, "-gt": lambda a, b: a > b, "-ge": lambda a, b: a >= b,
}  # fmt: skip
_FILES = ("-nt", "-ot", "-ef")
BINARY = frozenset((*_NUMBERS, *_FILES, "=", "==", "!=", "<", ">"))
UNARY = frozenset("-" + letter for letter in "abcdefghknoprstuwxzGLOS")


class ConditionFault(Exception):
    """A condition that is none; the message is mksh's."""


class Owner(Protocol):
    """The shell that asks."""

    session: Session
    expander: Expander

    @property
    def files(self) -> Files: ...


def holds(shell: Owner, tree: Expression) -> bool:
    """Whether a ``[[ ]]`` is true."""
    operator, operands = tree.operator, tree.operands
    if operator in ("&&", "||", "!"):
        inner = [each for each in operands if isinstance(each, Expression)]
        if operator == "!":
            return not holds(shell, inner[0])
        first = holds(shell, inner[0])
        return first if first == (operator == "||") else holds(shell, inner[1])
    words = [each for each in operands if isinstance(each, Word)]
    left = shell.expander.text(words[0])
    try:
        if len(words) == 1:
            return unary(shell.files, shell.session, operator, left)
        if operator in ("=", "==", "!="):
            pattern = compile_glob(shell.expander.pattern(words[1]))
            return bool(pattern.fullmatch(left)) == (operator != "!=")
        right = shell.expander.text(words[1])
        return binary(shell.files, shell.session, operator, left, right)
    except ConditionFault as fault:
        raise ExpansionFault(str(fault), 2) from None


def test(files: Files, session: Session, arguments: list[str]) -> bool:
    """Whether the arguments of `test` are true. ConditionFault where they are no condition."""
    return _Test(files, session, arguments).value()


def unary(files: Files, session: Session, operator: str, value: str) -> bool:
    """A test of one operand."""
    if operator == "-n":
        return bool(value)
    if operator == "-z":
        return not value
    if operator == "-t":
        return False
    if operator == "-o":
        return value in session.options
    path = posixpath.join(session.cwd, value)
    if not value or not files.exists(path):
        return False
    found = files.stat(path)
    kinds = {"-d": stat.S_ISDIR, "-f": stat.S_ISREG, "-c": stat.S_ISCHR}
    if operator in kinds:
        return kinds[operator](found.mode)
    if operator == "-s":
        return found.is_dir or found.size > 0
    if operator == "-x":
        return bool(found.mode & 0o111)
    return operator in ("-a", "-e", "-r", "-w", "-O", "-G")


def binary(files: Files, session: Session, operator: str, left: str, right: str) -> bool:
    """A test of two operands, as texts."""
    if operator in ("=", "=="):
        return left == right
    if operator == "!=":
        return left != right
    if operator == "<":
        return left < right
    if operator == ">":
        return left > right
    if operator in _NUMBERS:
        return _NUMBERS[operator](*(_number(text, session.variables) for text in (left, right)))
    paths = [posixpath.join(session.cwd, each) for each in (left, right)]
    there = [files.exists(path) for path in paths]
    if operator == "-ef":
        return all(there) and files.canonical(paths[0]) == files.canonical(paths[1])
    times = [files.stat(path).mtime if files.exists(path) else float("-inf") for path in paths]
    return times[0] > times[1] if operator == "-nt" else times[0] < times[1]


def _number(text: str, variables: Mapping[str, str]) -> int:
    try:
        return evaluate(text, variables)
    except ArithmeticFault as fault:
        raise ConditionFault(str(fault)) from None


class _Test:
    """The grammar of `test`: ``-o`` below ``-a`` below ``!``."""

    def __init__(self, files: Files, session: Session, arguments: list[str]) -> None:
        self.files, self.session, self.arguments = files, session, arguments
        self.index = 0
        self.depth = 0

    def value(self) -> bool:
        count = len(self.arguments)
        if count == 0:
            return False
        if count == 1:
            return bool(self.arguments[0])
        result = self._either()
        if self.index < count:
            raise ConditionFault(f"{self.arguments[self.index]}: unexpected operator/operand")
        return result

    def _either(self) -> bool:
        result = self._both()
        while self._peek() == "-o":
            self.index += 1
            right = self._both()
            result = result or right
        return result

    def _both(self) -> bool:
        result = self._not()
        while self._peek() == "-a":
            self.index += 1
            right = self._not()
            result = result and right
        return result

    def _not(self) -> bool:
        negated = False
        while self._peek() == "!" and len(self.arguments) - self.index > 1:
            if len(self.arguments) - self.index == 3 and self._peek(1) in BINARY:
                break
            self.index += 1
            negated = not negated
        return self._primary() != negated

    def _primary(self) -> bool:
        left = self._peek()
        if left is None:
            raise ConditionFault(f"{self.arguments[-1]}: expression expected")
        operator = self._peek(1)
        if operator in BINARY:
            right = self._peek(2)
            if right is None:
                raise ConditionFault(f"{operator}: missing second argument")
            self.index += 3
            return binary(self.files, self.session, operator, left, right)
        if left == "(":
            self.index += 1
            self.depth += 1
            if self.depth > 30:
                raise ConditionFault("(: nested too deeply")
            result = self._either()
            if self._peek() != ")":
                raise ConditionFault("missing )")
            self.index += 1
            return result
        if left in UNARY and operator is not None:
            self.index += 2
            return unary(self.files, self.session, left, operator)
        self.index += 1
        return bool(left)

    def _peek(self, ahead: int = 0) -> str | None:
        index = self.index + ahead
        return self.arguments[index] if index < len(self.arguments) else None
