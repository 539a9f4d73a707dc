"""EmailReply's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, judge

from ui_gym.browser.content.mailbox import Look, Message, Thread
from ui_gym.browser.tasks.email_reply import (
    EmailReply,
    EmailReplyParams,
    find,
    naming,
    recipients,
)
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


@pytest.mark.parametrize(
    ("events", "score", "done"),
    [
        ([], 0.0, False),
        ([READ, DELETED], 0.0, False),
        ([send()], 1.0, True),
        ([READ, send(text=" I do, too.\n")], 1.0, True),
        ([send(text="I do, too")], 0.5, True),
        ([send(to=["ann@x", "cy@x"])], 0.5, True),
        ([send(cc=["ben@x"], text="")], 0.25, True),
        ([send(subject="Re: Plans")], 0.75, True),
        ([DELETED, send()], 0.75, True),
        ([send(mode="all")], 1.0, True),
        ([send(mode="forward", subject="Fwd: Plan")], 0.0, True),
        ([send(message="0-2")], 0.0, True),
        ([send(message=None, mode="new")], 0.0, True),
        ([send(text="x"), send()], 0.5, True),
        ([("send", {})], 0.0, True),
    ],
    ids=["none", "others", "right", "blanks", "text", "to", "cc and text", "subject", "collateral",
         "by hand", "forwarded", "newer mail", "new mail", "first counts", "empty"],
)  # fmt: skip
def test_scores(events: Any, score: float, done: bool) -> None:
    verdict = judge(EmailReply(), ASKED, *events)
    assert (verdict.score, verdict.done) == (score, done)


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


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_goals_have_one_reading(level: Any) -> None:
    task = EmailReply(level=level)
    modes, extras = set(), set()
    for seed in SEEDS:
        params = task.draw(seed)
        goal = task.goal(params)
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


def test_mistakes() -> None:
    task, rng = EmailReply(), np.random.default_rng(0)
    forward = dataclasses.replace(ASKED, mode="forward", to=(DOT,))
    assert task.misread(forward, "mode", rng).mode == "reply"
    assert task.misread(ASKED, "mode", rng).mode == "all"
    assert task.misread(ASKED, "text", rng).text == "I do,"
    assert task.misread(ASKED, "mail", rng).asked in ("0-1", "0-2")
    single = dataclasses.replace(ASKED, asked="1-0")
    assert task.misread(single, "mail", rng).asked == "0-2"


@pytest.mark.parametrize(
    ("given", "rule"),
    [({"threads": 3}, "4 to 40"), ({"turns": 7}, "1 to 6"), ({"sentences": 0}, "1 to 4")],
)
def test_wrong_arguments(given: Any, rule: str) -> None:
    with pytest.raises(UserError, match=rule):
        EmailReply(**given)
