"""Expansion: words become arguments - parameters, substitutions, splitting, paths."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ui_gym_phone.shell import globs
from ui_gym_phone.shell.arithmetic import ArithmeticFault, evaluate
from ui_gym_phone.shell.registry import RunningShell
from ui_gym_phone.shell.syntax import (
    Arithmetic,
    Literal,
    Parameter,
    Substitution,
    Word,
    WordPart,
    may_glob,
)

BLANKS = " \t\n"
_PLAIN = ("", "length", "#", "##", "%", "%%")
"""Operators that do not say what an unset parameter stands for."""

PID = "4711"
"""``$$``"""

Segment = tuple[str, bool]
"""A text, and whether it is quoted: then nothing in it is a pattern."""


class ExpansionFault(Exception):
    """A word without a value, such as ``${x:?}``: the shell ends."""


class Expander:
    """Expands words in the state that the shell is in."""

    def __init__(self, shell: RunningShell) -> None:
        self._shell = shell

    # -- the kinds of results --

    def arguments(self, words: Iterable[Word]) -> list[str]:
        """The arguments that words become: split, and with paths for patterns."""
        result = list[str]()
        for word in words:
            if word.constant is not None:
                result.append(word.constant)
                continue
            fields = _Fields(self._shell.session.variables.get("IFS", BLANKS))
            self._add(fields, word, split_literals=False)
            self._shell.budget.check_text(fields.size)
            for segments in fields.done():
                result += self._paths(segments)
        return result

    def text(self, word: Word) -> str:
        """One text, which is neither split nor taken for a pattern."""
        if word.constant is not None:
            return word.constant
        return "".join([text for text, _ in self._whole(word)])

    def pattern(self, word: Word) -> str:
        """One pattern, in which what is quoted is escaped."""
        return _pattern(self._whole(word))

    # -- words --

    def _whole(self, word: Word) -> list[Segment]:
        """The pieces of a word that is not split."""
        fields = _Fields("")
        self._add(fields, word, split_literals=False)
        self._shell.budget.check_text(fields.size)
        segments = list[Segment]()
        for number, field in enumerate(fields.done()):
            segments += [(" ", False)] * (number > 0) + field
        return segments

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
                continue
            for number, text in enumerate([value] if isinstance(value, str) else value):
                if number:
                    fields.end()
                if part.quoted:
                    fields.add(text, True)
                else:
                    fields.split(text)

    def _parts(self, word: Word) -> tuple[WordPart, ...]:
        """The parts, with the home directory for a tilde."""
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Literal) or first.quoted or first.text.split("/")[0] != "~":
            return word.parts
        if first.text == "~" and len(word.parts) > 1:
            return word.parts
        home = self._shell.session.variables.get("HOME", "~")
        return (Literal(home + first.text[1:], True), *word.parts[1:])

    def _paths(self, segments: list[Segment]) -> list[str]:
        shell = self._shell
        open_text = "".join([text for text, quoted in segments if not quoted])
        if may_glob(open_text) and "f" not in shell.session.options:
            shell.budget.spend(10)
            limit = shell.budget.limits.matches
            pattern, cwd = _pattern(segments), shell.session.cwd
            found = globs.expand_path(shell.files, cwd, pattern, limit)
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
            try:
                return str(evaluate(self.text(part.expression), self._shell.session.variables))
            except ArithmeticFault as fault:
                raise ExpansionFault(str(fault)) from None
        value = self._plain(part.name, part.quoted)
        if value is None and "u" in self._shell.session.options and part.operator in _PLAIN:
            raise ExpansionFault(f"{part.name}: parameter not set")
        if not part.operator:
            return "" if value is None else value
        if part.operator == "length":
            several = isinstance(value, list) or part.name in "@*"
            return str(len(self._shell.session.params) - 1 if several else len(value or ""))
        assert part.argument is not None, "all other operators have one"
        if part.operator[-1] in "-=?+":
            return self._alternative(part, part.operator[-1], value, part.argument)
        pattern = self.pattern(part.argument)
        if isinstance(value, list):
            return [self._trim(each, pattern, part.operator) for each in value]
        return self._trim(value or "", pattern, part.operator)

    def _plain(self, name: str, quoted: bool) -> str | list[str] | None:
        session = self._shell.session
        if name in session.variables:
            return session.variables[name]
        if name == "*" and quoted:
            return session.variables.get("IFS", BLANKS)[:1].join(session.params[1:])
        if name in "@*":
            return session.params[1:]
        if name.isdigit():
            number = int(name[:9])
            return session.params[number] if number < len(session.params) else None
        special = {"?": str(session.status), "#": str(len(session.params) - 1), "$": PID, "!": ""}
        return special.get(name)

    def _alternative(
        self, part: Parameter, kind: str, value: str | list[str] | None, word: Word
    ) -> str | list[str] | Word:
        """``${x-word}`` and its like."""
        empty = value is None or (part.operator[0] == ":" and not value)
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

    def _trim(self, value: str, pattern: str, operator: str) -> str:
        """``# ## % %%``: without the shortest or longest piece at an end that matches."""
        matches = globs.compile_glob(pattern).fullmatch
        self._shell.budget.spend(1 + len(value) * (1 + len(value) // 1000))
        lengths = range(len(value) + 1)
        for length in reversed(lengths) if len(operator) == 2 else lengths:
            if operator[0] == "#" and matches(value, 0, length):
                return value[length:]
            if operator[0] == "%" and matches(value, len(value) - length):
                return value[: len(value) - length]
        return value


def _pattern(segments: list[Segment]) -> str:
    return "".join(globs.escape(text) if quoted else text for text, quoted in segments)


class _Fields:
    """Collects the fields that one word becomes."""

    def __init__(self, separators: str) -> None:
        blanks = "".join(char for char in separators if char in BLANKS)
        others = "".join(char for char in separators if char not in BLANKS)
        self._blank = re.compile(f"[{re.escape(blanks)}]+" if blanks else "(?!)")
        self._other = re.compile(f"[{re.escape(others)}]" if others else "(?!)")
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
        """Add a text that separators divide: blanks by runs, others one by one."""
        for number, piece in enumerate(self._other.split(text)):
            if number:
                if self._current is None:
                    self._current = []
                self.end()
            for place, part in enumerate(self._blank.split(piece)):
                if place:
                    self.end()
                if part:
                    self.add(part, False)

    def end(self) -> None:
        """End the field that is open, if any."""
        if self._current is not None:
            self._fields.append(self._current)
            self._current = None

    def done(self) -> list[list[Segment]]:
        self.end()
        return self._fields
