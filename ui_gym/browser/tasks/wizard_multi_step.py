"""Wizard: a request in several steps, whose later questions depend on earlier answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.flows import FLOWS, Flow, FlowPage, Question, complete, plain
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, whole
from ui_gym.browser.moves import because, click, fill, pick
from ui_gym.contract import draws
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

STEPS = {1: 28, 2: 48, 3: 58}
"""Steps until truncation, by the detail."""


def _options(*texts: str) -> dict[str, str]:
    return {text: text for text in texts}


COMPACT_FLOW = Flow(
    app="Order",
    icon="bag",
    title="",
    intros=("Enter {}. Press Send.", "Order {}. Press Send.", "Choose {}. Press Send."),
    pages=(
        FlowPage("Way", (Question("way", "Way", "cards", _options("Post", "Shop"), "Way {}"),)),
        FlowPage("Details", (
            Question("size", "Size", "cards", _options("Small", "Large"), "Size {}",
                     when={"way": ("Post",)}),
            Question("day", "Day", "list", _options("Mon", "Tue", "Wed"), "Day {}",
                     when={"way": ("Shop",)}),
            Question("name", "Name", "text", say="Name {}", draw="name"),
            Question("gift", "Gift", "tick", say="Gift", detail=2),
        )),
    ),
)  # fmt: skip
"""What the compact page asks."""
ALL_FLOWS = {**FLOWS, "compact": COMPACT_FLOW}


@dataclass(frozen=True)
class WizardMultiStepParams:
    """All that varies between episodes."""

    flow: str
    detail: int
    answers: tuple[tuple[str, str], ...]
    """What has to be submitted: (question, answer), of all that are asked."""
    left: bool
    """Whether the list of steps stands on the left; compact: whether Next stands left of Back."""
    theme: int
    """Compact: how many rows are free above the questions."""
    phrasing: int

    @property
    def questions(self) -> list[Question]:
        """What is asked, given the answers."""
        return list(ALL_FLOWS[self.flow].asked(self.detail, dict(self.answers)))


@register("WizardMultiStep", suite="browser", category="input", difficulty="medium", max_steps=48)
class WizardMultiStep(Family[WizardMultiStepParams]):
    """Fill in a request step by step, where earlier answers decide what is asked later.

    ## Description
    A request for an insurance quote, for support or for a move: pages with cards, lists, text
    fields and boxes, then a review with the button to submit. What is asked next depends on what
    was answered. The goal tells the facts in sentences, in other words than the page has.
    Boxes that it does not mention stay empty. The compact page takes an order in three steps, and
    the goal has the page's words.

    ## Action space
    Clicks and typing are all that is needed; Tab, Space and Enter work as in any form.

    ## Rewards
    1 if exactly what the goal says is submitted (blanks around a text do not matter). Else the
    share of right answers among all that were given or should have been, at most 0.9; 0 if the
    first answer, on which most others depend, is wrong.

    ## Starting state
    The first page, nothing chosen.

    ## Episode end
    Termination: the request was submitted. `max_steps` is 28, 48 or 58 at detail 1, 2 and 3;
    compact 16 or 18.

    ## Arguments
    | `detail` | 2 (compact: 1) | how much is asked, 1 to 3 (compact: 2): more questions and pages |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "wizard_multi_step.html"
    ends, waiting = "submit", "not submitted yet"
    mistakes = ("branch", "option", "typo")
    detail: int = whole(1, 3, easy=1, medium=2, hard=3)
    compact_values = {"detail": 1}

    def prepare(self) -> None:
        self.max_steps = STEPS[self.detail]
        if self.compact:
            if self.detail > 2:
                raise UserError("WizardMultiStep: detail of the compact page is 1 or 2, not 3")
            self.max_steps = 2 * (7 + self.detail)

    def sample(self, rng: Generator) -> WizardMultiStepParams:
        flow = "compact" if self.compact else draws.pick(rng, tuple(FLOWS))
        texts = {"name": draws.pick(rng, words.FIRST_SHORT)} if self.compact else {}
        answers = complete(ALL_FLOWS[flow], self.detail, texts, rng)
        return WizardMultiStepParams(
            flow=flow,
            detail=self.detail,
            answers=tuple(answers.items()),
            left=bool(rng.random() < 0.5),
            theme=int(rng.integers(5 - self.detail if self.compact else 6)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: WizardMultiStepParams) -> str:
        answers = dict(params.answers)
        said = []
        for question in params.questions:
            answer = answers[question.key]
            if question.say and answer != "no":
                said.append(question.say.format(question.options.get(answer, answer)))
        intro = ALL_FLOWS[params.flow].intros[params.phrasing]
        return intro.format(", ".join(said)) if self.compact else " ".join([intro, *said])

    def page_params(self, params: WizardMultiStepParams) -> dict[str, Any]:
        flow = ALL_FLOWS[params.flow]
        pages = []
        for page in flow.pages:
            questions = [plain(q) for q in page.questions if q.detail <= params.detail]
            if questions:
                pages.append({"title": page.title, "questions": questions})
        texts = {"app": flow.app, "icon": flow.icon, "title": flow.title}
        return {**texts, "pages": pages, "left": params.left, "theme": params.theme}

    def verdict(self, data: Mapping[str, Any], params: WizardMultiStepParams) -> Verdict:
        wanted = dict(params.answers)
        given = {key: str(text).strip() for key, text in data["answers"].items()}
        keys = [*wanted, *(key for key in given if key not in wanted)]
        wrong = [key for key in keys if given.get(key) != wanted.get(key)]
        if not wrong:
            return Verdict(1.0, done=True, notes="submitted as asked")
        share = 0.0 if keys[0] in wrong else min(0.9, 1 - len(wrong) / len(keys))
        told = [f"{key} is {given.get(key)!r}, not {wanted.get(key)!r}" for key in wrong]
        return Verdict(share, done=True, notes=f"submitted, but {'; '.join(told)}")

    def oracle(self, device: BrowserDevice, params: WizardMultiStepParams) -> Steps:
        answers = dict(params.answers)
        before = None
        while (state := device.state())["page"] != before:
            before = state["page"]
            if before == "Review":
                thought = "Send" if self.compact else "All answers are there: submit."
                yield Demo(click(device, "#submit"), thought)
                return
            shown = {key for page in ALL_FLOWS[params.flow].pages if page.title == before
                     for key in (question.key for question in page.questions)}  # fmt: skip
            for question in params.questions:
                if question.key in shown:
                    yield from self._answer(device, question, answers[question.key])
            thought = "Next" if self.compact else f"{before} is filled in: go on."
            yield Demo(click(device, "#next"), thought)

    def misread(
        self, params: WizardMultiStepParams, mistake: str, rng: Generator
    ) -> WizardMultiStepParams:
        """``branch``: another choice on which later questions depend, and what follows from it.
        ``option``: another choice on which nothing depends. ``typo``: a text with a slip."""
        answers = dict(params.answers)
        parents = {
            key for page in ALL_FLOWS[params.flow].pages for q in page.questions for key in q.when
        }
        if mistake == "typo":
            texts = [q for q in params.questions if q.kind == "text" and q.say]
            key = draws.pick(rng, texts).key
            return _with(params, {**answers, key: answers[key][:-1]})
        open_ones = [
            q for q in params.questions if q.options and (q.key in parents) == (mistake == "branch")
        ]
        question = draws.pick(rng, open_ones)
        others = [option for option in question.options if option != answers[question.key]]
        answers[question.key] = draws.pick(rng, others)
        return _with(params, complete(ALL_FLOWS[params.flow], params.detail, answers, rng))

    def blind_rate(self, params: WizardMultiStepParams) -> float:
        """Each request asks for a text, which cannot be guessed; compact: any name of the list."""
        if not self.compact:
            return 0.0
        pools = {"text": len(words.FIRST_SHORT), "tick": 2}
        return 1 / math.prod(pools.get(q.kind) or len(q.options) for q in params.questions)

    def _answer(self, device: BrowserDevice, question: Question, answer: str) -> Iterator[Demo]:
        thought = f'"{question.label}": {answer}.'
        if self.compact:
            thought = question.say.format(answer)
        actions: Iterator[Action] = iter(())
        if question.kind == "text":
            actions = fill(device, f"#{question.key}", answer) if answer else actions
        elif question.kind == "list":
            actions = pick(device, question.key, answer)
        elif question.kind == "cards":
            number = list(question.options).index(answer)
            actions = iter([click(device, f"#{question.key}-{number}")])
        elif answer == "yes":
            actions = iter([click(device, f"#{question.key}")])
        yield from because(thought, actions)


def _with(params: WizardMultiStepParams, answers: dict[str, str]) -> WizardMultiStepParams:
    return replace(params, answers=tuple(answers.items()))
