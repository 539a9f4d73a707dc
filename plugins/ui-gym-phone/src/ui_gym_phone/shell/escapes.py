"""Backslash escapes, as `echo`, `print`, `printf` and ``$'...'`` read them."""

from __future__ import annotations

import re

from ui_gym_phone.shell.syntax import ShellSyntaxError

_PLAIN = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\",
}  # fmt: skip

_ECHO = re.compile(r"\\(?:0([0-7]{0,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|(.))", re.DOTALL)
_FORMAT = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|(.))", re.DOTALL)


def _replace(match: re.Match[str]) -> str:
    octal, hexadecimal, code, char = match.groups()
    if octal is not None:
        return _byte(int(octal or "0", 8) & 255)
    if hexadecimal is not None:
        return _byte(int(hexadecimal, 16))
    if code is not None:
        point = int(code, 16)
        return "\ufffd" if 0xD800 <= point < 0xE000 else chr(point)
    return _PLAIN.get(char, match.group())


def _byte(value: int) -> str:
    """A byte within a text: not ASCII ones are kept by surrogates until they are encoded."""
    return chr(value) if value < 128 else chr(0xDC00 + value)


def echo(text: str) -> tuple[str, bool]:
    """What `echo -e` makes of a text, and whether ``\\c`` said to stop there."""
    if "\\" not in text:
        return text, False
    text, stop = _cut(text)
    return _ECHO.sub(_replace, text), stop


def in_format(text: str) -> str:
    """Escapes in a format of `printf`."""
    return _FORMAT.sub(_replace, text) if "\\" in text else text


def dollar_quote(source: str, start: int) -> tuple[str, int]:
    """The text of ``$'`` whose inside begins at `start`, and the position after its end."""
    position = start
    while position < len(source) and source[position] != "'":
        position += 2 if source[position] == "\\" else 1
    if position >= len(source):
        raise ShellSyntaxError("no closing quote")
    inside = source[start:position]
    return _FORMAT.sub(_quoted, inside), position + 1


def _quoted(match: re.Match[str]) -> str:
    found = _replace(match)
    return found[1:] if found in ("\\'", '\\"', "\\?") else found


def _cut(text: str) -> tuple[str, bool]:
    for match in re.finditer(r"\\(.)", text, re.DOTALL):
        if match[1] == "c":
            return text[: match.start()], True
    return text, False
