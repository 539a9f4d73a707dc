"""FeedScroll's logic, and its page: posts that come when their place is reached."""

from __future__ import annotations

from typing import Any

import pytest
from task_helpers import draws, goals, levels, mistakes_fail, perform, verdicts

from ui_gym.browser.content.feeds import TOPICS, Post
from ui_gym.browser.moves import click
from ui_gym.browser.tasks.feed_scroll import FeedScroll, FeedScrollParams
from ui_gym.contract.action import Scroll, Wait
from ui_gym.errors import UserError


def post(author: str, topic: str, **marked: bool) -> Post:
    before = {"liked": False, "saved": False, **marked}
    return Post(author=author, topic=topic, text=0, likes=3, picture=0, **before)


PARAMS = FeedScrollParams(
    house=0,
    posts=(post("Ann Berg", "wool socks"), post("Ann Berg", "bird boxes"),
           post("Bo Lund", "wool socks"), post("Bo Lund", "bird boxes", liked=True)),
    asked=((1, "like"), (2, "save")), delay=400, trends=(), people=(), theme=0, phrasing=0,
)  # fmt: skip


def mark(place: int, kind: str, on: bool = True) -> Any:
    return ("mark", {"post": place, "kind": kind, "on": on})


test_feed_scroll_scores = verdicts(
    FeedScroll(asked=2),
    PARAMS,
    {
        "both": (mark(1, "like"), mark(2, "save"), 1.0, True),
        "other order": (mark(2, "save"), mark(1, "like"), 1.0, True),
        "one": (mark(1, "like"), 0.5, False, "1 are not marked yet"),
        "one, then another": (mark(1, "like"), mark(0, "like"), mark(2, "save"), 0.5, True),
        "another first": (mark(3, "save"), mark(1, "like"), mark(2, "save"), 0.0, True),
        "the other mark": (mark(1, "save"), 0.0, True),
        "taken back": (mark(1, "like"), mark(1, "like", False), mark(2, "save"), 0.5, True),
        "unliked": (mark(3, "like", False), 0.0, True),
        "shared": (mark(1, "share"), 0.0, True),
        "followed": (("mark", {"kind": "follow", "name": "Ann Berg", "on": True}), 0.0, True),
        "too late": (mark(1, "like"), mark(2, "save"), mark(0, "like"), 1.0, True),
        "empty": (("mark", {}), 0.0, True),
    },
)


def test_feed_scroll_goal_names_author_and_topic() -> None:
    assert FeedScroll(asked=2).goal(PARAMS) == (
        "Scroll through the feed and like Ann Berg's post about bird boxes and save Bo Lund's "
        "post about wool socks."
    )


def played(params: FeedScrollParams) -> list[Any]:
    return [mark(place, kind) for place, kind in params.asked]


test_feed_scroll_mistakes = mistakes_fail(FeedScroll, played)


@levels(FeedScroll)
def test_feed_scroll_posts_load_later_among_look_alikes(task: Any) -> None:
    for params, goal in goals(task):
        posts = params.posts
        assert len(posts) == task.posts
        assert len({(one.author, one.topic) for one in posts}) == len(posts)
        for place, kind in params.asked:
            asked = posts[place]
            assert f"{kind} {asked.author}'s post about {asked.topic}" in goal
            assert place >= task.batch
            assert not (asked.liked if kind == "like" else asked.saved)
            others = [one for i, one in enumerate(posts) if i != place]
            assert any(one.author == asked.author for one in others)
            about = [one.author for one in others if one.topic == asked.topic]
            assert about
            names = set(asked.author.split())
            near = any(names & set(author.split()) for author in about)
            assert near or not task.alike


def test_feed_scroll_page_has_the_topic_in_the_text_alone() -> None:
    task = FeedScroll()
    for params in draws(task):
        told = task.page_params(params)
        for one, shown in zip(params.posts, told["posts"], strict=True):
            assert shown["topic"] == ""
            assert one.topic in shown["text"].lower()
    for topic in TOPICS.values():
        assert len(set(topic.texts)) == 3
        for text in topic.texts:
            assert [name for name in TOPICS if name in text.lower()] == [topic.name]


def test_feed_scroll_posts_come_when_their_place_is_reached(make_device: Any) -> None:
    task = FeedScroll(level="medium")
    device, params = make_device(task.viewport), task.draw(3)
    task.setup(device, params)
    assert perform(device, Wait(2.0))["shown"] == task.batch
    down = Scroll(560, 400, dy=2000)
    state = perform(device, down)
    assert (state["shown"], state["loading"]) == (task.batch, True)
    assert "Loading" in device.evaluate("document.querySelector('#tail').textContent")
    state = perform(device, Wait(1.0))
    assert (state["shown"], state["loading"]) == (2 * task.batch, False)
    state = perform(device, down, Wait(1.0), down)
    assert (state["shown"], state["loading"]) == (task.posts, False)
    assert "caught up" in device.evaluate("document.querySelector('#tail').textContent")


def test_feed_scroll_marks_are_told_and_shown(make_device: Any) -> None:
    task = FeedScroll()
    device, params = make_device(task.viewport), task.draw(3)
    task.setup(device, params)
    likes, liked = params.posts[0].likes, params.posts[0].liked
    perform(device, click(device, "#like-0"), click(device, "#share-0"), click(device, "#follow-0"))
    told = [(event.data["kind"], event.data["on"]) for event in device.events]
    assert told == [("like", not liked), ("share", True), ("follow", True)]
    said = device.evaluate("document.querySelector('#like-0').textContent")
    assert said == f"Like {likes + (not liked)}"


@pytest.mark.parametrize("posts", range(9, 13))
@pytest.mark.parametrize("alike", [False, True])
def test_feed_scroll_names_no_post_twice_in_short_feeds(posts: int, alike: bool) -> None:
    tasks = [FeedScroll(posts=posts, asked=3, alike=alike)]
    if posts >= 11 and not alike:
        tasks.append(FeedScroll(posts=posts, asked=3, compact=True))
    for task in tasks:
        for params in draws(task):
            named = [(one.author, one.topic) for one in params.posts]
            assert len(set(named)) == len(named) == posts


def test_feed_scroll_asks_for_no_more_posts_than_come_later() -> None:
    with pytest.raises(UserError, match="asked must be 1 to 2, not 3"):
        FeedScroll(posts=8, asked=3)
    with pytest.raises(UserError, match="asked must be 1 to 1, not 2"):
        FeedScroll(posts=9, asked=2, compact=True)
    assert {len(params.asked) for params in draws(FeedScroll(posts=8, asked=2))} == {2}


def test_feed_scroll_compact_page_refuses_what_has_no_room() -> None:
    with pytest.raises(UserError, match="alike is False"):
        FeedScroll(compact=True, alike=True)
    with pytest.raises(UserError, match="posts must be 9 to 24, not 30"):
        FeedScroll(compact=True, posts=30)


def test_feed_scroll_compact_page_loads_several_times() -> None:
    task = FeedScroll(compact=True, posts=24, asked=2)
    assert any(place >= 16 for params in draws(task) for place, _ in params.asked)
    for params, goal in goals(task):
        for place, kind in params.asked:
            asked = params.posts[place]
            assert f"{kind.capitalize()} {asked.author} {asked.topic}" in goal
