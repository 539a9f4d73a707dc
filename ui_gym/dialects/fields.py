"""The fields of an object that a model wrote, read with care.

``null`` counts as absent, and a number or a point in quotes as what it says. Whatever else is not
of the type that is asked for is an `ActionError` of kind ``argument`` that names the field.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ui_gym.contract.action import shorten
from ui_gym.dialects.uitars_text import read_numbers
from ui_gym.errors import ActionError

Spot = tuple[float, float]
"""A point as it is written, in whichever coordinates."""

_T = TypeVar("_T")


class Fields:
    """One object. Several names for a field are alternatives, the first given counts."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = {key: value for key, value in said.items() if value is not None}

    def items(self) -> list[tuple[str, Any]]:
        return list(self._said.items())

    def has(self, *names: str) -> bool:
        return any(name in self._said for name in names)

    def get(self, *names: str) -> Any:
        """The field as it was written; None if it is absent."""
        return next((self._said[name] for name in names if name in self._said), None)

    def need(self, *names: str) -> Any:
        if not self.has(*names):
            raise ActionError("argument", f"{names[0]} is missing")
        return self.get(*names)

    def text(self, *names: str, default: str | None = None) -> str:
        """A string; a number is one too, since models forget quotes around digits."""
        value = self._default(names, default)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return str(value)
        if not isinstance(value, str):
            raise self._wrong(names, "a string", value)
        return value

    def flag(self, *names: str, default: bool) -> bool:
        value = self._default(names, default)
        if not isinstance(value, bool):
            raise self._wrong(names, "true or false", value)
        return value

    def number(self, *names: str, default: float | None = None) -> float:
        """A finite number."""
        value = said = self._default(names, default)
        if isinstance(value, str):
            value = _numbers(value, 1)[0]
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._wrong(names, "a number", said)
        if not math.isfinite(value):
            raise self._wrong(names, "a number of sensible size", value)
        return value

    def whole(self, *names: str, default: int | None = None) -> int:
        value = self.number(*names, default=default)
        if value != int(value):
            raise self._wrong(names, "a whole number", value)
        return int(value)

    def spot(self, *names: str) -> Spot:
        """A point: ``[x, y]``, ``{"x": x, "y": y}`` or ``"(x, y)"``."""
        value = said = self.need(*names)
        if isinstance(value, Mapping):
            return Fields(value).xy()
        if isinstance(value, str):
            value = _numbers(value, 2)
        if not isinstance(value, Sequence) or len(value) != 2 or None in value:
            raise self._wrong(names, "two numbers", said)
        return Fields({"x": value[0], "y": value[1]}).xy()

    def xy(self) -> Spot:
        """The point of the fields `x` and `y`."""
        return self.number("x"), self.number("y")

    def pixel(self, *names: str) -> tuple[int, int]:
        """A point in whole numbers: of the fields `x` and `y` if no name is given."""
        x, y = self.spot(*names) if names else self.xy()
        if x != int(x) or y != int(y):
            raise ActionError("argument", f"a point has whole numbers, not ({x:g}, {y:g})")
        return int(x), int(y)

    def choice(self, options: Mapping[str, _T], *names: str, default: str | None = None) -> _T:
        """What one of the words `options` stands for, in capitals or not."""
        word = self.text(*names, default=default).strip()
        if word.lower() not in options:
            raise self._wrong(names, "one of " + ", ".join(map(repr, options)), word)
        return options[word.lower()]

    def words(self, *names: str) -> list[str]:
        """A list of strings, or a single one."""
        value = self.need(*names)
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(word, str) for word in values):
            raise self._wrong(names, "a list of strings", value)
        return values

    def objects(self, *names: str) -> list[Fields]:
        """A list of objects, or a single one."""
        value = self.need(*names)
        values = [value] if isinstance(value, Mapping) else value
        if not isinstance(values, list) or not all(isinstance(one, Mapping) for one in values):
            raise self._wrong(names, "a list of objects", value)
        return [Fields(one) for one in values]

    def _default(self, names: Sequence[str], default: Any) -> Any:
        return self.need(*names) if default is None or self.has(*names) else default

    def _wrong(self, names: Sequence[str], wanted: str, value: object) -> ActionError:
        name = next((name for name in names if name in self._said), names[0])
        return ActionError("argument", f"{name} must be {wanted}, not {_shown(value)}")


def _numbers(said: str, count: int) -> Sequence[float | None]:
    """So many numbers in a string; None for each where it holds others."""
    try:
        return read_numbers(said, count)
    except ActionError:
        return [None] * count


def _shown(value: object) -> str:
    """`value` for a message; deep or long ones by their type alone."""
    if isinstance(value, str):
        return shorten(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, Mapping) else type(value).__name__
