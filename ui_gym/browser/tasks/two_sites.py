"""Two sites: read something on one site, and enter it into a form on another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content.choices import changed_share
from ui_gym.browser.content.errands import ALL_ERRANDS, COMPACT_ERRANDS, ERRANDS, Errand
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice, PageEvent
from ui_gym.browser.family import Family, Steps, whole
from ui_gym.browser.moves import because, click, count_scrolls, reveal
from ui_gym.contract.action import Action, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

MOST_ROWS = 16
COMPACT_ROWS = 5
MOST_FIELDS = 4
COMPACT_FIELDS = 2
COMPACT_DETAILS = 2
"""Columns that the compact page has room for."""
COMPACT_PLACES = 2
"""Columns or rows by which what is on the compact page's sites may lie further on."""
IN_SIGHT = 9
"""Rows that the page shows without scrolling."""
ROW_HEIGHT = 58
"""In pixels."""

GOALS = (
    "Enter the {details} of {row} from {source} into the form of {form}, and press {button}.",
    "The form of {form} asks for the {details} of {row}. Look that up in {source}, fill it in, and "
    "press {button}.",
    "Look up {row} in {source}: the {details} must go into the form of {form}. Change nothing else "
    "and press {button}.",
)
COMPACT_GOALS = (
    "Enter {details} of {row} in {form}. Press {button}.",
    "{form}: enter {details} of {row}. Press {button}.",
    "Find {row}. Enter {details} in {form}. Press {button}.",
)


@dataclass(frozen=True)
class SourceRow:
    """What the first site knows of somebody."""

    name: str
    hint: str
    details: tuple[str, ...]
    """In the order of the errand's details."""


@dataclass(frozen=True)
class TwoSitesParams:
    """All that varies between episodes."""

    errand: str
    rows: tuple[SourceRow, ...]
    shown: tuple[int, ...]
    """The details that the first site shows, in this order."""
    target: int
    wanted: tuple[int, ...]
    """The details that the form asks for, in this order."""
    entries: tuple[str, ...]
    """What is to be entered for each."""
    kept: tuple[tuple[str, str], ...]
    """The form's fields that hold something already."""
    first: bool
    """Whether these stand above the others."""
    swapped: bool
    """Whether the form is in the left tab."""
    at: int
    """The tab that is shown at the start."""
    flipped: bool
    place: tuple[int, int]
    """Columns or rows that what is on each site is moved on by, compact."""
    themes: tuple[int, int]
    phrasing: int

    @property
    def words(self) -> Errand:
        return ALL_ERRANDS[self.errand]

    @property
    def said(self) -> str:
        """What a goal calls the record."""
        row = self.rows[self.target]
        alike = sum(other.name == row.name for other in self.rows) > 1
        form = self.words.row_with if alike else self.words.row
        return form.format(name=row.name, hint=row.hint)


@register("TwoSites", suite="browser", category="office", difficulty="medium", max_steps=16)
class TwoSites(Family[TwoSitesParams]):
    """Look something up on one site, enter it into a form on another, and confirm.

    ## Description
    A browser's window with two tabs, in which the sites of two houses look different. The one has
    records: orders, colleagues, bills. The other has a form: a pick-up of a parcel, a ride, a
    transfer. The goal says of whom the form asks what, in the words of the first site; the form has
    its own. Only one site is seen at a time, so that what was read has to be kept in mind. With
    `alike`, there are records of the same name, which a date or a department tells apart, and of
    nearly the same. The form has fields and a box that hold the right things already; records can
    be removed and tabs closed, which is never asked for. On the compact page, records are the lines
    of a table.

    ## Action space
    Clicks, scrolling and typing. There is no need of the clipboard.

    ## Rewards
    1 if the form was confirmed with what was asked for in its fields and all else as it was. Else
    the share of these fields that are right, less one such share for each other thing on the form
    that was changed. 0 once a record was removed or a tab closed. Blanks, capitals, "$" and commas
    do not matter.

    ## Starting state
    Either tab is shown; no record is open, the asked fields are empty.

    ## Episode end
    Termination: the form was confirmed, a record removed or a tab closed. `max_steps` is twice what
    the longest way needs.

    ## Arguments
    | `rows` | easy 5, medium 9, hard 14 (compact: 4) | records, 4 to 16, compact to 5 |
    | `fields` | easy 1, medium 2, hard 4 (compact: 2) | fields to be filled, 1 to 4, compact to 2 |
    | `alike` | easy 0, medium 1, hard 3 (compact: 0) | records like the right one, 0 to 3 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "two_sites.html"
    mistakes = ("row", "detail")
    rows: int = whole(4, MOST_ROWS, easy=5, medium=9, hard=14)
    fields: int = whole(1, MOST_FIELDS, easy=1, medium=2, hard=4)
    alike: int = whole(0, 3, easy=0, medium=1, hard=3)
    compact_values = {"rows": 4, "fields": 2, "alike": 0}

    def prepare(self) -> None:
        scrolls = count_scrolls(ROW_HEIGHT * max(0, self.rows - IN_SIGHT))
        if self.compact:
            self.check_range("rows", self.rows, 4, COMPACT_ROWS)
            self.check_range("fields", self.fields, 1, COMPACT_FIELDS)
            if self.alike:
                raise UserError("TwoSites: the compact page has no records that are alike")
        self.errands = list(COMPACT_ERRANDS if self.compact else ERRANDS)
        self.max_steps = 2 * (2 + (not self.compact) + scrolls + 2 * self.fields + 1)

    def sample(self, rng: Generator) -> TwoSitesParams:
        key = pick(rng, self.errands)
        errand = ALL_ERRANDS[key]
        every = [int(i) for i in rng.permutation(len(errand.details))]
        shown = tuple(every[:COMPACT_DETAILS] if self.compact else sorted(every))
        wanted = tuple(int(i) for i in rng.choice(shown, size=self.fields, replace=False))
        rows = self._rows(errand, rng)
        order = [int(i) for i in rng.permutation(self.rows)]
        target = order.index(0)
        theme = int(rng.integers(6))
        return TwoSitesParams(
            errand=key,
            rows=tuple(rows[i] for i in order),
            shown=shown,
            target=target,
            wanted=wanted,
            entries=tuple(rows[0].details[i] for i in wanted),
            kept=self._kept(errand, every[-1], rng),
            first=bool(rng.random() < 0.5),
            swapped=bool(rng.random() < 0.5),
            at=int(rng.integers(2)),
            flipped=bool(rng.random() < 0.5),
            place=(int(rng.integers(COMPACT_PLACES)), int(rng.integers(COMPACT_PLACES))),
            themes=(theme, (theme + int(rng.integers(1, 6))) % 6),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: TwoSitesParams) -> str:
        errand = params.words
        goals = COMPACT_GOALS if self.compact else GOALS
        return goals[params.phrasing].format(
            details=listing(errand.details[i].said for i in params.wanted),
            row=params.said,
            source=errand.source["name"],
            form=errand.form["name"],
            button=errand.form["button"],
        )

    def page_params(self, params: TwoSitesParams) -> dict[str, Any]:
        errand = params.words
        look = {
            "swapped": params.swapped,
            "at": params.at,
            "flipped": params.flipped,
            "place": params.place,
            "themes": params.themes,
        }
        fields = [(errand.details[i].asked, "") for i in params.wanted]
        rows = [
            {"name": row.name, "hint": row.hint, "details": [row.details[i] for i in params.shown]}
            for row in params.rows
        ]
        return {
            **look,
            "source": errand.source,
            "form": {key: errand.form[key] for key in errand.form if key != "kept"},
            "labels": [errand.details[i].label for i in params.shown],
            "rows": rows,
            "fields": [*params.kept, *fields] if params.first else [*fields, *params.kept],
            "inSight": IN_SIGHT,
        }

    def judge(
        self, device: BrowserDevice, params: TwoSitesParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        for event in device.events:
            if event.type in ("shut", "remove"):
                what = "a tab was closed" if event.type == "shut" else "a record was removed"
                return Verdict(0.0, done=True, notes=what)
            if event.type == "confirm":
                return _confirmed(params, event)
        return Verdict(0.0, notes="nothing is confirmed yet")

    def oracle(self, device: BrowserDevice, params: TwoSitesParams) -> Steps:
        errand, source = params.words, int(params.swapped)
        names = errand.source["name"], errand.form["name"]
        row, details = params.rows[params.target], [errand.details[i] for i in params.wanted]
        if params.at != source:
            yield Demo(click(device, f"#tab-{source}"), self.thought(names[0], f"To {names[0]}."))
        if not self.compact:
            its = f"#row-{params.target}"
            yield from because(f"{row.name} may be further down.", reveal(device, its, "#rows"))
            yield Demo(click(device, its), f"There is {params.said}.")
        filled = list(zip(details, params.entries, strict=True))
        read = listing(f"{one.said} {entry}" for one, entry in filled)
        thought = self.thought(names[1], f"It has the {read}. Now to {names[1]}.")
        yield Demo(click(device, f"#tab-{1 - source}"), thought)
        above = len(params.kept) * params.first
        for i, (one, entry) in enumerate(filled):
            thought = self.thought(one.asked, f'"{one.asked}" wants the {one.said}.')
            yield Demo(click(device, f"#field-{above + i}"), thought)
            thought = self.thought(f"{one.asked} {entry}", f"The {one.said} is {entry}.")
            yield Demo(Type(entry), thought)
        thought = self.thought(errand.form["button"], "All is entered.")
        yield Demo(click(device, "#confirm"), thought)

    def misread(self, params: TwoSitesParams, mistake: str, rng: Generator) -> TwoSitesParams:
        """``row``: another record is read, one that looks alike if there is one. ``detail``: for
        one of the fields, something else of the right record is entered."""
        right = params.rows[params.target]
        if mistake == "row":
            first = right.name.split()[0]
            others = [i for i in range(len(params.rows)) if i != params.target]
            near = [i for i in others if params.rows[i].name.startswith(first)] or others
            other = pick(rng, near)
            entries = tuple(params.rows[other].details[i] for i in params.wanted)
            return replace(params, target=other, entries=entries)
        at = int(rng.integers(len(params.wanted)))
        others = [i for i in params.shown if i != params.wanted[at]]
        entry = right.details[pick(rng, others)]
        return replace(params, entries=(*params.entries[:at], entry, *params.entries[at + 1 :]))

    def blind_rate(self, params: TwoSitesParams) -> float:
        """What any of the records has, entered where it belongs."""
        return 1 / len(params.rows)

    def _kept(self, errand: Errand, unseen: int, rng: Generator) -> tuple[tuple[str, str], ...]:
        """What the form holds already; compact: a detail that the records do not show."""
        if not self.compact:
            return tuple((label, value) for label, value in errand.form["kept"])
        return ((errand.details[unseen].asked, errand.details[unseen].draw(rng)),)

    def _rows(self, errand: Errand, rng: Generator) -> list[SourceRow]:
        """Records, the right one first, then those that are like it; no two share a detail."""
        first, second = (
            [str(part) for part in rng.permutation(parts)] for parts in errand.names[:2]
        )
        hints = [str(hint) for hint in rng.permutation(errand.names.hints)]
        # The same name with another hint, the same hint with half of the name, and again the first.
        names = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 0, 2)][: 1 + self.alike]
        while len(names) < self.rows:
            at = len(names)
            names.append((at % len(first), (3 * at + 2) % len(second), at % len(hints)))
        columns = [_different(one.draw, self.rows, rng) for one in errand.details]
        return [
            SourceRow(f"{first[i]} {second[j]}".strip(), hints[h], details)
            for (i, j, h), details in zip(names, zip(*columns, strict=True), strict=True)
        ]


def _confirmed(params: TwoSitesParams, event: PageEvent) -> Verdict:
    kept = [value for _, value in params.kept]
    before, asked = [""] * len(params.wanted), list(params.entries)
    if params.first:
        before, asked = [*kept, *before], [*kept, *asked]
    else:
        before, asked = [*before, *kept], [*asked, *kept]
    now = [_plain(value) for value in event.data.get("values", ())]
    if len(now) != len(asked):
        return Verdict(0.0, done=True, notes=f"{len(now)} fields, not {len(asked)}")
    ticked = bool(event.data.get("ticked"))
    asked, before = [_plain(value) for value in asked], [_plain(value) for value in before]
    score = changed_share([*before, False], [*asked, False], [*now, ticked])
    wrong = [f"{got!r}, not {want!r}" for got, want in zip(now, asked, strict=True) if got != want]
    wrong += ["a box was ticked"] * ticked
    return Verdict(score, done=True, notes="; ".join(wrong) or "all is entered as asked")


def _plain(value: object) -> str:
    """What is compared of a text: neither blanks nor capitals, nor how money is written."""
    return "".join(sign for sign in str(value).casefold() if sign not in " \t\n\u00a0$,")


def _different(draw: Callable[[Generator], str], count: int, rng: Generator) -> list[str]:
    """`count` drawn texts, no two the same."""
    made: list[str] = []
    while len(made) < count:
        text = draw(rng)
        if text not in made:
            made.append(text)
    return made
