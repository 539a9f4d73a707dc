"""Second factor: sign in with a password, then with a code that must be fetched elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import signins, words
from ui_gym.browser.content.choices import typo
from ui_gym.browser.content.data import table
from ui_gym.browser.content.signins import APPS, CodeEntry
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import click, fill
from ui_gym.contract.action import Action, Type, Wait
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

KINDS = ("app", "phone", "list")
"""An authenticator whose codes change, messages on a phone, printed lists of backup codes."""
TRIES = 2
"""Wrong tries, of passwords and codes together, that lock the account."""
STEP = 50
"""Page time that an action takes, in milliseconds."""
LOWEST, SPAN = 100_000, 900_000
"""Codes have six digits; on the compact page two, which are read as other small numbers are."""
COMPACT_LOWEST, COMPACT_SPAN = 10, 22
THEMES = 6
PASSWORDS: tuple[str, ...] = table("forms")["login"]["password_words"]
HARMS = {"forgot": "asked for a new password", "reset": "took the second factor off"}

GOALS = (
    'Sign in as "{user}" with the password "{password}". It asks for a second code, which you have '
    "at hand.{trust}",
    'Sign in: "{user}", password "{password}". Find the code that it then asks for.{trust}',
    'Get into the account "{user}" (password "{password}"); the code for the second step is around '
    "here.{trust}",
)
TRUST = " Trust this device from now on."
NO_TRUST = " Do not trust this device: it is not mine."
COMPACT_GOALS = (
    "Log in as {user} with {password}.{trust}",
    "{user}: log in, password {password}.{trust}",
)
COMPACT_TRUST = " Trust."


@dataclass(frozen=True)
class SecondFactorParams:
    """All that varies between episodes."""

    app: int
    service: str
    user: str
    password: str
    kind: str
    """Where the code is that the page asks for."""
    things: tuple[tuple[str, tuple[CodeEntry, ...]], ...]
    """What there is to look into, by kind."""
    answer: int
    """The entry of that kind whose code counts."""
    turn: int
    """By how much the authenticator's codes differ from those before them."""
    phase: int
    """How old its first codes are, in actions."""
    trust: bool
    ticked: bool
    """Whether the box was ticked at the start."""
    place: int
    theme: int
    phrasing: int

    @property
    def entries(self) -> tuple[CodeEntry, ...]:
        return dict(self.things)[self.kind]


@register("SecondFactor", suite="browser", category="input", difficulty="medium", max_steps=30)
class SecondFactor(Family[SecondFactorParams]):
    """Sign in with a password and then a code from an authenticator, a phone or a printed list.

    ## Description
    The sign-in of a made-up service, which asks for a second factor behind the password and says
    which: the code that an authenticator shows for this account, and that is another one after a
    while; the code that was sent to a phone, where it comes after a while among older messages; or
    the next unused code of the latest printed list. Other accounts, messages and lists have codes
    as well. At "hard" these things lie behind buttons and cover the form: a code must be kept in
    mind. The goal may ask to trust this device. The compact page asks for the password alone, and
    codes have two digits; it has room for two decoys. Other lists than the right one: at most two.

    ## Action space
    Clicks and typing; `wait` lets the time pass. Each action takes 0.05 s of the page's time.

    ## Rewards
    1 for signing in with the box "Trust this device" as asked (ticked if the goal asks for it,
    empty if not), 0.5 with the box wrong, else 0. One wrong try costs nothing.

    ## Starting state
    The form of the password, empty, nothing focused; at "hard" the box may be ticked.

    ## Episode end
    Termination: signed in; or the second wrong try, of a password or a code (one that has changed
    since is wrong), which locks the account; or a new password was asked for, or the second factor
    taken off. `max_steps` is about twice what the longest way needs.

    ## Arguments
    | `decoys` | easy 1, medium 3, hard 4 (compact: 2) | other accounts, messages or lists, 1 to 5 |
    | `life` | easy 40, medium 16, hard 12 (compact: 14) | actions that a code lasts, 8 to 60 |
    | `late` | easy 0, medium 1, hard 2 (compact: 0) | seconds until the message comes, 0 to 4 |
    | `covered` | False, at hard True | what holds the codes lies behind buttons |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "second_factor.html"
    mistakes = ("neighbour", "old", "trust", "typo")
    decoys: int = whole(1, 5, easy=1, medium=3, hard=4)
    life: int = whole(8, 60, easy=40, medium=16, hard=12)
    late: int = whole(0, 4, easy=0, medium=1, hard=2)
    covered: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"decoys": 2, "life": 14, "late": 0, "covered": False}

    def prepare(self) -> None:
        if self.compact:
            if self.covered:
                raise UserError("SecondFactor: the compact page shows all codes; covered is False")
            self.check_range("decoys", self.decoys, 1, 2)
        # Two actions a field, one a button; a tick; to look and to put away; waits.
        fields, looks = (2, 0) if self.compact else (3, 2 * self.covered)
        self.needed = 2 + looks + self.covered
        """Actions between the last look at a code and its use."""
        self.max_steps = 2 * (2 * fields + 2 + 1 + looks + self.late + 2)

    def sample(self, rng: Generator) -> SecondFactorParams:
        app = int(rng.integers(len(APPS)))
        service = pick(rng, signins.COMPACT_SERVICES) if self.compact else APPS[app].name
        user = signins.account_name(rng, compact=self.compact)
        kind = pick(rng, KINDS)
        found = {key: self._entries(key, service, user, rng) for key in self._kinds(kind)}
        span = COMPACT_SPAN if self.compact else SPAN
        everything = [entry for entries, _ in found.values() for entry in entries]
        coded = iter(signins.with_starts(everything, span, rng))
        things = tuple((key, tuple(next(coded) for _ in found[key][0])) for key in found)
        return SecondFactorParams(
            app=app,
            service=service,
            user=user,
            password=self._password(rng),
            kind=kind,
            things=things,
            answer=found[kind][1],
            turn=int(rng.integers(span // 4, 3 * span // 4)),
            phase=int(rng.integers(self.life)),
            trust=bool(rng.random() < 0.5),
            ticked=bool(self.covered and rng.random() < 0.5),
            place=int(rng.integers(2)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(COMPACT_GOALS if self.compact else GOALS))),
        )

    def goal(self, params: SecondFactorParams) -> str:
        if self.compact:
            goal, trust = COMPACT_GOALS[params.phrasing], COMPACT_TRUST if params.trust else ""
        else:
            # Where the box may be ticked from the start, the goal says that it must not be.
            goal, trust = GOALS[params.phrasing], NO_TRUST if self.covered else ""
            trust = TRUST if params.trust else trust
        return goal.format(user=params.user, password=params.password, trust=trust)

    def page_params(self, params: SecondFactorParams) -> dict[str, Any]:
        app = APPS[params.app]
        lowest, span = self._range()
        things = {key: [entry._asdict() for entry in entries] for key, entries in params.things}
        return {
            "app": params.service,
            "icon": app.icon,
            "line": app.line,
            # Any server knows its accounts: the page decides with it what to show, never the score.
            "account": {
                "user": params.user, "password": params.password, "entry": params.answer,
                "tries": TRIES,
            },
            "kind": params.kind,
            "things": things,
            "codes": {"lowest": lowest, "span": span, "turn": params.turn},
            "life": STEP * self.life,
            "phase": STEP * params.phase,
            "late": 1000 * self.late,
            "covered": self.covered,
            "ticked": params.ticked,
            "place": params.place,
            "theme": params.theme,
        }  # fmt: skip

    def judge(
        self, device: BrowserDevice, params: SecondFactorParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        wrong = 0
        known = False
        for event in device.events:
            if event.type in HARMS:
                return Verdict(0.0, done=True, notes=HARMS[event.type])
            if event.type == "sign_in":
                right = self._knows(event.data, params)
                known = known or right
            elif event.type == "code":
                window = int(event.data.get("window", 0))
                right = known and _digits(event.data.get("code")) == self.code(params, window)
                if right:
                    return _signed_in(bool(event.data.get("trust")), params)
            else:
                continue
            wrong += not right
            if wrong >= TRIES:
                return Verdict(0.0, done=True, notes=f"locked after {wrong} wrong tries")
        tried = f"; {wrong} wrong" if wrong else ""
        return Verdict(0.0, notes=f"{'no code yet' if known else 'not signed in yet'}{tried}")

    def code(self, params: SecondFactorParams, window: int) -> str:
        """The code that counts in the `window`-th span of time, of an authenticator."""
        lowest, span = self._range()
        turned = window * params.turn if params.kind == "app" else 0
        return str(lowest + (params.entries[params.answer].start + turned) % span)

    def oracle(self, device: BrowserDevice, params: SecondFactorParams) -> Steps:
        # Somebody who believes in something wrong tries it until the account is locked.
        while (state := device.state())["step"] == "password":
            if not self.compact and not state["user"]:
                yield from self._fill(device, "user", params.user, "My e-mail")
            yield from self._fill(device, "password", params.password, "Password")
            yield Demo(click(device, "#next"), "Next" if self.compact else "On to the code.")
        while (state := device.state())["step"] == "code":
            if state["trust"] != params.trust:
                thought = "Trust" if self.compact else "The box is not as it should be."
                yield Demo(click(device, "#trust"), thought)
            if not self.covered:
                yield Demo(click(device, "#code"), "Code" if self.compact else "A code is wanted.")
            yield from self._look(device, params)
            code = self.code(params, device.state()["window"])
            if self.covered:
                yield Demo(click(device, "#away"), f"The code is {code}. I put it away.")
                yield Demo(click(device, "#code"), f"I keep in mind: {code}.")
            thought = f"Code {code}" if self.compact else f"The code is {code}."
            yield Demo(Type(code), thought)
            yield Demo(click(device, "#verify"), "OK" if self.compact else "That is the code.")

    def misread(
        self, params: SecondFactorParams, mistake: str, rng: Generator
    ) -> SecondFactorParams:
        """``neighbour``: the code of another account, message or line. ``old``: the code before
        this one, of an older message, or of a used line. ``trust``: the box. ``typo``: a letter of
        the password."""
        if mistake == "trust":
            return replace(params, trust=not params.trust)
        if mistake == "typo":
            return replace(params, password=typo(params.password, rng))
        entries = params.entries
        if mistake == "old" and params.kind == "app":
            mine = entries[params.answer]
            before = (mine.start - params.turn) % self._range()[1]
            changed = [*entries]
            changed[params.answer] = mine._replace(start=before)
            things = tuple((k, tuple(changed) if k == params.kind else v) for k, v in params.things)
            return replace(params, things=things)
        others = [i for i in range(len(entries)) if i != params.answer]
        old = [
            i
            for i in others
            if entries[i].used or (params.kind == "phone" and entries[i].service == params.service)
        ]
        fitting = old if mistake == "old" else [i for i in others if not entries[i].used]
        choice = fitting or others
        return replace(params, answer=pick(rng, choice))

    def blind_rate(self, params: SecondFactorParams) -> float:
        """Any short name as the password, any code that is shown, the box either way; of long
        passwords, none."""
        if not self.compact:
            return 0.0
        return 1 / (len(words.LAST_SHORT) * len(params.entries) * 2)

    def _kinds(self, kind: str) -> Sequence[str]:
        """What there is to look into: everything, where it lies behind buttons."""
        return KINDS if self.covered else (kind,)

    def _entries(self, kind: str, service: str, user: str, rng: Generator) -> signins.Entries:
        if kind == "app":
            return signins.accounts(service, user, self.decoys, rng, compact=self.compact)
        if kind == "phone":
            after = min(1, self.decoys // 3)
            return signins.messages(service, self.decoys, after, rng, compact=self.compact)
        scattered = self.compact or self.decoys > 1
        return signins.lists(service, self.decoys, rng, scattered=scattered, compact=self.compact)

    def _password(self, rng: Generator) -> str:
        if self.compact:
            return pick(rng, words.LAST_SHORT)
        one, two = (str(word) for word in rng.choice(PASSWORDS, size=2, replace=False))
        return f"{one}-{two.lower()}{rng.integers(10, 100)}"

    def _range(self) -> tuple[int, int]:
        return (COMPACT_LOWEST, COMPACT_SPAN) if self.compact else (LOWEST, SPAN)

    def _knows(self, said: Mapping[str, Any], params: SecondFactorParams) -> bool:
        """Whether name and password are right; blanks around the name do not matter."""
        user = params.user if self.compact else str(said.get("user", "")).strip()
        return (user, said.get("password")) == (params.user, params.password)

    def _fill(self, device: BrowserDevice, field: str, text: str, label: str) -> Iterator[Demo]:
        clear = bool(device.state()[field])
        said = f"{label} {text}" if self.compact else f"{label} is {text}."
        first = label if self.compact else f"{label}."
        for action in fill(device, f"#{field}", text, clear=clear):
            yield Demo(action, said if isinstance(action, Type) else first)

    def _look(self, device: BrowserDevice, params: SecondFactorParams) -> Iterator[Demo]:
        """Look at the code, until it is there and lasts long enough."""
        if self.covered:
            yield Demo(click(device, f"#open-{params.kind}"), "The code is in there.")
        while True:
            state = device.state()
            if params.kind == "phone" and not state["arrived"]:
                thought = "The message has not come yet."
            elif params.kind == "app" and state["left"] <= STEP * self.needed:
                thought = "This code is about to change: I wait for the next."
            else:
                return
            yield Demo(Wait(1.0), "Wait" if self.compact else thought)


def _digits(text: object) -> str:
    """A code without the blanks and dashes that it may be written with."""
    return "".join(sign for sign in str(text) if sign.isdigit())


def _signed_in(trust: bool, params: SecondFactorParams) -> Verdict:
    if trust == params.trust:
        return Verdict(1.0, done=True, notes="signed in")
    box = "trusted unasked" if trust else "not trusted"
    return Verdict(0.5, done=True, notes=f"signed in, but the device is {box}")
