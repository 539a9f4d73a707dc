"""Documents whose phrases have marks: bold, italic, underlined, coloured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ui_gym.browser.content.documents import Document, Place, occurrences, phrases_of, places_of
from ui_gym.contract.draws import pick

STYLES = ("bold", "italic", "underline")
COLOURS = ("red", "blue", "green", "orange", "purple")
MARKS = (*STYLES, *COLOURS)

LEAST = 4
"""The fewest letters of a phrase."""
FILLERS = {
    "a", "an", "and", "are", "as", "at", "be", "before", "but", "by", "can", "could", "do",
    "for", "from", "had", "has", "have", "her", "his", "if", "in", "into", "is", "it", "its",
    "may", "more", "most", "must", "no", "not", "of", "off", "on", "one", "or", "our", "out",
    "so", "some", "than", "that", "the", "their", "them", "then", "there", "they", "this",
    "to", "until", "up", "was", "we", "were", "what", "when", "which", "while", "who", "will",
    "with", "you", "your",
}  # fmt: skip
"""Words at which no phrase begins or ends: nobody would single it out."""

Letter = tuple[str, frozenset[str]]
"""A letter and its marks."""


@dataclass(frozen=True)
class Block:
    """A paragraph or heading."""

    kind: str
    """``"title"``, ``"heading"`` or ``"p"``."""
    runs: tuple[tuple[str, tuple[str, ...]], ...]
    """Pieces of text, each with its marks."""

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.runs)


class Drawing:
    """A document some of whose phrases have marks, and from which more phrases are drawn."""

    def __init__(
        self, document: Document, rng: np.random.Generator, marks: Sequence[str] = MARKS
    ) -> None:
        self._rng = rng
        self.kinds = ["title"]
        self.texts = [document.title]
        self.sections = [""]
        """By block: the heading above it."""
        for section in document.sections:
            self.kinds += ["heading", *("p" for _ in section.paragraphs)]
            self.texts += [section.heading, *section.paragraphs]
            self.sections += [section.heading] * (1 + len(section.paragraphs))
        self.marked: dict[Place, str] = {}
        self._taken: list[Place] = []
        for _ in document.sections:
            place = self.take(2) if rng.integers(2) else None
            if place is not None:
                self.marked[place] = pick(rng, marks)

    def take(self, words: int) -> Place | None:
        """A phrase of so many words that is the only one in the document, and not drawn yet."""
        return self._find(words, self._is_unique)

    def take_repeated(self, words: int) -> Place | None:
        """A phrase of at most so many words that is in other sections, too, but once in its own."""
        tries = (self._find(n, self._is_repeated) for n in range(words, 0, -1))
        return next((place for place in tries if place is not None), None)

    def blocks(self) -> tuple[Block, ...]:
        """The document with its marks."""
        found = []
        for number, (kind, text) in enumerate(zip(self.kinds, self.texts, strict=True)):
            runs: list[tuple[str, tuple[str, ...]]] = []
            at = 0
            for (block, start, end), mark in sorted(self.marked.items()):
                if block == number:
                    runs += [(text[at:start], ()), (text[start:end], (mark,))]
                    at = end
            runs.append((text[at:], ()))
            found.append(Block(kind, tuple(run for run in runs if run[0])))
        return tuple(found)

    def _find(self, words: int, suits: Callable[[Place], bool]) -> Place | None:
        places = [
            (block, start, end)
            for block, kind in enumerate(self.kinds)
            if kind == "p"
            for start, end in phrases_of(self.texts[block], words)
        ]
        for i in self._rng.permutation(len(places)):
            place = places[int(i)]
            if self._is_free(place) and _is_handsome(self._text(place)) and suits(place):
                self._taken.append(place)
                return place
        return None

    def _is_free(self, place: Place) -> bool:
        block, start, end = place
        return all(
            block != other or end < first - 1 or last + 1 < start
            for other, first, last in self._taken
        )

    def _is_unique(self, place: Place) -> bool:
        return occurrences("\n".join(self.texts), self._text(place)) == 1

    def _is_repeated(self, place: Place) -> bool:
        text, section = self._text(place), self.sections[place[0]]
        own = [t for t, s in zip(self.texts, self.sections, strict=True) if s == section]
        if occurrences("\n".join(own), text) > 1 or occurrences("\n".join(self.texts), text) == 1:
            return False
        return len(places_of(self.texts, text)) > 1

    def _text(self, place: Place) -> str:
        return self.texts[place[0]][place[1] : place[2]]


def letters(runs: Iterable[Sequence[Any]]) -> list[Letter]:
    """Pieces of text with their marks, letter by letter."""
    return [(char, frozenset(marks)) for text, marks in runs for char in text]


def _is_handsome(phrase: str) -> bool:
    """Whether somebody might want to single out the phrase."""
    words = phrase.lower().split()
    ends = {words[0], words[-1]}
    return len(phrase) >= LEAST and not ends & FILLERS and len(words[-1]) > 2
