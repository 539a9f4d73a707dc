"""ShellLexer: a shell line as tokens; words come with their quotes and expansions taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from ui_gym_phone.shell.syntax import (
    Arithmetic,
    HereDocument,
    Literal,
    Parameter,
    ShellNode,
    ShellSyntaxError,
    Substitution,
    UnfinishedError,
    Word,
    WordPart,
    make_word,
)

MAX_DEPTH = 40
"""How deep expansions and commands may be nested."""

META = " \t\n;&|<>()"
"""What ends an unquoted word."""

_ENDS = r"(?=[ \t\n;&|<>()]|\Z)"
_TOKEN = re.compile(
    r"(?:[ \t]|\\\n)*(?:#[^\n]*)?"
    r"(?:(?P<number>\d(?=[<>]))"
    rf"|(?P<plain>[\w./:=,@%+-]++{_ENDS})"
    rf"|'(?P<quoted>[^']*+)'{_ENDS}"
    r"|(?P<newline>\n)"
    r"|(?P<operator>;;|;|&&|&>|&|\|\||\||\(|\)|<<<|<<-|<<|<&|<|>>|>&|>))?"
)
"""Blanks, and what comes after them, unless that is a word to be taken apart."""
_NAME = re.compile(r"[A-Za-z_]\w*|\d|[@*#?$!]", re.ASCII)
_BRACED = re.compile(r"([A-Za-z_]\w*|\d+|[@*#?$!])(:[-=?+]|[-=?+]|##?|%%?|(?=\}))", re.ASCII)
_COUNTED = re.compile(r"#([A-Za-z_]\w*|\d+|[@*#?])\}", re.ASCII)


class ShellToken(NamedTuple):
    """`kind` is ``word``, ``operator``, ``number`` (of a redirection), ``newline`` or ``end``."""

    kind: str
    text: str
    word: Word | None = None


# Scripts say the same words again and again.


@lru_cache(maxsize=4096)
def _plain(text: str) -> ShellToken:
    return ShellToken("word", text, Word((Literal(text, False),), text, text))


@lru_cache(maxsize=4096)
def _quoted(text: str) -> ShellToken:
    return ShellToken("word", f"'{text}'", make_word([Literal(text, True)]))


@cache
def _operator(text: str) -> ShellToken:
    return ShellToken("operator", text)


class ShellLexer:
    """Reads tokens from `source`.

    `substitute` parses the commands inside of ``$(`` from a position on, and returns them with the
    position after the bracket.
    """

    def __init__(
        self,
        source: str,
        position: int,
        substitute: Callable[[str, int, int], tuple[ShellNode, int]],
        depth: int = 0,
    ) -> None:
        self.source = source
        self.position = position
        self._substitute = substitute
        self.depth = depth
        """How many things are open around what is read."""
        self.documents: list[HereDocument] = []
        """Here-documents that begin after the line that is read."""

    def deeper(self) -> None:
        """Note that something opens; `depth` is counted down when it closes."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ShellSyntaxError("syntax error: nested too deeply")

    def next(self) -> ShellToken:
        """The next token."""
        source = self.source
        found = _TOKEN.match(source, self.position)
        assert found is not None, "it matches nothing, too"
        kind, self.position = found.lastgroup, found.end()
        if kind == "plain":  # as most words are: nothing to take apart
            return _plain(found["plain"])
        if kind == "operator":
            return _operator(found["operator"])
        if kind == "quoted":
            return _quoted(found["quoted"])
        if kind == "newline":
            self._take_documents()
            return ShellToken("newline", "\n")
        if kind == "number":
            return ShellToken("number", found["number"])
        start = self.position
        if start >= len(source):
            return ShellToken("end", "")
        parts = self._parts(META, quoted=False)
        return ShellToken("word", source[start : self.position], make_word(parts))

    def finish(self) -> None:
        """At the end of the text: a here-document that was announced is missing."""
        if self.documents:
            raise UnfinishedError(f"here document '{self.documents[0].delimiter}' unclosed")

    def _take_documents(self) -> None:
        """Read the here-documents of the line that ends before the position."""
        documents, self.documents = self.documents, []
        for document in documents:
            lines = list[str]()
            while True:
                if self.position >= len(self.source):
                    raise UnfinishedError(f"here document '{document.delimiter}' unclosed")
                end = self.source.find("\n", self.position)
                end = len(self.source) if end < 0 else end
                line = self.source[self.position : end]
                self.position = end + 1
                line = line.lstrip("\t") if document.tabs else line
                if line == document.delimiter:
                    break
                lines.append(line + "\n")
            self.position = min(self.position, len(self.source))
            document.body = self._document_body("".join(lines), document.quoted)

    def _document_body(self, text: str, quoted: bool) -> Word:
        if quoted:
            return make_word([Literal(text, True)] if text else [])
        inner = ShellLexer(text, 0, self._substitute, self.depth)
        inner.deeper()
        return make_word(inner._parts("", quoted=True, quotes=False))

    # -- words --

    def _parts(self, ends: str, *, quoted: bool, quotes: bool = True) -> list[WordPart]:
        """Parts up to one of the characters `ends`, or to the end."""
        source, parts = self.source, list[WordPart]()
        while self.position < len(source):
            start, char = self.position, source[self.position]
            if char in ends:
                break
            if char == "\\":
                self._backslash(parts, ends, quoted)
            elif char == "'" and not quoted:
                self.position = self._closing("'", start + 1) + 1
                parts.append(Literal(source[start + 1 : self.position - 1], True))
            elif char == '"' and quotes:
                parts += self._double_quotes()
            elif char == "$":
                parts.append(self._dollar(quoted))
            elif char == "`":
                parts.append(self._backquotes(quoted))
            else:
                self.position += 1
                while self.position < len(source) and source[self.position] not in ends + "\\'\"$`":
                    self.position += 1
                parts.append(Literal(source[start : self.position], quoted))
        return parts

    def _closing(self, sign: str, start: int) -> int:
        end = self.source.find(sign, start)
        if end < 0:
            raise UnfinishedError("no closing quote")
        return end

    def _backslash(self, parts: list[WordPart], ends: str, quoted: bool) -> None:
        escaped = self.source[self.position + 1 : self.position + 2]
        self.position += 1 + len(escaped)
        if escaped == "\n":
            return
        if quoted and escaped not in ("$", "`", "\\", "") and escaped not in ends:
            parts.append(Literal("\\" + escaped, True))
        else:
            parts.append(Literal(escaped or "\\", True))

    def _double_quotes(self) -> list[WordPart]:
        self.position += 1
        self.deeper()
        parts = self._parts('"', quoted=True)
        self.depth -= 1
        self.position = self._closing('"', self.position) + 1
        return parts or [Literal("", True)]

    def _dollar(self, quoted: bool) -> WordPart:
        source, start = self.source, self.position
        if source.startswith("$((", start) and (end := self._arithmetic_end(start + 3)) is not None:
            inner = ShellLexer(source[start + 3 : end], 0, self._substitute, self.depth)
            inner.deeper()
            self.position = end + 2
            expression = make_word(inner._parts("", quoted=True, quotes=False))
            return Arithmetic(expression, quoted)
        if source.startswith("$(", start):
            body, self.position = self._substitute(source, start + 2, self.depth)
            return Substitution(body, quoted)
        if source.startswith("${", start):
            return self._braces(quoted)
        if name := _NAME.match(source, start + 1):
            self.position = name.end()
            return Parameter(name.group(), "", None, quoted)
        self.position += 1
        return Literal("$", quoted)

    def _braces(self, quoted: bool) -> Parameter:
        source, start = self.source, self.position + 2
        if counted := _COUNTED.match(source, start):
            self.position = counted.end()
            return Parameter(counted[1], "length", None, quoted)
        found = _BRACED.match(source, start)
        if found is None:
            raise ShellSyntaxError("bad substitution")
        name, operator = found.groups()
        self.position = found.end()
        self.deeper()
        patterns = operator[:1] in ("#", "%")
        argument = make_word(self._parts("}", quoted=quoted and not patterns))
        self.depth -= 1
        self.position = self._closing("}", self.position) + 1
        return Parameter(name, operator, argument if operator else None, quoted)

    def _arithmetic_end(self, start: int) -> int | None:
        """Where the ``))`` of an expression is; None if this is a subshell in a substitution."""
        depth = 0
        for position in range(start, len(self.source)):
            char = self.source[position]
            if char == "(":
                depth += 1
            elif char == ")":
                if depth == 0:
                    return position if self.source.startswith("))", position) else None
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
        self.position = self._closing("`", position) + 1
        body, end = self._substitute(text + ")", 0, self.depth)
        if end <= len(text):
            raise ShellSyntaxError("syntax error: ')' unexpected")
        return Substitution(body, quoted)
