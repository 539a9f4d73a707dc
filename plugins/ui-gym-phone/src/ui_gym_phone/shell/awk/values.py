"""Values of awk: numbers, texts, and texts that came from outside and look like numbers."""

from __future__ import annotations

import re
from functools import lru_cache

_LEADING = re.compile(r"[ \t\n\r\f\v]*([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?))")


class Numeric(str):
    """A text from the input that looks like a number: it compares as one."""

    __slots__ = ()


class Unset(str):
    """A variable that was never set: empty, and zero."""

    __slots__ = ()


UNSET = Unset("")

Value = float | str


@lru_cache(maxsize=4096)
def to_number_of(text: str) -> float:
    """The number that a text begins with, else 0."""
    found = _LEADING.match(text)
    if found is None:
        return 0.0
    return float(found[1])


def to_number(value: Value) -> float:
    return value if isinstance(value, float) else to_number_of(value)


def to_text(value: Value, form: str = "%.6g") -> str:
    """A value as text; `form` is CONVFMT or OFMT."""
    if not isinstance(value, float):
        return str(value)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e30:
        return str(int(value))
    try:
        return form % value
    except (ValueError, TypeError):
        return f"{value:.6g}"


def outside(text: str) -> str:
    """A text from the input."""
    if not text or text[0] not in "0123456789+-. \t\n":
        return text
    found = _LEADING.match(text)
    if found is not None and not text[found.end() :].strip(" \t\n"):
        return Numeric(text)
    return text


def truth(value: Value) -> bool:
    if isinstance(value, float):
        return value != 0
    if isinstance(value, Numeric):
        return to_number_of(value) != 0
    return bool(value)


def compare(left: Value, right: Value, form: str) -> int:
    """Below, at or above 0, as numbers where both are."""
    if isinstance(left, float | Numeric | Unset) and isinstance(right, float | Numeric | Unset):
        a, b = to_number(left), to_number(right)
        return (a > b) - (a < b)
    one, other = to_text(left, form), to_text(right, form)
    return (one > other) - (one < other)
