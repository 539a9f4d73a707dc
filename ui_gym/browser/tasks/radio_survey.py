"""Radio survey: give the named answers in a questionnaire of one or several pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import changed_share
from ui_gym.browser.content.surveys import SURVEYS
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, one_of, whole
from ui_gym.browser.moves import because, click, reveal
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

MOST = min(len(questions) for questions in SURVEYS.values())
OPEN = -1
"""Where the answer to a question stands that is not to be answered."""

GOALS = (
    'Fill in the survey like this and submit it. {answers}.{rest}',
    'Answer the questions and press "Submit" at the end. {answers}.{rest}',
    'Send the questionnaire with these answers: {answers}.{rest}',
)  # fmt: skip
REST = " Leave all other questions open."

COMPACT_SCALES = (("Good", "Fair", "Poor"), ("Yes", "Maybe", "No"))
COMPACT_BANK = tuple((t, COMPACT_SCALES[i % 2]) for i, t in enumerate(words.THINGS_SHORT))
COMPACT_ROWS = 6
"""Between the title and the buttons of the compact page."""
COMPACT_GOALS = ("Answer {}. Press Send.", "Choose {}. Press Send.", "Mark {}. Press Send.")

Layout = Literal["row", "column"]
Order = Literal["page", "mixed"]


@dataclass(frozen=True)
class RadioSurveyParams:
    """All that varies between episodes."""

    survey: str
    questions: tuple[tuple[str, tuple[str, ...]], ...]
    """Each with its answers, as shown."""
    answers: tuple[int, ...]
    """The asked answer to each question, by its index; -1 where none is to be given."""
    order: tuple[int, ...]
    """The answered questions, as the goal lists them."""
    theme: int
    """Compact: how many rows are free above the questions."""
    phrasing: int


@register("RadioSurvey", suite="browser", category="choice", difficulty="medium", max_steps=16)
class RadioSurvey(Family[RadioSurveyParams]):
    """Give the named answers in a questionnaire, and submit it.

    ## Description
    A questionnaire of a hotel, a bus company, an employer or a library, on one or several pages.
    Each question has three to five answers as radio buttons, side by side or one below the other;
    the goal names the answers. Questions that it does not name must be left open. With
    ``order="mixed"`` the goal lists them in another order than the pages. The compact page asks
    about things with short names; it does not scroll.

    ## Action space
    Clicks and scrolling solve it; Tab, the arrow keys and Space work as in any form.

    ## Rewards
    1 for submitting exactly the named answers; else the share of them that was given, less for
    every answer that is wrong where none was asked for.

    ## Starting state
    The first page, no question answered.

    ## Episode end
    Termination: the survey was submitted. `max_steps` is twice what is needed at most; it follows
    from the arguments.

    ## Arguments
    | `questions` | 3, 6, 12 (compact: 4) | how many questions, 1 to 12 |
    | `pages` | 1, 2, 3 (compact: 2) | on how many pages, 1 to 4, at most one a question |
    | `skipped` | 0, 1, 3 (compact: 1) | how many are to be left open, 0 to `questions` - 1 |
    | `layout` | "row", "row", "column" | answers side by side, or in a column that scrolls |
    | `order` | "page", "page", "mixed" | how the goal lists the answers |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "radio_survey.html"
    shown = ("survey", "questions", "pages", "layout", "theme")
    ends, waiting = "submit", "nothing is submitted"
    questions: int = whole(1, MOST, easy=3, medium=6, hard=12)
    pages: int = by_level(easy=1, medium=2, hard=3)
    skipped: int = by_level(easy=0, medium=1, hard=3)
    layout: Layout = one_of(get_args(Layout), easy="row", medium="row", hard="column")
    order: Order = one_of(get_args(Order), easy="page", medium="page", hard="mixed")
    compact_values = {
        "questions": 4, "pages": 2, "skipped": 1, "layout": "row", "order": "page"
    }  # fmt: skip
    mistakes = ("forgot", "mirrored", "neighbour")
    translated = ("RadioSurvey",)

    def prepare(self) -> None:
        self.check_range("pages", self.pages, 1, min(4, self.questions))
        self.check_range("skipped", self.skipped, 0, self.questions - 1)
        # In a column a page is at most twice as long as what is seen of it.
        scrolls = 2 * self.pages if self.layout == "column" else self.pages
        self.max_steps = 2 * (self.questions - self.skipped + self.pages) + scrolls
        if self.compact:
            self._prepare_compact()

    def _prepare_compact(self) -> None:
        self.rows = math.ceil(self.questions / self.pages) * (2 if self.layout == "row" else 4)
        if self.rows > COMPACT_ROWS:
            raise UserError(
                f"RadioSurvey: a compact page has room for {COMPACT_ROWS} rows, not {self.rows}: "
                "make fewer questions or more pages"
            )
        self.max_steps = 2 * (self.questions - self.skipped + self.pages)

    def sample(self, rng: Generator) -> RadioSurveyParams:
        survey = "compact" if self.compact else pick(rng, tuple(SURVEYS))
        bank = COMPACT_BANK if self.compact else SURVEYS[survey]
        picked = sorted(int(i) for i in rng.choice(len(bank), size=self.questions, replace=False))
        turned = bool(rng.random() < 0.5)  # scales begin with the worst
        questions = tuple((bank[i][0], bank[i][1][::-1] if turned else bank[i][1]) for i in picked)
        answers = [int(rng.integers(len(options))) for _, options in questions]
        for i in rng.choice(self.questions, size=self.skipped, replace=False):
            answers[int(i)] = OPEN
        order = [i for i, answer in enumerate(answers) if answer != OPEN]
        if self.order == "mixed":
            order = [int(i) for i in rng.permutation(order)]
        return RadioSurveyParams(
            survey=survey,
            questions=questions,
            answers=tuple(answers),
            order=tuple(order),
            theme=int(rng.integers(COMPACT_ROWS - self.rows + 1 if self.compact else 6)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goal(self, params: RadioSurveyParams) -> str:
        given = self._given(params)
        questions = [params.questions[i][0] for i in params.order]
        if self.compact:
            said = ", ".join(f"{question} {given[question]}" for question in questions)
            return COMPACT_GOALS[params.phrasing].format(said)
        say = self.speak(params)
        pair = say("{question}: {answer}")
        answers = say("; ").join(
            pair.format(question=say.named(one), answer=say.named(given[one])) for one in questions
        )
        rest = say(REST) if OPEN in params.answers else ""
        return say(GOALS[params.phrasing]).format(answers=answers, rest=rest)

    def verdict(self, data: Mapping[str, Any], params: RadioSurveyParams) -> Verdict:
        wanted = self._given(params)
        given = dict(data.get("answers", {}))
        if given == wanted:
            return Verdict(1.0, done=True, notes="submitted as asked")
        questions = [question for question, _ in params.questions]
        asked, now = ([one.get(question) for question in questions] for one in (wanted, given))
        wrong = sum(a != n for a, n in zip(asked, now, strict=True))
        share = changed_share([None] * len(questions), asked, now)
        return Verdict(share, done=True, notes=f"submitted with {wrong} questions wrong")

    def oracle(self, device: BrowserDevice, params: RadioSurveyParams) -> Steps:
        size = math.ceil(len(params.questions) / self.pages)
        for page in range(self.pages):
            for number in range(page * size, min((page + 1) * size, len(params.questions))):
                yield from self._answer(device, params, number)
            if page < self.pages - 1:
                thought = "Next" if self.compact else "This page is done: go on."
                yield Demo(click(device, "#next"), thought)
        thought = "Send" if self.compact else "All answers are given: submit."
        yield Demo(click(device, "#submit"), thought)

    def misread(self, params: RadioSurveyParams, mistake: str, rng: Generator) -> RadioSurveyParams:
        """``neighbour``: one answer is taken for the one beside it. ``mirrored``: one is counted
        from the wrong end. ``forgot``: one question is left open."""
        number = pick(rng, params.order)
        answer, last = params.answers[number], len(params.questions[number][1]) - 1
        if mistake == "forgot" or answer == OPEN:  # what was forgotten stays so
            taken = OPEN
        elif mistake == "mirrored":
            taken = last - answer
        else:
            beside = [i for i in (answer - 1, answer + 1) if 0 <= i <= last]
            taken = pick(rng, beside)
        answers = [*params.answers]
        answers[number] = taken
        return replace(params, answers=tuple(answers))

    def blind_rate(self, params: RadioSurveyParams) -> float:
        """Any answer to each of the questions that are to be answered."""
        return 1 / math.prod(len(params.questions[i][1]) for i in params.order)

    def _answer(
        self, device: BrowserDevice, params: RadioSurveyParams, number: int
    ) -> Iterator[Demo]:
        question, options = params.questions[number]
        answer = params.answers[number]
        if answer == OPEN:
            return
        target = f"#answer-{number}-{answer}"
        say = self.speak(params)
        thought = f"{say(question)} {say(options[answer])}" + ("" if self.compact else ".")
        yield from because(thought, reveal(device, f".tick:has({target})", "#pane"))
        yield Demo(click(device, target), thought)

    def _given(self, params: RadioSurveyParams) -> dict[str, str]:
        """The asked answers by their questions."""
        return {
            question: options[answer]
            for (question, options), answer in zip(params.questions, params.answers, strict=True)
            if answer != OPEN
        }
