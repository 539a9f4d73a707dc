"""EmailTriage's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import goals, judge, levels, perform, verdicts

from ui_gym.browser.content.mailbox import Look, Message, Thread, starting
from ui_gym.browser.tasks.email_triage import (
    EFFECTS,
    EmailTriage,
    EmailTriageParams,
    Order,
    meant,
    outcome,
)
from ui_gym.contract.action import Click
from ui_gym.errors import UserError

ME, ANN, BEN = (("Mia Berg", "mia@x"), ("Ann Oak", "ann@x"), ("Ben Oak", "ben@x"))


def mail(id: str, sender: Any, subject: str, unread: bool = False, starred: bool = False) -> Thread:
    message = Message(f"{id}-0", sender, (ME,), "2026-01-14T10:00", ("Hello.",))
    return Thread(id, subject, (message,), unread, starred)


THREADS = (
    mail("0", ANN, "Plan", unread=True),
    mail("1", BEN, "Plan"),
    mail("2", ANN, "Bill", starred=True),
    mail("3", ANN, "Note", unread=True),
)
LOOK = Look("wide", 0, 0)


def params_of(*orders: Order) -> EmailTriageParams:
    return EmailTriageParams(ME, THREADS, orders, LOOK, 0)


def change(what: str, value: Any, *ids: str, by: str = "user") -> Any:
    return ("change", {"ids": ids, "what": what, "value": value, "by": by})


DELETE_AND_STAR = params_of(
    Order("delete", "one", "Ann Oak", "Plan"), Order("star", "newest", "Ben Oak")
)
READ = change("unread", False, "0", "3", by="open")


test_scores = verdicts(
    EmailTriage(),
    DELETE_AND_STAR,
    {
        "half": (change("folder", "trash", "0"), 0.5, False),
        "both": (change("folder", "trash", "0"), change("starred", True, "1"), 1.0, True),
        "other order": (change("starred", True, "1"), change("folder", "trash", "0"), 1.0, True),
        "wrong verb": (change("folder", "archive", "0"), change("starred", True, "1"), 0.0, False),
        "one too many": (change("folder", "trash", "0", "3"), change("starred", True, "1"), 0.5,
            False),
        "wrong mail": (change("folder", "trash", "3"), 0.0, False),
        "taken back": (change("folder", "trash", "0", "3"), change("folder", "inbox", "3"),
            change("starred", True, "1"), 1.0, True),
        "read on the way": (READ, change("folder", "trash", "0"), change("starred", True, "1"), 1.0,
            True),
        "marked on the way": (change("unread", False, "3"), change("folder", "trash", "0"),
            change("starred", True, "1"), 0.5, False),
        "marked, too": (change("unread", True, "1"), change("folder", "trash", "0"),
            change("starred", True, "1"), 0.0, False),
        "noise": (("change", {}), ("send", {}), 0.0, False),
    },
)  # fmt: skip


def test_reading_counts_where_it_is_asked_for() -> None:
    read = params_of(Order("read", "unread", "Ann Oak"))
    assert judge(EmailTriage(), read, READ).success
    assert not judge(EmailTriage(), read, change("unread", False, "0")).success
    unread = params_of(Order("unread", "one", "Ann Oak", "Bill"))
    assert judge(EmailTriage(), unread, change("unread", True, "2")).success
    both = (change("unread", True, "2"), change("unread", False, "2", by="open"))
    assert not judge(EmailTriage(), unread, *both).success


@pytest.mark.parametrize(
    ("which", "ids"),
    [("all", "023"), ("unread", "03"), ("newest", "0"), ("oldest", "3")],
)
def test_rules(which: str, ids: str) -> None:
    assert [t.id for t in meant(Order("star", which, "Ann Oak"), THREADS)] == [*ids]


@levels(EmailTriage)
def test_goals_have_one_reading(task: Any) -> None:
    kinds = set()
    for params, goal in goals(task):
        assert len(params.threads) == task.mails
        times = [t.last.when for t in params.threads]
        assert sorted(set(times), reverse=True) == times
        named: list[str] = []
        for order in params.orders:
            mails = meant(order, params.threads)
            named += [t.id for t in mails]
            kinds.add((order.verb, order.which))
            assert order.sender in goal
            if order.which == "one":
                assert len(mails) == 1
                assert f'"{order.subject}"' in goal
            else:
                of_sender = [t for t in params.threads if t.last.sender[0] == order.sender]
                assert len({t.last.sender for t in of_sender}) == 1
                assert len(of_sender) > 1
            what, value = EFFECTS[order.verb]
            assert any(getattr(starting(params.threads)[t.id], what) != value for t in mails)
        assert len(named) == len(set(named))
        changed = starting(params.threads).items() - outcome(params).items()
        assert {one for one, _ in changed} <= set(named)
    assert {verb for verb, _ in kinds} == set(EFFECTS)
    assert len({which for _, which in kinds}) == (5 if task.rules else 1)


def test_alike_senders_are_there() -> None:
    params = EmailTriage(level="medium").draw(0)
    names = {t.last.sender[0] for t in params.threads}
    for order in params.orders:
        first, last = order.sender.split()
        twins = [n for n in names if n != order.sender and {first, last} & set(n.split())]
        assert twins, order


@pytest.mark.parametrize("given", [{"rules": True}, {"alike": True}, {"orders": 4}, {"mails": 7}])
def test_the_compact_page_refuses_what_it_cannot_show(given: Any) -> None:
    with pytest.raises(UserError, match=next(iter(given))):
        EmailTriage(compact=True, **given)


def test_compact_goals_name_mails_by_sender_and_subject() -> None:
    task, verbs, alone = EmailTriage(compact=True, orders=3), set(), 0
    for params, goal in goals(task):
        for order in params.orders:
            verbs.add(order.verb)
            (one,) = meant(order, params.threads)
            assert f"{order.subject} from {order.sender}" in goal
            what, value = EFFECTS[order.verb]
            assert getattr(starting(params.threads)[one.id], what) != value
            alone += sum(t.subject == order.subject for t in params.threads) == 1
        assert len({(order.sender, order.subject) for order in params.orders}) == 3
        assert len(goal.split()) <= 15
    assert verbs == set(EFFECTS)
    assert alone < 90, "the subject alone should seldom tell which mail is meant"


def test_compact_mails_are_ticked_anywhere_in_their_row(show: Any) -> None:
    task = EmailTriage(compact=True)
    params = task.draw(0)
    device = show(task, params)
    perform(device, Click(200, 80), Click(*device.center("#bulk-archive")))
    now = device.state()["mails"][params.threads[0].id]
    assert now["folder"] == "archive"
    rows = [e for e in device.capture(elements=True).elements if e.role == "checkbox"]
    names = [f"{t.last.sender[0]} {t.subject}" for t in params.threads[1:]]
    assert [row.name for row in rows] == names


def test_mistakes() -> None:
    task, rng = EmailTriage(), np.random.default_rng(0)
    for mistake in task.mistakes:
        believed = task.misread(DELETE_AND_STAR, mistake, rng)
        assert outcome(believed) != outcome(DELETE_AND_STAR)
    assert dataclasses.replace(believed, orders=()) == dataclasses.replace(
        DELETE_AND_STAR, orders=()
    )
