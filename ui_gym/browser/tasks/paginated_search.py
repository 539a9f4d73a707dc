"""Paginated search: find one record in a list of many pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import ledgers
from ui_gym.browser.content.ledgers import COMPACT_LEDGER, LEDGERS, Ledger, Record
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, flag
from ui_gym.browser.moves import because, click, fill
from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

OPEN = ("Open {one}.", "Find {one} in the list and open it.", "I need to see {one}. Open it.")
COPY = (
    "Find {one}, enter its {secret} into the field on the page and press Check.",
    "What is the {secret} of {one}? Enter it on the page and press Check.",
    "Look up {one}. Copy its {secret} into the field and press Check.",
)
PAGE = 12
"""Records on a page."""
THEMES = 6
COMPACT = -1
"""Stands for the ledger of the compact page."""
COMPACT_PAGE = 5
"""Records that the compact page has room for, with neither a search nor a field."""
COMPACT_PLACES = 5
"""Where the compact page may have its list, by patches from the left."""
COMPACT_OPEN = ("Open {one}.", "Find {one}. Open it.")
COMPACT_COPY = (
    "Open {one}. Type its {secret}. Press Check.",
    "Enter the {secret} of {one}. Press Check.",
)


@dataclass(frozen=True)
class PaginatedSearchParams:
    """All that varies between episodes."""

    ledger: int
    records: tuple[Record, ...]
    asked: int
    facts: int
    """By how much of it the goal names the record: its person, its day, its place."""
    theme: int
    """Compact: how many patches are free at the left of the list."""
    phrasing: int


@register("PaginatedSearch", suite="browser", category="search", difficulty="medium", max_steps=40)
class PaginatedSearch(Family[PaginatedSearchParams]):
    """Find one record in a list of many pages, and open it or copy a value that it holds.

    ## Description
    A list of orders, loans, claims or memberships, a dozen on a page, with buttons for the pages
    and, but at the easy level, a search for names and numbers. The goal names a record by its
    person, at the harder levels also by its day and its place, since many records are of that
    person. The agent opens it; at the hard level it copies a code, which only the opened record
    shows, into a field and presses Check.

    ## Action space
    Clicking, typing and Enter are all that is needed.

    ## Rewards
    1 for the right record: the first that is opened, or, where a value is copied, the one whose
    value is handed in. 0 for any other.

    ## Starting state
    The first page of the whole list, the newest record first.

    ## Episode end
    Termination: a record is opened; or, where a value is copied, Check is pressed (records may then
    be opened at will). `max_steps` is about twice what is needed.

    ## Arguments
    | `records` | of the level (compact: 12) | records of the list, 24 to 300, compact 8 to 20 |
    | `facts` | of the level (compact: 2) | 1: the goal tells a person, 2: its day, 3: its place |
    | `search` | of the level (compact: False) | whether there is a search box |
    | `copy` | of the level (compact: True) | whether a value is copied, or a record only opened |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "paginated_search.html"
    shown = ("search", "copy", "theme")
    mistakes = ("alike", "neighbour")
    compact_values = {"records": 12, "facts": 2, "search": False, "copy": True}
    records: int = by_level(easy=40, medium=120, hard=240)
    facts: int = by_level(easy=1, medium=2, hard=3)
    search: bool = flag(easy=False, medium=True, hard=True)
    copy: bool = flag(easy=False, medium=False, hard=True)

    def prepare(self) -> None:
        if self.compact:
            self.check_range("records", self.records, 8, 20)
            self.check_range("facts", self.facts, 1, 2)
            self.size = COMPACT_PAGE - self.search - self.copy
        else:
            self.check_range("records", self.records, 24, 300)
            self.check_range("facts", self.facts, 1, 3)
            self.size = PAGE
        namesakes = ledgers.COMPACT_NAMESAKES if self.compact else ledgers.NAMESAKES
        listed = namesakes[self.facts] if self.search else self.records
        turns = math.ceil(listed / self.size) - 1
        needed = 3 * self.search + turns + 1 + 3 * self.copy
        self.max_steps = 2 * needed + (0 if self.compact else 4)

    def sample(self, rng: Generator) -> PaginatedSearchParams:
        ledger = COMPACT if self.compact else int(rng.integers(len(LEDGERS)))
        asked = 0
        while asked < self.size:  # what is asked for is never on the first page
            records, asked = self._records(_ledger(ledger).prefix, rng)
        return PaginatedSearchParams(
            ledger=ledger,
            records=records,
            asked=asked,
            facts=self.facts,
            theme=int(rng.integers(COMPACT_PLACES if self.compact else THEMES)),
            phrasing=int(rng.integers(len(COMPACT_OPEN if self.compact else OPEN))),
        )

    def goal(self, params: PaginatedSearchParams) -> str:
        about = _ledger(params.ledger)
        if self.compact:
            small = COMPACT_COPY if self.copy else COMPACT_OPEN
            return small[params.phrasing].format(one=_said(params), secret=about.secret)
        one = about.words(params.records[params.asked], params.facts)
        goals = COPY if self.copy else OPEN
        return goals[params.phrasing].format(one=one, secret=about.secret.lower())

    def page_params(self, params: PaginatedSearchParams) -> dict[str, Any]:
        about = _ledger(params.ledger)
        return {
            **super().page_params(params),
            **{name: getattr(about, name) for name in ("app", "mark", "title", "noun", "columns")},
            "secret": about.secret,
            "records": [astuple(record) for record in params.records],
            "size": self.size,
        }

    def judge(
        self, device: BrowserDevice, params: PaginatedSearchParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        asked = params.records[params.asked]
        for event in device.events:
            if self.copy and event.type == "check":
                said = str(event.data.get("value", "")).strip().upper()
                notes = f"handed in {said!r}, asked for was {asked.secret}"
                return Verdict(float(said == asked.secret), done=True, notes=notes)
            if not self.copy and event.type == "open":
                code = event.data.get("code")
                notes = f"opened {code}, asked for was {asked.code}"
                return Verdict(float(code == asked.code), done=True, notes=notes)
        return Verdict(0.0, notes="no record is chosen yet")

    def oracle(self, device: BrowserDevice, params: PaginatedSearchParams) -> Steps:
        if self.compact:
            yield from self._compact_steps(device, params)
            return
        record = params.records[params.asked]
        if self.search:
            thought = f"Search for {record.person}."
            yield from because(thought, fill(device, "#search", record.person))
            yield Demo(Press("enter"), thought)
        while record.code not in device.state()["shown"]:
            yield Demo(click(device, "#next"), "It is not on this page.")
        thought = f"{record.code} is of {record.person}, {record.written}, {record.place}."
        yield Demo(click(device, f"#open-{record.code}"), thought)
        if self.copy:
            thought = f"Its {LEDGERS[params.ledger].secret.lower()} is {record.secret}."
            yield from because(thought, fill(device, "#value", record.secret))
            yield Demo(click(device, "#check"), thought)

    def _compact_steps(self, device: BrowserDevice, params: PaginatedSearchParams) -> Steps:
        record = params.records[params.asked]
        if self.search:
            yield Demo(click(device, "#search"), "Name")
            yield Demo(Type(record.person), f"Name {record.person}")
            yield Demo(click(device, "#find"), "Search")
        while record.code not in device.state()["shown"]:
            yield Demo(click(device, "#next"), "Next")
        yield Demo(click(device, f"#open-{record.code}"), _said(params))
        if self.copy:
            secret = COMPACT_LEDGER.secret
            yield Demo(click(device, "#value"), secret)
            yield Demo(Type(record.secret), f"{secret} {record.secret}")
            yield Demo(click(device, "#check"), "Check")

    def misread(
        self, params: PaginatedSearchParams, mistake: str, rng: Generator
    ) -> PaginatedSearchParams:
        """``alike``: a record that has all but one of the facts in common with the asked one, or
        the person's last name. ``neighbour``: the next record of the list, or the last but one."""
        last = len(params.records) - 1
        if mistake == "neighbour":
            beside = params.asked + 1 if params.asked < last else last - 1
            return replace(params, asked=beside)
        asked = params.records[params.asked]
        others = [i for i in range(last + 1) if i != params.asked]
        most = max(_common(params.records[i], asked, params.facts) for i in others)
        alike = [i for i in others if _common(params.records[i], asked, params.facts) == most]
        return replace(params, asked=pick(rng, alike))

    def blind_rate(self, params: PaginatedSearchParams) -> float:
        """Any record of the list."""
        return 1 / len(params.records)

    def _records(self, prefix: str, rng: Generator) -> tuple[tuple[Record, ...], int]:
        if self.compact:
            return ledgers.compact_records(self.records, self.facts, rng)
        return ledgers.records(prefix, self.records, self.facts, rng)


def _ledger(ledger: int) -> Ledger:
    return COMPACT_LEDGER if ledger == COMPACT else LEDGERS[ledger]


def _said(params: PaginatedSearchParams) -> str:
    """The asked record in words of the compact page."""
    record = params.records[params.asked]
    return " ".join((record.person, record.day)[: params.facts])


def _common(one: Record, other: Record, facts: int) -> int:
    """How much of what a goal tells of two records is the same."""
    same = [
        one.person.split()[-1] == other.person.split()[-1],
        one.person == other.person,
        facts > 1 and one.day == other.day,
        facts > 2 and one.place == other.place,
    ]
    return sum(same)
