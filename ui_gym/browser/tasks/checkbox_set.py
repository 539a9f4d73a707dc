"""Checkbox set: tick exactly the boxes that the goal names, and save."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import changed_share, lookalike
from ui_gym.browser.content.lists import THINGS
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, by_level, one_of
from ui_gym.browser.languages import Language
from ui_gym.browser.moves import because, click, count_scrolls, reveal
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

NAMED = {
    "permissions": "permissions", "columns": "columns", "alerts": "notifications",
    "zones": "zones", "pantry": "goods",
}  # fmt: skip

ORDERS = ("alphabetical", "grouped", "mixed")
ROW_HEIGHT = 40
"""Of a box, in pixels."""
ROOM = 440
"""The least height of the list before it scrolls, in pixels."""
MOST = 100

COMPACT_MOST = 6
"""Boxes that the compact page has room for, below its title and above the button."""
GOALS = (
    'Tick exactly these {named}: {labels}. Then press "Save".',
    'Save the page with only {labels} ticked, and no other of the {named}.',
    'Of all {named}, only {labels} should be ticked. Set it so and press "Save".',
)  # fmt: skip

COMPACT_GOALS = ("Choose {labels}. Press Save.", "Click {labels}. Press Save.")

Likeness = Literal["low", "high"]


@dataclass(frozen=True)
class CheckboxSetParams:
    """All that varies between episodes."""

    topic: str
    labels: tuple[str, ...]
    """The boxes, in reading order."""
    asked: tuple[int, ...]
    """The indices of the boxes to be ticked, in the goal's order."""
    ticked: tuple[int, ...]
    """The indices of the boxes that are ticked at the start."""
    columns: int
    width: int
    """Of the card with the boxes, in pixels; compact: what is free above them."""
    side: bool
    """Whether the page has links at its side."""
    theme: int
    phrasing: int


@register("CheckboxSet", suite="browser", category="choice", difficulty="medium", max_steps=14)
class CheckboxSet(Family[CheckboxSetParams]):
    """Tick exactly the named boxes among many, and save.

    ## Description
    A page of settings with many check boxes: permissions, columns of an export, notifications,
    alarm zones or goods. The goal names the boxes that have to be ticked when "Save" is pressed.
    With more boxes the list scrolls; with ``likeness="high"`` labels share their words, as in
    "Edit orders" and "Edit offers"; boxes that are ticked at the start may have to be unticked.
    The compact page has people's short names.

    ## Action space
    Clicks and scrolling solve it; Tab and Space work as in any form.

    ## Rewards
    1 for saving with exactly the named boxes ticked; else the share of the way from the start to
    what was asked, less for every box that was changed without need.

    ## Starting state
    Some boxes ticked (by default none), the list scrolled to its top.

    ## Episode end
    Termination: "Save" was pressed, whatever is ticked. `max_steps` is twice what is needed at
    most; it follows from the arguments.

    ## Arguments
    | `count` | 8, 20, 60 (compact: 4) | how many boxes, 2 to 100, compact to 6 |
    | `asked` | 2, 4, 6 (compact: 2) | how many of them the goal names, 1 to `count` - 1 |
    | `ticked` | 0, 0, 5 (compact: 0) | how many are ticked at the start, 0 to `count` |
    | `likeness` | "low", "high", "high" (compact: "low") | "low": no common word; "high": alike |
    | `compact` | False | a 320x256 page that a model of a million parameters can read |
    """

    page = "checkbox_set.html"
    ends, waiting = "save", "nothing is saved"
    translated = ("CheckboxSet",)
    count: int = by_level(easy=8, medium=20, hard=60)
    asked: int = by_level(easy=2, medium=4, hard=6)
    ticked: int = by_level(easy=0, medium=0, hard=5)
    likeness: Likeness = one_of(get_args(Likeness), easy="low", medium="high", hard="high")
    compact_values = {"count": 4, "asked": 2, "ticked": 0, "likeness": "low"}
    mistakes = ("forgot", "lookalike", "neighbour")

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        most = MOST if self.likeness == "high" else min(len(n) for n, _ in THINGS.values())
        self.check_range("count", self.count, 2, most)
        self.check_range("asked", self.asked, 1, self.count - 1)
        self.check_range("ticked", self.ticked, 0, self.count)
        scrolls = count_scrolls(self.count * ROW_HEIGHT, ROOM)
        self.max_steps = 2 * (self.asked + self.ticked + scrolls + 1)

    def _prepare_compact(self) -> None:
        if self.likeness == "high":
            raise UserError("CheckboxSet: the compact page has no alike names; likeness is 'low'")
        self.check_range("count", self.count, 2, COMPACT_MOST)
        self.check_range("asked", self.asked, 1, self.count - 1)
        self.check_range("ticked", self.ticked, 0, self.count)
        self.max_steps = 2 * (self.asked + self.ticked + 1)

    def sample(self, rng: Generator) -> CheckboxSetParams:
        topic = "people" if self.compact else pick(rng, tuple(THINGS))
        labels = self._people(rng) if self.compact else self._labels(topic, rng)
        picked = rng.choice(self.count, size=self.asked, replace=False)
        asked = {int(i) for i in picked}
        ticked = asked
        while ticked == asked:  # nothing would be left to do
            drawn = rng.choice(self.count, size=self.ticked, replace=False)
            ticked = {int(i) for i in drawn}
        if self.compact:
            return self._sample_compact(rng, labels, tuple(map(int, picked)), tuple(sorted(ticked)))
        columns = int(rng.integers(1, 3)) if self.count <= 10 else 2
        return CheckboxSetParams(
            topic=topic,
            labels=labels,
            asked=tuple(int(i) for i in picked),
            ticked=tuple(sorted(ticked)),
            columns=columns,
            width=(460 if columns == 1 else 720) + 40 * int(rng.integers(4)),
            side=bool(rng.random() < 0.5),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def _sample_compact(
        self,
        rng: Generator,
        labels: tuple[str, ...],
        asked: tuple[int, ...],
        ticked: tuple[int, ...],
    ) -> CheckboxSetParams:
        return CheckboxSetParams(
            topic="people",
            labels=labels,
            asked=asked,
            ticked=ticked,
            columns=1,
            width=PATCH * int(rng.integers(COMPACT_MOST - self.count + 1)),
            side=False,
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def goal(self, params: CheckboxSetParams) -> str:
        if self.compact:
            names = ", ".join(params.labels[i] for i in params.asked)
            return COMPACT_GOALS[params.phrasing].format(labels=names)
        say = self.speak(params)
        known = self.composed(params, say)
        labels = say.listing([say.named(known[params.labels[i]]) for i in params.asked])
        return say(GOALS[params.phrasing]).format(named=say(NAMED[params.topic]), labels=labels)

    def composed(self, params: CheckboxSetParams, say: Language) -> dict[str, str]:
        """The labels."""
        things, ways = THINGS[params.topic]
        return {
            _label(way, thing): _label(say(way), say(thing))
            for thing in things
            for way in ("{}", *ways)
        }

    def page_params(self, params: CheckboxSetParams) -> dict[str, Any]:
        page = asdict(params)
        del page["asked"], page["phrasing"]
        return {**page, "compact": self.compact}

    def verdict(self, data: Mapping[str, Any], params: CheckboxSetParams) -> Verdict:
        wanted = {params.labels[i] for i in params.asked}
        saved = {str(label) for label in data.get("ticked", ())}
        if saved == wanted:
            return Verdict(1.0, done=True, notes="saved as asked")
        start = {params.labels[i] for i in params.ticked}
        before, asked, now = (
            [label in ticked for label in params.labels] for ticked in (start, wanted, saved)
        )
        missing, extra = len(wanted - saved), len(saved - wanted)
        notes = f"saved with {missing} of the asked boxes missing and {extra} others ticked"
        return Verdict(changed_share(before, asked, now), done=True, notes=notes)

    def oracle(self, device: BrowserDevice, params: CheckboxSetParams) -> Steps:
        labels = {} if self.compact else self.composed(params, self.speak(params))
        for index in sorted(set(params.ticked) ^ set(params.asked)):
            if self.compact:
                thought, caption = params.labels[index], self.caption(device, params)
                yield Demo(click(device, f"#box-{index}"), thought, caption)
                continue
            verb = "Tick" if index in params.asked else "Untick"
            thought = f'{verb} "{labels[params.labels[index]]}".'
            row = f".tick:has(#box-{index})"
            yield from because(f"{thought} It is not in sight.", reveal(device, row, "#boxes"))
            yield Demo(click(device, f"#box-{index}"), thought)
        if self.compact:
            yield Demo(click(device, "#save"), "Save", self.caption(device, params))
            return
        yield Demo(click(device, "#save"), "The boxes are as asked: save.")

    def misread(self, params: CheckboxSetParams, mistake: str, rng: Generator) -> CheckboxSetParams:
        """``lookalike``: the most alike label is taken for one of the named. ``neighbour``: the
        box before or after it is ticked. ``forgot``: one of them is left out."""
        if not params.asked:
            return params  # the only one was forgotten
        place = int(rng.integers(len(params.asked)))
        wanted, others = params.asked[place], [i for i in params.asked if i != params.asked[place]]
        if mistake == "forgot":
            return replace(params, asked=tuple(others))
        if mistake == "lookalike":
            taken = lookalike(params.labels[wanted], params.labels, others)
        else:
            beside = [i for i in (wanted - 1, wanted + 1) if 0 <= i < len(params.labels)]
            taken = pick(rng, beside)
        asked = [*params.asked]
        asked[place] = taken
        return replace(params, asked=tuple(asked))

    def blind_rate(self, params: CheckboxSetParams) -> float:
        """As many boxes as are named, whichever."""
        return 1 / math.comb(len(params.labels), len(params.asked))

    def caption(self, device: BrowserDevice, params: CheckboxSetParams) -> str:
        """All that the compact picture says that varies: the boxes with their state."""
        ticked = set(device.state()["ticked"])
        return "\n".join(f"{label} {'on' if label in ticked else 'off'}" for label in params.labels)

    def _people(self, rng: Generator) -> tuple[str, ...]:
        return tuple(str(name) for name in rng.permutation(words.FIRST_SHORT)[: self.count])

    def _labels(self, topic: str, rng: Generator) -> tuple[str, ...]:
        """Distinct labels: alphabetical, in groups of a kind, or mixed."""
        things, ways = THINGS[topic]
        names = [str(thing) for thing in rng.permutation(things)]
        if self.likeness == "low":
            labels = [_label("{}", name) for name in names[: self.count]]
        else:
            labels = [_label(way, name) for name in names for way in ways][: self.count]
        order = pick(rng, ORDERS)
        if order == "alphabetical":
            labels.sort()
        elif order == "mixed":
            labels = [str(label) for label in rng.permutation(labels)]
        return tuple(labels)


def _label(way: str, thing: str) -> str:
    label = way.format(thing)
    return label[0].upper() + label[1:]
