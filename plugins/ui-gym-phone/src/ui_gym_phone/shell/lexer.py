"""Lexer: a shell line as tokens; words come with their quotes and expansions taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ui_gym_phone.shell.escapes import dollar_quote
from ui_gym_phone.shell.syntax import (
    Arithmetic,
    Literal,
    Node,
    Parameter,
    Part,
    Redirect,
    ShellSyntaxError,
    Substitution,
    Word,
    make_word,
)  # fmt: skip

MAX_DEPTH = 40
"""How deep expansions and commands may be nested."""

META = " \t\n;&|<>()"
"""What ends an unquoted word."""

_OPERATOR = re.compile(r";;|;|&&|&>|&|\|\||\||\(|\)|<<<|<<-|<<|<&|<>|<|>>|>&|>\||>")
_IO_NUMBER = re.compile(r"\d(?=[<>])")
_BLANK = re.compile(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?")
_NAME = re.compile(r"[A-Za-z_]\w*|\d|[@*#?$!-]", re.ASCII)
_BRACE_NAME = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!-]", re.ASCII)
_BRACE_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##|#|%%|%|//|/|:")


class Token(NamedTuple):
    """`kind` is ``word``, ``operator``, ``number`` (of a redirection), ``newline`` or ``end``."""

    kind: str
    text: str
    word: Word | None = None


class Lexer:
    """Reads tokens from `source`.

    `substitute` parses the commands inside of ``$(`` from a position on, and returns them with the
    position after the bracket; `parse` parses a whole text (of backquotes).
    """

    def __init__(
        self,
        source: str,
        position: int,
        substitute: Callable[[str, int, int], tuple[Node, int]],
        parse: Callable[[str, int], Node],
        depth: int = 0,
    ) -> None:
        self.source = source
        self.position = position
        self._substitute = substitute
        self._parse = parse
        self.depth = depth
        """How many things are open around what is read."""
        self._documents: list[tuple[Redirect, str, bool, bool]] = []

    def deeper(self) -> None:
        """Note that something opens; `depth` is counted down when it closes."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ShellSyntaxError("syntax error: nested too deeply")

    def next(self) -> Token:
        """The next token."""
        source = self.source
        blank = _BLANK.match(source, self.position)
        assert blank is not None
        self.position = start = blank.end()
        if start >= len(source):
            self._read_documents()
            return Token("end", "")
        char = source[start]
        if char == "\n":
            self.position += 1
            self._read_documents()
            return Token("newline", "\n")
        if char in META:
            operator = _OPERATOR.match(source, start)
            assert operator is not None
            self.position = operator.end()
            return Token("operator", operator.group())
        if number := _IO_NUMBER.match(source, start):
            self.position = number.end()
            return Token("number", number.group())
        parts = self._parts(META, quoted=False)
        return Token("word", source[start : self.position], make_word(parts))

    def expect_document(self, redirect: Redirect, delimiter: Word, tabs: bool) -> None:
        """The text after this line, up to `delimiter`, is the here-document of `redirect`."""
        quoted = any(isinstance(part, Literal) and part.quoted for part in delimiter.parts)
        text = "".join(part.text for part in delimiter.parts if isinstance(part, Literal))
        self._documents.append((redirect, text, quoted, tabs))

    def calculation(self) -> Word | None:
        """The expression of ``((``, of which one was read, up to ``))``; None if there is none."""
        if not self.source.startswith("(", self.position):
            return None
        end = self._arithmetic_end(self.position + 1)
        if end is None:
            return None
        word = self._within(self.source[self.position + 1 : end])
        self.position = end + 2
        return word

    # -- words --

    def _parts(self, ends: str, *, quoted: bool, quotes: bool = True) -> list[Part]:
        """Parts up to one of the characters `ends`, or to the end."""
        source, parts = self.source, list[Part]()
        while self.position < len(source):
            start, char = self.position, source[self.position]
            if char in ends:
                break
            if char == "\\":
                self._backslash(parts, ends, quoted)
            elif char == "'" and not quoted:
                end = source.find("'", start + 1)
                if end < 0:
                    raise ShellSyntaxError("no closing quote")
                parts.append(Literal(source[start + 1 : end], True))
                self.position = end + 1
            elif char == '"' and quotes:
                parts += self._double_quotes()
            elif char == "$":
                self._dollar(parts, quoted)
            elif char == "`":
                parts.append(self._backquotes(quoted))
            else:
                self.position += 1
                while self.position < len(source) and source[self.position] not in ends + "\\'\"$`":
                    self.position += 1
                parts.append(Literal(source[start : self.position], quoted))
        return parts

    def _backslash(self, parts: list[Part], ends: str, quoted: bool) -> None:
        escaped = self.source[self.position + 1 : self.position + 2]
        self.position += 1 + len(escaped)
        if escaped == "\n":
            return
        if quoted and escaped not in ("$", "`", "\\", "") and escaped not in ends:
            parts.append(Literal("\\" + escaped, True))
        else:
            parts.append(Literal(escaped or "\\", True))

    def _double_quotes(self) -> list[Part]:
        self.position += 1
        self.deeper()
        parts = self._parts('"', quoted=True)
        self.depth -= 1
        if self.position >= len(self.source):
            raise ShellSyntaxError("no closing quote")
        self.position += 1
        return parts or [Literal("", True)]

    def _within(self, text: str) -> Word:
        """A text in which only expansions and backslashes count, as in a here-document."""
        inner = Lexer(text, 0, self._substitute, self._parse, self.depth)
        inner.deeper()
        return make_word(inner._parts("", quoted=True, quotes=False))

    def _dollar(self, parts: list[Part], quoted: bool) -> None:
        source, start = self.source, self.position
        after = source[start + 1 : start + 2]
        if source.startswith("$((", start) and (end := self._arithmetic_end(start + 3)) is not None:
            parts.append(Arithmetic(self._within(source[start + 3 : end]), quoted))
            self.position = end + 2
        elif after == "(":
            body, self.position = self._substitute(source, start + 2, self.depth)
            parts.append(Substitution(body, quoted))
        elif after == "{":
            parts.append(self._braces(quoted))
        elif after == "'" and not quoted:
            text, self.position = dollar_quote(source, start + 2)
            parts.append(Literal(text, True))
        elif after == '"' and not quoted:
            self.position += 1
        elif name := _NAME.match(source, start + 1):
            parts.append(Parameter(name.group(), "", None, None, quoted))
            self.position = name.end()
        else:
            parts.append(Literal("$", quoted))
            self.position += 1

    def _braces(self, quoted: bool) -> Parameter:
        source, start = self.source, self.position
        bad = ShellSyntaxError("bad substitution")
        position = start + 2
        counted = _BRACE_NAME.match(source, position + 1) if source[position:][:1] == "#" else None
        if counted and source[counted.end() :][:1] == "}":
            self.position = counted.end() + 1
            return Parameter(counted.group(), "length", None, None, quoted)
        name = _BRACE_NAME.match(source, position)
        if name is None:
            raise bad
        self.position = name.end()
        if source[self.position :][:1] == "}":
            self.position += 1
            return Parameter(name.group(), "", None, None, quoted)
        operator = _BRACE_OPERATOR.match(source, self.position)
        if operator is None:
            raise bad
        self.position = operator.end()
        text = operator.group()
        patterns = text[0] in "#%/"
        ends = "/}" if text[0] == "/" else ":}" if text == ":" else "}"
        self.deeper()
        argument = make_word(self._parts(ends, quoted=quoted and not patterns))
        second = None
        if source[self.position :][:1] in ("/", ":"):
            self.position += 1
            second = make_word(self._parts("}", quoted=quoted))
        self.depth -= 1
        if self.position >= len(source):
            raise ShellSyntaxError("no closing quote")
        self.position += 1
        return Parameter(name.group(), text, argument, second, quoted)

    def _arithmetic_end(self, start: int) -> int | None:
        """Where the ``))`` of an expression is; None if this is a subshell in a substitution."""
        depth = 0
        for position in range(start, len(self.source)):
            char = self.source[position]
            if char == "(":
                depth += 1
            elif char == ")":
                if depth == 0:
                    return position if self.source[position : position + 2] == "))" else None
                depth -= 1
        return None

    def _backquotes(self, quoted: bool) -> Substitution:
        source, position, text = self.source, self.position + 1, ""
        escapable = '$`\\"' if quoted else "$`\\"
        while position < len(source) and source[position] != "`":
            if source[position] == "\\" and source[position + 1 : position + 2] in tuple(escapable):
                position += 1
            text += source[position]
            position += 1
        if position >= len(source):
            raise ShellSyntaxError("no closing quote")
        self.position = position + 1
        return Substitution(self._parse(text, self.depth), quoted)

    def _read_documents(self) -> None:
        for redirect, delimiter, quoted, tabs in self._documents:
            lines = list[str]()
            while True:
                if self.position >= len(self.source):
                    raise ShellSyntaxError(f"here document '{delimiter}' unclosed")
                end = self.source.find("\n", self.position)
                end = len(self.source) if end < 0 else end
                line = self.source[self.position : end]
                self.position = min(len(self.source), end + 1)
                line = line.lstrip("\t") if tabs else line
                if line == delimiter:
                    break
                lines.append(line + "\n")
            text = "".join(lines)
            redirect.target = make_word([Literal(text, True)]) if quoted else self._within(text)
        self._documents.clear()
