"""Login: sign in with a given name and password."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import typo
from ui_gym.browser.content.data import table
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, whole
from ui_gym.contract.action import Action, Click, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

TRIES = 3
"""Wrong submissions until the account is locked."""

PASSWORD_WORDS: tuple[str, ...] = table("forms")["login"]["password_words"]

LABELS: dict[str, tuple[tuple[str, str], ...]] = table("forms")["login"]["labels"]
"""How the two fields are called, by what the account is known by."""

COMPACT_LABELS = (("User", "Password"), ("Name", "Password"), ("Login", "Secret"))
NAMED = {"name": "user name", "mail": "e-mail address"}

LAYOUTS = ("center", "split", "pair")
BRANDS = 5

GOALS = (
    'Sign in with the {named} "{user}" and the password "{password}".{stay}',
    'Sign in as "{user}". The password is "{password}".{stay}',
    'Log in: {named} "{user}", password "{password}".{stay}',
)
COMPACT_GOALS = (
    'Sign in as "{user}" with "{password}".{stay}',
    'Log in: "{user}", "{password}".{stay}',
    'Sign in. User "{user}", password "{password}".{stay}',
)
CODE = ' When you are asked for a code, enter "{code}".'
STAY = " Stay signed in."
STAY_SHARE = 0.3
"""How often the goal asks to stay signed in."""


@dataclass(frozen=True)
class LoginParams:
    """All that varies between episodes."""

    user: str
    password: str
    kind: str
    """What `user` is: ``"name"`` or ``"mail"``."""
    stay: bool
    """Whether the goal asks to stay signed in."""
    labels: tuple[str, str]
    layout: str
    """What the page looks like; ``"rows"`` if it is compact."""
    brand: int
    place: tuple[int, int]
    """How far the form is moved, in pixels: right, down."""
    phrasing: int


@dataclass(frozen=True)
class CodeLoginParams(LoginParams):
    """All that varies where a code is asked for, too."""

    code: str


@register("Login", suite="browser", category="input", difficulty="easy", max_steps=15)
class Login(Family[LoginParams]):
    """Sign in with the given user name (or e-mail address) and password.

    ## Description
    The sign-in page of a made-up company. The goal gives the name and the password, and sometimes
    asks to stay signed in. Beside the two fields there are things that must be left alone: a form
    to create an account (on a tab, behind a link or next to it), a link for those who forgot their
    password, a button that shows the password. Labels, layout, colours and place vary. With more
    `steps` the password is asked for after the name, and a code of six digits after both; the goal
    gives the code as well.

    ## Action space
    Clicking a field, typing and clicking "Sign in" is all that is needed; Tab and Enter work as in
    any form.

    ## Rewards
    1 for signing in with the box "Stay signed in" as asked (ticked if the goal asks for it, empty
    if not), 0.5 with the box wrong, else 0. An earlier wrong try costs nothing.

    ## Starting state
    An empty form, nothing focused, the box empty.

    ## Episode end
    Termination: signed in; or the third wrong try, which locks the account (the first two show an
    error and empty the password); or an account was created or a new password asked for.
    `max_steps` is 15; 20 where a code is asked for.

    ## Arguments
    | `steps` | 1, 2, 3 | 1: one form; 2: the password comes after the name; 3: then a code |
    | `compact` | False | a 320x256 page of one step that a tiny model can read |
    """

    page = "login.html"
    shown = ("steps", "labels", "layout", "brand", "place")
    steps: int = whole(1, 3, easy=1, medium=2, hard=3)
    compact_values = {"steps": 1}
    translated = ("Login",)
    mistakes = ("stay", "swapped", "typo")

    def prepare(self) -> None:
        if self.compact and self.steps > 1:
            raise UserError(f"Login: the compact page has one step, not {self.steps}")
        if self.steps == 3:
            self.max_steps = 20

    def sample(self, rng: Generator) -> LoginParams:
        kind = "name" if self.compact else pick(rng, ("name", "mail"))
        labels = COMPACT_LABELS if self.compact else LABELS[kind]
        if self.compact:
            # The form is eight patches wide and five high, on a page of ten by seven.
            place = (PATCH * int(rng.integers(3)), PATCH * int(rng.integers(3)))
        else:
            place = (24 * int(rng.integers(5)), 16 * int(rng.integers(5)))
        params = LoginParams(
            user=self._user(kind, rng),
            password=self._password(rng),
            kind=kind,
            stay=bool(rng.random() < STAY_SHARE),
            labels=pick(rng, labels),
            layout="rows" if self.compact else pick(rng, LAYOUTS),
            brand=int(rng.integers(BRANDS)),
            place=place,
            phrasing=int(rng.integers(len(GOALS))),
        )
        if self.steps < 3:
            return params
        code = str(rng.integers(100_000, 1_000_000))
        return CodeLoginParams(**asdict(params), code=code)

    def goal(self, params: LoginParams) -> str:
        say = self.speak(params)
        goals = COMPACT_GOALS if self.compact else GOALS
        code = say(CODE).format(code=_code(params)) if _code(params) else ""
        return say(goals[params.phrasing]).format(
            named=say(NAMED[params.kind]),
            user=params.user,
            password=params.password,
            stay=code + (say(STAY) if params.stay else ""),
        )

    def page_params(self, params: LoginParams) -> dict[str, Any]:
        # Any server knows its accounts: the page decides with it what to show, never the score.
        account = {"user": params.user, "password": params.password, "code": _code(params)}
        return {**self.drawn_by(params), "account": account, "tries": TRIES}

    def drawn_by(self, params: LoginParams) -> Mapping[str, Any]:
        return super().page_params(params)

    def judge(
        self, device: BrowserDevice, params: LoginParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        wrong = 0
        for event in device.events:
            if event.type == "sign_in":
                if _matches(event.data, params):
                    return _signed_in(bool(event.data.get("stay")), params)
                wrong += 1
                if wrong >= TRIES:
                    return Verdict(0.0, done=True, notes=f"locked after {wrong} wrong tries")
            elif event.type == "sign_up":
                return Verdict(0.0, done=True, notes="created an account instead of signing in")
            elif event.type == "forgot":
                return Verdict(0.0, done=True, notes="asked for a new password")
        return Verdict(0.0, notes=f"{wrong} wrong tries" if wrong else "not signed in yet")

    def oracle(self, device: BrowserDevice, params: LoginParams) -> Steps:
        user_label, password_label = map(self.speak(params), params.labels)
        yield from self._fill(device, params, "#user", params.user, user_label)
        if self.steps > 1:
            yield self._demo(device, params, Click(*device.center("#sign-in")), "Next")
        yield from self._fill(device, params, "#password", params.password, password_label)
        if params.stay:
            yield self._demo(device, params, Click(*device.center("#stay")), "Stay signed in")
        yield self._demo(device, params, Click(*device.center("#sign-in")), "Sign in")
        # A wrong password, as somebody careless believes in it, leads to no code.
        if self.steps == 3 and device.state()["step"] == "code":
            yield from self._fill(device, params, "#code", _code(params), "Code")
            yield self._demo(device, params, Click(*device.center("#sign-in")), "Sign in")

    def misread(self, params: LoginParams, mistake: str, rng: Generator) -> LoginParams:
        """``swapped``: name and password change places. ``typo``: two letters of the password
        do, or one is lost. ``stay``: the box is ticked unasked, or forgotten."""
        if mistake == "swapped":
            return replace(params, user=params.password, password=params.user)
        if mistake == "stay":
            return replace(params, stay=not params.stay)
        return replace(params, password=typo(params.password, rng))

    def blind_rate(self, params: LoginParams) -> float:
        """Any name and password of the short lists, as often as can be tried; of the long: none."""
        return TRIES / (len(words.FIRST_SHORT) * len(words.LAST_SHORT)) if self.compact else 0.0

    def caption(self, device: BrowserDevice, params: LoginParams) -> str:
        """All that the compact picture says: the form with its state, from top to bottom."""
        state = device.state()
        shown = {"user": state["user"], "password": "•" * len(state["password"])}
        lines = []
        for label, field in zip(params.labels, ("user", "password"), strict=True):
            parts = [label, shown[field], "<here>" if state["focused"] == field else ""]
            lines.append(" ".join(part for part in parts if part))
        lines.append("Stay signed in" + (" <ticked>" if state["stay"] else ""))
        return "\n".join(lines)

    def _fill(
        self, device: BrowserDevice, params: LoginParams, field: str, text: str, label: str
    ) -> Iterator[Demo]:
        thought = f"{label} {text}"
        yield self._demo(device, params, Click(*device.center(field)), thought)
        yield self._demo(device, params, Type(text), thought)

    def _demo(
        self, device: BrowserDevice, params: LoginParams, action: Action, thought: str
    ) -> Demo:
        return Demo(action, thought, self.caption(device, params) if self.compact else "")

    def _user(self, kind: str, rng: Generator) -> str:
        if self.compact:
            return pick(rng, words.FIRST_SHORT)
        first, last = pick(rng, words.FIRST_LONG), pick(rng, words.LAST_LONG)
        if kind == "mail":
            return f"{first}.{last}@example.org".lower()
        return f"{first[0]}{last}{rng.integers(10, 100)}".lower()

    def _password(self, rng: Generator) -> str:
        if self.compact:
            return pick(rng, words.LAST_SHORT)
        one, two = (str(word) for word in rng.choice(PASSWORD_WORDS, size=2, replace=False))
        sign = pick(rng, "-_.!+#")
        return f"{one}{sign}{two.lower()}{rng.integers(10, 100)}"


def _matches(said: Any, params: LoginParams) -> bool:
    """Whether a submission names the account: blanks around the name do not matter."""
    user, password = str(said.get("user", "")), str(said.get("password", ""))
    code = str(said.get("code", ""))
    wanted = (params.user, params.password, _code(params))
    return (user.strip(), password, code.strip()) == wanted


def _code(params: LoginParams) -> str:
    """The code that is asked for; empty where none is."""
    return params.code if isinstance(params, CodeLoginParams) else ""


def _signed_in(stay: bool, params: LoginParams) -> Verdict:
    if stay == params.stay:
        return Verdict(1.0, done=True, notes="signed in")
    box = "ticked unasked" if stay else "not ticked"
    return Verdict(0.5, done=True, notes=f'signed in, but "Stay signed in" is {box}')
