"""Cannot be done: fulfil a request, or say that it cannot be fulfilled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content.requests import ALL_OFFICES, OFFICES, Office
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import SCROLL, because, click, count_scrolls, reveal
from ui_gym.contract import draws
from ui_gym.contract.action import Action, Finish, Scroll
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

MOST_ENTRIES = 20
MOST_CHOICES = 6
COMPACT_ENTRIES = 7
COMPACT_CHOICES = 5
IN_SIGHT = 8
"""Entries that the page shows without scrolling."""
ROW_HEIGHT = 56
"""Of an entry, in pixels."""
REASONS = ("missing", "gone", "locked")
"""Why a request cannot be fulfilled."""
ENDINGS = (
    " If that cannot be done, finish as infeasible.",
    " Should it be impossible, change nothing and finish as infeasible.",
    " Nothing else will do: if it is not possible, finish as infeasible.",
)
COMPACT_ENDING = " If impossible, finish as infeasible."

Pick = tuple[int, int]
"""An entry and a choice, counted from 0."""


@dataclass(frozen=True)
class CannotBeDoneParams:
    """All that varies between episodes. Whether it can be done follows from what the page shows."""

    office: str
    entries: tuple[str, ...]
    hints: tuple[int, ...]
    choices: tuple[str, ...]
    gone: tuple[tuple[int, ...], ...]
    """The choices of each entry that are no more to be had."""
    locked: tuple[int, ...]
    """The entries that are not for everybody."""
    wanted: str
    """The entry that the goal names; it may be none of those there are."""
    choice: int
    flipped: bool
    """Whether the list is on the right."""
    theme: int
    phrasing: int

    @property
    def entry(self) -> int | None:
        """Which entry is wanted; None if there is no such one."""
        return self.entries.index(self.wanted) if self.wanted in self.entries else None

    @property
    def reason(self) -> str:
        """Why it cannot be done; nothing if it can."""
        if self.entry is None:
            return "missing"
        if self.entry in self.locked:
            return "locked"
        return "gone" if self.choice in self.gone[self.entry] else ""

    @property
    def possible(self) -> list[Pick]:
        """All that can be had."""
        return [
            (entry, choice)
            for entry, gone in enumerate(self.gone)
            for choice in range(len(self.choices))
            if entry not in self.locked and choice not in gone
        ]


@register("CannotBeDone", suite="browser", category="choice", difficulty="medium", max_steps=10)
class CannotBeDone(Family[CannotBeDoneParams]):
    """Fulfil a request if that can be done, and say that it is infeasible if not.

    ## Description
    A shop, rooms to book, the members of an account, concerts: a list, and what can be had of each
    entry. The goal asks for one choice of one entry. In every other episode it cannot be had:
    there is no such entry though there are like ones, the choice is gone, or the entry is locked
    for whoever is signed in. What is not asked for may be in the same state in both kinds of
    episodes, so that only who reads can tell them apart; where something is gone, the page may
    offer something in its stead, which is never right.

    ## Action space
    Clicks and scrolling do all that can be done; ``finish`` with the outcome ``"infeasible"`` says
    that it cannot.

    ## Rewards
    1 for what was asked for, if it can be had. If it cannot: 1 for ``finish("infeasible")``, given
    that nothing else was done, and that the page was looked at: the wanted entry was opened, or,
    if there is none, the list was scrolled to its end. 0 for all else, so that refusing always and
    never refusing each miss half of the episodes. ``info["details"]`` has ``infeasible`` and
    ``gave_up``.

    ## Starting state
    The top of the list; no entry is open, so that only the lack of an entry can be seen.

    ## Episode end
    Termination: something was ordered, booked or saved, or the agent finished. `max_steps` is twice
    what the longest way needs, and 4.

    ## Arguments
    | `entries` | easy 5, medium 8, hard 16 (compact: 5) | of the list, 4 to 20, compact to 7 |
    | `choices` | easy 3, medium 4, hard 6 (compact: 3) | of each entry, 3 to 6, compact to 5 |
    | `offers` | easy False, else True (compact: False) | the page offers what was not asked for |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "cannot_be_done.html"
    mistakes = ("verdict", "choice")
    entries: int = whole(4, MOST_ENTRIES, easy=5, medium=8, hard=16)
    choices: int = whole(3, MOST_CHOICES, easy=3, medium=4, hard=6)
    offers: bool = flag(easy=False, medium=True, hard=True)
    compact_values = {"entries": 5, "choices": 3, "offers": False}

    def prepare(self) -> None:
        scrolls = count_scrolls(ROW_HEIGHT * max(0, self.entries - IN_SIGHT))
        self.max_steps = 2 * (3 + scrolls) + 4
        if self.compact:
            self.check_range("entries", self.entries, 4, COMPACT_ENTRIES)
            self.check_range("choices", self.choices, 3, COMPACT_CHOICES)
            if self.offers:
                raise UserError("CannotBeDone: the compact page offers nothing; offers is False")
            self.max_steps = 6

    def sample(self, rng: Generator) -> CannotBeDoneParams:
        key = "compact" if self.compact else draws.pick(rng, tuple(OFFICES))
        office = ALL_OFFICES[key]
        reason = draws.pick(rng, REASONS) if rng.random() < 0.5 else ""
        wanted, *others = self._names(office, rng)
        entries = others[: self.entries]
        entry = int(rng.integers(self.entries))
        if reason != "missing":
            entries[entry] = wanted
        chosen = sorted(rng.choice(len(office.choices), size=self.choices, replace=False))
        choice = int(rng.integers(self.choices))
        gone = [self._gone(rng) for _ in entries]
        others_than_it = [i for i in range(self.entries) if i != entry]
        some = rng.choice(others_than_it, size=max(1, self.entries // 5), replace=False)
        locked = {int(i) for i in some}
        if reason == "locked":
            locked.add(entry)
        gone[entry] = self._gone(rng, with_=choice if reason == "gone" else None, without=choice)
        return CannotBeDoneParams(
            office=key,
            entries=tuple(entries),
            hints=tuple(int(rng.integers(len(office.hints))) for _ in entries),
            choices=tuple(office.choices[int(i)] for i in chosen),
            gone=tuple(gone),
            locked=tuple(sorted(locked)),
            wanted=wanted,
            choice=choice,
            flipped=bool(rng.random() < 0.5),
            theme=0 if self.compact else int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: CannotBeDoneParams) -> str:
        asked = ALL_OFFICES[params.office].goals[params.phrasing]
        choice = params.choices[params.choice]
        if params.office == "shop":
            choice = choice.lower()
        ending = COMPACT_ENDING if self.compact else ENDINGS[params.phrasing]
        return asked.format(entry=params.wanted, choice=choice) + ending

    def page_params(self, params: CannotBeDoneParams) -> dict[str, Any]:
        office = ALL_OFFICES[params.office]._asdict()
        texts = {key: office[key] for key in office if key not in ("goals", "hints", "choices")}
        rows = [
            {
                "name": name,
                "hint": office["hints"][hint],
                "gone": gone,
                "locked": i in params.locked,
            }
            for i, (name, hint, gone) in enumerate(
                zip(params.entries, params.hints, params.gone, strict=True)
            )
        ]
        look = {"flipped": params.flipped, "theme": params.theme, "offers": self.offers}
        return {**texts, **look, "rows": rows, "choices": params.choices, "inSight": IN_SIGHT}

    def judge(
        self, device: BrowserDevice, params: CannotBeDoneParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        last = history[-1] if history else None
        gave_up = isinstance(last, Finish) and last.outcome == "infeasible"
        details = {"infeasible": bool(params.reason), "gave_up": gave_up}
        offered = any(event.type == "offer" for event in device.events)
        for event in device.events:
            if event.type == "done":
                got = (event.data.get("entry"), event.data.get("choice"))
                right = not params.reason and got == (params.entry, params.choice)
                told = "what was asked for" if right else "not what was asked for"
                if offered:
                    told += ", and something was taken that was offered"
                score = float(right and not offered)
                return Verdict(score, done=True, notes=told, details=details)
        if not gave_up:
            return Verdict(0.0, notes="not done yet", details=details)
        told = self._refused(device, params, offered)
        score = float(not told)
        return Verdict(score, done=True, notes=told or "it cannot be done", details=details)

    def oracle(self, device: BrowserDevice, params: CannotBeDoneParams) -> Steps:
        reason, choice = params.reason, params.choices[params.choice]
        if params.entry is None:
            left, top, width, height = device.box("#list")
            while self._must_scroll and device.state()["seen"] < len(params.entries):
                middle = round(left + width / 2), round(top + height / 2)
                yield Demo(Scroll(*middle, dy=SCROLL), f"No {params.wanted} so far.")
            said = f"No {params.wanted}" if self.compact else f"There is no {params.wanted}."
            yield Demo(Finish("infeasible"), said)
            return
        row = f"#entry-{params.entry}"
        yield from because(f"{params.wanted} may be further down.", reveal(device, row, "#list"))
        said = params.wanted if self.compact else f"There is {params.wanted}."
        yield Demo(click(device, row), said)
        if reason:
            yield Demo(Finish("infeasible"), self._told(params))
            return
        said = choice if self.compact else f"{choice} can be had."
        yield Demo(click(device, f"#choice-{params.choice}"), said)
        if not self.compact:
            yield Demo(click(device, "#commit"), "All is as asked.")

    def misread(
        self, params: CannotBeDoneParams, mistake: str, rng: Generator
    ) -> CannotBeDoneParams:
        """``verdict``: what can be done is taken for gone, and something else is done where it
        cannot. ``choice``: another thing than asked, of the same entry if there is one."""
        entry = params.entry
        if mistake == "verdict" and entry is not None and not params.reason:
            gone = list(params.gone)
            gone[entry] = (*gone[entry], params.choice)
            return replace(params, gone=tuple(gone))
        others = [pick for pick in params.possible if pick != (entry, params.choice)]
        if mistake == "choice":
            others = [pick for pick in others if pick[0] == entry] or others
        other, choice = draws.pick(rng, others)
        return replace(params, wanted=params.entries[other], choice=choice)

    def blind_rate(self, params: CannotBeDoneParams) -> float:
        """Refusing whatever is asked, after a look at everything."""
        return float(bool(params.reason))

    @property
    def _must_scroll(self) -> bool:
        return self.entries > IN_SIGHT

    def _refused(self, device: BrowserDevice, params: CannotBeDoneParams, offered: bool) -> str:
        """What is wrong with the agent's saying that it cannot be done; nothing if it is right."""
        if not params.reason:
            return "it was called infeasible, and can be done"
        if offered:
            return "it was called infeasible, but something was taken that was offered"
        if params.entry is not None:
            looked = any(
                event.type == "open" and event.data.get("entry") == params.entry
                for event in device.events
            )
            return "" if looked else "it was called infeasible without a look at the entry"
        counts = [int(event.data["count"]) for event in device.events if event.type == "seen"]
        looked = not self._must_scroll or max(counts, default=0) >= len(params.entries)
        return "" if looked else "it was called infeasible before all of the list was seen"

    def _told(self, params: CannotBeDoneParams) -> str:
        """Why the oracle refuses."""
        office, choice = ALL_OFFICES[params.office], params.choices[params.choice]
        if self.compact:
            return office.locked if params.reason == "locked" else f"{choice} {office.gone}"
        return office.locked if params.reason == "locked" else f"{choice}: {office.gone.lower()}."

    def _gone(
        self, rng: Generator, with_: int | None = None, without: int | None = None
    ) -> tuple[int, ...]:
        """Choices that are gone, never all: a chosen one of them if wished for, or not."""
        others = [i for i in range(self.choices) if i != without]
        most = self.choices - 2
        some = rng.choice(others, size=int(rng.integers(most + 1)), replace=False)
        gone = {int(i) for i in some}
        if with_ is not None:
            gone = set(sorted(gone)[: most - 1]) | {with_}
        return tuple(sorted(gone))

    def _names(self, office: Office, rng: Generator) -> list[str]:
        """Different names; the next ones share a word with the first, if they have two."""
        first = [int(i) for i in rng.permutation(len(office.first))]
        second = [int(i) for i in rng.permutation(len(office.second))]
        near = [(first[0], second[-1]), (first[-1], second[0])]
        others = [(i, j) for i in first for j in second if (i, j) != (first[0], second[0])]
        mixed = [others[int(i)] for i in rng.permutation(len(others))]
        rest = list(dict.fromkeys([*near, *mixed]) if len(second) > 1 else mixed)[: self.entries]
        shuffled = [rest[int(i)] for i in rng.permutation(len(rest))]
        return [office.name(*pair) for pair in [(first[0], second[0]), *shuffled]]
