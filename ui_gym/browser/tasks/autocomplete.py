"""Autocomplete: type into fields that suggest, and pick the right suggestion among alike ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content.choices import lookalike
from ui_gym.browser.content.directories import (
    KINDS,
    STREETS,
    WAYS,
    Entry,
    Kind,
    compact_directory,
    directory,
)
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, by_level, whole
from ui_gym.browser.moves import because, click, reveal
from ui_gym.contract.action import Action, Type, Wait
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

LABELS: dict[Kind, tuple[tuple[str, str], ...]] = {
    "people": (("Assignee", "assignee"), ("Reviewer", "reviewer"), ("Approver", "approver")),
    "companies": (("Customer", "customer"), ("Supplier", "supplier"), ("Carrier", "carrier")),
    "addresses": (("Pick-up", "pick-up address"), ("Delivery", "delivery address"),
                  ("Return to", "return address")),
}  # fmt: skip
"""By what is searched for: the fields' labels, and what they are called in a sentence."""

GOALS = (
    'Choose {parts}. Then press "Continue".',
    'Fill in the form and continue. {lines}.',
    'The form needs {parts}. Pick from the suggestions and press "Continue".',
)  # fmt: skip

COMPACT_LABELS = ("Name", "Guest")
COMPACT_GOALS = ("{lines}. Press Save.", "Choose {parts}. Press Save.")
COMPACT_MOST = 30
"""Entries of the compact page, which have small numbers."""
COMPACT_PLACES = 3
"""Patches that the compact form may be moved down, and one more."""


@dataclass(frozen=True)
class AutocompleteParams:
    """All that varies between episodes."""

    kind: Kind
    labels: tuple[str, ...]
    """Of the fields, from top to bottom."""
    entries: tuple[Entry, ...]
    """All that can be found: titles and details, sorted."""
    asked: tuple[int, ...]
    """The entry that each field has to hold, by its index."""
    turned: bool
    """Whether the form is on the right."""
    theme: int
    """Compact: how far the form is moved down, in patches."""
    phrasing: int


@register("Autocomplete", suite="browser", category="input", difficulty="medium", max_steps=14)
class Autocomplete(Family[AutocompleteParams]):
    """Type into fields that suggest entries, pick the right ones among alike, and continue.

    ## Description
    A form with one to three fields for a person, a company or an address. While something is
    typed, entries of a directory whose words begin like it are suggested below the field; only a
    picked suggestion counts, text alone is refused. Entries are alike: they share a surname, a
    street or the beginning of a name, and with `namesakes` the whole of it, so that only what
    stands beside it (the department, the town) tells them apart. With a `delay` the suggestions
    come some time after typing. The compact page searches for people, whom a number tells apart.

    ## Action space
    Clicks and typing solve it, and waiting where there is a delay; the arrow keys and Enter pick
    too, Escape closes the list.

    ## Rewards
    1 for continuing with the right entry in every field; else the share of the fields that are
    right.

    ## Starting state
    Empty fields, no suggestions, nothing focused.

    ## Episode end
    Termination: "Continue" was pressed with an entry picked in every field, whichever (before that
    it only shows what is missing). `max_steps` is twice what is needed; it follows from the
    arguments.

    ## Arguments
    | `fields` | 1, 2, 3 (compact: 1) | how many fields, 1 to 3, compact to 2 |
    | `stems` | 10, 10, 16 (compact: 6) | how many surnames, streets or companies, 3 to 24 |
    | `alike` | 2, 6, 12 (compact: 4) | how many entries share each of them, 1 to 12, compact to 4 |
    | `namesakes` | 1, 2, 4 (compact: 2) | of those with the same title, 1 to `alike`, at most 4 |
    | `delay` | 0, 0, 800 (compact: 0) | milliseconds until suggestions come, 0 to 2000 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "autocomplete.html"
    shown = ("kind", "labels", "entries", "delay", "turned", "theme")
    fields: int = whole(1, 3, easy=1, medium=2, hard=3)
    stems: int = whole(3, len(STREETS), easy=10, medium=10, hard=16)
    alike: int = whole(1, 12, easy=2, medium=6, hard=12)
    namesakes: int = by_level(easy=1, medium=2, hard=4)
    delay: int = whole(0, 2000, easy=0, medium=0, hard=800)
    mistakes = ("first", "lookalike")
    compact_values = {"fields": 1, "stems": 6, "alike": 4, "namesakes": 2, "delay": 0}

    def prepare(self) -> None:
        # An address has no more titles of one stem than there are kinds of streets.
        least = -(-self.alike // len(WAYS))
        most = min(self.alike, 4)
        self.check_range("namesakes", self.namesakes, least, most)
        if self.compact:
            self._prepare_compact()
        self.max_steps = 2 * (self.fields * (4 if self.delay else 3) + 1)

    def _prepare_compact(self) -> None:
        self.check_range("fields", self.fields, 1, len(COMPACT_LABELS))
        self.check_range("alike", self.alike, 1, 4)
        if self.alike % self.namesakes or self.stems * self.alike > COMPACT_MOST:
            raise UserError(
                f"Autocomplete: the compact page has at most {COMPACT_MOST} entries in groups of "
                f"namesakes, not {self.stems} times {self.alike} in groups of {self.namesakes}"
            )

    def sample(self, rng: Generator) -> AutocompleteParams:
        kind = "people" if self.compact else pick(rng, KINDS)
        make = compact_directory if self.compact else partial(directory, kind)
        entries = make(self.stems, self.alike, self.namesakes, rng)
        asked = rng.choice(len(entries), size=self.fields, replace=False)
        return AutocompleteParams(
            kind=kind,
            labels=self._labels(kind),
            entries=entries,
            asked=tuple(int(i) for i in asked),
            turned=bool(rng.random() < 0.5),
            theme=int(rng.integers(COMPACT_PLACES if self.compact else 6)),
            phrasing=int(rng.integers(len(COMPACT_GOALS if self.compact else GOALS))),
        )

    def _labels(self, kind: Kind) -> tuple[str, ...]:
        known = COMPACT_LABELS if self.compact else tuple(label for label, _ in LABELS[kind])
        return known[: self.fields]

    def page_params(self, params: AutocompleteParams) -> dict[str, Any]:
        page = super().page_params(params)
        return {**page, "theme": 0, "place": PATCH * params.theme} if self.compact else page

    def goal(self, params: AutocompleteParams) -> str:
        if self.compact:
            wanted = [" ".join(params.entries[i]) for i in params.asked]
            pairs = list(zip(params.labels, wanted, strict=True))
            return COMPACT_GOALS[params.phrasing].format(
                lines=", ".join(f"{label}: {one}" for label, one in pairs),
                parts=", ".join(f"{one} as {label}" for label, one in pairs),
            )
        asked = ["{} ({})".format(*params.entries[i]) for i in params.asked]
        named = [called for _, called in LABELS[params.kind]]
        parts = [f"{one} as the {called}" for one, called in zip(asked, named, strict=False)]
        lines = [f"{label}: {one}" for label, one in zip(params.labels, asked, strict=True)]
        return GOALS[params.phrasing].format(parts=listing(parts), lines="; ".join(lines))

    def judge(
        self, device: BrowserDevice, params: AutocompleteParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        refused = False
        for event in device.events:
            refused |= event.type == "refused"
            if event.type != "continue":
                continue
            values = list(event.data.get("values", ()))
            right = sum(one == other for one, other in zip(values, params.asked, strict=False))
            if values == list(params.asked):
                return Verdict(1.0, done=True, notes="continued as asked")
            notes = f"continued with {right} of {len(params.asked)} entries right"
            return Verdict(min(0.99, right / len(params.asked)), done=True, notes=notes)
        return Verdict(0.0, notes="something is missing" if refused else "not continued yet")

    def oracle(self, device: BrowserDevice, params: AutocompleteParams) -> Steps:
        for number, index in enumerate(params.asked):
            title, detail = params.entries[index]
            option, pane = f"#field-{number}-entry-{index}", f"#field-{number}-list"
            label = params.labels[number]
            if self.compact:
                yield Demo(click(device, f"#field-{number}"), label)
                yield Demo(Type(title), f"{label} {title}")
                if self.delay:
                    yield Demo(Wait(2.0), "Wait")
                yield Demo(click(device, option), f"{title} {detail}")
                continue
            thought = f"{label}: {title}."
            yield Demo(click(device, f"#field-{number}"), thought)
            yield Demo(Type(title), thought)
            if self.delay:
                yield Demo(Wait(1.0), "The suggestions are still on their way.")
            yield from because(thought, reveal(device, option, pane))
            yield Demo(click(device, option), f"Of these it is the one with {detail}.")
        thought = "Save" if self.compact else "Every field has its entry: continue."
        yield Demo(click(device, "#continue"), thought)

    def misread(
        self, params: AutocompleteParams, mistake: str, rng: Generator
    ) -> AutocompleteParams:
        """``lookalike``: the most alike entry is taken for one of the asked. ``first``: the first
        entry with a word of its title in common is taken, unread."""
        place = int(rng.integers(len(params.asked)))
        index = params.asked[place]
        whole = [", ".join(entry) for entry in params.entries]
        if mistake == "lookalike":
            taken = lookalike(whole[index], whole)
        else:
            stem = _stem(params.kind, params.entries[index])
            taken = next(i for i, e in enumerate(params.entries) if _stem(params.kind, e) == stem)
        asked = [*params.asked]
        asked[place] = taken
        return replace(params, asked=tuple(asked))

    def blind_rate(self, params: AutocompleteParams) -> float:
        """Any entries."""
        return float(len(params.entries)) ** -len(params.asked)


def _stem(kind: Kind, entry: Entry) -> str:
    """What alike entries have in common: the surname, the street, or the company's first word."""
    parts = entry[0].split()
    return parts[0] if kind == "companies" else parts[1]
