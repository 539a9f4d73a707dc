"""Search engine: look something up and open the right one of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import web, words
from ui_gym.browser.content.phrases import number, ordinal
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, whole
from ui_gym.browser.moves import click, fill, reveal
from ui_gym.contract.action import Action, Press
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

PER_PAGE = 8
"""Results on one page."""
COMPACT_PER_PAGE, COMPACT_MOST = 4, 9
"""What a compact page of results has room for, and how many sites there are short names for."""

ENGINES = 5
THEMES = 6
MOST = 24
"""The most results on one topic."""

REPEATED_SITES = 8
"""How many sites share the results on a topic, where sites have several."""

SEARCHED = 0.25
"""The score for the right search with nothing opened yet."""

GOALS: dict[str, tuple[str, ...]] = {
    "rank": (
        'Search for "{query}" and open the {nth} result{on}.{ads}',
        'Look up "{query}" and open result number {k}{on}.{ads}',
        'Open the {nth} hit{on} that a search for "{query}" gives.{ads}',
    ),
    "site": (
        'Search for "{query}" and open the result from {domain}.',
        'Look up "{query}". Open the page that {domain} has on it.',
        'Find "{query}" on the web and go to the hit on {domain}.',
    ),
    "newest": (
        'Search for "{query}" and open the newest result from {domain}.',
        'Look up "{query}". {domain} has several pages on it: open the latest one.',
        'Of the hits for "{query}" on {domain}, open the one with the most recent date.',
    ),
}
NO_ADS = " Sponsored results do not count."
COMPACT_GOALS: dict[str, tuple[str, ...]] = {
    "rank": ("Search {query}. Open result {k}{on}.", "Find {query}. Open result {k}{on}."),
    "site": ("Search {query}. Open {domain}.", "Find {query}. Open {domain}."),
}


@dataclass(frozen=True)
class SearchEngineParams:
    """All that varies between episodes."""

    docs: tuple[web.Doc, ...]
    pairs: tuple[int, int]
    """The indices of `web.TOPICS`: four topics."""
    topic: int
    """The one to search for, 0 to 3."""
    extra: str
    """A word that the search adds to the topic, or nothing."""
    place: int
    """The index of the right one among all results, ads left out."""
    kind: str
    """How it is named: ``"rank"``, ``"site"`` or ``"newest"``."""
    ads: int
    engine: int
    theme: int
    phrasing: int

    @property
    def topics(self) -> Sequence[str]:
        return [topic for pair in self.pairs for topic in web.TOPICS[pair]]

    @property
    def suggested(self) -> Sequence[str]:
        return [topic for pair in web.TOPICS for topic in pair]

    @property
    def sponsored(self) -> Sequence[tuple[str, str, str]]:
        return web.ADS[: self.ads]

    @property
    def query(self) -> str:
        return f"{self.topics[self.topic]} {self.extra}".strip()

    @property
    def written(self) -> list[dict[str, Any]]:
        return web.shown(self.docs, self.topics)

    @property
    def found(self) -> list[Mapping[str, Any]]:
        return web.find(self.query, self.written)


@dataclass(frozen=True)
class CompactSearchParams(SearchEngineParams):
    """What varies on the compact page: the words as well."""

    names: tuple[str, ...]
    sponsor: str

    @property
    def topics(self) -> Sequence[str]:
        return self.names

    @property
    def suggested(self) -> Sequence[str]:
        return self.names

    @property
    def sponsored(self) -> Sequence[tuple[str, str, str]]:
        return [(self.sponsor, "{T}", "")][: self.ads]

    @property
    def written(self) -> list[dict[str, Any]]:
        return web.listed(self.docs, self.names)


@register("SearchEngine", suite="browser", category="search", difficulty="medium", max_steps=16)
class SearchEngine(Family[SearchEngineParams]):
    """Look something up in a search engine and open the right one of its results.

    ## Description
    The start page of a search engine. The goal gives the words to search for, and names one of the
    results: by its rank, by its site, or as the newest one of a site. Results come on pages of
    eight. There are suggestions below the search box, related searches beside the results, sites
    with look-alike addresses, and sponsored results, which never count. What a search gives depends
    on its words alone; the first result that is opened decides. The compact page lists four results
    with numbers, topics and sites, all short names.

    ## Action space
    Clicking, typing, pressing Enter and scrolling is all that is needed.

    ## Rewards
    1 for opening the right result of the search asked for; 0.5 for opening it after other words;
    0.25 for the right search, also if then a wrong result is opened; else 0. Case, order of words
    and blanks do not matter. With ``reward="progress"``, the score's increments.

    ## Starting state
    An empty search box, nothing focused.

    ## Episode end
    Termination: a result was opened. `max_steps` is 10 at the level easy, 16 at medium, 22 at hard;
    compact: 10, with one page 8.

    ## Arguments
    | `results` | 8, 14, 22 (compact: 6) | results on the topic, 6 to 24, compact to 9 |
    | `pages` | 1, 2, 3 (compact: 2) | on how many pages the right one may be, 1 to 3, compact 2 |
    | `ads` | 0, 1, 2 (compact: 1) | sponsored results above every page, 0 to 3, compact to 1 |
    | `repeats` | 0, 0, 1 (compact: 0) | 1: sites have several results, told apart by dates |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "search_engine.html"
    shown = ("engine", "theme")
    mistakes = ("neighbour", "topic")
    results: int = whole(6, MOST, easy=8, medium=14, hard=22)
    pages: int = whole(1, 3, easy=1, medium=2, hard=3)
    ads: int = whole(0, len(web.ADS), easy=0, medium=1, hard=2)
    repeats: int = whole(0, 1, easy=0, medium=0, hard=1)
    compact_values = {"results": 6, "pages": 2, "ads": 1, "repeats": 0}
    per_page = PER_PAGE

    def prepare(self) -> None:
        self.max_steps = 4 + 6 * self.pages
        if self.compact:
            if self.repeats:
                raise UserError("SearchEngine: the compact page has no dates; repeats is 0")
            self.check_range("results", self.results, 6, COMPACT_MOST)
            self.check_range("pages", self.pages, 1, 2)
            self.check_range("ads", self.ads, 0, 1)
            self.per_page = COMPACT_PER_PAGE
            self.max_steps = 2 * (3 + self.pages)

    def sample(self, rng: Generator) -> SearchEngineParams:
        params = self._compact_web(rng) if self.compact else self._web(rng)
        return replace(params, place=pick(rng, self._places(params)))

    def _web(self, rng: Generator) -> SearchEngineParams:
        pairs = tuple(int(i) for i in rng.choice(len(web.TOPICS), size=2, replace=False))
        kinds = ("rank", "newest") if self.repeats else ("rank", "site")
        return SearchEngineParams(
            docs=tuple(doc for pair in (0, 1) for doc in self._docs(pair, rng)),
            pairs=(pairs[0], pairs[1]),
            topic=int(rng.integers(4)),
            extra=pick(rng, web.EXTRAS) if rng.random() < 0.4 else "",
            place=0,
            kind=pick(rng, kinds),
            ads=self.ads,
            engine=int(rng.integers(ENGINES)),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def _compact_web(self, rng: Generator) -> CompactSearchParams:
        things = rng.choice(words.THINGS_SHORT, size=2, replace=False)
        firsts = rng.choice(words.FIRST_SHORT, size=4, replace=False)
        sponsor, *sites = (str(name) for name in rng.permutation(words.LAST_SHORT))
        docs = (
            web.Doc(2 * pair + int(i) % 2, sites[int(i)], 0, 0)
            for pair in (0, 1)
            for i in rng.permutation(2 * self.results)
        )
        return CompactSearchParams(
            docs=tuple(docs),
            pairs=(0, 1),
            topic=int(rng.integers(4)),
            extra="",
            place=0,
            kind=pick(rng, ("rank", "site")),
            ads=self.ads,
            engine=int(rng.integers(ENGINES)),
            theme=0,
            phrasing=int(rng.integers(2)),
            names=tuple(f"{things[i // 2]} {first}" for i, first in enumerate(firsts)),
            sponsor=sponsor,
        )

    def goal(self, params: SearchEngineParams) -> str:
        texts = COMPACT_GOALS if self.compact else GOALS
        page, rank = divmod(params.place, self.per_page)
        return texts[params.kind][params.phrasing].format(
            query=params.query,
            domain=params.found[params.place]["site"],
            nth=ordinal(rank + 1),
            k=rank + 1 if self.compact else number(rank + 1),
            on=f" on page {page + 1}" if page else "",
            ads=NO_ADS if params.ads else "",
        )

    def page_params(self, params: SearchEngineParams) -> dict[str, Any]:
        return {
            **super().page_params(params),
            "docs": params.written,
            "ads": params.sponsored,
            "topics": params.suggested,
            "trending": params.topics[::-1],
            "perPage": self.per_page,
        }

    def judge(
        self, device: BrowserDevice, params: SearchEngineParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        asked, searched = set(web.words(params.query)), False
        for event in device.events:
            right = set(web.words(str(event.data.get("query", "")))) == asked
            if event.type == "search":
                searched = searched or right
            elif event.type == "open":
                if event.data.get("id") != params.found[params.place]["id"]:
                    score = SEARCHED if searched else 0.0
                    return Verdict(score, done=True, notes="opened another result")
                if not right:
                    return Verdict(0.5, done=True, notes="opened it after another search")
                return Verdict(1.0, done=True, notes="opened the right result")
        if searched:
            return Verdict(SEARCHED, notes="searched, nothing opened yet")
        return Verdict(0.0, notes="not searched yet")

    def oracle(self, device: BrowserDevice, params: SearchEngineParams) -> Steps:
        query = params.query
        if self.compact:
            yield from self._type_compact(device, query)
        else:
            yield from fill(device, "#query", query)
            yield Demo(Press("enter"), f"Search for {query}.")
        doc = params.found[params.place]
        page, hit = params.place // self.per_page + 1, f"#hit-{doc['id']}"
        if page > 1:
            yield from reveal(device, f"#page-{page}", "#results")
            thought = str(page) if self.compact else f"It is on page {page}."
            yield Demo(click(device, f"#page-{page}"), thought)
        yield from reveal(device, hit, "#results", margin=0 if self.compact else 8)
        comma = "" if self.compact else ","
        yield Demo(click(device, f"{hit} .title"), f"{doc['title']}{comma} {doc['site']}")

    def _type_compact(self, device: BrowserDevice, query: str) -> Steps:
        for thought, action in zip(
            ("Find", f"Find {query}"), fill(device, "#query", query), strict=True
        ):
            yield Demo(action, thought)
        yield Demo(click(device, "#go"), "Search")

    def misread(
        self, params: SearchEngineParams, mistake: str, rng: Generator
    ) -> SearchEngineParams:
        """``neighbour``: the result below the right one (the last: above). ``topic``: the search
        is for the topic that shares a word with the right one."""
        if mistake == "topic":
            return replace(params, topic=params.topic ^ 1)
        step = 1 if params.place + 1 < len(params.found) else -1
        return replace(params, place=params.place + step)

    def blind_rate(self, params: SearchEngineParams) -> float:
        """Any page of the whole web."""
        return 1 / len(params.docs)

    def _docs(self, pair: int, rng: Generator) -> list[web.Doc]:
        """The pages on a pair of topics: the two have no site in common, but look-alike ones."""
        many = REPEATED_SITES if self.repeats else self.results
        domains = web.domains(2 * many, rng, alike=self.pages > 1)
        docs = []
        for side in (0, 1):
            sites = domains[side * many : (side + 1) * many]
            if self.repeats:
                sites = [str(site) for site in rng.choice(sites, size=self.results)]
            docs += web.write(2 * pair + side, sites, rng)
        return [docs[i] for i in rng.permutation(len(docs))]

    def _places(self, params: SearchEngineParams) -> list[int]:
        """Where the right result may be, given how the goal names it."""
        found = params.found
        sites = [doc["site"] for doc in found]
        # Where there are three pages, the first is not enough.
        first = self.per_page if self.pages == 3 and params.kind != "newest" else 0
        near = range(first, min(len(found), self.pages * self.per_page))
        if params.kind == "rank":
            return list(near)
        if params.kind == "site":
            return [i for i in near if sites.count(sites[i]) == 1]
        return [i for i in near if sites.count(sites[i]) > 1 and i == _newest(params, sites[i])]


def _newest(params: SearchEngineParams, site: str) -> int:
    """The index among the results of the newest one of a site."""
    found = params.found
    of_site = [i for i, doc in enumerate(found) if doc["site"] == site]
    return min(of_site, key=lambda i: params.docs[found[i]["id"]].age)
