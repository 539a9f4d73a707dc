"""Answers: what an agent said in the end, read leniently in form and strictly in value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ui_gym.contract.action import Action, Answer, Finish
from ui_gym.contract.task import Verdict

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[ ,]\d{3})*(?:\.\d+)?")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*(?:%|percent)", re.IGNORECASE)
_SIZE = re.compile(r"(\d+(?:[.,]\d+)?)\s*(bytes?|B|[kKMG]i?B)\b")
_TIME = re.compile(r"\b(\d{1,2})(?:[:.h](\d{2}))?(?:\s*([ap])\.?m\b)?", re.IGNORECASE)
_UNITS = {"b": 1, "byte": 1, "bytes": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}

ROUNDING = 0.006
"""The share by which a size may differ: sizes are told with three figures."""


def told(history: Sequence[Action]) -> str | None:
    """What the agent answered, or said as it finished with success; None before it did."""
    for action in reversed(history):
        if isinstance(action, Answer):
            return action.text
        if isinstance(action, Finish) and action.outcome == "success":
            return action.message
    return None


def answered(history: Sequence[Action], right: Callable[[str], bool], wanted: str) -> Verdict:
    """The verdict on an answer: done with it, right or wrong; `wanted` says what was right."""
    text = told(history)
    if text is None:
        return Verdict(0.0, notes="no answer yet")
    score = float(right(text))
    notes = "the answer is right" if score else f"answered {text[:80]!r}, but it is {wanted}"
    return Verdict(score, done=True, notes=notes)


def is_percent(text: str, value: int) -> bool:
    """Whether a text names a percentage, and no other: ``45%``, ``45``, ``It is 45 percent``."""
    found = _PERCENT.findall(text) or numbers(text)
    return bool(found) and all(float(number) == value for number in found)


def is_size(text: str, size: int) -> bool:
    """Whether a text names a size in bytes, and no other one; without a unit it is in megabytes."""
    found = [
        float(number.replace(",", ".")) * _UNITS[unit.lower().replace("i", "")]
        for number, unit in _SIZE.findall(text)
    ] or [number * 1_000_000 for number in numbers(text)]
    return bool(found) and all(abs(one - size) <= ROUNDING * size for one in found)


def numbers(text: str) -> list[float]:
    """All numbers in a text; ``1,024`` is one."""
    return [float(re.sub("[ ,]", "", number)) for number in _NUMBER.findall(text)]


def is_number(text: str, value: float) -> bool:
    """Whether a text names a number, and no other: ``1,690``, ``It is 1690.``"""
    found = numbers(text.replace("−", "-"))
    return bool(found) and all(
        abs(number - value) < 1e-9 * max(1.0, abs(value)) for number in found
    )


def times(text: str) -> list[tuple[int, int]]:
    """Times of day in a text, as (hour of 24, minute): ``14:30``, ``2:30 pm``, ``2 p.m.``"""
    found = []
    for hour, minute, half in _TIME.findall(text):
        if not minute and not half:
            continue
        at = int(hour)
        if half:
            at = at % 12 + (12 if half in "pP" else 0)
        if at < 24 and int(minute or 0) < 60:
            found.append((at, int(minute or 0)))
    return found


def names(text: str, wanted: str) -> bool:
    """Whether a text has all words of a name in a row; case and punctuation do not matter."""
    return f" {_plain(wanted)} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
