"""Drop-down pick: choose the named options in drop-down lists, and apply."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import changed_share, lookalike
from ui_gym.browser.content.data import table
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, by_level, whole
from ui_gym.browser.moves import click, count_scrolls, pick
from ui_gym.contract import draws
from ui_gym.contract.action import Action, Scroll
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

SCENES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    scene: tuple((label, table("lists")[options]) for label, options in fields)
    for scene, fields in table("forms")["dropdown_pick"].items()
}
"""By scene: the labels of the lists, each with what it may hold."""

MOST = min(len(fields) for fields in SCENES.values())
LONGEST = max(len(options) for fields in SCENES.values() for _, options in fields)
ROW_HEIGHT = 34
"""Of an option, in pixels."""
ROOM = 320
"""The height of a list before it scrolls, in pixels."""
START_SHARE = 0.6
"""How often a list has something chosen at the start."""

GOALS = (
    'Set {}. Then press "Apply".',
    'Choose these settings and apply them: {}.',
    'Change {}. Leave everything else as it is and press "Apply".',
)  # fmt: skip

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
COMPACT_LISTS = (
    ("Name", words.FIRST_SHORT), ("Thing", words.THINGS_SHORT), ("From", DAYS), ("To", DAYS)
)  # fmt: skip
COMPACT_MOST = 3
"""Lists below which the compact page has room for an open one."""
COMPACT_ROOM = 4
"""Options that it shows without scrolling."""
COMPACT_LENGTH = 12
COMPACT_GOALS = ("Set {}. Press Apply.", "Choose {}. Press Apply.", "Change {}. Press Apply.")


@dataclass(frozen=True)
class DropdownPickParams:
    """All that varies between episodes."""

    scene: str
    labels: tuple[str, ...]
    """Of the lists, in reading order."""
    options: tuple[tuple[str, ...], ...]
    """What each list offers."""
    start: tuple[str, ...]
    """What is chosen at the start; empty for nothing."""
    asked: tuple[tuple[int, str], ...]
    """The lists that are to be changed, by index, and to what."""
    columns: int
    """Of lists; compact: how many patches are free on their left."""
    side: bool
    """Whether the page has links at its side."""
    theme: int
    phrasing: int


@register("DropdownPick", suite="browser", category="choice", difficulty="medium", max_steps=16)
class DropdownPick(Family[DropdownPickParams]):
    """Choose the named options in one or several drop-down lists, and apply.

    ## Description
    A page of settings with drop-down lists: countries, languages, time zones, currencies, ports,
    fonts. The goal names the lists to be changed and what to choose there. An open list shows nine
    options and scrolls; long ones hold alike options ("Guinea", "Guinea-Bissau") and several lists
    may offer the same. The other lists must be left as they are. An open list of the compact page
    shows four options: short names, things or days.

    ## Action space
    Clicks and scrolling solve it; in an open list the arrow keys, Enter, Escape and typing the
    first letters work too.

    ## Rewards
    1 for applying exactly what was asked; else the share of the asked lists that are right, less
    for every other list that was changed.

    ## Starting state
    All lists closed; in some something is chosen.

    ## Episode end
    Termination: "Apply" was pressed, whatever is chosen. `max_steps` is more than is needed in any
    case, about twice of what is needed on average; it follows from the arguments.

    ## Arguments
    | `fields` | 3, 5, 8 (compact: 3) | how many drop-down lists, 1 to 8, compact to 3 |
    | `asked` | 1, 2, 4 (compact: 2) | how many of them are to be changed, 1 to `fields` |
    | `length` | 8, 30, 132 (compact: 6) | the most options of a list, 3 to 132, compact to 12 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "dropdown_pick.html"
    shown = ("scene", "columns", "side", "theme")
    ends, waiting = "apply", "nothing is applied"
    fields: int = whole(1, MOST, easy=3, medium=5, hard=8)
    asked: int = by_level(easy=1, medium=2, hard=4)
    length: int = whole(3, LONGEST, easy=8, medium=30, hard=LONGEST)
    compact_values = {"fields": 3, "asked": 2, "length": 6}
    mistakes = ("forgot", "lookalike", "neighbour")
    translated = ("DropdownPick", "countries")

    def prepare(self) -> None:
        scrolls = count_scrolls(self.length * ROW_HEIGHT, ROOM)
        if self.compact:
            self.check_range("fields", self.fields, 1, COMPACT_MOST)
            self.check_range("length", self.length, 3, COMPACT_LENGTH)
            scrolls = 2 * (math.ceil(self.length / COMPACT_ROOM) - 1)
        self.check_range("asked", self.asked, 1, self.fields)
        self.max_steps = 2 * (2 * self.asked + 1) + self.asked * scrolls

    def sample(self, rng: Generator) -> DropdownPickParams:
        scene = "compact" if self.compact else draws.pick(rng, tuple(SCENES))
        bank = COMPACT_LISTS if self.compact else SCENES[scene][:MOST]
        picked = sorted(int(i) for i in rng.choice(len(bank), size=self.fields, replace=False))
        labels = tuple(bank[i][0] for i in picked)
        options = tuple(self._options(bank[i][1], rng) for i in picked)
        start = tuple(
            draws.pick(rng, offered) if rng.random() < START_SHARE else "" for offered in options
        )
        asked = []
        for i in sorted(int(i) for i in rng.choice(self.fields, size=self.asked, replace=False)):
            others = [option for option in options[i] if option != start[i]]
            asked.append((i, draws.pick(rng, others)))
        return DropdownPickParams(
            scene=scene,
            labels=labels,
            options=options,
            start=start,
            asked=tuple(asked),
            columns=self._columns(rng),
            side=not self.compact and bool(rng.random() < 0.5),
            theme=0 if self.compact else int(rng.integers(6)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goal(self, params: DropdownPickParams) -> str:
        if self.compact:
            said = ", ".join(f"{params.labels[i]} {value}" for i, value in params.asked)
            return COMPACT_GOALS[params.phrasing].format(said)
        say = self.speak(params)
        part = say("{label} should be {value}" if params.phrasing == 1 else "{label} to {value}")
        parts = [
            part.format(label=say.named(params.labels[i]), value=say.named(value))
            for i, value in params.asked
        ]
        return say(GOALS[params.phrasing]).format(say.listing(parts))

    def page_params(self, params: DropdownPickParams) -> dict[str, Any]:
        lists = enumerate(zip(params.labels, params.options, params.start, strict=True))
        fields = [
            {"id": f"list-{i}", "label": label, "options": options, "start": start}
            for i, (label, options, start) in lists
        ]
        return {**super().page_params(params), "fields": fields}

    def verdict(self, data: Mapping[str, Any], params: DropdownPickParams) -> Verdict:
        wanted = [*params.start]
        for i, value in params.asked:
            wanted[i] = value
        values = data.get("values", {})
        now = [str(values.get(f"list-{i}", "")) for i in range(len(wanted))]
        if now == wanted:
            return Verdict(1.0, done=True, notes="applied as asked")
        pairs = zip(params.labels, wanted, now, strict=True)
        wrong = [label for label, asked, value in pairs if asked != value]
        share = changed_share(params.start, wanted, now)
        return Verdict(share, done=True, notes=f"applied with {listing(wrong)} wrong")

    def oracle(self, device: BrowserDevice, params: DropdownPickParams) -> Steps:
        say = self.speak(params)
        for i, value in params.asked:
            thought = f'"{say(params.labels[i])}" has to be "{say(value)}".'
            moves = pick(device, f"list-{i}", value)
            if self.compact:
                yield from _compact_moves(moves, params.labels[i], value)
                continue
            for action in moves:
                sight = " It is not in sight." if isinstance(action, Scroll) else ""
                yield Demo(action, thought + sight)
        yield Demo(
            click(device, "#apply"), "Apply" if self.compact else "All lists are as asked: apply."
        )

    def misread(
        self, params: DropdownPickParams, mistake: str, rng: Generator
    ) -> DropdownPickParams:
        """``lookalike``: the most alike option is taken for one of the asked. ``neighbour``: the
        option above or below it is. ``forgot``: one of the lists is left as it is."""
        if not params.asked:
            return params  # the only one was forgotten
        asked = [*params.asked]
        place = int(rng.integers(len(asked)))
        i, wanted = asked[place]
        if mistake == "forgot":
            del asked[place]
            return replace(params, asked=tuple(asked))
        options = params.options[i]
        if mistake == "lookalike":
            taken = lookalike(wanted, options)
        else:
            at = options.index(wanted)
            beside = [n for n in (at - 1, at + 1) if 0 <= n < len(options)]
            taken = draws.pick(rng, beside)
        asked[place] = (i, options[taken])
        return replace(params, asked=tuple(asked))

    def blind_rate(self, params: DropdownPickParams) -> float:
        """Any other options, in as many lists as are named."""
        lists = math.comb(len(params.labels), len(params.asked))
        return 1 / lists / math.prod(len(params.options[i]) - 1 for i, _ in params.asked)

    def _columns(self, rng: Generator) -> int:
        if self.compact:
            return int(rng.integers(4))
        return 2 if self.fields > 5 else int(rng.integers(1, 3))

    def _options(self, offered: tuple[str, ...], rng: Generator) -> tuple[str, ...]:
        """At most `length` of what may be offered, in its order."""
        size = min(self.length, len(offered))
        return tuple(offered[i] for i in sorted(rng.choice(len(offered), size=size, replace=False)))


def _compact_moves(moves: Iterator[Action], label: str, value: str) -> Iterator[Demo]:
    """The moves of `pick`, which scroll by what the compact page shows of a list at once."""
    thought = label
    for action in moves:
        if isinstance(action, Scroll):
            step = COMPACT_ROOM * PATCH
            action = replace(action, dy=step if action.dy > 0 else -step)
        yield Demo(action, thought)
        thought = value
