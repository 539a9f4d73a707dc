"""EmailReply's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import goals, levels, perform, verdicts

from ui_gym.browser.content.mailbox import Look, Message, Thread
from ui_gym.browser.tasks.email_reply import (
    EmailReply,
    EmailReplyParams,
    find,
    naming,
    recipients,
)
from ui_gym.contract.action import Click, Type
from ui_gym.errors import UserError

ME, ANN, BEN, CY, DOT = (
    (name, f"{name.split()[0].lower()}@x")
    for name in ("Mia Berg", "Ann Oak", "Ben Ash", "Cy Elm", "Dot Fir")
)
FIRST = Message("0-0", ANN, (ME, BEN, CY), "2026-01-12T10:00", ("Who comes?",))
SECOND = Message("0-1", BEN, (ME, ANN, CY), "2026-01-13T10:00", ("I do.",))
THIRD = Message("0-2", ANN, (ME, BEN, CY), "2026-01-14T10:05", ("Good.",))
OTHER = Message("1-0", CY, (ME, ANN), "2026-01-11T09:00", ("Hello.",))
ASKED = EmailReplyParams(
    me=ME, people=(ANN, BEN, CY, DOT),
    threads=(Thread("0", "Plan", (FIRST, SECOND, THIRD)), Thread("1", "Bill", (OTHER,))),
    asked="0-0", mode="reply", to=(), copy=(), without=(), text="I do, too.", dated=False,
    look=Look("wide", 0, 0), phrasing=0,
)  # fmt: skip


def send(**said: Any) -> Any:
    asked = {
        "mode": "reply", "message": "0-0", "to": ["ann@x"], "cc": [], "subject": "Re: Plan",
        "text": "I do, too.",
    }  # fmt: skip
    return ("send", asked | said)


DELETED = ("change", {"ids": ["1"], "what": "folder", "value": "trash", "by": "user"})
READ = ("change", {"ids": ["1"], "what": "unread", "value": False, "by": "open"})


test_scores = verdicts(
    EmailReply(),
    ASKED,
    {
        "others": (READ, DELETED, 0.0, False),
        "right": (send(), 1.0, True),
        "blanks": (READ, send(text=" I do, too.\n"), 1.0, True),
        "text": (send(text="I do, too"), 0.5, True),
        "to": (send(to=["ann@x", "cy@x"]), 0.5, True),
        "cc and text": (send(cc=["ben@x"], text=""), 0.25, True),
        "subject": (send(subject="Re: Plans"), 0.75, True),
        "collateral": (DELETED, send(), 0.75, True),
        "by hand": (send(mode="all"), 1.0, True),
        "forwarded": (send(mode="forward", subject="Fwd: Plan"), 0.0, True),
        "newer mail": (send(message="0-2"), 0.0, True),
        "new mail": (send(message=None, mode="new"), 0.0, True),
        "first counts": (send(text="x"), send(), 0.5, True),
        "empty": (("send", {}), 0.0, True),
    },
)


@pytest.mark.parametrize(
    ("asked", "to", "cc"),
    [
        ({"mode": "reply"}, {"ann@x"}, set()),
        ({"mode": "reply", "copy": (DOT,)}, {"ann@x"}, {"dot@x"}),
        ({"mode": "all"}, {"ann@x"}, {"ben@x", "cy@x"}),
        ({"mode": "all", "without": (CY,)}, {"ann@x"}, {"ben@x"}),
        ({"mode": "forward", "to": (DOT,), "copy": (CY,)}, {"dot@x"}, {"cy@x"}),
    ],
)
def test_recipients(asked: Any, to: set[str], cc: set[str]) -> None:
    assert recipients(dataclasses.replace(ASKED, **asked)) == (to, cc)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"asked": "1-0"}, 'the mail "Bill" from Cy Elm'),
        ({"asked": "0-1"}, 'the mail of Ben Ash in the conversation "Plan"'),
        ({"asked": "0-2"}, 'the second mail of Ann Oak in the conversation "Plan"'),
        ({"asked": "0-2", "dated": True},
         'the mail that Ann Oak wrote on 14 January 2026 at 10:05 in the conversation "Plan"'),
    ],
)  # fmt: skip
def test_how_mails_are_named(asked: Any, named: str) -> None:
    assert naming(dataclasses.replace(ASKED, **asked)) == named


@levels(EmailReply)
def test_goals_have_one_reading(task: Any) -> None:
    modes, extras = set(), set()
    for params, goal in goals(task):
        thread, mail = find(params)
        assert len(params.threads) == task.threads
        assert len(thread.messages) == task.turns
        assert f'"{params.text}"' in goal
        assert f'"{thread.subject}"' in goal
        alike = [t for t in params.threads if t.subject == thread.subject]
        if len(thread.messages) == 1:
            alike = [t for t in alike if mail.sender in [m.sender for m in t.messages]]
        assert alike == [thread]
        assert len({m.when for m in thread.messages}) == len(thread.messages)
        names = [name for name, _ in params.people]
        assert len(names) == len(set(names))
        for name, address in (*params.to, *params.copy, *params.without):
            assert name in goal
            assert (address in goal) == (not task.extras and params.mode == "forward")
        assert params.me[1] not in set.union(*recipients(params))
        others = dataclasses.replace(params, mode="all", to=(), without=())
        if params.mode == "all":
            others = dataclasses.replace(params, mode="reply", without=())
        assert recipients(others) != recipients(params)
        modes.add(params.mode)
        extras |= {"copy"} if params.copy else {"without"} if params.without else set()
    assert modes == {"reply", "all", "forward"}
    assert extras == ({"copy", "without"} if task.extras else set())


@pytest.mark.parametrize(
    "given", [{"extras": True}, {"turns": 2}, {"sentences": 2}, {"threads": 8}]
)
def test_the_compact_page_refuses_what_it_cannot_show(given: Any) -> None:
    with pytest.raises(UserError, match=next(iter(given))):
        EmailReply(compact=True, **given)


def test_compact_goals_name_one_mail() -> None:
    task, modes = EmailReply(compact=True), set()
    for params, goal in goals(task):
        thread, mail = find(params)
        alike = [
            t for t in params.threads
            if (t.subject, t.last.sender) == (thread.subject, mail.sender)
        ]  # fmt: skip
        assert alike == [thread]
        assert f"{thread.subject} from {mail.sender[0]}" in goal
        assert goal.endswith(params.text)
        assert all(name in goal for name, _ in params.to)
        assert params.mode != "all" or recipients(params)[1]
        assert not {mail.sender, *mail.to} & set(params.to)
        modes.add(params.mode)
    assert modes == {"reply", "all", "forward"}


def test_the_compact_page_sends_to_nobody_unknown(show: Any) -> None:
    task = EmailReply(compact=True)
    params = next(p for p in map(task.draw, range(60)) if p.mode == "forward")
    device = show(task, params)
    perform(device, Click(*device.center(f"#open-{find(params)[0].id}")))
    perform(device, Click(*device.center(f"#forward-{params.asked}")), Type("Nobody"))
    perform(device, Click(*device.center("#send")))
    assert not device.events or device.events[-1].type != "send"
    names = [element.name for element in device.capture(elements=True).elements]
    assert "Wrong" in names
    perform(device, Click(*device.center("#discard")))
    assert device.state()["draft"] is None
    assert "Back" in [element.name for element in device.capture(elements=True).elements]


def test_mistakes() -> None:
    task, rng = EmailReply(), np.random.default_rng(0)
    forward = dataclasses.replace(ASKED, mode="forward", to=(DOT,))
    assert task.misread(forward, "mode", rng).mode == "reply"
    assert task.misread(ASKED, "mode", rng).mode == "all"
    assert task.misread(ASKED, "text", rng).text == "I do,"
    assert task.misread(ASKED, "mail", rng).asked in ("0-1", "0-2")
    single = dataclasses.replace(ASKED, asked="1-0")
    assert task.misread(single, "mail", rng).asked == "0-2"
