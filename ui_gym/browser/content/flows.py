"""Requests that are made step by step: what is asked, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick

Kind = Literal["cards", "list", "text", "tick"]


class Question(NamedTuple):
    key: str
    label: str
    kind: Kind
    options: Mapping[str, str] = {}
    """What the page offers, with the goal's words for it."""
    say: str = ""
    """The goal's sentence about the answer; without one, the question is left as it is."""
    draw: str = ""
    """The kind of text that is asked for (`TEXTS`)."""
    when: Mapping[str, tuple[str, ...]] = {}
    """The earlier answers with which this is asked."""
    detail: int = 1
    """From which detail on this is asked."""

    @property
    def optional(self) -> bool:
        return self.kind == "tick" or not self.say

    def answer(self, rng: np.random.Generator) -> str:
        """One that may be given; where the goal says nothing, what the page begins with."""
        if not self.say:
            return "no" if self.kind == "tick" else ""
        if self.kind == "text":
            return TEXTS[self.draw](rng)
        return pick(rng, ("no", "yes") if self.kind == "tick" else tuple(self.options))


class FlowPage(NamedTuple):
    title: str
    questions: tuple[Question, ...]


class Flow(NamedTuple):
    app: str
    icon: str
    title: str
    intros: tuple[str, str, str]
    pages: tuple[FlowPage, ...]

    def asked(self, detail: int, answers: Mapping[str, str]) -> Iterator[Question]:
        """The questions that are asked, where `answers` may still grow while they are."""
        for page in self.pages:
            for question in page.questions:
                met = all(answers.get(key) in values for key, values in question.when.items())
                if met and question.detail <= detail:
                    yield question


def _mail(rng: np.random.Generator) -> str:
    return f"{pick(rng, words.FIRST_LONG)}.{pick(rng, words.LAST_LONG)}@example.org".lower()


TOWNS = ("Aldbury", "Brackley", "Calverton", "Dunmore", "Elmstead", "Farnworth", "Glenrock",
         "Hollins", "Kirkwell", "Marston")  # fmt: skip
TEXTS: dict[str, Callable[[np.random.Generator], str]] = {
    "name": lambda rng: f"{pick(rng, words.FIRST_LONG)} {pick(rng, words.LAST_LONG)}",
    "mail": _mail,
    "phone": lambda rng: f"555 01{int(rng.integers(10, 100))}",
    "year": lambda rng: str(int(rng.integers(1998, 2026))),
    "price": lambda rng: str(int(rng.integers(12, 96)) * 25),
    "order": lambda rng: f"K{int(rng.integers(10, 99))}-{int(rng.integers(10000, 99999))}",
    "serial": lambda rng: f"SN{int(rng.integers(100, 999))}-{int(rng.integers(1000, 9999))}",
    "boxes": lambda rng: str(int(rng.integers(4, 30)) * 5),
    "town": lambda rng: pick(rng, TOWNS),
}  # fmt: skip


def _flow(pages: Sequence[Mapping[str, Any]], **written: Any) -> Flow:
    asked = (
        FlowPage(page["title"], tuple(Question(**one) for one in page["questions"]))
        for page in pages
    )
    return Flow(**written, pages=tuple(asked))


FLOWS = {key: _flow(**written) for key, written in table("flows").items()}


def complete(
    flow: Flow, detail: int, given: Mapping[str, str], rng: np.random.Generator
) -> dict[str, str]:
    """An answer to everything that is asked: a given one where it still fits, else a new one."""
    answers: dict[str, str] = {}
    for question in flow.asked(detail, answers):
        answers[question.key] = given.get(question.key) or question.answer(rng)
    return answers


def plain(question: Question) -> dict[str, Any]:
    """What a page is told about a question."""
    return {
        "key": question.key,
        "label": question.label,
        "kind": question.kind,
        "options": list(question.options),
        "when": question.when,
        "optional": question.optional,
    }
