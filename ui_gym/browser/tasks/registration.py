"""Registration: fill in a sign-up form that checks what is entered, and send it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import persons, phrases, words
from ui_gym.browser.content.choices import typo
from ui_gym.browser.content.lists import COUNTRIES
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, flag
from ui_gym.browser.moves import because, click, count_scrolls, fill, pick, reveal
from ui_gym.contract import draws
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

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

COMPACT_FIELDS = {"first": "First", "phone": "Code", "last": "Last"}
"""What the compact form may ask, in the order in which it is added, with its labels."""
COMPACT_ROWS = 6
"""Of the compact page, between its title and its button: for fields, and one for the boxes."""
COMPACT_CODES = ("blanks", "dashes", "digits")
"""The formats of a code of three digits."""
COMPACT_GOALS = (
    "Enter {all}. Tick {news}. Send.",
    "Type {all}. Tick {news}. Send.",
    "Write {all}. Tick {news}. Send.",
)
COMPACT_NEWS = {True: "Terms and News", False: "Terms, not News"}


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
    """The form's sections, from top to bottom; compact: its fields."""
    wording: int
    """Which labels the fields have; compact: which of the boxes is the first."""
    side: str
    """Where the coloured panel is: ``"left"``, ``"right"`` or ``"none"``."""
    brand: int
    theme: int
    """Compact: how many rows are free above the fields."""
    phrasing: int


@register("Registration", suite="browser", category="input", difficulty="medium", max_steps=41)
class Registration(Family[RegistrationParams]):
    """Create an account: fill in a form that checks its fields, accept the terms, and send it.

    ## Description
    The sign-up form of a made-up company, with three to ten fields in up to three sections. The
    goal gives all that has to be entered. The form refuses what is not valid and says why: a phone
    number, a date or a postcode in another format than it demands, a password that is repeated
    wrongly, terms that are not accepted. With `reformat` the goal writes them in other formats, so
    that the hint below the field must be followed. The box for the newsletter may be ticked. The
    compact form asks for names and a code; an empty field shows the code's format.

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
    | `fields` | 4, 7, 10 (compact: 2) | how many, 3 to 10, compact 2 or 3: names, e-mail, ... |
    | `repeat` | False, True, True (compact: False) | whether the password has to be entered twice |
    | `reformat` | False, False, True | whether the goal writes numbers and dates in other formats |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "registration.html"
    shown = ("repeat", "wording", "order", "side", "brand", "theme")
    fields: int = by_level(easy=4, medium=7, hard=10)
    repeat: bool = flag(easy=False, medium=True, hard=True)
    reformat: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"fields": 2, "repeat": False, "reformat": False}
    translated = ("Registration", "countries")
    mistakes = ("news", "swapped", "typo")

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        self.check_range("fields", self.fields, 3, len(FIELDS))
        self.names = tuple(FIELDS)[: self.fields]
        scrolls = math.ceil(self.fields / 3)
        if "country" in self.names:
            scrolls += count_scrolls(len(COUNTRIES) * OPTION_HEIGHT)
        self.max_steps = 2 * (2 * (self.fields + self.repeat) + 3) + scrolls

    def _prepare_compact(self) -> None:
        if self.repeat:
            raise UserError("Registration: the compact form has no password; repeat is False")
        self.check_range("fields", self.fields, 2, len(COMPACT_FIELDS))
        self.names = tuple(COMPACT_FIELDS)[: self.fields]
        self.max_steps = 2 * (2 * self.fields + 3)

    def sample(self, rng: Generator) -> RegistrationParams:
        formats, others = self._formats(rng)
        person = _short_person(rng) if self.compact else persons.person(rng)
        record = tuple((name, persons.written(name, person[name], formats)) for name in self.names)
        told = record
        if self.reformat:
            told = tuple((name, persons.written(name, person[name], others)) for name in self.names)
        if self.compact:
            return RegistrationParams(
                record=record,
                told=told,
                news=bool(rng.random() < 0.5),
                ticked=bool(rng.random() < 0.5),
                formats=formats,
                order=tuple(str(name) for name in rng.permutation(self.names)),
                wording=int(rng.integers(2)),
                side="none",
                brand=0,
                theme=int(rng.integers(COMPACT_ROWS - self.fields)),
                phrasing=int(rng.integers(len(COMPACT_GOALS))),
            )
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
            side=draws.pick(rng, ("left", "right", "none")),
            brand=int(rng.integers(4)),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goal(self, params: RegistrationParams) -> str:
        told = dict(params.told)
        if self.compact:
            said = ", ".join(f"{COMPACT_FIELDS[name]} {value}" for name, value in told.items())
            news = COMPACT_NEWS[params.news]
            return COMPACT_GOALS[params.phrasing].format(all=said, news=news)
        say, record = self.speak(params), dict(params.record)
        if told.get("birthday") != record.get("birthday"):  # in words
            told["birthday"] = say.dated(_day(record["birthday"], params.formats[1]))
        if "country" in told:
            told["country"] = say(told["country"])
        parts = {
            name: say('{field} "{value}"').format(field=say(FIELDS[name]), value=value)
            for name, value in told.items()
        }
        rest = [part for name, part in parts.items() if name not in ("first", "last")]
        return say(GOALS[params.phrasing]).format(
            name=f"{told['first']} {told['last']}",
            rest=say.listing(rest),
            all=say.listing([*parts.values()]),
            news=say(NEWS[params.news]),
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
        if self.compact:
            yield from self._solve_compact(device, params, record)
            return
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

    def _solve_compact(
        self, device: BrowserDevice, params: RegistrationParams, record: Mapping[str, str]
    ) -> Iterator[Demo]:
        for name in params.order:
            thought = f"{COMPACT_FIELDS[name]} {record[name]}"
            yield from because(thought, fill(device, f"#{name}", record[name]))
        yield Demo(click(device, "#terms"), "Terms")
        if params.news != params.ticked:
            yield Demo(click(device, "#news"), "News")
        yield Demo(click(device, "#create"), "Send")

    def misread(
        self, params: RegistrationParams, mistake: str, rng: Generator
    ) -> RegistrationParams:
        """``typo``: two letters of a field change places, or its last one is lost. ``swapped``:
        first and last name (compact: name and code) are taken for each other. ``news``: the
        newsletter is taken the other way round."""
        if mistake == "news":
            return replace(params, news=not params.news)
        record = dict(params.record)
        if mistake == "swapped":
            one, other = self.names[:2]
            record[one], record[other] = record[other], record[one]
        else:
            name = draws.pick(rng, [name for name in PROSE if name in record])
            record[name] = typo(record[name], rng)
        return replace(params, record=tuple(record.items()))

    def blind_rate(self, params: RegistrationParams) -> float:
        """Nobody guesses an e-mail address; compact: any names of the short lists, any code."""
        if not self.compact:
            return 0.0
        pools = {"first": len(words.FIRST_SHORT), "phone": 1000, "last": len(words.LAST_SHORT)}
        return 1 / (2 * math.prod(pools[name] for name in self.names))

    def _reveal(self, device: BrowserDevice, selector: str, thought: str) -> Iterator[Demo]:
        yield from because(thought, reveal(device, selector, "#pane"))

    def _formats(self, rng: Generator) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
        """What the form demands, and what the goal may use instead: never the same."""
        (phone, phone2), (code, code2) = (
            (str(one) for one in rng.choice(tuple(known), size=2, replace=False))
            for known in (COMPACT_CODES if self.compact else persons.PHONES, persons.CODES)
        )
        return (phone, draws.pick(rng, tuple(persons.DATES)), code), (phone2, "words", code2)


def _short_person(rng: Generator) -> dict[str, str]:
    """Somebody for the compact form; the code in parts."""
    digits = [str(digit) for digit in rng.integers(10, size=3)]
    first, last = draws.pick(rng, words.FIRST_SHORT), draws.pick(rng, words.LAST_SHORT)
    return {"first": first, "last": last, "phone": " ".join(digits)}


def _day(written: str, form: str) -> date:
    return datetime.strptime(written, persons.DATES[form]).date()


def _tidy(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
