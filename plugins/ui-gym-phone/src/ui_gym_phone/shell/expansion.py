"""Expansion: words become arguments - parameters, substitutions, splitting, paths."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Protocol

from ui_gym_phone.shell import globs
from ui_gym_phone.shell.arithmetic import ArithmeticFault, evaluate
from ui_gym_phone.shell.budget import Budget
from ui_gym_phone.shell.session import Session
from ui_gym_phone.shell.syntax import (
    Arithmetic,
    Literal,
    Node,
    Parameter,
    Part,
    Substitution,
    Word,
    may_glob,
)
from ui_gym_phone.state.files import Files

BLANKS = " \t\n"
PID = "4711"
"""``$$``"""

Segment = tuple[str, bool]
"""A text, and whether it is quoted: then nothing in it is a pattern."""


class ExpansionFault(Exception):
    """A word without a value, such as ``${x:?}``: the shell ends with `code`."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class Owner(Protocol):
    """The shell whose words are expanded."""

    session: Session
    budget: Budget

    @property
    def files(self) -> Files: ...

    def capture(self, body: Node) -> str: ...

    def assign(self, name: str, value: str) -> None: ...


class Expander:
    """Expands words in the state that the shell is in."""

    def __init__(self, shell: Owner) -> None:
        self._shell = shell

    # -- the kinds of results --

    def arguments(self, words: Iterable[Word]) -> list[str]:
        """The arguments that words become: split, and with paths for patterns."""
        result = list[str]()
        for word in words:
            if word.constant is not None:
                result.append(word.constant)
                continue
            for segments in self._split(word):
                result += self._paths(segments)
        return result

    def text(self, word: Word) -> str:
        """One text, which is neither split nor taken for a pattern."""
        if word.constant is not None:
            return word.constant
        return "".join([text for text, _ in self._whole(word)])

    def pattern(self, word: Word) -> str:
        """One pattern, in which what is quoted is escaped."""
        return "".join(globs.escape(text) if q else text for text, q in self._whole(word))

    def calculate(self, word: Word) -> int:
        """The value of an arithmetic expression."""
        try:
            return evaluate(self.text(word), self._shell.session.variables, self._shell.assign)
        except ArithmeticFault as fault:
            raise ExpansionFault(str(fault)) from None

    # -- words --

    def _whole(self, word: Word) -> list[Segment]:
        segments = list[Segment]()
        for part in self._parts(word):
            if isinstance(part, Literal):
                segments.append((part.text, part.quoted))
            else:
                value = self._value(part)
                if isinstance(value, Word):
                    segments += self._whole(value)
                else:
                    joined = value if isinstance(value, str) else " ".join(value)
                    segments.append((joined, part.quoted))
        self._shell.budget.check_text(sum(len(text) for text, _ in segments))
        return segments

    def _split(self, word: Word) -> list[list[Segment]]:
        fields = _Fields(self._shell.session.variables.get("IFS", BLANKS))
        self._add(fields, word, split_literals=False)
        self._shell.budget.check_text(fields.size)
        return fields.done()

    def _add(self, fields: _Fields, word: Word, *, split_literals: bool) -> None:
        for part in self._parts(word):
            if isinstance(part, Literal):
                if split_literals and not part.quoted:
                    fields.split(part.text)
                else:
                    fields.add(part.text, part.quoted)
                continue
            value = self._value(part)
            if isinstance(value, Word):
                self._add(fields, value, split_literals=not part.quoted)
            elif isinstance(value, str):
                if part.quoted:
                    fields.add(value, True)
                else:
                    fields.split(value)
            else:
                fields.several(value, part.quoted)

    def _parts(self, word: Word) -> tuple[Part, ...]:
        """The parts, with the home directory for a tilde."""
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Literal) or first.quoted or not first.text.startswith("~"):
            return word.parts
        user, slash, rest = first.text[1:].partition("/")
        variables = self._shell.session.variables
        home = {"": variables.get("HOME"), "+": variables.get("PWD")}.get(user)
        if home is None or (not slash and len(word.parts) > 1):
            return word.parts
        return (Literal(home + slash + rest, True), *word.parts[1:])

    def _paths(self, segments: list[Segment]) -> list[str]:
        shell = self._shell
        if not may_glob("".join([text for text, quoted in segments if not quoted])):
            return ["".join([text for text, _ in segments])]
        if "noglob" not in shell.session.options:
            pattern = "".join(globs.escape(text) if q else text for text, q in segments)
            shell.budget.spend(10)
            limit = shell.budget.limits.matches
            found = globs.expand_path(shell.files, shell.session.cwd, pattern, limit)
            shell.budget.spend(len(found))
            if found:
                return found
        return ["".join([text for text, _ in segments])]

    # -- values --

    def _value(self, part: Parameter | Substitution | Arithmetic) -> str | list[str] | Word:
        """A text, the texts of ``$@``, or the word that stands for an unset parameter."""
        self._shell.budget.spend()
        if isinstance(part, Substitution):
            return self._shell.capture(part.body)
        if isinstance(part, Arithmetic):
            return str(self.calculate(part.expression))
        if part.operator:
            return self._operated(part)
        value = self._plain(part.name, part.quoted)
        if value is None:
            if "nounset" in self._shell.session.options and part.name not in "@*":
                raise ExpansionFault(f"{part.name}: parameter not set")
            return ""
        return value

    def _plain(self, name: str, quoted: bool) -> str | list[str] | None:
        session = self._shell.session
        if name in session.variables:
            return session.variables[name]
        if name == "@" or (name == "*" and not quoted):
            return session.params[1:]
        if name == "*":
            ifs = session.variables.get("IFS", BLANKS)
            return ifs[:1].join(session.params[1:])
        if name.isdigit():
            number = int(name[:9])
            return session.params[number] if number < len(session.params) else None
        special = {
            "?": str(session.status), "#": str(len(session.params) - 1), "$": PID,
            "!": str(session.background or ""), "-": "", "PPID": "1", "LINENO": "1",
            "RANDOM": "", "SECONDS": "0",
        }  # fmt: skip
        if name == "RANDOM":
            seed = int(session.variables.get("_RANDOM", "1")) * 1103515245 + 12345
            session.variables["_RANDOM"] = str(seed % 2**31)
            return str((seed >> 16) % 32768)
        return special.get(name)

    def _operated(self, part: Parameter) -> str | list[str] | Word:
        operator, name = part.operator, part.name
        value = self._plain(name, part.quoted)
        if operator == "length":
            if isinstance(value, list) or name in "@*":
                return str(len(self._shell.session.params) - 1)
            return str(len(value or ""))
        assert part.argument is not None
        kind = operator.lstrip(":")
        if kind in ("-", "=", "?", "+"):
            empty = value is None or (operator[0] == ":" and not value)
            return self._alternative(part, kind, value, empty, part.argument)
        if isinstance(value, list):
            return [self._edit(part, each) for each in value]
        return self._edit(part, value or "")

    def _alternative(
        self, part: Parameter, kind: str, value: str | list[str] | None, empty: bool, word: Word
    ) -> str | list[str] | Word:
        if kind == "+":
            return "" if empty else word
        if not empty:
            assert value is not None
            return value
        if kind == "-":
            return word
        text = self.text(word)
        if kind == "?":
            raise ExpansionFault(f"{part.name}: {text or 'parameter null or not set'}")
        if not part.name.isidentifier():
            raise ExpansionFault(f"{part.name}: cannot assign")
        self._shell.assign(part.name, text)
        return text

    def _edit(self, part: Parameter, value: str) -> str:
        operator = part.operator
        assert part.argument is not None
        self._shell.budget.spend(1 + (len(value) >> 8))
        if operator == ":":
            start = self.calculate(part.argument)
            start = max(0, start + len(value)) if start < 0 else start
            length = len(value) if part.second is None else self.calculate(part.second)
            return value[start:][: max(0, length)]
        pattern = self.pattern(part.argument)
        if operator[0] == "/":
            new = self.text(part.second) if part.second else ""
            return self._replace(value, pattern, new, everywhere=operator == "//")
        return self._trim(value, pattern, operator)

    def _trim(self, value: str, pattern: str, operator: str) -> str:
        """``# ## % %%``: without the shortest or longest piece at an end that matches."""
        matches = globs.compile_glob(pattern).fullmatch
        self._shell.budget.spend(len(value) * (1 + len(value) // 1000))
        front, longest = operator[0] == "#", len(operator) == 2
        lengths = range(len(value) + 1)
        for length in reversed(lengths) if longest else lengths:
            if front and matches(value, 0, length):
                return value[length:]
            if not front and matches(value, len(value) - length):
                return value[: len(value) - length]
        return value

    def _replace(self, value: str, pattern: str, new: str, *, everywhere: bool) -> str:
        if not pattern:
            return value
        matches = globs.compile_glob(pattern).fullmatch
        result, position = list[str](), 0
        while position < len(value):
            self._shell.budget.spend(1 + ((len(value) - position) >> 1))
            for end in range(len(value), position, -1):
                if matches(value, position, end):
                    result.append(new)
                    position = end
                    break
            else:
                result.append(value[position])
                position += 1
                continue
            if not everywhere:
                break
        return "".join(result) + value[position:]


class _Fields:
    """Collects the fields that one word becomes."""

    def __init__(self, separators: str) -> None:
        self._separators = separators
        self._fields: list[list[Segment]] = []
        self._current: list[Segment] | None = None
        self.size = 0

    def add(self, text: str, quoted: bool) -> None:
        """Add to the field that is open."""
        self.size += len(text)
        if self._current is None:
            self._current = []
        self._current.append((text, quoted))

    def split(self, text: str) -> None:
        """Add a text that separators divide."""
        if not text:
            return
        separators = self._separators
        if not any(char in separators for char in text):
            self.add(text, False)
            return
        blanks = "".join(char for char in separators if char in BLANKS)
        others = "".join(char for char in separators if char not in BLANKS)
        pieces = [text]
        if others:
            table = str.maketrans(dict.fromkeys(others, others[0]))
            pieces = text.translate(table).split(others[0])
        for number, piece in enumerate(pieces):
            if number:
                if self._current is None:
                    self._current = []
                self._end()
            self._blanks(piece, blanks)

    def _blanks(self, text: str, blanks: str) -> None:
        if not blanks:
            if text:
                self.add(text, False)
            return
        if text[:1] and text[0] in blanks:
            self._end()
        table = str.maketrans(dict.fromkeys(blanks, " "))
        words = [word for word in text.translate(table).split(" ") if word]
        for number, word in enumerate(words):
            if number:
                self._end()
            self.add(word, False)
        if words and text[-1] in blanks:
            self._end()

    def several(self, texts: list[str], quoted: bool) -> None:
        """Add ``$@``: each text ends the field before it."""
        for number, text in enumerate(texts):
            if number:
                self._end()
            if quoted:
                self.add(text, True)
            else:
                self.split(text)

    def _end(self) -> None:
        if self._current is not None:
            self._fields.append(self._current)
            self._current = None

    def done(self) -> list[list[Segment]]:
        self._end()
        return self._fields


def normal(cwd: str, path: str) -> str:
    """An absolute path without dots, as `cd` keeps it."""
    whole = os.path.normpath(path if path.startswith("/") else f"{cwd}/{path}")
    return whole[1:] if whole.startswith("//") else whole
