"""Records: the line that an awk program looks at, and its fields."""

from __future__ import annotations

import re
from collections.abc import Callable

from ui_gym_phone.shell.awk.values import outside
from ui_gym_phone.shell.regex import compile_regex

MAX_FIELDS = 100_000


def split_records(text: str, separator: str) -> list[str]:
    """The records of an input, by RS: a character, or blank lines where it is empty."""
    if not text:
        return []
    if separator == "\n":
        return text.removesuffix("\n").split("\n")
    if not separator:
        return [part for part in re.split(r"\n\n+", text.strip("\n")) if part]
    parts = text.split(separator[0])
    if parts[-1] in ("", "\n"):
        parts.pop()
    return parts


def split_fields(text: str, separator: str, spend: Callable[[int], None]) -> list[str]:
    """The fields of a record, by FS: blanks for a space, a character, or a pattern."""
    if separator == " ":
        return text.split()
    if not text:
        return []
    if len(separator) <= 1 and separator != "":
        return text.split(separator)
    if not separator:
        return list(text)
    regex = compile_regex(separator, extended=True, escapes=True)
    found, start, position = list[str](), 0, 0
    while position <= len(text):
        match = regex.search(text, position, spend)
        if match is None:
            break
        if match.end == match.start:
            position = match.end + 1
            continue
        found.append(text[start : match.start])
        start = position = match.end
    return [*found, text[start:]]


class Record:
    """``$0`` and ``$1 ... $NF``, each made from the other when it is asked for."""

    def __init__(self, spend: Callable[[int], None]) -> None:
        self._spend = spend
        self._text: str | None = ""
        self._fields: list[str] | None = None
        self._separator = " "
        self._joiner = " "

    def set(self, text: str, separator: str) -> None:
        """A new record, to be split by `separator`."""
        self._text, self._fields, self._separator = text, None, separator

    def _split(self) -> list[str]:
        if self._fields is None:
            assert self._text is not None
            parts = split_fields(self._text, self._separator, self._spend)
            self._fields = [outside(part) for part in parts]
        return self._fields

    @property
    def count(self) -> int:
        """NF."""
        return len(self._split())

    def get(self, index: int, joiner: str) -> str:
        if index == 0:
            if self._text is None:
                self._text = joiner.join(self._split())
            return outside(self._text)
        fields = self._split()
        return fields[index - 1] if index <= len(fields) else ""

    def put(self, index: int, text: str, separator: str) -> None:
        """Set a field, or with 0 the whole record."""
        if index == 0:
            self.set(text, separator)
            return
        fields = self._split()
        if index > len(fields):
            self.resize(index)
        fields[index - 1] = text
        self._text = None

    def resize(self, count: int) -> None:
        """Set NF."""
        fields = self._split()
        count = max(0, min(count, MAX_FIELDS))
        self._spend(abs(count - len(fields)) >> 4)
        del fields[count:]
        fields += [""] * (count - len(fields))
        self._text = None
