"""The made-up web that SearchEngine looks through: topics, sites, pages, and how they are found."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ui_gym.browser.content.phrases import TODAY, date

TOPICS: tuple[tuple[str, str], ...] = (
    ("trail running", "marathon running"), ("bicycle touring", "bicycle repair"),
    ("film photography", "night photography"), ("cheese making", "candle making"),
    ("wood carving", "wood turning"), ("bird watching", "whale watching"),
    ("wild camping", "winter camping"), ("ice climbing", "rock climbing"),
    ("bread baking", "flatbread baking"), ("home brewing", "home composting"),
    ("oil painting", "watercolour painting"), ("hand lettering", "hand weaving"),
    ("river kayaking", "sea kayaking"), ("garden design", "garden lighting"),
    ("paper folding", "paper marbling"), ("leather sewing", "quilt sewing"),
)  # fmt: skip
"""Pairs of topics that share a word, so that each turns up behind the other's results."""

PAGES: tuple[tuple[str, str], ...] = (
    (
        "{T}: a step-by-step guide",
        "Every step of {t} in order, with photos and a list of what to buy.",
    ),
    (
        "{T} for absolute beginners",
        "Never tried {t}? Start here. Three easy evenings are enough to find out if it suits you.",
    ),
    (
        "Seven mistakes in {t}, and how to avoid them",
        "Most trouble with {t} comes from the same seven habits. Here is how to notice them early.",
    ),
    (
        "What a year of {t} taught me",
        "Twelve months, two notebooks and a few honest failures: a personal look back at {t}.",
    ),
    (
        "{T}: questions and answers",
        "How long does it take? What does it cost? You ask about {t}, we answer in plain words.",
    ),
    (
        "The best tools for {t}, tested",
        "We spent six weeks with forty-one tools for {t}. These nine are the ones that we kept.",
    ),
    (
        "{T} on a small budget",
        "{T} need not be dear. What to borrow, what to buy used, and where saving is a mistake.",
    ),
    (
        "A short history of {t}",
        "From village custom to weekend pastime: where {t} comes from and who kept it alive.",
    ),
    (
        "Is {t} worth the effort?",
        "Four people who gave up {t} and four who never will explain themselves.",
    ),
    (
        "{T}: a checklist to print",
        "One page, twenty boxes. Hang it on the wall before your next day of {t}.",
    ),
    (
        "Twelve common problems in {t}, solved",
        "Nothing works? Find your problem in the list and read on. {T} without tears.",
    ),
    (
        "{T} in winter",
        "Cold hands and short days change {t} more than you think. How to keep going until spring.",
    ),
    (
        "How professionals do {t}",
        "Three people who live by {t} show us their mornings, their tricks and their bills.",
    ),
    (
        "{T} with children",
        "Six small projects in {t} for ages five to eleven. Most of the mess can be swept up.",
    ),
    (
        "{T} glossary: forty words explained",
        "All the words that books on {t} take for granted, explained in a sentence or two each.",
    ),
    (
        "{T} near you: courses and clubs",
        "Evening classes, open days and friendly clubs for {t}, listed by region and by price.",
    ),
    (
        "Five ways of {t} compared",
        "We tried five schools of {t} side by side. The slow one won, though not by much.",
    ),
    (
        "{T} safety: what everybody should know",
        "Accidents in {t} are rare and mostly the same. Read these two pages once and be fine.",
    ),
    (
        "{T} book list for this year",
        "Nineteen new books on {t}, from pocket guides to the heavy one with the good pictures.",
    ),
    (
        "{T}: the weekly newsletter",
        "Every Sunday: one idea, one picture and one reader's letter about {t}. Free since 2014.",
    ),
    (
        "Podcast: an hour about {t}",
        "She has done nothing but {t} since she was nine. A talk about patience and good tea.",
    ),
    (
        "{T} at night: a field report",
        "What happens to {t} once the sun is down? We stayed up to find out and took notes.",
    ),
    (
        "The science of {t}, in pictures",
        "Why does {t} work at all? Twelve drawings explain it without a single formula.",
    ),
    (
        "{T} forum: start here",
        "Rules, tips and the most read threads about {t}. New members say hello in the first one.",
    ),
)
"""Titles and what is shown below them; `{t}` is a topic, `{T}` the same at the start of a line."""

EXTRAS = ("guide", "tools", "winter", "budget", "history", "problems", "children", "books")
"""Words that a search may add to its topic."""

SITES = (
    "quietskills", "fieldandbench", "slowweekend", "patienthands", "dailyknack", "northlight",
    "openshelf", "commonroom", "makersalmanac", "oldlantern", "sundayproject", "greenkettle",
    "thumbandneedle", "longwayround", "brightattic", "hobbyharbour", "goodhabit", "stillwater",
    "paperkite", "redbarn", "wellmade", "firsttry", "corneroffice", "windowseat",
)  # fmt: skip
ENDINGS = (".com", ".org", ".net")

ADS: tuple[tuple[str, str, str], ...] = (
    (
        "shopwright.com",
        "All for {t}: free delivery today",
        "3,000 articles for {t} in stock. Order by six, have it tomorrow.",
    ),
    (
        "learnably.com",
        "{T} course online: first week free",
        "Learn {t} with short videos from people who know. Cancel whenever you like.",
    ),
    (
        "tripkettle.com",
        "Holidays for friends of {t}",
        "Small groups, good food, and as much {t} as you want. Early birds save 15%.",
    ),
)


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
        made = [f"{base}{rng.choice(ENDINGS)}" for base in bases]
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
