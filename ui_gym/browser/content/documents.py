"""Documents to work on: sections of plain, believable prose with drawn details."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ui_gym.browser.content import words as short
from ui_gym.browser.content.data import table
from ui_gym.browser.content.mailtexts import CITIES, DAYS, ROOMS
from ui_gym.contract.draws import pick

Place = tuple[int, int, int]
"""A block of text, and where something begins and ends in it."""


@dataclass(frozen=True)
class DocumentSection:
    """A heading and what stands below it."""

    heading: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """A title and sections."""

    title: str
    sections: tuple[DocumentSection, ...]


def draw_document(rng: np.random.Generator, sections: int) -> Document:
    """A document of so many sections, 1 to 6."""
    documents = table("documents")["documents"]
    written = pick(rng, documents)
    picked = rng.choice(len(written["sections"]), size=sections, replace=False)

    def fill(text: str) -> str:
        return text.format(
            day=pick(rng, DAYS),
            time=f"{rng.integers(7, 19):02}:{pick(rng, (0, 15, 30, 45)):02}",
            room=pick(rng, ROOMS),
            city=pick(rng, CITIES),
            n=int(rng.integers(1000, 10000)),
            k=int(rng.integers(2, 10)),
        )

    parts = (written["sections"][int(i)] for i in picked)
    chosen = tuple(
        DocumentSection(part["heading"], tuple(map(fill, part["paragraphs"]))) for part in parts
    )
    return Document(fill(written["title"]), chosen)


def draw_lines(rng: np.random.Generator, sections: int, words: int) -> Document:
    """A document of short words, each of them once: a line of so many in each section."""
    title, *headings = (str(name) for name in rng.permutation(short.LAST_SHORT)[: sections + 1])
    drawn = rng.permutation((*short.FIRST_SHORT, *short.THINGS_SHORT))[: sections * words]
    lines = (" ".join(line) for line in drawn.reshape(sections, words))
    pairs = zip(headings, lines, strict=True)
    return Document(title, tuple(DocumentSection(heading, (line,)) for heading, line in pairs))


def phrases_of(text: str, words: int) -> list[tuple[int, int]]:
    """Where runs of so many words stand in a text, without a sign between or right beside them
    that would make their edges doubtful."""
    found = [match.span() for match in re.finditer(r"(?<![^ ])[A-Za-z0-9]+(?![^ .,;!?])", text)]
    runs = [found[i : i + words] for i in range(len(found) - words + 1)]
    return [
        (run[0][0], run[-1][1])
        for run in runs
        if all(one[1] + 1 == other[0] for one, other in pairwise(run))
        and all(text[one[1]] == " " for one in run[:-1])
    ]


def occurrences(text: str, phrase: str) -> int:
    """How often a phrase stands in a text, in whatever case."""
    return text.lower().count(phrase.lower())


def places_of(texts: Sequence[str], phrase: str) -> list[Place]:
    """Where a phrase stands in blocks of text, with nothing doubtful about its edges."""
    return [
        (block, start, end)
        for block, text in enumerate(texts)
        if phrase in text
        for start, end in phrases_of(text, phrase.count(" ") + 1)
        if text[start:end] == phrase
    ]
