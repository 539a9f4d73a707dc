"""Registration: fill in a sign-up form that checks what is entered, and send it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import persons, phrases
from ui_gym.browser.content.choices import typo
from ui_gym.browser.content.lists import COUNTRIES
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, count_scrolls, fill, pick, reveal
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

FIELDS: dict[str, str] = {
    "first": "first name", "last": "last name", "email": "e-mail", "password": "password",
    "phone": "phone", "city": "city", "postcode": "postcode", "birthday": "date of birth",
    "street": "street", "country": "country",
}  # fmt: skip
"""What may be asked, in the order in which it is added, and how goals call it."""

SECTIONS = {
    "account": ("email", "password", "repeat"),
    "person": ("first", "last", "birthday", "phone"),
    "address": ("street", "postcode", "city", "country"),
}
PROSE = ("first", "last", "city", "street", "email")
"""Fields that a typing mistake leaves valid."""

OPTION_HEIGHT = 34
"""Of a country in its list, in pixels."""

GOALS = (
    "Create an account for {name}: {rest}. {news}",
    "Sign up with these details: {all}. {news}",
    "Register {name}. These are the details: {rest}. {news}",
)
NEWS = {
    True: "Accept the terms and subscribe to the newsletter.",
    False: "Accept the terms, but do not subscribe to the newsletter.",
}


@dataclass(frozen=True)
class RegistrationParams:
    """All that varies between episodes."""

    record: tuple[tuple[str, str], ...]
    """Each field with what has to be sent, as the form demands it."""
    told: tuple[tuple[str, str], ...]
    """Each field as the goal writes it."""
    news: bool
    """Whether the goal asks for the newsletter."""
    ticked: bool
    """Whether its box is ticked at the start."""
    formats: tuple[str, str, str]
    """What the form demands of a phone number, a date and a postcode."""
    order: tuple[str, ...]
    """The form's sections, from top to bottom."""
    wording: int
    """Which labels the fields have."""
    side: str
    """Where the coloured panel is: ``"left"``, ``"right"`` or ``"none"``."""
    brand: int
    theme: int
    phrasing: int


@register("Registration", suite="browser", category="input", difficulty="medium", max_steps=41)
class Registration(Family[RegistrationParams]):
    """Create an account: fill in a form that checks its fields, accept the terms, and send it.

    ## Description
    The sign-up form of a made-up company, with three to ten fields in up to three sections. The
    goal gives all that has to be entered. The form refuses what is not valid and says why: a phone
    number, a date or a postcode in another format than it demands, a password that is repeated
    wrongly, terms that are not accepted. With `reformat` the goal writes them in other formats, so
    that the hint below the field must be followed. The box for the newsletter may be ticked.

    ## Action space
    Clicks, typing and scrolling solve it; Tab and Enter work as in any form.

    ## Rewards
    1 for sending exactly what was asked, the newsletter included; else the share of the fields and
    that box that are right. What the form refuses costs nothing.

    ## Starting state
    An empty form, nothing focused, the box for the terms empty.

    ## Episode end
    Termination: the form was sent and accepted, whatever is in it. `max_steps` is about twice what
    is needed; it follows from the arguments.

    ## Arguments
    | `fields` | 4, 7, 10 | how many fields, 3 to 10: names, e-mail, password, phone, city, ... |
    | `repeat` | False, True, True | whether the password has to be entered twice |
    | `reformat` | False, False, True | whether the goal writes numbers and dates in other formats |
    """

    page = "registration.html"
    shown = ("repeat", "wording", "order", "side", "brand", "theme")
    fields: int = whole(3, len(FIELDS), easy=4, medium=7, hard=10)
    repeat: bool = flag(easy=False, medium=True, hard=True)
    reformat: bool = flag(easy=False, medium=False, hard=True)
    mistakes = ("news", "swapped", "typo")

    def prepare(self) -> None:
        self.names = tuple(FIELDS)[: self.fields]
        scrolls = math.ceil(self.fields / 3)
        if "country" in self.names:
            scrolls += count_scrolls(len(COUNTRIES) * OPTION_HEIGHT)
        self.max_steps = 2 * (2 * (self.fields + self.repeat) + 3) + scrolls

    def sample(self, rng: Generator) -> RegistrationParams:
        formats, others = self._formats(rng)
        person = persons.person(rng)
        record = tuple((name, persons.written(name, person[name], formats)) for name in self.names)
        told = record
        if self.reformat:
            told = tuple((name, persons.written(name, person[name], others)) for name in self.names)
        return RegistrationParams(
            record=record,
            told=told,
            news=bool(rng.random() < 0.5),
            ticked=bool(rng.random() < 0.5),
            formats=formats,
            order=("account", "person", "address")
            if rng.random() < 0.5
            else ("person", "address", "account"),
            wording=int(rng.integers(3)),
            side=str(rng.choice(("left", "right", "none"))),
            brand=int(rng.integers(4)),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goal(self, params: RegistrationParams) -> str:
        told = dict(params.told)
        parts = {name: f'{FIELDS[name]} "{value}"' for name, value in told.items()}
        rest = [part for name, part in parts.items() if name not in ("first", "last")]
        return GOALS[params.phrasing].format(
            name=f"{told['first']} {told['last']}",
            rest=phrases.listing(rest),
            all=phrases.listing([*parts.values()]),
            news=NEWS[params.news],
        )

    def page_params(self, params: RegistrationParams) -> dict[str, Any]:
        return {
            **super().page_params(params),
            "fields": self.names,
            "formats": dict(zip(("phone", "birthday", "postcode"), params.formats, strict=True)),
            "countries": COUNTRIES,
            "news": params.ticked,
        }

    def judge(
        self, device: BrowserDevice, params: RegistrationParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        refused = False
        for event in device.events:
            refused |= event.type == "refused"
            if event.type != "submit":
                continue
            sent = event.data.get("record", {})
            wrong = [name for name, value in params.record if _tidy(sent.get(name)) != value]
            if bool(event.data.get("news")) != params.news:
                wrong.append("newsletter")
            if not wrong:
                return Verdict(1.0, done=True, notes="the account is created as asked")
            share = 1 - len(wrong) / (len(params.record) + 1)
            notes = f"the account is created with {phrases.listing(wrong)} wrong"
            return Verdict(share, done=True, notes=notes)
        return Verdict(0.0, notes="the form was refused" if refused else "nothing is sent yet")

    def oracle(self, device: BrowserDevice, params: RegistrationParams) -> Steps:
        record = dict(params.record)
        if self.repeat and "password" in record:
            record["repeat"] = record["password"]
        for name in (name for key in params.order for name in SECTIONS[key] if name in record):
            called = "password again" if name == "repeat" else FIELDS[name]
            thought = f"{called.capitalize()}: {record[name]}"
            yield from self._reveal(device, f".field:has(#{name})", thought)
            moves = pick(device, name, record[name])
            if name != "country":
                moves = fill(device, f"#{name}", record[name])
            yield from because(thought, moves)
        yield from self._reveal(device, "#create", "The boxes and the button are further down.")
        yield Demo(click(device, "#terms"), "The terms have to be accepted.")
        if params.news != params.ticked:
            verb = "Tick" if params.news else "Untick"
            yield Demo(click(device, "#news"), f"{verb} the newsletter.")
        yield Demo(click(device, "#create"), "All is filled in: create the account.")

    def misread(
        self, params: RegistrationParams, mistake: str, rng: Generator
    ) -> RegistrationParams:
        """``typo``: two letters of a field change places, or its last one is lost. ``swapped``:
        first and last name are taken for each other. ``news``: the newsletter is taken the other
        way round."""
        if mistake == "news":
            return replace(params, news=not params.news)
        record = dict(params.record)
        if mistake == "swapped":
            record["first"], record["last"] = record["last"], record["first"]
        else:
            name = str(rng.choice([name for name in PROSE if name in record]))
            record[name] = typo(record[name], rng)
        return replace(params, record=tuple(record.items()))

    def blind_rate(self, params: RegistrationParams) -> float:
        """Nobody guesses an e-mail address."""
        return 0.0

    def _reveal(self, device: BrowserDevice, selector: str, thought: str) -> Iterator[Demo]:
        yield from because(thought, reveal(device, selector, "#pane"))

    def _formats(self, rng: Generator) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
        """What the form demands, and what the goal may use instead: never the same."""
        (phone, phone2), (code, code2) = (
            (str(one) for one in rng.choice(tuple(known), size=2, replace=False))
            for known in (persons.PHONES, persons.CODES)
        )
        return (phone, str(rng.choice(tuple(persons.DATES))), code), (phone2, "words", code2)


def _tidy(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
