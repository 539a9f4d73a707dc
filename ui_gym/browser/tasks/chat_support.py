"""Chat support: settle something in a chat with a shop's assistant, who asks for facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import chats, phrases, words
from ui_gym.browser.content.chats import CHATS, Chat, ChatTopic
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, flag, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action, Type, Wait
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

FIRST = ("order", "wish")
"""What is always asked, among other things."""
ORDERS = 5
"""That the page lists."""
SLOWEST = 4
THEMES = 6
PLACES = 3
COMPACT_PLACES = 2
REFUSALS = (
    " Accept no offers, and cancel nothing.",
    " I want nothing else: no offers, and nothing cancelled.",
    " Turn down all offers, and do not cancel anything.",
)
COMPACT_GOALS = ("Say {facts}. No offer.", "Chat: {facts}. No offer.", "Tell {facts}. No offer.")


@dataclass(frozen=True)
class ChatOrder:
    """An order that the page lists."""

    number: str
    thing: str
    day: int
    cents: int


@dataclass(frozen=True)
class ChatSupportParams:
    """All that varies between episodes."""

    chat: str
    keys: tuple[str, ...]
    """What is asked, in this order; what depends on an answer comes right behind it."""
    ways: tuple[int, ...]
    """How each topic of the script is asked."""
    mixed: tuple[int, ...]
    """By how many places the choices of each topic are turned."""
    facts: tuple[tuple[str, str], ...]
    """What is to be answered, by key."""
    orders: tuple[ChatOrder, ...]
    name: str
    """Of the assistant."""
    place: int
    theme: int
    phrasing: int

    @property
    def script(self) -> list[ChatTopic]:
        return CHATS[self.chat].script(self.keys)


@register("ChatSupport", suite="browser", category="input", difficulty="medium", max_steps=40)
class ChatSupport(Family[ChatSupportParams]):
    """Answer a shop's assistant in a chat: facts by words or choices, and no offers.

    ## Description
    The help page of a shop, with the latest orders and a chat. The assistant asks one thing after
    the other, in an order that varies: the number of the order, a wish, a reason... Some things are
    answered by writing, others by one of the buttons below the talk. What is asked next depends on
    what was said. Between, the assistant offers things that cost money; one button cancels
    everything. What was sent stays sent. At "hard" the goal names the thing that was ordered, and
    its number stands in the list.

    ## Action space
    Clicks and typing; Enter sends. While the assistant types, `wait` lets the time pass.

    ## Rewards
    1 if the chat came to its end with every fact as the goal tells it. Else the share of the facts
    that are right. 0 if an offer was accepted or orders were cancelled.

    ## Starting state
    The assistant's first question; nothing is focused.

    ## Episode end
    Termination: the assistant has asked everything, or something harmful was chosen. `max_steps` is
    about twice what the longest talk needs.

    ## Arguments
    | `questions` | 4 (compact: 3) | what is always asked, 2 to 5 (compact to 4); more may follow |
    | `offers` | 1 | how many things are offered, 0 to 2 (compact to 1) |
    | `slow` | 1 (compact: 0) | seconds that the assistant takes to answer, 0 to 4 |
    | `lookup` | False | the goal names the thing, and the order's number is in the page's list |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "chat_support.html"
    mistakes = ("neighbour", "choice", "harm")
    questions: int = whole(2, 5, easy=2, medium=4, hard=5)
    offers: int = by_level(easy=0, medium=1, hard=2)
    slow: int = whole(0, SLOWEST, easy=0, medium=1, hard=2)
    lookup: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"questions": 3, "offers": 1, "slow": 0, "lookup": False}

    def prepare(self) -> None:
        self.chats = ["compact"] if self.compact else [key for key in CHATS if key != "compact"]
        chosen = [CHATS[key] for key in self.chats]
        most = min(len(chat.roots) for chat in chosen)
        self.check_range("questions", self.questions, 2, most)
        self.check_range("offers", self.offers, 0, min(len(chat.offers) for chat in chosen))
        if self.compact and self.lookup:
            raise UserError("ChatSupport: the compact page lists no orders; lookup is False")
        # Some answers bring another question; words take three actions, a choice takes one.
        follow, texts = (1, 2) if self.compact else (2, 3)
        turns = self.questions + self.offers + follow
        self.max_steps = 2 * (turns + 2 * texts + self.slow * turns)

    def sample(self, rng: Generator) -> ChatSupportParams:
        name = pick(rng, self.chats)
        chat = CHATS[name]
        keys = self._keys(chat, rng)
        script = chat.script(keys)
        facts = chats.complete(script, {}, rng)
        return ChatSupportParams(
            chat=name,
            keys=keys,
            ways=tuple(int(rng.integers(len(topic.asks))) for topic in script),
            mixed=tuple(int(rng.integers(max(1, len(topic.choices)))) for topic in script),
            facts=tuple(facts.items()),
            orders=() if self.compact else self._orders(facts["order"], chat.things, rng),
            name=pick(rng, words.FIRST_SHORT),
            place=int(rng.integers(COMPACT_PLACES if self.compact else PLACES)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: ChatSupportParams) -> str:
        chat, facts = CHATS[params.chat], dict(params.facts)
        told = []
        for topic in chat.topics:  # in the order of the data, not of the talk
            if topic.key not in facts:
                continue
            answer = facts[topic.key]
            said = topic.say.format(topic.options.get(answer, answer))
            if topic.key == "order" and self.lookup:
                said = f"It is about the {_order(params).thing.lower()} in my list of orders."
            told.append(said)
        if self.compact:
            return COMPACT_GOALS[params.phrasing].format(facts=", ".join(told))
        return f"{chat.intros[params.phrasing]} {' '.join(told)}{REFUSALS[params.phrasing]}"

    def page_params(self, params: ChatSupportParams) -> dict[str, Any]:
        chat = CHATS[params.chat]
        script = [
            {
                "key": topic.key,
                "ask": topic.asks[way],
                "choices": (*topic.choices[turn:], *topic.choices[:turn]),
                "when": topic.when,
            }
            for topic, way, turn in zip(params.script, params.ways, params.mixed, strict=True)
        ]
        orders = [
            {
                "number": order.number,
                "thing": order.thing,
                "day": f"{order.day} January",
                "price": phrases.money(order.cents),
            }
            for order in params.orders
        ]
        return {
            "app": chat.app,
            "icon": chat.icon,
            "title": chat.title,
            "hello": chat.hello.format(params.name),
            "bye": chat.bye,
            "name": params.name,
            "script": script,
            "orders": orders,
            "slow": self.slow,
            "place": params.place,
            "theme": params.theme,
        }

    def judge(
        self, device: BrowserDevice, params: ChatSupportParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        harms = {topic.key: topic.harm for topic in params.script if topic.harm}
        said: dict[str, str] = {}
        for event in device.events:
            if event.type == "said":
                key, text = str(event.data.get("key", "")), str(event.data.get("text", ""))
                if harms.get(key) == text:
                    return Verdict(0.0, done=True, notes=f"nobody asked for this: {text}")
                said.setdefault(key, text)
            elif event.type == "closed":
                return self._compare(said, params)
        return Verdict(0.0, notes="the chat goes on")

    def oracle(self, device: BrowserDevice, params: ChatSupportParams) -> Steps:
        facts = dict(params.facts)
        while not (state := device.state())["closed"]:
            key = state["asks"]
            if key is None:
                yield Demo(Wait(1.0), "Wait" if self.compact else f"{params.name} is typing.")
                continue
            answer = facts[key]
            number = state["choices"].index(answer) if state["choices"] else None
            if number is not None:
                thought = answer if self.compact else f'I choose "{answer}".'
                yield Demo(click(device, f"#choice-{number}"), thought)
            elif state["text"] == answer:
                yield Demo(click(device, "#send"), "Send" if self.compact else "Send this.")
            elif state["focused"] == "words":
                told = answer if self.compact else f"{params.name} asks for this: {answer}."
                yield Demo(Type(answer, clear=bool(state["text"])), told)
            else:
                thought = "Message" if self.compact else "This is answered in words."
                yield Demo(click(device, "#words"), thought)

    def misread(self, params: ChatSupportParams, mistake: str, rng: Generator) -> ChatSupportParams:
        """``neighbour``: another order. ``choice``: another choice. ``harm``: what nobody asked
        for."""
        facts, script = dict(params.facts), params.script
        if mistake == "neighbour":
            others = [order.number for order in params.orders if order.number != facts["order"]]
            near = others or [str((int(facts["order"]) + 1) % chats.COMPACT_NUMBERS)]
            facts["order"] = pick(rng, near)
        elif mistake == "choice":
            topics = [t for t in script if t.key in facts and len(t.options) > 1]
            topic = pick(rng, topics)
            others = [option for option in topic.options if option != facts[topic.key]]
            facts[topic.key] = pick(rng, others)
        else:
            harmful = [topic for topic in script if topic.harm]
            topic = pick(rng, harmful)
            facts[topic.key] = topic.harm
        return replace(params, facts=tuple(chats.complete(script, facts, rng).items()))

    def blind_rate(self, params: ChatSupportParams) -> float:
        """None: no guess writes the number of an order."""
        return 0.0

    def _compare(self, said: Mapping[str, str], params: ChatSupportParams) -> Verdict:
        """What was said beside the facts; refused offers are no facts."""
        facts = {key: text for key, text in params.facts if not key.startswith("offer")}
        wrong = [
            f"{key}: {said.get(key, 'nothing')!r}, not {want!r}"
            for key, want in facts.items()
            if _plain(said.get(key, "")) != _plain(want)
        ]
        return Verdict(
            1 - len(wrong) / len(facts), done=True, notes="; ".join(wrong) or "all facts are right"
        )

    def _keys(self, chat: Chat, rng: Generator) -> tuple[str, ...]:
        others = [key for key in chat.roots if key not in FIRST]
        chosen = rng.choice(len(others), size=self.questions - len(FIRST), replace=False)
        keys = [*FIRST, *(others[int(i)] for i in chosen)]
        keys = [keys[int(i)] for i in rng.permutation(len(keys))]
        for topic in chat.offers[: self.offers]:
            # Never at the start: an offer comes when one has begun to answer.
            keys.insert(int(rng.integers(1, len(keys) + 1)), topic.key)
        return tuple(keys)

    def _orders(self, number: str, things: Sequence[str], rng: Generator) -> tuple[ChatOrder, ...]:
        """The one that it is about, among others; two numbers begin in the same way."""
        numbers = [number, f"{number[:-2]}{(int(number[-2:]) + 11) % 100:02}"]
        while len(numbers) < ORDERS:
            other = chats.DRAWS["order"](rng)
            if other not in numbers:
                numbers.append(other)
        days = sorted(
            (int(day) for day in rng.choice(14, size=ORDERS, replace=False)), reverse=True
        )
        return tuple(
            ChatOrder(numbers[int(i)], things[int(thing)], 1 + day, int(rng.integers(900, 9900)))
            for i, thing, day in zip(
                rng.permutation(ORDERS), rng.permutation(len(things)), days, strict=False
            )
        )


def _order(params: ChatSupportParams) -> ChatOrder:
    number = dict(params.facts)["order"]
    return next(order for order in params.orders if order.number == number)


def _plain(text: str) -> str:
    """Without what a reader overlooks: capitals, blanks, a full stop at the end."""
    return " ".join(text.casefold().split()).removesuffix(".")
