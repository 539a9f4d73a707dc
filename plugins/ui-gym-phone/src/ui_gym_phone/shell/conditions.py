"""Conditions: what `test` and ``[`` ask, and the grammar that they share with `find`."""

from __future__ import annotations

import operator
import posixpath
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from ui_gym_phone.shell.arithmetic import ArithmeticFault, evaluate
from ui_gym_phone.shell.session import ShellSession
from ui_gym_phone.state.files import Files

T = TypeVar("T")

MAX_DEPTH = 30
"""Brackets inside each other."""


class ConditionFault(Exception):
    """A condition that is none; the message is the command's."""


class ConditionParser(ABC, Generic[T]):
    """Parses words into a check of a `T`: "or" below "and" below "not" below brackets."""

    ands, ors, nots = frozenset(("-a", "-and")), frozenset(("-o", "-or")), frozenset(("!", "-not"))
    implied = False
    """Whether "and" may be left out."""

    def __init__(self, words: list[str]) -> None:
        self.left = list(words)
        self._depth = 0

    @abstractmethod
    def primary(self, word: str) -> Callable[[T], bool]:
        """The check that `word`, which was taken, begins."""

    def take(self, complaint: str) -> str:
        """The next word; ConditionFault with the complaint where there is none."""
        if not self.left:
            raise ConditionFault(complaint)
        return self.left.pop(0)

    def negates(self) -> bool:
        """Whether the next word is a "not"."""
        return self.left[0] in self.nots and len(self.left) > 1

    def either(self) -> Callable[[T], bool]:
        """The grammar's start."""
        checks = [self._both()]
        while self.left and self.left[0] in self.ors:
            self.left.pop(0)
            checks.append(self._both())
        return lambda here: any(check(here) for check in checks)

    def _both(self) -> Callable[[T], bool]:
        checks, ends = [self._not()], {*self.ors, ")"}
        while self.left and (self.left[0] in self.ands or self.implied):
            if self.left[0] in ends:
                break
            if self.left[0] in self.ands:
                self.left.pop(0)
            checks.append(self._not())
        return lambda here: all(check(here) for check in checks)

    def _not(self) -> Callable[[T], bool]:
        negated = False
        while self.left and self.negates():
            self.left.pop(0)
            negated = not negated
        check = self._bracketed(self.take("argument expected"))
        return (lambda here: not check(here)) if negated else check

    def _bracketed(self, word: str) -> Callable[[T], bool]:
        if word != "(":
            return self.primary(word)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ConditionFault("(: nested too deeply")
        check = self.either()
        if self.take("missing )") != ")":
            raise ConditionFault("missing )")
        self._depth -= 1
        return check


_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt, "-le": operator.le,
    "-gt": operator.gt, "-ge": operator.ge,
}  # fmt: skip
_TEXTS: dict[str, Callable[[str, str], bool]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_BINARY = frozenset((*_NUMBERS, *_TEXTS))
_UNARY = frozenset("-" + letter for letter in "defhnrswxzL")


def holds(files: Files, session: ShellSession, arguments: list[str]) -> bool:
    """Whether the arguments of `test` are true. ConditionFault where they are no condition."""
    if len(arguments) < 2:
        return any(arguments)
    test = _Test(arguments, files, session)
    check = test.either()
    if test.left:
        raise ConditionFault(f"{test.left[0]}: unexpected operator/operand")
    return check(None)


class _Test(ConditionParser[None]):
    ands, ors, nots = frozenset(("-a",)), frozenset(("-o",)), frozenset(("!",))

    def __init__(self, words: list[str], files: Files, session: ShellSession) -> None:
        super().__init__(words)
        self._files, self._session = files, session
        self._complaint = f"{words[-1]}: expression expected"

    def negates(self) -> bool:
        compared = len(self.left) == 3 and self.left[1] in _BINARY
        return super().negates() and not compared

    def take(self, complaint: str) -> str:
        return super().take(self._complaint if complaint == "argument expected" else complaint)

    def _bracketed(self, word: str) -> Callable[[None], bool]:
        compared = bool(self.left) and self.left[0] in _BINARY
        return self.primary(word) if compared else super()._bracketed(word)

    def primary(self, word: str) -> Callable[[None], bool]:
        if self.left and self.left[0] in _BINARY:
            sign = self.left.pop(0)
            right = self.take(f"{sign}: missing second argument")
            return lambda here: self._compared(sign, word, right)
        if word in _UNARY and self.left:
            value = self.left.pop(0)
            return lambda here: self._about(word, value)
        return lambda here: bool(word)

    def _compared(self, sign: str, left: str, right: str) -> bool:
        if sign in _TEXTS:
            return _TEXTS[sign](left, right)
        try:
            values = [evaluate(text, self._session.variables) for text in (left, right)]
        except ArithmeticFault as fault:
            raise ConditionFault(str(fault)) from None
        return _NUMBERS[sign](*values)

    def _about(self, sign: str, value: str) -> bool:
        if sign in ("-n", "-z"):
            return bool(value) == (sign == "-n")
        path = posixpath.join(self._session.cwd, value)
        if not value or not self._files.exists(path):
            return False
        found = self._files.stat(path)
        if sign == "-d":
            return found.is_dir
        if sign == "-f":
            return stat.S_ISREG(found.mode)
        if sign == "-s":
            return found.is_dir or found.size > 0
        if sign == "-x":
            return bool(found.mode & 0o111)
        return sign in ("-e", "-r", "-w")
