"""Words, and names of files and folders, many of them alike."""

from __future__ import annotations

import numpy as np

from ui_gym.contract import words as shared
from ui_gym.contract.draws import other, pick
from ui_gym.contract.words import FOLDERS as FOLDERS
from ui_gym.contract.words import STEMS as STEMS
from ui_gym.contract.words import folder_names as folder_names
from ui_gym.contract.words import new_name as new_name

THINGS = (
    "anchor", "basket", "blanket", "bottle", "bucket", "button", "camera", "candle", "carpet",
    "compass", "curtain", "drawer", "engine", "feather", "fiddle", "garden", "hammer", "jacket",
    "kettle", "ladder", "lantern", "magnet", "mirror", "needle", "orchard", "paddle", "parcel",
    "pillow", "pocket", "pulley", "ribbon", "saddle", "shovel", "socket", "spoon", "stamp",
    "ticket", "tunnel", "violin", "wallet", "whistle", "window",
)  # fmt: skip
"""Nouns with at least five letters, none of them part of another."""

_NO_MISTAKES = frozenset({"caret", "father", "manet", "samp", "soon", "widow"})
"""Words that one of `THINGS` becomes by a slip of the finger: nobody can tell that it was one."""

PAIRS = (
    ("plan", "plane"), ("car", "card"), ("star", "start"), ("form", "format"), ("pan", "panel"),
    ("ship", "shipment"), ("note", "notebook"), ("book", "bookcase"), ("land", "landlord"),
    ("port", "portrait"), ("tea", "team"), ("corn", "corner"), ("tax", "taxi"), ("sea", "season"),
    ("cart", "carton"), ("mark", "market"), ("farm", "farmer"), ("wind", "window"),
    ("play", "player"), ("paint", "painter"), ("hand", "handle"), ("bar", "barrel"),
)  # fmt: skip
"""A noun, and another that begins with it."""

LISTED = (
    "Apples", "Bananas", "Butter", "Carrots", "Cheese", "Coffee", "Cucumbers", "Dates", "Eggs",
    "Figs", "Flour", "Garlic", "Ginger", "Grapes", "Honey", "Jam", "Kiwis", "Lemons", "Lentils",
    "Mangos", "Milk", "Mustard", "Noodles", "Nuts", "Oats", "Olives", "Onions", "Pasta", "Peas",
    "Pepper", "Quinoa", "Raisins", "Rice", "Salt", "Spinach", "Sugar", "Tea", "Tomatoes", "Vanilla",
    "Walnuts", "Yeast", "Yoghurt",
)  # fmt: skip
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
