"""SearchEngine's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, mistakes_fail, verdicts

from ui_gym.browser.content import web
from ui_gym.browser.tasks.search_engine import PER_PAGE, SearchEngine, SearchEngineParams
from ui_gym.errors import UserError

LEVELS = ("easy", "medium", "hard")

PARAMS = SearchEngineParams(
    docs=(
        web.Doc(topic=1, site="redbarn.com", page=0, age=9),
        web.Doc(topic=0, site="oldlantern.com", page=0, age=40),
        web.Doc(topic=0, site="oldlantern.com", page=2, age=30),
        web.Doc(topic=2, site="oldlantern.com", page=3, age=5),
    ),
    pairs=(0, 3), topic=0, extra="", place=1, kind="newest", ads=1, engine=0, theme=0, phrasing=0,
)  # fmt: skip


def search(query: str = "trail running") -> Any:
    return ("search", {"query": query})


def open_(id: Any = 2, query: str = "trail running") -> Any:
    return ("open", {"id": id, "query": query})


test_search_engine_scores = verdicts(
    SearchEngine(),
    PARAMS,
    {
        "wrong words": (search("running"), 0.0, False),
        "searched": (search(), 0.25, False),
        "order of words": (search(" Running  TRAIL "), 0.25, False),
        "searched on": (search(), search("cheese making"), 0.25, False),
        "right": (search(), open_(), 1.0, True),
        "second try": (search("running"), search(), open_(), 1.0, True),
        "wrong": (search(), open_(1), 0.25, True),
        "ad": (search(), open_("ad-2"), 0.25, True),
        "wrong both": (search("running"), open_(1, "running"), 0.0, True),
        "right by other words": (search("running"), open_(2, "running"), 0.5, True),
        "too late": (search(), open_(1), open_(), 0.25, True),
        "empty": (("open", {}), 0.0, True),
    },
)


def test_a_search_finds_the_fitting_first_and_keeps_the_order_of_the_web() -> None:
    docs = web.shown(PARAMS.docs, ["trail running", "marathon running", "cheese making", "x"])
    assert [doc["id"] for doc in web.find("Trail running!", docs)] == [1, 2, 0]
    assert [doc["id"] for doc in web.find("running", docs)] == [0, 1, 2]
    assert [doc["id"] for doc in web.find("trail seven", docs)] == [2, 1]
    assert web.find("runn", docs) == []
    assert docs[1]["date"] == "6 December 2025"


@pytest.mark.parametrize("level", LEVELS)
def test_goals_name_one_result(level: Any) -> None:
    task, kinds = SearchEngine(level=level), set()
    for params in draws(task):
        topics = [topic for pair in params.pairs for topic in web.TOPICS[pair]]
        found = web.find(f"{topics[params.topic]} {params.extra}", web.shown(params.docs, topics))
        goal, right = task.goal(params), found[params.place]
        kinds.add(params.kind)
        assert topics[params.topic] in goal
        assert params.extra in goal
        assert params.place < task.pages * PER_PAGE
        if params.kind == "rank":
            assert ("page" in goal) == (params.place >= PER_PAGE)
            assert ("Sponsored" in goal) == (task.ads > 0)
            continue
        assert right["site"] in goal
        ages = [params.docs[doc["id"]].age for doc in found if doc["site"] == right["site"]]
        assert (len(ages) > 1) == (params.kind == "newest")
        assert ages.count(min(ages)) == 1
        assert params.docs[right["id"]].age == min(ages)
    assert kinds == {"rank", "newest" if level == "hard" else "site"}


def _opened(params: SearchEngineParams) -> list[Any]:
    topics = [topic for pair in params.pairs for topic in web.TOPICS[pair]]
    query = f"{topics[params.topic]} {params.extra}".strip()
    found = web.find(query, web.shown(params.docs, topics))
    return [search(query), open_(found[params.place]["id"], query)]


def test_neighbours_are_below_and_at_the_end_above() -> None:
    task, rng = SearchEngine(), np.random.default_rng(0)
    assert task.misread(PARAMS, "neighbour", rng).place == 2
    last = dataclasses.replace(PARAMS, place=2)
    assert task.misread(last, "neighbour", rng).place == 1
    assert task.misread(PARAMS, "topic", rng).topic == 1


test_mistakes_open_another_page = mistakes_fail(SearchEngine, _opened)


def test_search_engine_compact_web_is_told_apart_by_sites() -> None:
    task, kinds = SearchEngine(compact=True), set()
    for params in draws(task):
        goal, right = task.goal(params), params.found[params.place]
        kinds.add(params.kind)
        assert params.query in goal
        assert params.place < 8
        assert ("page 2" in goal) == (params.kind == "rank" and params.place >= 4)
        assert (right["site"] in goal.split()[-1]) == (params.kind == "site")
        found = [(doc["title"], doc["site"]) for doc in params.found]
        assert [title == params.query for title, _ in found] == [True] * 6 + [False] * 6
        assert len({site for _, site in found}) == 12
        (ad,) = task.page_params(params)["ads"]
        assert ad[0] not in {site for _, site in found}
    assert kinds == {"rank", "site"}


@pytest.mark.parametrize(
    ("given", "says"),
    [({"repeats": 1}, "repeats is 0"), ({"results": 10}, "results must be 6 to 9, not 10")],
)
def test_search_engine_compact_page_refuses_what_has_no_room(given: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        SearchEngine(compact=True, **given)
