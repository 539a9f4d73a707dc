"""Stepper: bring the counts of a booking or an order to the asked ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import changed_share, otherwise
from ui_gym.browser.content.counters import SCENES, Counter, Scene, band_of
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, by_level, whole
from ui_gym.browser.languages import Language
from ui_gym.browser.moves import because, click, reveal
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

MOST_COUNTERS = 8
MOST_PARTY = 8
OLDEST = 88
APART = 3
"""How far a named count is from where it starts, at most."""
COMPACT_APART = 2
COMPACT_COUNTERS = 5
"""Counters that the compact page has room for, between the button above them and the one below."""
IN_SIGHT = 6
"""Counters that the page shows without scrolling."""

COUNT_GOALS = (
    "Change the {thing} to {counts}; leave the rest as it is. Then press Done.",
    "The {thing} should have {counts}. Keep all the other numbers and press Done.",
    "Set {counts} in the {thing}, change nothing else, and press Done.",
)
PARTY_GOALS = (
    "Fill in the {thing} for a party of {size}, aged {ages}{extras}. Press Done when it is right.",
    "We are {size} people, aged {ages}. Fill in the {thing} for all of us{extras} and press Done.",
    "Enter a party of {size} (ages {ages}){extras} in the {thing}, then press Done.",
)
COMPACT_GOALS = (
    "Set {counts}. Press Done.",
    "Change {counts}. Press Done.",
    "Put {counts}. Press Done.",
)

COMPACT_SCENE = Scene(
    "Order", "bag", "", "order", (), ((),), tuple(Counter(t, t, t) for t in words.THINGS_SHORT)
)
ALL_SCENES = {**SCENES, "compact": COMPACT_SCENE}


@dataclass(frozen=True)
class StepperParams:
    """All that varies between episodes. Counters are counted from 0, as they are shown."""

    scene: str
    cuts: tuple[int, ...]
    """The ages at which the next band of people begins."""
    shown: tuple[int, ...]
    """Which of the scene's counters are shown, in this order."""
    starts: tuple[int, ...]
    counts: tuple[int, ...]
    """What is asked for, of every counter."""
    named: tuple[int, ...]
    """The counters whose count the goal says."""
    ages: tuple[int, ...]
    """Of the people that the goal gives by their ages."""
    folded: bool
    """Whether the counters are behind a button."""
    place: int
    """How far the page's content is moved to the right, in pixels; compact: down."""
    theme: int
    phrasing: int

    @property
    def counters(self) -> list[Counter]:
        known = ALL_SCENES[self.scene].counters(self.cuts)
        return [known[i] for i in self.shown]


@register("Stepper", suite="browser", category="input", difficulty="medium", max_steps=22)
class Stepper(Family[StepperParams]):
    """Set guests, tickets, bags or rolls by their plus and minus buttons.

    ## Description
    Counters of a booking or an order: passengers and bags, tickets, rooms and guests, pastries...
    Each has a minus and a plus button and ends at a limit. Some pages have them behind a button,
    and long lists are scrolled. The goal gives the counts to change; at "hard" it gives the ages of
    a party, and each person belongs to the counter whose hint has that age. The compact page counts
    things with short names, and knows no ages.

    ## Action space
    Clicks and scrolling are all that is needed; Tab and Enter work as in any form.

    ## Rewards
    1 if Done is pressed with every count as asked, those that the goal does not mention as they
    were. Else the share of the counts to be changed that are right, less one such share for each
    other one that was changed.

    ## Starting state
    Counts that are not the asked ones, nothing focused; the list, if it is behind a button, closed.

    ## Episode end
    Termination: Done was pressed. `max_steps` is about twice what the longest way to the asked
    counts needs.

    ## Arguments
    | `counters` | 5 (compact: 3) | how many counters there are, 2 to 8, compact to 5 |
    | `changes` | 3 (compact: 2) | how many of them the goal gives a count for, 0 to 8 |
    | `party` | 0 | how many people the goal gives by their ages, 0 to 8 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "stepper.html"
    ends, waiting = "done", "not done yet"
    mistakes = ("miscount", "neighbour")
    translated = ("Stepper",)
    counters: int = whole(2, MOST_COUNTERS, easy=3, medium=5, hard=8)
    changes: int = by_level(easy=1, medium=3, hard=1)
    party: int = whole(0, MOST_PARTY, easy=0, medium=0, hard=6)
    compact_values = {"counters": 3, "changes": 2, "party": 0}

    def prepare(self) -> None:
        self.apart = COMPACT_APART if self.compact else APART
        if self.compact:
            self._prepare_compact()
            return
        # All bands of people are shown where ages are given.
        self.scenes = [
            name
            for name, scene in SCENES.items()
            if not self.party or 0 < len(scene.bands) <= self.counters
        ]
        if not self.scenes:
            raise UserError(f"Stepper: a party needs 3 to 8 counters, not {self.counters}")
        people = min(len(SCENES[name].bands) for name in self.scenes) if self.party else 0
        self.check_range("changes", self.changes, 0 if self.party else 1, self.counters - people)
        self.scenes = [name for name in self.scenes if self._things(name) >= self.changes]
        scrolls = 2 if self.counters > IN_SIGHT else 0
        self.max_steps = 2 * (self.apart * self.changes + self.party + 2 + scrolls)

    def _prepare_compact(self) -> None:
        if self.party:
            raise UserError(f"Stepper: the compact page has no ages; party is 0, not {self.party}")
        self.check_range("counters", self.counters, 2, COMPACT_COUNTERS)
        self.check_range("changes", self.changes, 1, self.counters)
        self.scenes = ["compact"]
        self.max_steps = 2 * (self.apart * self.changes + 2)

    def sample(self, rng: Generator) -> StepperParams:
        name = pick(rng, self.scenes)
        scene = ALL_SCENES[name]
        cuts = pick(rng, scene.cuts)
        shown = self._shown(name, rng)
        counters = [scene.counters(cuts)[i] for i in shown]
        ages = self._ages(cuts, rng) if self.party else ()
        people = len(scene.bands) if self.party else 0
        named = people + rng.choice(self.counters - people, size=self.changes, replace=False)
        starts = [int(rng.integers(c.low, c.low + 4)) for c in counters]
        if self.party:
            # Nobody but an adult or two, and nothing: what the goal leaves out needs no change.
            starts = [c.low for c in counters]
            starts[[c.one for c in counters].index("adult")] = int(rng.integers(1, 3))
        counts = list(starts)
        for i in named:
            counts[i] = self._other(counters[i], starts[i], rng)
        for i in range(people):
            counts[i] = sum(band_of(age, cuts) == i for age in ages)
        return StepperParams(
            scene=name,
            cuts=cuts,
            shown=shown,
            starts=tuple(starts),
            counts=tuple(counts),
            named=tuple(sorted(int(i) for i in named)),
            ages=ages,
            folded=bool(rng.random() < 0.5),
            place=self._place(rng),
            theme=0 if self.compact else int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: StepperParams) -> str:
        thing = ALL_SCENES[params.scene].thing
        counters = params.counters
        if self.compact:
            said = [f"{counters[i].label} to {params.counts[i]}" for i in params.named]
            return COMPACT_GOALS[params.phrasing].format(counts=", ".join(said))
        say = self.speak(params)
        said = [
            say.counted(params.counts[i], counters[i].one, counters[i].many) for i in params.named
        ]
        counts = say.listing(said) if said else ""
        if not params.ages:
            return say(COUNT_GOALS[params.phrasing]).format(thing=say(thing), counts=counts)
        return say(PARTY_GOALS[params.phrasing]).format(
            thing=say(thing),
            size=say.number(len(params.ages)),
            ages=say.listing([str(age) for age in params.ages]),
            extras=say(" with {counts}").format(counts=counts) if counts else "",
        )

    def page_params(self, params: StepperParams) -> dict[str, Any]:
        scene = ALL_SCENES[params.scene]
        counters = [
            {"label": c.label, "hint": c.hint, "low": c.low, "most": c.most, "start": start}
            for c, start in zip(params.counters, params.starts, strict=True)
        ]
        texts = {"app": scene.app, "icon": scene.icon, "title": scene.title}
        look = {"folded": params.folded, "place": params.place, "theme": params.theme}
        return {**texts, **look, "counters": counters, "inSight": IN_SIGHT}

    def composed(self, params: StepperParams, say: Language) -> dict[str, str]:
        """The ages in the hints."""
        scene = ALL_SCENES[params.scene]
        here, there = scene.counters(params.cuts), scene.counters(params.cuts, say)
        pairs = zip(here[: len(scene.bands)], there, strict=False)
        return {one.hint: other.hint for one, other in pairs}

    def verdict(self, data: Mapping[str, Any], params: StepperParams) -> Verdict:
        now = [int(count) for count in data["counts"]]
        wrong = otherwise((counter.label for counter in params.counters), params.counts, now)
        score = changed_share(params.starts, params.counts, now)
        return Verdict(score, done=True, notes="; ".join(wrong) or "all counts are right")

    def oracle(self, device: BrowserDevice, params: StepperParams) -> Steps:
        say = self.speak(params)
        if params.folded:
            thought = "Open" if self.compact else "The counters are behind this button."
            yield Demo(click(device, "#open"), thought)
        for i, (counter, want) in enumerate(zip(params.counters, params.counts, strict=True)):
            thought = f"There should be {say.counted(want, counter.one, counter.many)}."
            while (now := device.state()["counts"][i]) != want:
                button = f"#{'more' if now < want else 'less'}-{i}"
                if self.compact:
                    yield Demo(click(device, button), f"{counter.label} {'+-'[now > want]}")
                    continue
                yield from because(
                    f"{say(counter.label)} is further down.", reveal(device, button, ".rows")
                )
                yield Demo(click(device, button), thought)
        yield Demo(click(device, "#done"), "Done" if self.compact else "All the numbers are right.")

    def misread(self, params: StepperParams, mistake: str, rng: Generator) -> StepperParams:
        """``miscount``: one of the counts to change is one off. ``neighbour``: what belongs to one
        of them is added to the counter beside it (or taken from it)."""
        counts, counters = list(params.counts), params.counters
        every = range(len(counts))
        changed = [i for i in every if counts[i] != params.starts[i]] or every
        i = pick(rng, changed)
        if mistake == "miscount":
            low, most = counters[i].low, counters[i].most
            near = [count for count in (counts[i] - 1, counts[i] + 1) if low <= count <= most]
            counts[i] = pick(rng, near)
        else:
            beside = i + 1 if i + 1 < len(counts) else i - 1
            moved = counts[beside] + counts[i] - params.starts[i]
            counts[beside] = min(max(moved, counters[beside].low), counters[beside].most)
            counts[i] = params.starts[i]
        return replace(params, counts=tuple(counts))

    def blind_rate(self, params: StepperParams) -> float:
        """Any counters, at any counts."""
        changed = sum(s != c for s, c in zip(params.starts, params.counts, strict=True))
        most = max(counter.most for counter in params.counters)
        return 1 / (math.comb(len(params.shown), changed) * float(most**changed))

    def _things(self, name: str) -> int:
        """How many of the counters of a scene are no people whose ages are given."""
        return self.counters - (len(ALL_SCENES[name].bands) if self.party else 0)

    def _place(self, rng: Generator) -> int:
        if self.compact:
            return PATCH * int(rng.integers(COMPACT_COUNTERS - self.counters + 1))
        return 40 * int(rng.integers(-4, 5))

    def _shown(self, name: str, rng: Generator) -> tuple[int, ...]:
        scene = ALL_SCENES[name]
        bands, extras = len(scene.bands), len(scene.extras)
        if not self.party:
            chosen = rng.choice(bands + extras, size=self.counters, replace=False)
            return tuple(sorted(int(i) for i in chosen))
        things = rng.choice(extras, size=self._things(name), replace=False)
        return (*range(bands), *sorted(bands + int(i) for i in things))

    def _ages(self, cuts: Sequence[int], rng: Generator) -> tuple[int, ...]:
        """Ages of a party, somebody's at the very edge of a band."""
        edges = [*cuts, *(cut - 1 for cut in cuts)]
        ages = [pick(rng, edges)]
        bounds = (1, *cuts, OLDEST)
        while len(ages) < self.party:
            # Children do not travel alone: the second is grown up.
            band = int(rng.integers(len(cuts) + 1)) if len(ages) > 1 else len(cuts)
            ages.append(int(rng.integers(bounds[band], bounds[band + 1])))
        return tuple(ages[int(i)] for i in rng.permutation(len(ages)))

    def _other(self, counter: Counter, start: int, rng: Generator) -> int:
        """A count near `start`, and another one."""
        apart = self.apart
        near = range(max(counter.low, start - apart), min(counter.most, start + apart) + 1)
        others = [count for count in near if count != start]
        return pick(rng, others)
