"""The made-up web that SearchEngine looks through: topics, sites, pages, and how they are found."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ui_gym.browser.content.data import table
from ui_gym.browser.content.phrases import TODAY, date
from ui_gym.contract.draws import pick

TOPICS: tuple[tuple[str, str], ...] = table("web")["topics"]
"""Pairs of topics that share a word, so that each turns up behind the other's results."""

PAGES: tuple[tuple[str, str], ...] = table("web")["pages"]
"""Titles and what is shown below them; `{t}` is a topic, `{T}` the same at the start of a line."""

EXTRAS: tuple[str, ...] = table("web")["extras"]
"""Words that a search may add to its topic."""

SITES: tuple[str, ...] = table("web")["sites"]
ENDINGS: tuple[str, ...] = table("web")["endings"]

ADS: tuple[tuple[str, str, str], ...] = table("web")["ads"]


@dataclass(frozen=True)
class Doc:
    """A page of the made-up web."""

    topic: int
    """The index among the web's topics."""
    site: str
    page: int
    """The index in `PAGES`."""
    age: int
    """Days before the day on which it is shown."""


def domains(count: int, rng: np.random.Generator, *, alike: bool) -> list[str]:
    """Addresses of sites; `alike` (or where many are asked for), most have a look-alike."""
    alike = alike or count > len(SITES)
    names = math.ceil(count / len(ENDINGS)) if alike else count
    bases = rng.choice(SITES, size=names, replace=False)
    if alike:
        made = [f"{base}{ending}" for base in bases for ending in ENDINGS]
    else:
        made = [f"{base}{pick(rng, ENDINGS)}" for base in bases]
    rng.shuffle(made)
    return made[:count]


def write(topic: int, sites: Sequence[str], rng: np.random.Generator) -> list[Doc]:
    """Pages on a topic, one for each of `sites`, all unlike in title and date."""
    pages = rng.choice(len(PAGES), size=len(sites), replace=False)
    ages = rng.choice(np.arange(3, 1400), size=len(sites), replace=False)
    return [
        Doc(topic, site, int(page), int(age))
        for site, page, age in zip(sites, pages, ages, strict=True)
    ]


def shown(docs: Sequence[Doc], topics: Sequence[str]) -> list[dict[str, Any]]:
    """The documents as people see them; the id is the index."""
    made = []
    for id, doc in enumerate(docs):
        topic = topics[doc.topic]
        title, text = (part.format(t=topic, T=topic.capitalize()) for part in PAGES[doc.page])
        day = date(TODAY - datetime.timedelta(days=doc.age))
        made.append({"id": id, "site": doc.site, "title": title, "text": text, "date": day})
    return made


def listed(docs: Sequence[Doc], topics: Sequence[str]) -> list[dict[str, Any]]:
    """The documents in few words: the topic is the title, and there is no more."""
    return [
        {"id": id, "site": doc.site, "title": topics[doc.topic], "text": "", "date": ""}
        for id, doc in enumerate(docs)
    ]


def words(text: str) -> list[str]:
    """What a search looks at: lower-case letters and digits, as the page does it."""
    return re.findall(r"[a-z0-9]+", text.lower())


def find(query: str, docs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The documents that hold a word of the query, those with more of them first.

    The page ranks in the same way; among equals, the web's own order counts.
    """
    asked = set(words(query))

    def score(doc: Mapping[str, Any]) -> int:
        return len(asked & set(words(f"{doc['title']} {doc['text']}")))

    return sorted((doc for doc in docs if score(doc)), key=score, reverse=True)
