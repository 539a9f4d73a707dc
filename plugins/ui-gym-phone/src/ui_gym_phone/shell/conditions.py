"""Conditions of `test` and ``[``."""

from __future__ import annotations

import operator
import posixpath
import stat
from collections.abc import Callable

from ui_gym_phone.shell.arithmetic import ArithmeticFault, evaluate
from ui_gym_phone.shell.session import ShellSession
from ui_gym_phone.state.files import Files

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt, "-le": operator.le,
    "-gt": operator.gt, "-ge": operator.ge,
}  # fmt: skip
_TEXTS: dict[str, Callable[[str, str], bool]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_BINARY = frozenset((*_NUMBERS, *_TEXTS, "-nt", "-ot"))
_UNARY = frozenset("-" + letter for letter in "defhnrswxzL")


class ConditionFault(Exception):
    """A condition that is none; the message is mksh's."""


def holds(files: Files, session: ShellSession, arguments: list[str]) -> bool:
    """Whether the arguments of `test` are true. ConditionFault where they are no condition."""
    return _Test(files, session, arguments).value()


class _Test:
    """The grammar of `test`: ``-o`` below ``-a`` below ``!``."""

    def __init__(self, files: Files, session: ShellSession, arguments: list[str]) -> None:
        self.files, self.session, self.left = files, session, list(arguments)
        self.last = arguments[-1] if arguments else ""
        self.depth = 0

    def value(self) -> bool:
        if len(self.left) < 2:
            return bool(self.last)
        result = self._either()
        if self.left:
            raise ConditionFault(f"{self.left[0]}: unexpected operator/operand")
        return result

    def _either(self) -> bool:
        result = self._both()
        while self.left[:1] == ["-o"]:
            self.left.pop(0)
            result = self._both() or result
        return result

    def _both(self) -> bool:
        result = self._not()
        while self.left[:1] == ["-a"]:
            self.left.pop(0)
            result = self._not() and result
        return result

    def _not(self) -> bool:
        negated = False
        while self.left[:1] == ["!"] and len(self.left) > 1:
            if len(self.left) == 3 and self.left[1] in _BINARY:
                break
            self.left.pop(0)
            negated = not negated
        return self._primary() != negated

    def _primary(self) -> bool:
        if not self.left:
            raise ConditionFault(f"{self.last}: expression expected")
        first = self.left.pop(0)
        if self.left and self.left[0] in _BINARY:
            sign = self.left.pop(0)
            if not self.left:
                raise ConditionFault(f"{sign}: missing second argument")
            return self._compared(sign, first, self.left.pop(0))
        if first == "(":
            self.depth += 1
            if self.depth > 30:
                raise ConditionFault("(: nested too deeply")
            result = self._either()
            if self.left[:1] != [")"]:
                raise ConditionFault("missing )")
            self.left.pop(0)
            return result
        if first in _UNARY and self.left:
            return self._about(first, self.left.pop(0))
        return bool(first)

    def _compared(self, sign: str, left: str, right: str) -> bool:
        if sign in _TEXTS:
            return _TEXTS[sign](left, right)
        if sign in _NUMBERS:
            return _NUMBERS[sign](self._number(left), self._number(right))
        paths = [posixpath.join(self.session.cwd, each) for each in (left, right)]
        times = [
            self.files.stat(path).mtime if self.files.exists(path) else float("-inf")
            for path in paths
        ]
        return times[0] > times[1] if sign == "-nt" else times[0] < times[1]

    def _number(self, text: str) -> int:
        try:
            return evaluate(text, self.session.variables)
        except ArithmeticFault as fault:
            raise ConditionFault(str(fault)) from None

    def _about(self, sign: str, value: str) -> bool:
        if sign in ("-n", "-z"):
            return bool(value) == (sign == "-n")
        path = posixpath.join(self.session.cwd, value)
        if not value or not self.files.exists(path):
            return False
        found = self.files.stat(path)
        if sign == "-d":
            return found.is_dir
        if sign == "-f":
            return stat.S_ISREG(found.mode)
        if sign == "-s":
            return found.is_dir or found.size > 0
        if sign == "-x":
            return bool(found.mode & 0o111)
        return sign in ("-e", "-r", "-w")
