"""Notes that are worth copying: labelled values nobody likes to type, and some prose."""

from __future__ import annotations

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.browser.content.documents import draw_document
from ui_gym.browser.content.mailtexts import CITIES
from ui_gym.contract.draws import pick

LABELLED: dict[str, tuple[tuple[str, str], ...]] = {
    title: tuple(labels.items()) for title, labels in table("notes")["labelled"].items()
}
"""By title: the labels of lines, and what their values are."""

PROSE: tuple[str, ...] = table("notes")["prose"]
"""Titles of notes that are prose."""

STREETS: tuple[str, ...] = table("notes")["streets"]
_SIGNS = tuple("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")  # none that is taken for another


def draw_labelled(rng: np.random.Generator, title: str, lines: int) -> str:
    """A note of so many labelled lines, 2 to 8."""
    labels = LABELLED[title]
    picked = sorted(int(i) for i in rng.choice(len(labels), size=lines, replace=False))
    return "\n".join(f"{labels[i][0]}: {_value(rng, labels[i][1])}" for i in picked)


def draw_prose(rng: np.random.Generator, paragraphs: int) -> str:
    """A note of so many paragraphs, 1 to 8."""
    document = draw_document(rng, (paragraphs + 1) // 2)
    texts = [text for section in document.sections for text in section.paragraphs]
    return "\n".join(texts[:paragraphs])


def draw_short(rng: np.random.Generator) -> str:
    """A note of two lines: a first and a last name, each with a number."""
    names = rng.choice(words.FIRST_SHORT), rng.choice(words.LAST_SHORT)
    return "\n".join(f"{name} {rng.integers(32)}" for name in names)


def _value(rng: np.random.Generator, kind: str) -> str:
    def code(length: int) -> str:
        return "".join(pick(rng, _SIGNS) for _ in range(length))

    def number(low: int, high: int) -> int:
        return int(rng.integers(low, high))

    first, last = pick(rng, words.FIRST_LONG), pick(rng, words.LAST_LONG)
    match kind:
        case "name":
            return f"{first} {last}"
        case "word":
            return f"{last}-{number(10, 100)}"
        case "key":
            return "-".join(code(4) for _ in range(4))
        case "code":
            return f"{code(3)}{number(1000, 10000)}{code(2)}"
        case "ip":
            return f"10.{number(0, 256)}.{number(0, 256)}.{number(1, 255)}"
        case "mask":
            return f"255.255.{pick(rng, (0, 128, 192, 240, 255))}.0"
        case "mac":
            return ":".join(f"{number(0, 256):02x}" for _ in range(6))
        case "url":
            return f"https://{last.lower()}.example/{code(6).lower()}"
        case "iban":
            return f"XX{number(10, 100)} " + " ".join(str(number(1000, 10000)) for _ in range(4))
        case "money":
            return f"{number(10, 9999)}.{number(10, 100)} EUR"
        case "date":
            return f"{number(1, 29)}.{number(1, 13)}.{number(2024, 2028)}"
        case "street":
            return f"{pick(rng, STREETS)} Street {number(2, 199)}"
        case "city":
            return f"{number(10000, 99999)} {pick(rng, CITIES)}"
        case "phone":
            return f"+{number(30, 50)} {number(100, 1000)} {number(100000, 999999)}"
        case "version":
            return f"{number(1, 12)}.{number(0, 20)}.{number(0, 40)}-{code(5).lower()}"
        case _:
            return str(number(10000, 99999))
