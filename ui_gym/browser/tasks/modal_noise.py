"""Modal noise: do a simple thing amid banners, pop-ups and offers, and decline them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import jobs
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, whole
from ui_gym.browser.languages import Language
from ui_gym.browser.moves import click, reveal
from ui_gym.contract.action import Action, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

AT_COMMIT = -1
"""The moment at which the last button is pressed: what comes up then must be answered first."""

BLOCKING = ("newsletter", "trial", "rating", "survey", "app")
CORNER = ("chat", "notify")
LATEST = 4
"""Actions after which the last of what comes up by itself is there."""

COST = 0.25
"""Of a wrong answer to what came up."""
LEAST = 0.25
"""The score for the right thing in the end, however much was answered wrongly."""

BRANDS, THEMES = 3, 6

GOALS = {
    "note": (
        'Save the note "{}".', 'Write the note "{}" and save it.', 'Make a note and save it: "{}".',
    ),
    "download": (
        'Download the file "{}".', 'I need "{}" from the shared files: download it.',
        'Get me "{}" by its download button.',
    ),
    "order": ("Confirm order {}.", "Order {} can go out: confirm it.", "Confirm the order {}."),
}  # fmt: skip
POLICIES = {
    "decline": " Allow only necessary cookies, and decline whatever else comes up.",
    "accept": " Accept all cookies, but decline whatever else comes up.",
}

COMPACT_ITEMS = 5
"""The most that the compact page has room for."""
COMPACT_GOALS = ("{job} {policy}", "{policy} {job}")
COMPACT_JOBS = {"note": "Save note {}.", "download": "Get file {}.", "order": "Send order {}."}
COMPACT_POLICIES = {
    "decline": "Decline cookies and all else.",
    "accept": "Accept cookies, decline all else.",
}
COMPACT_TEXTS = {
    "cookies": ("Cookies", "Accept", "Decline"),
    "newsletter": ("News", "Yes", "No"),
    "trial": ("Trial", "Start", "Later"),
    "rating": ("Rating", "Send", "Later"),
    "survey": ("Survey", "Start", "No"),
    "app": ("App", "Open", "Close"),
    "chat": ("Chat", "Open", "Close"),
    "notify": ("Alerts", "Yes", "No"),
}
"""What the compact page says of what comes up: its title, and how to accept and decline it."""


@dataclass(frozen=True)
class Noise:
    """Something that comes up unasked."""

    kind: str
    look: int
    at: int
    """Actions after which it comes up, or `AT_COMMIT`."""
    answer: str
    """What is to be done with it: ``"accept"`` or ``"decline"``."""


@dataclass(frozen=True)
class ModalNoiseParams:
    """All that varies between episodes."""

    base: str
    """What is to be done: ``"note"``, ``"download"`` or ``"order"``."""
    items: tuple[tuple[str, ...], ...]
    """Among which it is: texts of notes (the page does not know them), files, orders."""
    target: int
    noises: tuple[Noise, ...]
    tricky: bool
    brand: int
    theme: int
    phrasing: int


@register("ModalNoise", suite="browser", category="settings", difficulty="medium", max_steps=12)
class ModalNoise(Family[ModalNoiseParams]):
    """Do a simple thing while cookie banners, pop-ups and offers get in the way; decline them.

    ## Description
    A page on which a note is to be saved, a file downloaded, or an order confirmed. Meanwhile
    things come up: a question about cookies, a newsletter, a free trial, a rating, a survey, an
    app, a chat, notifications; at once, after some actions, or when the last button is pressed.
    Most cover the page until they are answered. The goal says whether to accept cookies; everything
    else is to be declined. Hard ones hide how: cookies are switched off one by one, and the way
    out is a small line below a big button. On the compact page, each is a word with two buttons.

    ## Action space
    Clicking and typing is all that is needed; Escape closes what has a cross.

    ## Rewards
    1 for the right note, file or order if all that came up was answered as asked; what is left open
    costs nothing. Each wrong answer costs 0.25, but 0.25 is left. 0 for another note, file or
    order.

    ## Starting state
    The page, covered by the question about cookies.

    ## Episode end
    Termination: a note was saved, a file downloaded, or an order confirmed. `max_steps` is 10 at
    the level easy, 12 at medium, 24 at hard; compact: 12.

    ## Arguments
    | `noises` | easy 2, medium 3, hard 5 (compact: 3) | how many things come up, 1 to 8 |
    | `items` | 5, 8, 14 (compact: 4) | files or orders in the list, 4 to 16, compact to 5 |
    | `late` | easy 0, medium 1, hard 1 (compact: 1) | 1: not all come up at the start |
    | `tricky` | easy 0, medium 0, hard 1 (compact: 0) | 1: the way to decline is hidden |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "modal_noise.html"
    shown = ("base", "tricky", "brand", "theme")
    mistakes = ("cookies", "neighbour", "offer")
    translated = ("ModalNoise",)
    noises: int = by_level(easy=2, medium=3, hard=5)
    items: int = whole(4, 16, easy=5, medium=8, hard=14)
    late: int = whole(0, 1, easy=0, medium=1, hard=1)
    tricky: int = whole(0, 1, easy=0, medium=0, hard=1)
    compact_values = {"noises": 3, "items": 4, "late": 1, "tricky": 0}

    def prepare(self) -> None:
        if self.cookie_bar:
            raise UserError(f"{self.spec.name} asks about cookies itself and takes no cookie_bar")
        kinds = 1 + len(BLOCKING) + len(CORNER)
        self.check_range("noises", self.noises, 1, kinds)
        self.max_steps = 6 + 2 * self.noises + 8 * self.tricky
        if self.compact:
            if self.tricky:
                raise UserError("ModalNoise: the compact page hides nothing; tricky is 0")
            self.check_range("items", self.items, 4, COMPACT_ITEMS)

    def sample(self, rng: Generator) -> ModalNoiseParams:
        base = pick(rng, tuple(GOALS))
        if self.compact:
            items = jobs.short_items(base, self.items, rng)
        else:
            items = jobs.ITEMS[base](self.items, rng)
        return ModalNoiseParams(
            base=base,
            items=items,
            target=int(rng.integers(len(items))),
            noises=self._noises(rng),
            tricky=bool(self.tricky),
            brand=int(rng.integers(BRANDS)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(COMPACT_GOALS) if self.compact else 3)),
        )

    def goal(self, params: ModalNoiseParams) -> str:
        item, answer = params.items[params.target][0], params.noises[0].answer
        if self.compact:
            job = COMPACT_JOBS[params.base].format(item)
            return COMPACT_GOALS[params.phrasing].format(job=job, policy=COMPACT_POLICIES[answer])
        say = self.speak(params)
        goal = say(GOALS[params.base][params.phrasing]).format(self._said(params, say))
        return goal + say(POLICIES[answer])

    def composed(self, params: ModalNoiseParams, say: Language) -> dict[str, str]:
        """The names of files, and the sums of orders."""
        if params.base == "order":
            return {total: say.money(total) for _, _, total in params.items}
        return {name: jobs.said(name, say) for name, *_ in params.items}

    def _said(self, params: ModalNoiseParams, say: Language) -> str:
        """What the goal calls the note, the file or the order."""
        item = params.items[params.target][0]
        return item if params.base == "order" or self.compact else jobs.said(item, say)

    def page_params(self, params: ModalNoiseParams) -> dict[str, Any]:
        texts = {"texts": COMPACT_TEXTS} if self.compact else {}
        return {
            **super().page_params(params),
            "items": () if params.base == "note" else params.items,
            "noises": [{"kind": one.kind, "look": one.look, "at": one.at} for one in params.noises],
            **texts,
        }

    def judge(
        self, device: BrowserDevice, params: ModalNoiseParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        wrong, wanted = [], params.items[params.target][0]
        if params.base == "note":  # it is typed, in the goal's own words
            wanted = self._said(params, self.speak(params))
        for event in device.events:
            if event.type == "answer":
                noise = _noise(event.data, params)
                if noise is None or event.data.get("answer") != noise.answer:
                    wrong.append(noise.kind if noise else "?")
            elif event.type == "done":
                if str(event.data.get("item", "")).strip() != wanted:
                    return Verdict(0.0, done=True, notes=f"not what was asked for: {event.data}")
                if wrong:
                    score = max(LEAST, 1 - COST * len(wrong))
                    told = f"done, but answered wrongly: {', '.join(wrong)}"
                    return Verdict(score, done=True, notes=told)
                return Verdict(1.0, done=True, notes="done, and all answered as asked")
        return Verdict(0.0, notes="not done yet")

    def oracle(self, device: BrowserDevice, params: ModalNoiseParams) -> Steps:
        item, said = params.items[params.target][0], self._said(params, self.speak(params))
        while not (state := device.state())["done"]:
            if state["open"]:
                noise = params.noises[state["open"][0]]
                yield from self._answer(device, params, state["open"][0], noise)
            elif params.base != "note":
                row = f"[data-item='{item}']"
                yield from reveal(device, row, "#rows")
                if not device.state()["open"]:
                    verb = "Get" if params.base == "download" else "Send"
                    thought = f"{item} {verb}" if self.compact else f"There is {said}."
                    yield Demo(click(device, f"{row} button"), thought)
            elif state["text"]:
                thought = "Save" if self.compact else "Save the note."
                yield Demo(click(device, "#save"), thought)
            elif state["focused"] == "note":
                yield Demo(Type(said), f"Note {said}") if self.compact else Type(said)
            else:
                yield (
                    Demo(click(device, "#note"), "Note") if self.compact else click(device, "#note")
                )

    def misread(self, params: ModalNoiseParams, mistake: str, rng: Generator) -> ModalNoiseParams:
        """``cookies``: they are declined where they should be accepted, and the other way round.
        ``offer``: something else is accepted. ``neighbour``: the item next to the right one."""
        if mistake == "neighbour":
            step = 1 if params.target + 1 < len(params.items) else -1
            return replace(params, target=params.target + step)
        noises = list(params.noises)
        which = 0 if mistake == "cookies" else min(1, len(noises) - 1)
        other = "decline" if noises[which].answer == "accept" else "accept"
        noises[which] = replace(noises[which], answer=other)
        return replace(params, noises=tuple(noises))

    def blind_rate(self, params: ModalNoiseParams) -> float:
        """Any item of the list, any answer to the question about cookies; no text of a note."""
        return 0.0 if params.base == "note" else 0.5 / len(params.items)

    def _noises(self, rng: Generator) -> tuple[Noise, ...]:
        """Cookies, something that surely comes up before the end, and others."""
        cookies = Noise("cookies", int(rng.integers(4)), 0, pick(rng, tuple(POLICIES)))
        first, *rest = (str(kind) for kind in rng.permutation(BLOCKING))
        kinds = [first, *(str(kind) for kind in rng.permutation([*rest, *CORNER]))]
        made = [cookies]
        for place, kind in enumerate(kinds[: self.noises - 1]):
            surely = (0, 1, AT_COMMIT)
            moments = surely if place == 0 else (*surely[:2], *range(2, LATEST + 1), AT_COMMIT)
            if kind in CORNER:  # nothing that can be passed by holds up the last button
                moments = (0, 1, 2)
            at = pick(rng, moments) if self.late else 0
            made.append(Noise(kind, int(rng.integers(4)), at, "decline"))
        return tuple(made)

    def _answer(
        self, device: BrowserDevice, params: ModalNoiseParams, id: int, noise: Noise
    ) -> Steps:
        """Accept or decline what is open."""
        buttons = [noise.answer]
        if noise.kind == "cookies" and noise.answer == "decline" and params.tricky:
            buttons = ["settings", "analytics", "marketing", "save"]
        elif noise.kind == "rating" and noise.answer == "accept":
            buttons = ["star-5", "accept"]
        thought = f"{noise.answer.capitalize()} this: {noise.kind}."
        if self.compact:
            title, yes, no = COMPACT_TEXTS[noise.kind]
            buttons, thought = [noise.answer], f"{title} {yes if noise.answer == 'accept' else no}"
        for button in buttons:
            yield Demo(click(device, f"#noise-{id}-{button}"), thought)


def _noise(said: Mapping[str, Any], params: ModalNoiseParams) -> Noise | None:
    id = said.get("noise")
    return params.noises[id] if isinstance(id, int) and 0 <= id < len(params.noises) else None
