"""Paginated search: find one record in a list of many pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import ledgers
from ui_gym.browser.content.ledgers import LEDGERS, Record
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, fill
from ui_gym.contract.action import Action, Press
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


@dataclass(frozen=True)
class PaginatedSearchParams:
    """All that varies between episodes."""

    ledger: int
    records: tuple[Record, ...]
    asked: int
    facts: int
    """By how much of it the goal names the record: its person, its day, its place."""
    theme: int
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
    | `records` | of the level | records of the list, 24 to 300 |
    | `facts` | of the level | what the goal tells: 1 person, 2 also the day, 3 also the place |
    | `search` | of the level | whether there is a search box |
    | `copy` | of the level | whether a value is to be copied, rather than the record opened |
    """

    page = "paginated_search.html"
    shown = ("search", "copy", "theme")
    mistakes = ("alike", "neighbour")
    records: int = whole(24, 300, easy=40, medium=120, hard=240)
    facts: int = whole(1, 3, easy=1, medium=2, hard=3)
    search: bool = flag(easy=False, medium=True, hard=True)
    copy: bool = flag(easy=False, medium=False, hard=True)

    def prepare(self) -> None:
        listed = ledgers.NAMESAKES[self.facts] if self.search else self.records
        turns = math.ceil(listed / PAGE) - 1
        self.max_steps = 2 * (3 * self.search + turns + 1 + 3 * self.copy) + 4

    def sample(self, rng: Generator) -> PaginatedSearchParams:
        ledger = int(rng.integers(len(LEDGERS)))
        prefix = LEDGERS[ledger].prefix
        asked = 0
        while asked < PAGE:  # what is asked for is never on the first page
            records, asked = ledgers.records(prefix, self.records, self.facts, rng)
        return PaginatedSearchParams(
            ledger=ledger,
            records=records,
            asked=asked,
            facts=self.facts,
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(OPEN))),
        )

    def goal(self, params: PaginatedSearchParams) -> str:
        about = LEDGERS[params.ledger]
        one = about.words(params.records[params.asked], params.facts)
        goals = COPY if self.copy else OPEN
        return goals[params.phrasing].format(one=one, secret=about.secret.lower())

    def page_params(self, params: PaginatedSearchParams) -> dict[str, Any]:
        about = LEDGERS[params.ledger]
        return {
            **super().page_params(params),
            **{name: getattr(about, name) for name in ("app", "mark", "title", "noun", "columns")},
            "secret": about.secret,
            "records": [astuple(record) for record in params.records],
            "size": PAGE,
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
        return replace(params, asked=alike[int(rng.integers(len(alike)))])

    def blind_rate(self, params: PaginatedSearchParams) -> float:
        """Any record of the list."""
        return 1 / len(params.records)


def _common(one: Record, other: Record, facts: int) -> int:
    """How much of what a goal tells of two records is the same."""
    same = [
        one.person.split()[-1] == other.person.split()[-1],
        one.person == other.person,
        facts > 1 and one.day == other.day,
        facts > 2 and one.place == other.place,
    ]
    return sum(same)
