"""JSON as models write it: among prose, in fences and tags, and at times as Python would.

What is read is data: objects, lists, strings, numbers and constants. Work is bounded, so that no
text takes long: a text of braces that lead nowhere is given up.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from ui_gym.contract.action import shorten
from ui_gym.dialects.uitars_text import unescape
from ui_gym.errors import ActionError

Object = dict[str, Any]

_MAX_TRIES = 500
"""How many openings of an object may turn out to be none."""

_MAX_TOKENS = 20_000
"""How much may be read of objects that the JSON module refuses."""

_MAX_DEPTH = 32
_MAX_DIGITS = 18

_LABEL = re.compile(r"^[ \t]*(?:\*\*)?Action:", re.MULTILINE)
_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_OPENING = re.compile(r"\{\s*[\"']")
_GAP = re.compile(r"(?:[\s,;\[\]]|```\w*)*")
"""What may stand between objects that belong together."""


def read_objects(text: str, example: str) -> list[Object]:
    """The objects that say what to do: the last ones in `text` with no prose between them.

    What stands before the last ``Action:`` at the beginning of a line is thought, and so is what
    stands outside of ``<tool_call>`` tags where there are any.

    Raises:
        ActionError: (``parse``) there is none; `example` shows how one is written.
    """
    body = _body(text)
    # Strictly first: a quote in a thought must not swallow the object that follows it.
    for read in (_strict, _Reader().read):
        found = _last_run(body, read)
        if found:
            return found
    raise ActionError("parse", f"no action in {shorten(text)}. Write it as in {example}")


def read_object(text: str) -> Object | None:
    """A text that is one object and nothing else, as APIs put arguments; None if it is not."""
    start = text.find("{")
    found = _strict(text, start) if start >= 0 else None
    return found[0] if found and not (text[:start] + text[found[1] :]).strip() else None


def write_object(said: Object) -> str:
    """An object on one line; no string within it holds the tag of a call."""
    return json.dumps(said, ensure_ascii=False).replace("tool_call>", "tool_call\\u003e")


def _body(text: str) -> str:
    calls = _CALL.findall(text) if "<tool_call>" in text else []
    if calls:
        return "\n".join(calls)
    labels = list(_LABEL.finditer(text))
    return text[labels[-1].end() :] if labels else text


_Found = tuple[Object, int] | None
_Read = Callable[[str, int], _Found]
"""The object that begins at a position, and where it ends."""


def _last_run(text: str, read: _Read) -> list[Object]:
    """The last objects with nothing but a gap between them; none if what follows is broken.

    For then it is what was meant, and those before it may be a thought.
    """
    run: list[Object] = []
    end = tries = broken = 0
    match = _OPENING.search(text)
    while match and tries < _MAX_TRIES:
        start = match.start()
        found = read(text, start)
        if found is None:
            tries += 1
            broken = start
            match = _OPENING.search(text, start + 1)
            continue
        if not _GAP.fullmatch(text, end, start):
            run = []
        said, end = found
        run.append(said)
        match = _OPENING.search(text, end)
    return run if broken < end and match is None else []


def _integer(digits: str) -> float:
    """A whole number; infinite if it is longer than any that makes sense."""
    if len(digits.lstrip("-")) > _MAX_DIGITS:
        return -math.inf if digits.startswith("-") else math.inf
    return int(digits)


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)


def _strict(text: str, start: int) -> _Found:
    try:
        said, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return said, end


_TOKEN = re.compile(
    r"""\s*(?:
        (?P<sign>[\[\]{}(),:])
      | '(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'
      | "(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"
      | (?P<number>[+-]?(?:\d{1,18}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?)
      | (?P<word>[A-Za-z]{1,8})
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_WORDS = {"true": True, "false": False, "null": None, "none": None, "nan": math.nan}
_CLOSINGS = {"[": "]", "(": ")", "{": "}"}


class _Wrong(Exception):
    """This is no value."""


class _Reader:
    """Reads values with either quotes, Python's constants, tuples and commas before the end."""

    def __init__(self) -> None:
        self.left = _MAX_TOKENS
        self.text = ""
        self.position = 0

    def read(self, text: str, start: int) -> _Found:
        self.text, self.position = text, start
        try:
            said = self._value(self._token(), _MAX_DEPTH)
        except _Wrong:
            return None
        return said, self.position

    def _token(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.position)
        self.left -= 1
        if match is None or self.left < 0:
            raise _Wrong
        self.position = match.end()
        return match

    def _value(self, token: re.Match[str], depth: int) -> Any:
        kind, text = str(token.lastgroup), token[str(token.lastgroup)]
        if kind in ("single", "double"):
            return unescape(text)
        if kind == "number":
            return float(text) if set(text) & set(".eE") else int(text)
        if kind == "word" and text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if text not in _CLOSINGS or not depth:
            raise _Wrong
        return self._object(depth - 1) if text == "{" else self._list(_CLOSINGS[text], depth - 1)

    def _list(self, closing: str, depth: int) -> list[Any]:
        values: list[Any] = []
        while (token := self._token())["sign"] != closing:
            values.append(self._value(token, depth))
            if self._ends(closing):
                break
        return values

    def _object(self, depth: int) -> Object:
        values: Object = {}
        while (token := self._token())["sign"] != "}":
            key = self._value(token, 0)
            if not isinstance(key, str) or self._token()["sign"] != ":":
                raise _Wrong
            values[key] = self._value(self._token(), depth)
            if self._ends("}"):
                break
        return values

    def _ends(self, closing: str) -> bool:
        """Whether the next sign ends what is read; else it must be a comma."""
        sign = self._token()["sign"]
        if sign not in (closing, ","):
            raise _Wrong
        return bool(sign == closing)
