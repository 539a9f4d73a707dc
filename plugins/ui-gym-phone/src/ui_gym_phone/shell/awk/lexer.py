"""Tokens of an awk program."""

from __future__ import annotations

import re
from typing import NamedTuple

KEYWORDS = frozenset(
    ("BEGIN", "END", "if", "else", "while", "for", "do", "break", "continue", "next", "nextfile",
     "exit", "return", "delete", "in", "getline", "print", "printf", "function", "func")
)  # fmt: skip
BUILTINS = frozenset(
    ("length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "sin", "cos",
     "atan2", "exp", "log", "sqrt", "int", "rand", "srand", "tolower", "toupper", "system",
     "close", "fflush")
)  # fmt: skip

_NUMBER = re.compile(
    r"(?:0[xX][0-9a-fA-F]{1,200}|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SPACE = re.compile(r"(?:[ \t\r]|\\\n|#[^\n]*)+")
_OPERATOR = re.compile(
    r"\*\*=|\*\*|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|\^=|==|<=|>=|!=|!~|>>|[-{}()\[\];,+*/%^!<>|?:~$=]"
)
_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\",
    '"': '"', "/": "/",
}  # fmt: skip


class AwkSyntaxError(Exception):
    """A program that is none."""


class Token(NamedTuple):
    """`kind` is ``number string regex name call builtin newline end``, or the text itself."""

    kind: str
    text: str
    position: int


def tokens(source: str) -> list[Token]:
    """All tokens of a program."""
    found, position = list[Token](), 0
    while position < len(source):
        if space := _SPACE.match(source, position):
            position = space.end()
            continue
        char = source[position]
        if char == "\n":
            token, end = Token("newline", "\n", position), position + 1
        elif char == '"':
            token, end = _string(source, position)
        elif char == "/" and _regex_may_follow(found):
            token, end = _regex(source, position)
        elif number := _NUMBER.match(source, position):
            token, end = Token("number", number.group(), position), number.end()
        elif word := _WORD.match(source, position):
            token, end = _word(source, word), word.end()
        elif operator := _OPERATOR.match(source, position):
            token, end = Token(operator.group(), operator.group(), position), operator.end()
        else:
            raise AwkSyntaxError(f"syntax error at source line {_line(source, position)}")
        found.append(token)
        position = end
    return [*found, Token("end", "", position)]


def _word(source: str, word: re.Match[str]) -> Token:
    text = word.group()
    if text in KEYWORDS:
        return Token(text, text, word.start())
    if text in BUILTINS:
        return Token("builtin", text, word.start())
    called = source[word.end() : word.end() + 1] == "("
    return Token("call" if called else "name", text, word.start())


def _regex_may_follow(before: list[Token]) -> bool:
    """Whether a slash begins a regular expression: not after a value."""
    if not before:
        return True
    return before[-1].kind not in ("number", "string", "regex", "name", "builtin", ")", "]", "$")


def _string(source: str, start: int) -> tuple[Token, int]:
    text, position = "", start + 1
    while position < len(source) and source[position] != '"':
        char = source[position]
        if char == "\n":
            break
        if char == "\\":
            piece, position = _escape(source, position + 1)
            text += piece
            continue
        text += char
        position += 1
    if source[position : position + 1] != '"':
        raise AwkSyntaxError(f"non-terminated string {text[:10]}... at source line 1")
    return Token("string", text, start), position + 1


def _escape(source: str, position: int) -> tuple[str, int]:
    """What a backslash and what follows it stand for in a string."""
    octal = re.compile(r"[0-7]{1,3}").match(source, position)
    if octal:
        return chr(int(octal.group(), 8) & 255), octal.end()
    char = source[position : position + 1]
    if char == "\n":
        return "", position + 1
    return _ESCAPES.get(char, "\\" + char), position + 1


def _regex(source: str, start: int) -> tuple[Token, int]:
    text, position = "", start + 1
    while position < len(source) and source[position] not in "/\n":
        if source[position] == "\\" and position + 1 < len(source):
            following = source[position + 1]
            text += following if following == "/" else "\\" + following
            position += 2
            continue
        text += source[position]
        position += 1
    if source[position : position + 1] != "/":
        raise AwkSyntaxError(f"non-terminated regular expression {text[:10]}... at source line 1")
    return Token("regex", text, start), position + 1


def _line(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1
