"""Chats with somebody who answers: what an assistant asks, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.browser.content.flows import TEXTS
from ui_gym.contract.draws import pick

COMPACT_NUMBERS = 32


class ChatTopic(NamedTuple):
    """Something that is asked: by choices, or, where there are none, by words."""

    key: str
    asks: tuple[str, ...]
    """Ways to ask it."""
    say: str = ""
    """The goal's sentence about the answer."""
    options: Mapping[str, str] = {}
    """The choices that do no harm, with the goal's words for them."""
    harm: str = ""
    """A choice that does what nobody asked for."""
    draw: str = ""
    """The kind of text that is asked for (`DRAWS`)."""
    when: Mapping[str, tuple[str, ...]] = {}
    """The earlier answers with which it is asked."""

    @property
    def choices(self) -> tuple[str, ...]:
        return (*self.options, self.harm) if self.harm else tuple(self.options)

    def answer(self, rng: np.random.Generator) -> str:
        return pick(rng, tuple(self.options)) if self.options else DRAWS[self.draw](rng)


class Chat(NamedTuple):
    app: str
    icon: str
    title: str
    hello: str
    bye: str
    intros: tuple[str, ...]
    topics: tuple[ChatTopic, ...]
    """Those that are asked only after some answers stand behind what they depend on."""
    offers: tuple[ChatTopic, ...]
    things: tuple[str, ...] = ()
    """What may have been ordered."""

    @property
    def roots(self) -> list[str]:
        """The keys of what is always asked, if at all; without offers."""
        return [topic.key for topic in self.topics if not topic.when]

    def script(self, keys: Sequence[str]) -> list[ChatTopic]:
        """The topics of these keys, each followed by those that depend on its answer."""
        known = {topic.key: topic for topic in (*self.topics, *self.offers)}
        follow = [topic for topic in self.topics if topic.when]
        return [
            topic
            for key in keys
            for topic in (known[key], *(one for one in follow if key in one.when))
        ]


def asked(script: Sequence[ChatTopic], answers: Mapping[str, str]) -> Iterator[ChatTopic]:
    """What is asked in turn, where `answers` may still grow meanwhile."""
    for topic in script:
        if all(answers.get(key) in values for key, values in topic.when.items()):
            yield topic


def complete(
    script: Sequence[ChatTopic], given: Mapping[str, str], rng: np.random.Generator
) -> dict[str, str]:
    """An answer to all that is asked: a given one where it is still asked, else a new one."""
    answers: dict[str, str] = {}
    for topic in asked(script, answers):
        answers[topic.key] = given.get(topic.key) or topic.answer(rng)
    return answers


DRAWS: dict[str, Callable[[np.random.Generator], str]] = {
    **TEXTS,
    "number": lambda rng: str(int(rng.integers(COMPACT_NUMBERS))),
    "first": lambda rng: pick(rng, words.FIRST_SHORT),
}


def _chat(
    topics: Sequence[Mapping[str, Any]], offers: Sequence[Mapping[str, Any]], **written: Any
) -> Chat:
    return Chat(
        **written,
        topics=tuple(ChatTopic(**one) for one in topics),
        offers=tuple(
            ChatTopic(f"offer-{i}", one["asks"], options={one["no"]: ""}, harm=one["harm"])
            for i, one in enumerate(offers)
        ),
    )


CHATS = {key: _chat(**written) for key, written in table("chats").items()}
