"""Flaky form: save an entry on a page that fails, again and again until it is saved, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import phrases
from ui_gym.browser.content.retries import FORMS, VALUES, RetryForm, other
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action, Type, Wait
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

FAILURES = ("error", "slow", "session", "tick", "gone")
"""An error at once, one after a while, a session that is over, a box to be ticked, and no answer
(the list of entries shows that nothing was saved)."""
ENDS = ("plain", "late", "lost")
"""It is saved at once, after a while, or without an answer (but the list shows it)."""
OLD = 3
"""Entries that were saved before."""
THEMES = 6
PLACES = 2
GIVEN_UP = 0.2
"""The score for giving up behind the last failure."""

GOALS = (
    "Save a new {thing}: {facts}. The page fails at times: try until it is saved, once. {code}"
    "Then press Done.",
    "Enter this {thing} and save it exactly once, however often the page fails: {facts}. {code}"
    "Press Done at the end.",
    "I need a new {thing} saved, not twice: {facts}. Do not give up when saving fails. {code}"
    "Press Done when it is saved.",
)
CODE = "If it asks you to sign in, the code is {}. "
COMPACT_GOALS = ("Save {facts} once. Code {code}.", "Once, save {facts}. Code {code}.")


@dataclass(frozen=True)
class FlakyFormParams:
    """All that varies between episodes."""

    form: str
    values: tuple[str, ...]
    """What is to be entered, by field."""
    old: tuple[tuple[str, ...], ...]
    """What was saved before."""
    outcomes: tuple[str, ...]
    """What comes of saving, time after time: failures, and an end."""
    code: str
    place: int
    theme: int
    phrasing: int

    @property
    def fields(self) -> tuple[str, ...]:
        return FORMS[self.form].fields[: len(self.values)]


@register("FlakyForm", suite="browser", category="input", difficulty="medium", max_steps=38)
class FlakyForm(Family[FlakyFormParams]):
    """Save an entry on a page that fails: try again until it is saved, and never twice.

    ## Description
    A form, and the list of what was saved. Saving fails in ways that vary: an error, an error
    after a while, a session that is over and asks for a code, a box that must be ticked, or no
    answer at all. After no answer, the entry may be saved: the list tells. In the end it is saved.

    ## Action space
    Clicks and typing; `wait` lets the time pass while the page saves.

    ## Rewards
    1 if Done is pressed with the entry saved once, as the goal tells it. 0 if something was saved
    twice or wrongly. Giving up scores up to 0.2, by the share of the failures that were met.

    ## Starting state
    Empty fields, nothing focused.

    ## Episode end
    Termination: Done was pressed, or something was saved twice or wrongly. `max_steps` is about
    twice what the longest way needs.

    ## Arguments
    | `fields` | easy 1, medium 2, hard 3 (compact: 1) | fields of the form; compact to 2 |
    | `failures` | easy 1, medium 3, hard 5 (compact: 1) | how often saving fails, 1 to 5 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "flaky_form.html"
    mistakes = ("value", "giveup", "twice")
    fields: int = whole(1, 3, easy=1, medium=2, hard=3)
    failures: int = whole(1, len(FAILURES), easy=1, medium=3, hard=5)
    compact_values = {"fields": 1, "failures": 1}

    def prepare(self) -> None:
        self.forms = ["compact"] if self.compact else [key for key in FORMS if key != "compact"]
        most = min(len(FORMS[key].fields) for key in self.forms)
        self.check_range("fields", self.fields, 1, most)
        # Two actions a field, one a saving, two waits where it is slow; three to sign in; a tick;
        # Done.
        slow = min(self.failures, 2) + 1
        self.max_steps = 2 * (2 * self.fields + self.failures + 1 + 2 * slow + 3 + 2)

    def sample(self, rng: Generator) -> FlakyFormParams:
        name = pick(rng, self.forms)
        labels = FORMS[name].fields[: self.fields]
        values = tuple(VALUES[label](rng) for label in labels)
        failures = rng.choice(FAILURES, size=self.failures, replace=False)
        old = [
            tuple(other(label, value, rng) for label, value in zip(labels, values, strict=True))
            for _ in range(1 if self.compact else OLD)
        ]
        return FlakyFormParams(
            form=name,
            values=values,
            old=tuple(old),
            outcomes=(*map(str, failures), pick(rng, ENDS)),
            code=str(int(rng.integers(10, 32) if self.compact else rng.integers(1000, 9999))),
            # A second field takes the row by which a compact page may move down.
            place=int(rng.integers(3 - self.fields if self.compact else PLACES)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(2 if self.compact else 3)),
        )

    def goal(self, params: FlakyFormParams) -> str:
        if self.compact:
            facts = ", ".join(params.values)
            return COMPACT_GOALS[params.phrasing].format(facts=facts, code=params.code)
        pairs = zip(params.fields, params.values, strict=True)
        facts = phrases.listing([f'{label} "{value}"' for label, value in pairs])
        code = CODE.format(params.code)
        thing = self._form(params).thing
        return GOALS[params.phrasing].format(thing=thing, facts=facts, code=code)

    def page_params(self, params: FlakyFormParams) -> dict[str, Any]:
        form = self._form(params)
        return {
            **{key: getattr(form, key) for key in ("app", "icon", "title", "listed")},
            "fields": params.fields,
            "old": params.old,
            "outcomes": params.outcomes,
            "code": params.code,
            "place": params.place,
            "theme": params.theme,
        }

    def judge(
        self, device: BrowserDevice, params: FlakyFormParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        saved = failed = 0
        for event in device.events:
            if event.type == "failed":
                failed += 1
            elif event.type == "saved":
                saved += 1
                got = tuple(" ".join(str(value).split()) for value in event.data["values"])
                if got != params.values:
                    return Verdict(0.0, done=True, notes=f"saved {got}, not {params.values}")
                if saved > 1:
                    return Verdict(0.0, done=True, notes="saved twice")
            elif event.type == "done":
                if saved:
                    return Verdict(1.0, done=True, notes="saved once")
                share = min(1.0, failed / (len(params.outcomes) - 1))
                return Verdict(GIVEN_UP * share, done=True, notes="given up: nothing is saved")
        return Verdict(0.0, notes="not done yet")

    def oracle(self, device: BrowserDevice, params: FlakyFormParams) -> Steps:
        def say(thought: str, short: str) -> str:
            return short if self.compact else thought

        labels = self._form(params).fields
        for i, value in enumerate(params.values):
            yield Demo(click(device, f"#field-{i}"), say(f"{labels[i]} first.", labels[i]))
            yield Demo(Type(value), say(f"{labels[i]} is {value}.", f"{labels[i]} {value}"))
        while True:
            state = device.state()
            if state["saving"]:
                yield Demo(Wait(1.0), say("It is still saving.", "Wait"))
            elif state["asks"] == "code":
                yield Demo(click(device, "#code"), say("It wants the code.", "Code"))
                yield Demo(Type(params.code), say(f"The code is {params.code}.", params.code))
                yield Demo(click(device, "#sign"), say("Sign in again.", "Sign in"))
            elif state["asks"] == "tick" and state["tries"] < len(params.outcomes):
                yield Demo(click(device, "#agree"), say("The box must be ticked.", "Agree"))
            elif state["tries"] < len(params.outcomes):
                yield Demo(click(device, "#save"), say("It is not saved: save it.", "Save"))
            else:
                yield Demo(click(device, "#done"), say("It is saved once.", "Done"))
                return

    def misread(self, params: FlakyFormParams, mistake: str, rng: Generator) -> FlakyFormParams:
        """``value``: another value. ``giveup``: a failure is taken for the end. ``twice``: the end
        is taken for a failure."""
        if mistake == "giveup":
            return replace(params, outcomes=params.outcomes[1:])
        if mistake == "twice":
            return replace(params, outcomes=(*params.outcomes, "plain"))
        values = list(params.values)
        i = int(rng.integers(len(values)))
        values[i] = other(params.fields[i], values[i], rng)
        return replace(params, values=tuple(values))

    def blind_rate(self, params: FlakyFormParams) -> float:
        """None: no guess writes the values."""
        return 0.0

    def _form(self, params: FlakyFormParams) -> RetryForm:
        return FORMS[params.form]
