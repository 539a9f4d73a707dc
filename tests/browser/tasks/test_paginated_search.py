"""PaginatedSearch's logic, that of its ledgers, and the pages of its list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, goals, levels, perform, verdicts

from ui_gym.browser.content import ledgers
from ui_gym.browser.content.ledgers import LEDGERS, Record
from ui_gym.browser.tasks.paginated_search import PAGE, PaginatedSearch, PaginatedSearchParams
from ui_gym.contract.action import Click, Press, Type

ORDERS = PaginatedSearchParams(
    ledger=0,
    records=(
        Record("A-1", "Ann Lee", "2026-01-10", "Selby East", 1250, "7K4-2QD"),
        Record("A-2", "Ann Lee", "2025-12-10", "Selby East", 990, "XX2-349"),
        Record("A-3", "Bob Lee", "2025-11-03", "Marlow North", 7700, "PPT-22C"),
    ),
    asked=1, facts=2, theme=0, phrasing=0,
)  # fmt: skip


def opened(code: str) -> Any:
    return ("open", {"code": code})


def check(value: str) -> Any:
    return ("check", {"value": value})


test_paginated_search_scores_what_is_opened = verdicts(
    PaginatedSearch(copy=False),
    ORDERS,
    {
        "searched": (("search", {"query": "Ann Lee"}), 0.0, False),
        "right": (opened("A-2"), 1.0, True),
        "second": (opened("A-1"), opened("A-2"), 0.0, True),
        "nothing": (("open", {}), 0.0, True),
        "nothing to check": (check("XX2-349"), 0.0, False),
    },
)

test_paginated_search_scores_what_is_copied = verdicts(
    PaginatedSearch(copy=True),
    ORDERS,
    {
        "only opened": (opened("A-2"), 0.0, False),
        "copied": (opened("A-1"), check("XX2-349"), 1.0, True),
        "in small letters": (check(" xx2-349 "), 1.0, True),
        "of another": (check("7K4-2QD"), 0.0, True),
        "misspelt": (check("XX2349"), 0.0, True),
        "too late": (check(""), check("XX2-349"), 0.0, True),
    },
)


def test_goals_in_full() -> None:
    one = "the order of Ann Lee placed on 10 December 2025"
    assert PaginatedSearch().goal(ORDERS) == f"Open {one}."
    assert PaginatedSearch(copy=True).goal(ORDERS) == (
        f"Find {one}, enter its tracking code into the field on the page and press Check."
    )


@levels(PaginatedSearch)
def test_the_facts_name_one_record_and_no_fewer_do(task: Any) -> None:
    for params, goal in goals(task):
        asked, about = params.records[params.asked], LEDGERS[params.ledger]
        assert len(params.records) == task.records
        for name in ("code", "secret"):
            assert len({getattr(one, name) for one in params.records}) == task.records
        facts = (asked.person, asked.day, asked.place)
        for known in range(1, 4):
            same = [
                one
                for one in params.records
                if (one.person, one.day, one.place)[:known] == facts[:known]
            ]
            assert (len(same) == 1) == (known >= task.facts)
        for told, text in enumerate((asked.person, asked.written, asked.place)):
            assert (text in goal) == (told < task.facts)
        assert (about.secret.lower() in goal) == task.copy
        days = [one.day for one in params.records]
        assert days == sorted(days, reverse=True)
        assert "2025-01-01" < days[-1] <= days[0] < "2026-01-15"
        assert params.asked >= PAGE


@levels(PaginatedSearch)
@pytest.mark.parametrize("mistake", PaginatedSearch.mistakes)
def test_a_mistake_takes_another_record(task: Any, mistake: str) -> None:
    for seed in SEEDS:
        params = task.draw(seed)
        believed = task.misread(params, mistake, np.random.default_rng(seed))
        assert believed.asked != params.asked
        asked, other = (one.records[one.asked] for one in (params, believed))
        if mistake == "alike":
            assert other.person.split()[-1] == asked.person.split()[-1]
            assert (other.person == asked.person) == (task.facts > 1)
            assert (asked.day == other.day or asked.place == other.place) or task.facts < 3


@pytest.mark.parametrize("facts", [1, 2])
def test_the_compact_record_is_told_by_its_facts_and_lies_on_a_later_page(facts: int) -> None:
    task = PaginatedSearch(compact=True, facts=facts, records=9)
    for params, goal in goals(task):
        asked = params.records[params.asked]
        told = [(one.person, one.day)[:facts] for one in params.records]
        assert told.count((asked.person, asked.day)[:facts]) == 1
        namesakes = [one for one in params.records if one.person == asked.person]
        assert len(namesakes) == ledgers.COMPACT_NAMESAKES[facts]
        assert " ".join((asked.person, asked.day)[:facts]) in goal
        assert len({one.secret for one in params.records}) == 9
        assert params.asked >= task.size == 4


def test_the_compact_list_turns_and_is_searched_from_a_record(show: Any) -> None:
    task = PaginatedSearch(compact=True, search=True)
    params = task.draw(0)
    device = show(task, params)
    first, *_ = device.state()["shown"]
    perform(device, Click(*device.center(f"#open-{first}")))
    asked = params.records[params.asked]
    perform(device, Click(*device.center("#search")), Type(asked.person, enter=True))
    assert asked.code in device.state()["shown"]
    assert device.state()["opened"] is None


def test_days_that_look_alike() -> None:
    assert ledgers._like("2026-01-31") == "2025-12-28"
    assert ledgers._like("2025-03-09") == "2025-02-09"


def test_the_list_turns_and_searches(show: Any) -> None:
    task = PaginatedSearch(level="hard")
    params = task.draw(0)
    codes = [one.code for one in params.records]
    device = show(task, params)
    shown = []
    for _ in range(20):
        shown += device.state()["shown"]
        device.perform(Click(*device.center("#next")))
    assert shown == codes
    perform(device, Click(*device.center("#search")), Type(codes[100].lower()), Press("enter"))
    assert device.state()["shown"] == [codes[100]]
    device.perform(Click(*device.center(f"#open-{codes[100]}")))
    assert device.state()["opened"] == codes[100]
    device.perform(Press("enter"))  # the way back has the focus
    assert device.state()["shown"] == [codes[100]]
    perform(device, Click(*device.center("#search")), Type("nobody", clear=True, enter=True))
    assert device.state()["shown"] == []
    assert device.state()["focused"] == "search"
