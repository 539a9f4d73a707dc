"""Parser of sed's scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ui_gym_phone.shell.globs import bracket_class
from ui_gym_phone.shell.regex import Regex, RegexFault, compile_regex


class SedFault(Exception):
    """A script that is none."""


@dataclass
class Address:
    """Line `number` (0: the last), or `regex` (None with `reuse`: the one used last)."""

    number: int = -1
    regex: Regex | None = None
    reuse: bool = False
    plus: bool = False


@dataclass
class Command:
    """One command; `target` is where a block ends or a label is."""

    name: str
    first: Address | None = None
    last: Address | None = None
    negated: bool = False
    text: str = ""
    regex: Regex | None = None
    flags: str = ""
    nth: int = 1
    target: int = 0
    table: dict[int, str] = field(default_factory=dict)
    active: int = -1
    """The line on which the range ends; -1 outside of it, 0 while that is not known."""


class Script:
    """Parses a script."""

    def __init__(self, text: str, extended: bool) -> None:
        self.text, self.extended, self.position = text, extended, 0

    def _fault(self) -> SedFault:
        end = self.text.find("\n", self.position)
        line = self.text[: end if end >= 0 else None]
        char = self.text[self.position : self.position + 1] or " "
        return SedFault(f"bad pattern '{line}'@{self.position + 1} ({char})")

    def _skip(self, characters: str) -> None:
        while self._peek() and self._peek() in characters:
            self.position += 1

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def parse(self) -> list[Command]:
        commands, blocks, labels = list[Command](), list[int](), dict[str, int]()
        while True:
            self._skip(" \t\n;")
            if not self._peek():
                break
            each = self._command()
            if each.name == ":":
                labels[each.text] = len(commands)
            elif each.name == "{":
                blocks.append(len(commands))
            elif each.name == "}":
                if not blocks:
                    raise SedFault("unmatched '}'")
                commands[blocks.pop()].target = len(commands)
            commands.append(each)
        if blocks:
            raise SedFault("unmatched '{'")
        for each in commands:
            if each.name in "btT":
                if each.text and each.text not in labels:
                    raise SedFault(f"no label '{each.text}'")
                each.target = labels[each.text] if each.text else len(commands)
        return commands

    def _command(self) -> Command:
        first = self._address()
        last = None
        if first is not None:
            self._skip(" \t")
            if self._peek() == ",":
                self.position += 1
                self._skip(" \t")
                last = self._address()
                if last is None:
                    raise self._fault()
        self._skip(" \t")
        negated = self._peek() == "!"
        self._skip("! \t")
        name = self._peek()
        if not name or name not in "{}sydDpPnNqQaicgGhHx=btT:lrw#":
            self.position += not negated and first is None
            raise self._fault()
        self.position += 1
        result = Command(name, first, last, negated)
        self._arguments(result)
        return result

    def _arguments(self, result: Command) -> None:
        name = result.name
        if name == "#":
            self._line()
            result.name = ":"
            result.text = "#"
        elif name == "s":
            self._substitution(result)
        elif name == "y":
            source, target = self._two()
            source, target = (_unescape(each) for each in (source, target))
            if len(source) != len(target):
                raise self._fault()
            result.table = {ord(a): b for a, b in zip(source, target, strict=True)}
        elif name in "aic":
            result.text = self._inserted()
        elif name in "btT:rw":
            self._skip(" \t")
            ends = "\n" if name in "rw" else "\n;}" if name != ":" else "\n;"
            start = self.position
            while self._peek() and self._peek() not in ends:
                self.position += 1
            result.text = self.text[start : self.position].strip()
        elif name in "qQ":
            self._skip(" \t")
            found = re.compile(r"\d{0,5}").match(self.text, self.position)
            result.text = found.group() if found else ""
            self.position += len(result.text)
        if name not in "{}aic#:rw" and (self._peek() not in ("", "\n", ";", "}", " ", "\t", "#")):
            raise self._fault()

    def _line(self) -> str:
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        line, self.position = self.text[self.position : end], end
        return line

    def _inserted(self) -> str:
        self._skip(" \t")
        if self._peek() == "\\":
            self.position += 1
            self._skip(" \t")
            if self._peek() == "\n":
                self.position += 1
        lines = list[str]()
        while True:
            line = self._line()
            ended = not line.endswith("\\")
            lines.append(re.sub(r"\\(.)", r"\1", line if ended else line[:-1]))
            if ended or not self._peek():
                return "\n".join(lines) + "\n"
            self.position += 1

    def _address(self) -> Address | None:
        char = self._peek()
        if char == "$":
            self.position += 1
            return Address(0)
        found = re.compile(r"(\+?)(\d{1,9})").match(self.text, self.position)
        if found:
            self.position = found.end()
            return Address(int(found[2]), plus=bool(found[1]))
        if char == "\\":
            self.position += 1
        elif char != "/":
            return None
        pattern = self._delimited(self._peek())
        flags = ""
        if self._peek() == "I":
            self.position += 1
            flags = "I"
        return Address(regex=self._regex(pattern, flags), reuse=not pattern)

    def _delimited(self, delimiter: str) -> str:
        """A text up to the delimiter, which may be escaped in it."""
        if not delimiter or delimiter in "\n\\":
            raise self._fault()
        self.position += 1
        text, start = "", self.position - 1
        while (char := self._peek()) != delimiter:
            if not char:
                self.position = start
                raise self._fault()
            self.position += 1
            if char == "\\" and self._peek():
                following = self._peek()
                self.position += 1
                text += following if following == delimiter else "\\" + following
                continue
            if char == "[" and (bracket := bracket_class(self.text, self.position, negations="^")):
                text += self.text[self.position - 1 : bracket[1]]
                self.position = bracket[1]
                continue
            text += char
        self.position += 1
        return text

    def _two(self) -> tuple[str, str]:
        delimiter, start = self._peek(), self.position
        first = self._delimited(delimiter)
        self.position -= 1
        try:
            return first, self._delimited(delimiter)
        except SedFault:
            self.position = start
            raise self._fault() from None

    def _substitution(self, result: Command) -> None:
        pattern, result.text = self._two()
        found = re.compile(r"(?:[gpIi]|\d{1,6})*").match(self.text, self.position)
        assert found is not None
        self.position = found.end()
        result.flags = found.group()
        numbers = re.findall(r"\d+", result.flags)
        result.nth = int(numbers[-1]) if numbers else 1
        result.regex = self._regex(pattern, result.flags.upper())
        groups = [int(each) for each in re.findall(r"(?<!\\)(?:\\\\)*\\(\d)", result.text)]
        if result.regex and max(groups, default=0) > result.regex.groups:
            raise SedFault(f"no \\{max(groups)}")

    def _regex(self, pattern: str, flags: str) -> Regex | None:
        if not pattern:
            return None
        try:
            return compile_regex(
                pattern, extended=self.extended, ignore_case="I" in flags, escapes=True
            )
        except RegexFault as fault:
            raise SedFault(f"bad regex '{pattern}': {fault}") from None


def _unescape(text: str) -> str:
    plain = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda found: plain.get(found[1], found[1]), text, flags=re.DOTALL)
