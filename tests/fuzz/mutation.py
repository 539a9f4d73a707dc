"""Mutations: what is made of valid texts, bytes and values. Each depends on its `rng` alone."""

from __future__ import annotations

import copy
import random
import string
from collections.abc import Sequence
from typing import Any

SIGNS = "(){}[]<>'\"`:;,.+-*/\\|=_#@!&^%$~ \n\t\r\0"
CHARS = string.ascii_letters + string.digits + SIGNS + "é中🙂\u2028\ud800"

ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 255, 2**31, 2**63, -(2**63), 10**40, 0.5, -0.0, 1e308,
    float("nan"), float("inf"), "", "x", "0", "-1", "\0", "\ud800", "é\u2028🙂", "a" * 3000,
    "../../etc/passwd", [], {}, [[]], [None], {"": None}, ["x", 1], {"a": {"b": []}},
)  # fmt: skip
"""Values that are seldom meant."""


def text(rng: random.Random, given: str, tokens: Sequence[str], chars: str = CHARS) -> str:
    """A text with a few changes: pieces are left out, doubled, or replaced."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        start = rng.randrange(len(given) + 1)
        end = min(len(given), start + rng.choice((0, 0, 1, 1, 2, 10)))
        new = rng.choice(("", rng.choice(chars), rng.choice(tokens), given[start:end] * 2))
        given = given[:start] + new + given[end:]
    return given


def flipped(rng: random.Random, given: bytes, most: int = 4) -> bytes:
    """Bytes of which a few have other bits; at least one has."""
    data = bytearray(given)
    for _ in range(rng.randint(1, most) if data else 0):
        data[rng.randrange(len(data))] ^= rng.choice((1 << rng.randrange(8), rng.randint(1, 255)))
    return bytes(data)


def torn(rng: random.Random, given: bytes) -> bytes:
    """Bytes of which a piece is missing, doubled, or something else."""
    start = rng.randrange(len(given) + 1)
    end = min(len(given), start + rng.choice((0, 1, 2, 4, 16, 256, 1 << 20)))
    new = rng.choice((b"", given[start:end] * 2, rng.randbytes(rng.randrange(9)), b"\xff" * 4))
    return given[:start] + new + given[end:]


def nested(rng: random.Random) -> Any:
    """A value inside of many others: deeper than most readers go, or not quite."""
    found: Any = rng.choice(ODD)
    many = rng.random() < 0.5
    for _ in range(rng.choice((20, 60, 200))):
        found = [found] if many else {"a": found}
    return found


def value(rng: random.Random, given: Any, odd: Sequence[Any] = ODD) -> Any:
    """A copy of a value with a few changes, anywhere inside."""
    whole = [copy.deepcopy(given)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        holder, key = rng.choice(_places(whole))
        kind = rng.random()
        if kind < 0.55:
            holder[key] = copy.deepcopy(rng.choice(odd))
        elif kind < 0.65 and holder is not whole:
            del holder[key]
        elif kind < 0.75 and isinstance(holder, dict):
            holder[f"{key}{rng.choice('sx_0')}"] = holder.pop(key)
        elif kind < 0.85:  # another part of it
            other, there = rng.choice(_places(whole))
            holder[key] = copy.deepcopy(other[there])
        elif kind < 0.9:
            holder[key] = nested(rng)
        elif isinstance(holder[key], str):
            holder[key] = text(rng, holder[key], ("\0", "..", "%s"))
        elif isinstance(holder[key], int | float):
            holder[key] = rng.choice((-holder[key], holder[key] * 1000, str(holder[key])))
        else:
            holder[key] = [holder[key]]
    return whole[0]


def _places(whole: list[Any]) -> list[tuple[Any, Any]]:
    """Every place in a value: what holds it, and the key or the index there."""
    found: list[tuple[Any, Any]] = [(whole, 0)]
    waiting = [whole[0]]
    while waiting and len(found) < 400:
        one = waiting.pop()
        if isinstance(one, dict):
            found += [(one, key) for key in one]
            waiting += one.values()
        elif isinstance(one, list):
            found += [(one, index) for index in range(len(one))]
            waiting += one
    return found
