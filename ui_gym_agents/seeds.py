"""Seeds that depend on what they are for alone: the same values give the same on every machine."""

from __future__ import annotations

import hashlib


def derive(*parts: object) -> int:
    """A seed of 31 bits from any values."""
    return _number(parts, size=4)


def derive_noise(*parts: object) -> int:
    """63 bits from any values, for what an episode's answers are drawn by."""
    return _number(parts, size=8)


def evaluation_seed(index: int) -> int:
    """That of an evaluation's instance with this number, from 0 on."""
    return derive("evaluation", index)


def _number(parts: tuple[object, ...], size: int) -> int:
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:size], "big") >> 1
