"""ChatSupport's logic, and what its page lets one say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, levels, mistakes_fail, perform, verdicts

from ui_gym.browser.content.chats import CHATS, asked
from ui_gym.browser.moves import click
from ui_gym.browser.tasks.chat_support import ChatOrder, ChatSupport, ChatSupportParams
from ui_gym.contract.action import Type, Wait
from ui_gym.errors import UserError

PARAMS = ChatSupportParams(
    chat="refund", keys=("reason", "wish", "offer-0", "order"), ways=(0,) * 6, mixed=(0,) * 6,
    facts=(
        ("reason", "Wrong colour"), ("wish", "Refund"), ("payment", "Gift card"),
        ("offer-0", "No Plus, thanks"), ("order", "K46-21795"),
    ),
    orders=(ChatOrder("K46-21706", "Desk lamp", 9, 4830),
            ChatOrder("K46-21795", "Bath mat", 4, 2000)),
    name="Finn", place=0, theme=0, phrasing=0,
)  # fmt: skip
RIGHT = dict(PARAMS.facts)


def said(facts: dict[str, str]) -> list[Any]:
    return [("said", {"key": key, "text": text}) for key, text in facts.items()]


CLOSED: Any = ("closed", {})

test_chat_support_scores = verdicts(
    ChatSupport(),
    PARAMS,
    {
        "not at its end": (*said(RIGHT), 0.0, False),
        "right": (*said(RIGHT), CLOSED, 1.0, True, "all facts are right"),
        "written otherwise": (*said({**RIGHT, "order": " k46-21795."}), CLOSED, 1.0, True),
        "other order": (*said({**RIGHT, "order": "K46-21706"}), CLOSED, 0.75, True),
        "other choice": (*said({**RIGHT, "reason": "It is broken"}), CLOSED, 0.75, True),
        "other branch": (
            *said({"reason": "Wrong colour", "wish": "Exchange", "size": "Small"}), CLOSED,
            0.25, True,
        ),
        "corrected too late": (
            *said({**RIGHT, "order": "K1"}), *said({"order": "K46-21795"}), CLOSED, 0.75, True,
        ),
        "offer accepted": (*said({**RIGHT, "offer-0": "Add Plus"}), 0.0, True),
        "all cancelled": (*said({"wish": "Cancel all my orders"}), 0.0, True),
        "only said to be over": (CLOSED, 0.0, True),
    },
)  # fmt: skip

test_chat_support_mistakes_are_no_success = mistakes_fail(
    ChatSupport, lambda params: [*said(dict(params.facts)), CLOSED]
)


@levels(ChatSupport)
def test_chat_goals_tell_every_fact_once(task: Any) -> None:
    for params in draws(task):
        goal, facts = task.goal(params), dict(params.facts)
        for topic in params.script:
            if topic.key not in facts or topic.key.startswith("offer"):
                continue
            answer = facts[topic.key]
            if topic.key == "order" and task.lookup:
                thing = next(o.thing for o in params.orders if o.number == answer)
                assert answer not in goal
                assert goal.count(thing.lower()) == 1
            else:
                assert topic.say.format(topic.options.get(answer, answer)) in goal
            assert topic.harm not in facts.values()


@levels(ChatSupport)
def test_chat_asks_in_another_order_and_what_depends_comes_behind(task: Any) -> None:
    orders = set()
    for params in draws(task):
        keys = [topic.key for topic in params.script]
        orders.add(params.keys)
        assert {"order", "wish"} <= set(keys)
        assert sum(key.startswith("offer") for key in keys) == task.offers
        assert not keys[0].startswith("offer")
        for topic in params.script:
            assert all(keys.index(on) < keys.index(topic.key) for on in topic.when)
        assert len({order.number for order in params.orders}) == len(params.orders) == 5
    assert len(orders) >= 2


def test_an_answer_decides_what_is_asked_next() -> None:
    script = CHATS["refund"].script(["wish", "order"])
    keys = [topic.key for topic in asked(script, {"wish": "Exchange"})]
    assert keys == ["wish", "size", "order"]
    assert [topic.key for topic in asked(script, {"wish": "Repair"})] == ["wish", "order"]


def test_another_wish_brings_its_own_questions() -> None:
    task, rng = ChatSupport(), np.random.default_rng(0)
    wished = set()
    for _ in range(40):
        facts = dict(task.misread(PARAMS, "choice", rng).facts)
        wished.add(facts["wish"])
        assert ("size" in facts) == (facts["wish"] == "Exchange")
        assert ("payment" in facts) == (facts["wish"] == "Refund")
    assert wished == {"Refund", "Exchange", "Repair"}


def test_the_page_does_not_know_the_facts() -> None:
    told = ChatSupport().page_params(replace(PARAMS, orders=()))
    assert "K46" not in str(told)
    assert "harm" not in str(told)


def test_a_chat_takes_words_and_time(make_device: Any) -> None:
    task = ChatSupport(slow=1)
    device = make_device(task.viewport)
    task.setup(device, PARAMS)
    state = perform(device, click(device, "#words"), Type("it is late", enter=True))
    assert state["asks"] == "reason"  # that is none of the choices
    state = perform(device, Type("wrong COLOUR", enter=True))
    assert state["asks"] is None
    state = perform(device, Type("Refund", enter=True))
    assert (state["asks"], state["text"]) == (None, "Refund")  # nobody listens meanwhile
    assert perform(device, Wait(1.0))["asks"] == "wish"
    told = [event.data for event in device.events if event.type == "said"]
    assert told == [{"key": "reason", "text": "Wrong colour"}]


def test_chat_support_refuses_what_its_page_cannot_show() -> None:
    with pytest.raises(UserError, match="questions must be 2 to 4, not 5"):
        ChatSupport(compact=True, questions=5)
    with pytest.raises(UserError, match="lookup is False"):
        ChatSupport(compact=True, lookup=True)
    with pytest.raises(UserError, match="offers must be 0 to 2, not 3"):
        ChatSupport(offers=3)
