"""The functions that `table_formula` knows, over the values of cells."""

from __future__ import annotations

import datetime
import math
import re
import statistics
from collections.abc import Callable, Iterator
from typing import Any

Value = float | str | bool | None
"""What a cell holds; None where it is empty. A date is the number of days since 1899-12-30."""

EPOCH = datetime.date(1899, 12, 30)
FAULTS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


class Fault(Exception):
    """What cannot be computed for this cell."""


def number(value: Any) -> float:
    """A value as a number: an empty cell is 0, a truth 0 or 1, a text what it spells."""
    if isinstance(value, list):
        raise Fault("#VALUE!")
    try:
        return float(value or 0)
    except ValueError as error:
        raise Fault("#VALUE!") from error


def text(value: Any) -> str:
    """A value as a text: whole numbers without a point."""
    if isinstance(value, list) or (isinstance(value, str) and value in FAULTS):
        raise Fault("#VALUE!")
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def ordered(first: Any, second: Any) -> tuple[tuple[int, Any], tuple[int, Any]]:
    """Two values so that they compare as in a spreadsheet: numbers before texts before truths,
    texts without regard to case, an empty cell as the other's nothing."""
    pair = [_rank(value) for value in (first, second)]
    for mine, its in ((0, 1), (1, 0)):
        if pair[mine] is None:
            other = pair[its]
            nothing = (0, 0.0) if other is None else (other[0], type(other[1])())
            pair[mine] = nothing
    assert pair[0] is not None
    assert pair[1] is not None
    return pair[0], pair[1]


def _rank(value: Any) -> tuple[int, Any] | None:
    if isinstance(value, list) or (isinstance(value, str) and value in FAULTS):
        raise Fault("#VALUE!")
    if value is None:
        return None
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, str):
        return 1, value.lower()
    return 0, float(value)


def _flat(values: tuple[Any, ...]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from value
        else:
            yield value


def _numbers(values: tuple[Any, ...]) -> list[float]:
    """The numbers among arguments; in ranges, what is no number is passed over."""
    found = []
    for value in values:
        if isinstance(value, list):
            found += [v for v in value if isinstance(v, int | float) and not isinstance(v, bool)]
        else:
            found.append(number(value))
    return found


def _of_numbers(compute: Callable[[list[float]], float]) -> Callable[..., float]:
    def function(*values: Any) -> float:
        try:
            return float(compute(_numbers(values)))
        except (ValueError, ArithmeticError, statistics.StatisticsError) as error:
            raise Fault("#NUM!") from error

    return function


def _ranked(largest: bool) -> Callable[..., float]:
    def function(values: Any, place: Any) -> float:
        found = sorted(_numbers((values,)), reverse=largest)
        index = int(number(place))
        if not 1 <= index <= len(found):
            raise Fault("#NUM!")
        return found[index - 1]

    return function


def _truths(values: tuple[Any, ...]) -> list[bool]:
    return [bool(number(value)) for value in _flat(values) if value is not None]


def _search(needle: Any, hay: Any, start: Any = 1) -> float:
    """Where a text first holds another, from 1 on, without regard to case; ``*`` and ``?`` stand
    for others."""
    wild = re.escape(text(needle)).replace(r"\*", ".*").replace(r"\?", ".")
    found = re.compile(wild, re.I | re.S).search(text(hay), max(0, int(number(start)) - 1))
    if found is None:
        raise Fault("#VALUE!")
    return found.start() + 1.0


def _find(needle: Any, hay: Any, start: Any = 1) -> float:
    place = text(hay).find(text(needle), max(0, int(number(start)) - 1))
    if place < 0:
        raise Fault("#VALUE!")
    return place + 1.0


def _mod(value: Any, by: Any) -> float:
    if number(by) == 0:
        raise Fault("#DIV/0!")
    return math.fmod(math.fmod(number(value), number(by)) + number(by), number(by))


def _round(value: Any, digits: Any = 0) -> float:
    scale = 10.0 ** int(number(digits))
    return math.copysign(math.floor(abs(number(value)) * scale + 0.5) / scale, number(value))


def _day(value: Any) -> datetime.date:
    try:
        return EPOCH + datetime.timedelta(days=math.floor(number(value)))
    except OverflowError as error:
        raise Fault("#NUM!") from error


def _weekday(value: Any, kind: Any = 1) -> float:
    """The day of the week: 1 for Sunday (`kind` 1) or Monday (2), or 0 for Monday (3)."""
    monday = _day(value).weekday()
    numbered = {1: (monday + 1) % 7 + 1, 2: monday + 1, 3: monday}.get(int(number(kind)))
    if numbered is None:
        raise Fault("#NUM!")
    return float(numbered)


def _count_if(values: Any, wanted: Any) -> float:
    """How many values are, or stand in the relation to, what is wanted (``">=3"``)."""
    sign, rest = "=", wanted
    if isinstance(wanted, str):
        match = re.match(r"(<>|<=|>=|=|<|>)?(.*)", wanted, re.S)
        assert match is not None
        sign, rest = match.group(1) or "=", match.group(2)
    amount = _amount(rest)
    if sign == "=" and isinstance(amount, float):  # the common case, for which all else is slow
        return float(sum(type(value) is float and value == amount for value in _flat((values,))))
    return float(sum(_stands(value, sign, amount) for value in _flat((values,))))


def _amount(wanted: Any) -> Any:
    try:
        return float(wanted)
    except (TypeError, ValueError):
        return wanted


def _stands(value: Any, sign: str, wanted: Any) -> bool:
    if value is None or isinstance(value, str) != isinstance(wanted, str):
        return sign == "<>"
    first, second = ordered(value, wanted)
    return {
        "=": first == second,
        "<>": first != second,
        "<": first < second,
        ">": first > second,
        "<=": first <= second,
        ">=": first >= second,
    }[sign]


def _is(*kinds: type) -> Callable[[Any], bool]:
    def function(value: Any) -> bool:
        # A truth is an int to Python, and no number to a spreadsheet.
        return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))

    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ABS": lambda value: abs(number(value)),
    "AND": lambda *values: all(_truths(values)),
    "AVERAGE": _of_numbers(statistics.fmean),
    "CONCATENATE": lambda *values: "".join(text(value) for value in values),
    "COUNT": lambda *values: float(sum(_is(int, float)(value) for value in _flat(values))),
    "COUNTA": lambda *values: float(sum(value is not None for value in _flat(values))),
    "COUNTIF": _count_if,
    "DAY": lambda value: float(_day(value).day),
    "EXACT": lambda first, second: text(first) == text(second),
    "FALSE": lambda: False,
    "FIND": _find,
    "INT": lambda value: float(math.floor(number(value))),
    "ISBLANK": lambda value: value is None,
    "ISEVEN": lambda value: int(number(value)) % 2 == 0,
    "ISNUMBER": _is(int, float),
    "ISODD": lambda value: int(number(value)) % 2 == 1,
    "ISTEXT": _is(str),
    "LARGE": _ranked(largest=True),
    "LEFT": lambda value, count=1: text(value)[: int(number(count))],
    "LEN": lambda value: float(len(text(value))),
    "LOWER": lambda value: text(value).lower(),
    "MAX": _of_numbers(lambda values: max(values, default=0.0)),
    "MEDIAN": _of_numbers(statistics.median),
    "MID": lambda value, start, count: text(value)[int(number(start)) - 1 :][: int(number(count))],
    "MIN": _of_numbers(lambda values: min(values, default=0.0)),
    "MOD": _mod,
    "MONTH": lambda value: float(_day(value).month),
    "NOT": lambda value: not number(value),
    "OR": lambda *values: any(_truths(values)),
    "RIGHT": lambda value, count=1: text(value)[-int(number(count)) :] if number(count) else "",
    "ROUND": _round,
    "SEARCH": _search,
    "SMALL": _ranked(largest=False),
    "SUM": _of_numbers(sum),
    "TRIM": lambda value: " ".join(text(value).split(" ")).strip(),
    "TRUE": lambda: True,
    "UPPER": lambda value: text(value).upper(),
    "WEEKDAY": _weekday,
    "YEAR": lambda value: float(_day(value).year),
}
