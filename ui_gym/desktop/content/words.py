"""Words, and names of files and folders, many of them alike."""

from __future__ import annotations

import numpy as np

from ui_gym.contract import words as shared
from ui_gym.contract.draws import other, pick
from ui_gym.contract.tables import read_table
from ui_gym.contract.words import FOLDERS as FOLDERS
from ui_gym.contract.words import STEMS as STEMS
from ui_gym.contract.words import folder_names as folder_names
from ui_gym.contract.words import new_name as new_name

WRITTEN = read_table("ui_gym.desktop.content", "words")
"""The lists of ``words.toml``."""

THINGS: tuple[str, ...] = WRITTEN["things"]
"""Nouns with at least five letters, none of them part of another."""

_NO_MISTAKES = frozenset(WRITTEN["no_mistakes"])

PAIRS: tuple[tuple[str, str], ...] = WRITTEN["pairs"]
"""A noun, and another that begins with it."""

LISTED: tuple[str, ...] = WRITTEN["listed"]
"""What lists hold: different at least in their first three letters."""

KINDS = ("txt", "md", "csv", "log")
"""Endings of files that hold text."""


def file_names(rng: np.random.Generator, count: int, kind: str | None = None) -> tuple[str, ...]:
    """Different names of files, all of one `kind` if it is given; the second is much like the
    first."""
    return shared.file_names(rng, count, (kind,) if kind else KINDS)


def misspellings(word: str) -> tuple[str, ...]:
    """A word with two neighbouring letters inside it swapped, or one twice or left out, wherever
    that does not give a word again."""
    found: dict[str, None] = {}
    for i in range(1, len(word) - 2):
        found[word[:i] + word[i + 1] + word[i] + word[i + 2 :]] = None
        found[word[:i] + word[i] + word[i:]] = None
        found[word[:i] + word[i + 1 :]] = None
    return tuple(wrong for wrong in found if wrong != word and wrong not in _NO_MISTAKES)


def misspelt(rng: np.random.Generator, word: str) -> str:
    """One of the word's `misspellings`."""
    return pick(rng, misspellings(word))


def another(rng: np.random.Generator, *taken: str) -> str:
    """A thing that is none of these."""
    return other(rng, THINGS, *taken)
