"""Formats of C's `printf`, for the command of that name, for awk and for seq."""

from __future__ import annotations

import re

DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(?:hh|h|ll|l|j|z|t|L)?(.?)", re.DOTALL)
"""A directive: flags, width, precision and letter."""

MAX_WIDTH = 65_536
"""The widest that a directive may make its text."""

FLOATS = "eEfFgGaA"
INTEGERS = "dixXou"


def spread(flags: str, width: str | None, precision: str | None) -> tuple[str, int | None]:
    """Flags with the width, as Python writes them, and the precision as a number."""
    size = min(MAX_WIDTH, int((width or "0")[-9:]))
    digits = None if precision is None else min(MAX_WIDTH, int(precision[-9:] or "0"))
    return flags + (str(size) if size else ""), digits


def text(lead: str, precision: int | None, value: str) -> str:
    """``%s``."""
    value = value if precision is None else value[:precision]
    return ("%" + lead.replace("0", "", 1 if lead.startswith("0") else 0) + "s") % value


def integer(lead: str, precision: int | None, letter: str, value: int) -> str:
    """``%d`` and the others for whole numbers, of 64 bits."""
    if letter in "di":
        value = max(-(1 << 63), min((1 << 63) - 1, value))
    else:
        value %= 1 << 64
    letter = "d" if letter in "iu" else letter
    if letter == "o" and "#" in lead:
        lead = lead.replace("#", "")
        return ("%" + lead + "s") % f"0{value:o}"
    if precision is not None:
        lead = lead.lstrip("0") if lead[:1] == "0" else lead
        digits = ("%" + f".{precision}{letter}") % value
        return ("%" + lead + "s") % digits
    return ("%" + lead + letter) % value


def floating(lead: str, precision: int | None, letter: str, value: float) -> str:
    """``%f`` and the others for numbers with a fraction."""
    letter = "e" if letter in "aA" else letter
    digits = "" if precision is None else f".{min(precision, 1000)}"
    return ("%" + lead + digits + letter) % value
