"""Sums: what a calculator is asked, and what it should say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ui_gym.contract.draws import between, pick

_DECIMALS = re.compile(r"[-+]?\d+(\.\d*)?", re.ASCII)
_TOLERANCE = Fraction(1, 1_000_000)


@dataclass(frozen=True)
class Sum:
    """Three numbers with two operators between them; `grouped` puts brackets around the first two.

    Without brackets, ``*`` and ``/`` come before ``+`` and ``-``.
    """

    numbers: tuple[str, str, str]
    operators: tuple[str, str]
    grouped: bool

    def __str__(self) -> str:
        a, b, c = self.numbers
        first, second = self.operators
        return f"({a}{first}{b}){second}{c}" if self.grouped else f"{a}{first}{b}{second}{c}"

    @property
    def value(self) -> Fraction:
        a, b, c = map(Fraction, self.numbers)
        first, second = self.operators
        if not self.grouped and second in "*/" and first in "+-":
            return _apply(a, first, _apply(b, second, c))
        return _apply(_apply(a, first, b), second, c)


def draw(rng: np.random.Generator) -> Sum:
    """A sum whose brackets matter, and whose value has at most three decimals.

    No character stands in it twice: a calculator with keys that look pressed for a while may
    overlook one that is typed again in that time.
    """
    while True:
        numbers = (_number(rng), _number(rng), _number(rng))
        operators = (pick(rng, "+-"), pick(rng, "**/"))
        drawn = Sum(numbers, operators, bool(rng.random() < 0.5))
        value = drawn.value
        once = len(set(str(drawn))) == len(str(drawn))
        if once and value > 0 and (value * 1000).denominator == 1:
            return drawn


def is_number(text: str, value: Fraction) -> bool:
    """Whether a text is this number and nothing else, in decimals."""
    plain = text.strip().replace(",", "")
    return bool(_DECIMALS.fullmatch(plain)) and abs(Fraction(plain) - value) <= _TOLERANCE


def _number(rng: np.random.Generator) -> str:
    if rng.random() < 0.8:
        return str(between(rng, 3, 360))
    return f"{between(rng, 3, 99)}.{pick(rng, '2468')}"


def _apply(one: Fraction, operator: str, other: Fraction) -> Fraction:
    match operator:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case _:
            return one / other
