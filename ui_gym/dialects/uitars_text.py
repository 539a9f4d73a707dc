"""Reading the text of UI-TARS: calls with quoted arguments, as models really write them.

Not Python's own grammar, because models leave quotes inside quotes unescaped
(``type(content='it's')``) and write points in tags (``<point>10 20</point>``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ui_gym.contract.action import MAX_ACTIONS, shorten
from ui_gym.errors import ActionError


@dataclass(frozen=True)
class UitarsCall:
    """One action as written: its name in lower case, its arguments by their names."""

    name: str
    arguments: dict[str, str]

    def get(self, *names: str) -> str:
        """The first argument given of `names`, or an empty string."""
        return next((self.arguments[name] for name in names if name in self.arguments), "")

    def need(self, *names: str) -> str:
        """The first argument given of `names`; `ActionError` (``argument``) if there is none."""
        for name in names:
            if name in self.arguments:
                return self.arguments[name]
        raise ActionError("argument", f"{names[0]} is missing")


_EXAMPLE = "Action: click(start_box='(100,200)')"

_ANCHORED = re.compile(r"^[ \t]*Action:", re.MULTILINE)
_INLINE = re.compile(r"Action:\s*(?=\w{1,40}\()")
_BARE = re.compile(r"\s*\w{1,40}\(")
_NAME = re.compile(r"[\s;]*([A-Za-z_]{1,40})[ \t]*\(\s*")
_KEY = re.compile(r"([A-Za-z_]{1,40})\s*=\s*")
_COMMA = re.compile(r"\s*,\s*")
_CLOSE = re.compile(r"\s*\)")

# Where a value ends: before the next argument, or before the bracket that ends the call.
_END = r"(?=\s*,\s*[A-Za-z_]{1,40}\s*=|\s*\)[ \t]*(?:[\n;]|\Z))"
_VALUE = {
    "'": re.compile(r"'((?:[^\\]|\\.)*?)'" + _END, re.DOTALL),
    '"': re.compile(r'"((?:[^\\]|\\.)*?)"' + _END, re.DOTALL),
    "": re.compile(r"([^\n'\"]{0,200}?)" + _END),
}

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}

_TAG = re.compile(r"<\|?/?(?:box_start|box_end|point|bbox)\|?>")
_BRACKETS = str.maketrans("()[],", "     ")
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{0,30})?(?:e[+-]?\d{1,3})?", re.ASCII)


def read_calls(text: str) -> list[UitarsCall]:
    """The calls after the last ``Action:``; a text that is nothing but calls needs no such word.

    Raises:
        ActionError: (``parse``) there is none or too many, or one cannot be read.
    """
    body = _actions_of(text)
    calls: list[UitarsCall] = []
    position = 0
    while body[position:].strip(" \t\r\n;"):
        call, position = _read_call(body, position)
        calls.append(call)
        if len(calls) > MAX_ACTIONS:
            raise ActionError("parse", f"more than {MAX_ACTIONS} actions in one step")
    if not calls:
        raise ActionError("parse", "no action after Action:. Write one, as in " + _EXAMPLE)
    return calls


def read_numbers(said: str, *counts: int) -> list[float]:
    """The numbers of a point or box.

    Raises:
        ActionError: (``argument``) there are not as many as one of `counts`.
    """
    plain = _TAG.sub(" ", said).translate(_BRACKETS)
    words = plain.split()
    if len(words) not in counts or not all(_NUMBER.fullmatch(word) for word in words):
        many = " or ".join(map(str, counts))
        raise ActionError("argument", f"{shorten(said)} is not {many} numbers")
    return [float(word) for word in words]


def quote(text: str) -> str:
    """`text` in single quotes, on one line."""
    for char, escaped in (("\\", r"\\"), ("'", r"\'"), ("\n", r"\n"), ("\r", r"\r"), ("\t", r"\t")):
        text = text.replace(char, escaped)
    return f"'{text}'"


def _actions_of(text: str) -> str:
    text = text.strip().strip("`")  # some models fence what they write
    # `quote` escapes line breaks, so no typed text can begin a line with "Action:".
    for pattern in (_ANCHORED, _INLINE):
        ends = [match.end() for match in pattern.finditer(text)]
        if ends:
            return text[ends[-1] :]
    if _BARE.match(text):
        return text
    raise ActionError("parse", f"no action in {shorten(text)}. Write it as in {_EXAMPLE}")


def _read_call(body: str, position: int) -> tuple[UitarsCall, int]:
    start = position
    opening = _NAME.match(body, position)
    if opening is None:
        raise _unreadable(body, start)
    position = opening.end()
    arguments: dict[str, str] = {}
    while not (closing := _CLOSE.match(body, position)):
        if arguments:
            comma = _COMMA.match(body, position)
            if comma is None:
                raise _unreadable(body, start)
            position = comma.end()
        key = _KEY.match(body, position)
        if key is None:
            raise _unreadable(body, start)
        quoted = body[key.end() : key.end() + 1]
        value = _VALUE[quoted if quoted in ("'", '"') else ""].match(body, key.end())
        if value is None:
            raise _unreadable(body, start)
        text = value[1]
        arguments[key[1]] = unescape(text) if quoted in ("'", '"') else text.strip()
        position = value.end()
    return UitarsCall(opening[1].lower(), arguments), closing.end()


def _unreadable(body: str, start: int) -> ActionError:
    shown = shorten(body[start:].strip())
    return ActionError("parse", f"cannot read {shown}. Write it as in {_EXAMPLE}")


def unescape(text: str) -> str:
    r"""The inside of a quoted string, with ``\n`` and the like as what they stand for."""
    return _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 1:
        return _ESCAPES.get(code, match[0])  # like Python: an unknown escape stays as it is
    number = int(code[1:], 16)
    return chr(number) if number <= 0x10FFFF else match[0]
