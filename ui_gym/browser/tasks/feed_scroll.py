"""Feed scroll: find posts in a feed that loads more as it is scrolled, and like or save them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from numpy.random import Generator

from ui_gym.browser.content import phrases, words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.content.feeds import (
    COMPACT_HOUSE,
    HOUSES,
    TOPICS,
    TRENDS,
    House,
    Post,
    namesake,
)
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, flag, whole
from ui_gym.browser.moves import SCROLL, click
from ui_gym.contract.action import Action, Scroll, Wait
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

Mark = Literal["like", "save"]
MARKS: tuple[Mark, ...] = ("like", "save")

GOALS = (
    "Scroll through the feed and {marks}.",
    "In your feed, {marks}, and touch no other post.",
    "Please {marks}. Leave all other posts as they are.",
)
MARK = "{mark} {author}'s post about {topic}"
COMPACT_GOALS = ("{marks}.", "Find it: {marks}.", "Scroll. {marks}.")
THEMES = 6
TEXTS = 3
"""Of a topic, each in turn."""
BATCH = 6
"""Posts that come together."""
COMPACT_BATCH = 8
COMPACT_MOST = 24
COMPACT_SIGHT = 6 * PATCH
"""How far the compact page is scrolled at once, of seven rows in sight; in pixels."""
POST, PICTURE = 184, 140
"""The height of a post and of its picture, in pixels."""
ROOM = 660
"""The least height of the posts in sight, in pixels."""
COMPACT = -1
"""Stands for the house of the compact page."""


@dataclass(frozen=True)
class FeedScrollParams:
    """All that varies between episodes."""

    house: int
    posts: tuple[Post, ...]
    asked: tuple[tuple[int, Mark], ...]
    """The posts to be marked, and how."""
    delay: int
    """How long more posts take to come, in milliseconds of the page's time."""
    trends: tuple[str, ...]
    people: tuple[str, ...]
    """Who is recommended beside the feed."""
    theme: int
    phrasing: int


@register("FeedScroll", suite="browser", category="social", difficulty="medium", max_steps=36)
class FeedScroll(Family[FeedScrollParams]):
    """Find posts, named by author and topic, in a feed that loads more when it is scrolled.

    ## Description
    A social feed of short posts, some with a picture, beside links, trends and people to follow.
    More posts come when the end of those that are there is reached: a row says "Loading" until
    they do. The goal names posts by their author and by what they are about; others are by the
    same author, or about the same thing, at the harder levels by somebody of nearly the same name.
    They are to be liked or saved, and nothing else is. None is among the six posts (compact: eight)
    that are there at the start. Some posts were liked or saved before.

    ## Action space
    Scrolling, waiting and clicking are all that is needed.

    ## Rewards
    1 if all the named posts are marked as asked, and nothing else was done before. Else the share
    of them that were marked before the first wrong thing.

    ## Starting state
    The feed at its top, with the first few posts.

    ## Episode end
    Termination: the last named post is marked, or anything else is: another post, a share, a mark
    taken back, somebody followed. `max_steps` is about twice what is needed.

    ## Arguments
    | `posts` | of the level (compact: 16) | posts of the whole feed, 8 to 60, compact 9 to 24 |
    | `asked` | of the level (compact: 1) | how many of the later posts the goal names, 1 to 3 |
    | `alike` | of the level (compact: False) | whether authors of nearly the same name are about |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "feed_scroll.html"
    mistakes = ("author", "topic", "mark")
    excesses = ("another",)
    compact_values = {"posts": 16, "asked": 1, "alike": False}
    posts: int = whole(8, 60, easy=10, medium=18, hard=30)
    asked: int = whole(1, 3, easy=1, medium=1, hard=2)
    alike: bool = flag(easy=False, medium=True, hard=True)

    def prepare(self) -> None:
        self.batch = COMPACT_BATCH if self.compact else BATCH
        if self.compact:
            if self.alike:
                raise UserError("FeedScroll: the compact page has first names only; alike is False")
            self.check_range("posts", self.posts, COMPACT_BATCH + 1, COMPACT_MOST)
        # None that is asked for is there at the start.
        self.check_range("asked", self.asked, 1, min(3, self.posts - self.batch))
        loads = math.ceil(self.posts / self.batch) - 1
        if self.compact:
            # A scroll to what is loading, and one past it.
            self.max_steps = 2 * (2 * loads + loads + self.asked)
        else:
            length = self.posts * POST + self.pictures * PICTURE
            scrolls = math.ceil((length - ROOM) / SCROLL) + 1
            self.max_steps = 2 * (scrolls + loads + self.asked)

    @property
    def pictures(self) -> int:
        """How many posts have one."""
        return 0 if self.compact else self.posts // 3

    def sample(self, rng: Generator) -> FeedScrollParams:
        posts, places = self._posts(rng)
        marks = [MARKS[int(i)] for i in rng.integers(2, size=self.asked)]
        asked = tuple(zip(places, marks, strict=True))
        for place, mark in asked:  # what is asked for is not done yet
            new = replace(posts[place], liked=False) if mark == "like" else posts[place]
            posts[place] = replace(new, saved=False) if mark == "save" else new
        return FeedScrollParams(
            house=COMPACT if self.compact else int(rng.integers(len(HOUSES))),
            posts=tuple(posts),
            asked=asked,
            delay=int(rng.integers(4, 10)) * 100,
            trends=() if self.compact else tuple(chosen(TRENDS, 4, rng)),
            people=() if self.compact else tuple(self._people(3, rng)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goal(self, params: FeedScrollParams) -> str:
        if self.compact:
            return _sentence(
                COMPACT_GOALS[params.phrasing],
                " and ".join(_named(params, *one) for one in params.asked),
            )
        said = [
            MARK.format(mark=mark, author=params.posts[i].author, topic=params.posts[i].topic)
            for i, mark in params.asked
        ]
        return _sentence(GOALS[params.phrasing], phrases.listing(said))

    def page_params(self, params: FeedScrollParams) -> dict[str, Any]:
        house: House = COMPACT_HOUSE if self.compact else HOUSES[params.house]
        return {
            **asdict(house),
            "posts": [self._shown(post) for post in params.posts],
            "batch": self.batch,
            "delay": params.delay,
            "trends": params.trends,
            "people": params.people,
            "theme": params.theme,
        }

    def judge(
        self, device: BrowserDevice, params: FeedScrollParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        left = set(params.asked)
        for event in device.events:
            if event.type != "mark":
                continue
            mark = event.data.get("post"), event.data.get("kind")
            if mark not in left or event.data.get("on") is not True:
                right = 1 - len(left) / len(params.asked)
                return Verdict(right, done=True, notes=f"not asked for: {dict(event.data)}")
            left.remove(mark)
            if not left:
                return Verdict(1.0, done=True, notes="all that was asked for is marked")
        return Verdict(1 - len(left) / len(params.asked), notes=f"{len(left)} are not marked yet")

    def oracle(self, device: BrowserDevice, params: FeedScrollParams) -> Steps:
        for place, mark in sorted(params.asked):
            named = _named(params, place, mark)
            post = params.posts[place]
            yield from self._seek(device, place, post)
            thought = f"This is {post.author}'s post about {post.topic}."
            yield Demo(click(device, f"#{mark}-{place}"), named if self.compact else thought)

    def _seek(self, device: BrowserDevice, place: int, post: Post) -> Iterator[Demo]:
        """Scroll until a post is in sight as a whole; where there are more to come, wait."""
        left, top, width, height = device.box("#feed")
        middle = left + width // 2, top + height // 2
        by = COMPACT_SIGHT if self.compact else SCROLL
        further = "Loading" if self.compact else f"{post.author}'s post is further down."
        while True:
            state = device.state()
            loaded = place < state["shown"]
            if loaded:
                _, its_top, _, its_height = device.box(f"#post-{place}")
                if its_top < top:
                    yield Demo(Scroll(*middle, dy=-by), f"{post.author} {post.topic}")
                    continue
                if its_top + its_height <= top + height:
                    return
            if not loaded and state["loading"]:
                yield Demo(Wait(1.0), "Loading" if self.compact else "More posts are on their way.")
            else:
                thought = f"{post.author} {post.topic}" if self.compact and loaded else further
                yield Demo(Scroll(*middle, dy=by), thought)

    def overdone(self, params: FeedScrollParams, excess: str) -> FeedScrollParams:
        """``another``: a post that is not named is liked, or no longer liked."""
        return replace(params, asked=((0, "like"),))

    def misread(self, params: FeedScrollParams, mistake: str, rng: Generator) -> FeedScrollParams:
        """``author``: one of the posts is taken for one about the same topic by somebody else.
        ``topic``: for another one by its author. ``mark``: it is saved, not liked, or liked."""
        asked = list(params.asked)
        slip = int(rng.integers(len(asked)))
        place, mark = asked[slip]
        post = params.posts[place]
        if mistake == "mark":
            asked[slip] = (place, "save" if mark == "like" else "like")
        else:
            others = [
                i
                for i, other in enumerate(params.posts)
                if i != place
                and (
                    other.topic == post.topic
                    if mistake == "author"
                    else other.author == post.author
                )
            ]
            if others:
                asked[slip] = (pick(rng, others), mark)
        return replace(params, asked=tuple(asked))

    def blind_rate(self, params: FeedScrollParams) -> float:
        """Any mark of any post, in any order."""
        marks = len(MARKS) * len(params.posts)
        return 1 / math.comb(marks, len(params.asked))

    # -- drawing --

    def _people(self, count: int, rng: Generator) -> list[str]:
        if self.compact:
            return chosen(words.FIRST_SHORT, count, rng)
        first, last = chosen(words.FIRST_LONG, count, rng), chosen(words.LAST_LONG, count, rng)
        return [f"{one} {other}" for one, other in zip(first, last, strict=True)]

    def _posts(self, rng: Generator) -> tuple[list[Post], list[int]]:
        """Posts, each by another author or about another topic, and where the asked ones are.

        None of these is in the first batch. For each there are posts by its author and about its
        topic, one of them before it.
        """
        known = words.THINGS_SHORT if self.compact else tuple(TOPICS)
        topics = chosen(known, max(3, min(len(known), self.posts // 2)), rng)
        # One more than are asked for: the last one is the other author of each asked topic.
        authors = self._people(max(3, self.asked + 1, self.posts // 3), rng)
        asked = [(authors[i], topics[i]) for i in range(self.asked)]
        others: list[tuple[str, str]] = []
        for author, topic in asked:
            others += [(author, topics[-1]), (authors[-1], topic)]
            if self.alike:
                others.append((namesake(author, rng), topic))
        taken = {*asked, *others}
        rest = [(a, t) for a in authors for t in topics if (a, t) not in taken]
        others = list(dict.fromkeys(others))
        others += [rest[int(i)] for i in rng.permutation(len(rest))]
        others = others[: self.posts - self.asked]
        others = [others[int(i)] for i in rng.permutation(len(others))]
        late = range(self.batch, self.posts)
        places = sorted(int(i) for i in rng.choice(late, size=self.asked, replace=False))
        for place, pair in zip(places, asked, strict=True):
            others.insert(place, pair)
        pictured = {int(i) for i in rng.choice(self.posts, size=self.pictures, replace=False)}
        posts = []
        for i, (author, topic) in enumerate(others):
            before = sum(topic == other for _, other in others[:i])
            posts.append(self._post(author, topic, before % TEXTS, i in pictured, rng))
        return posts, places

    def _post(self, author: str, topic: str, text: int, pictured: bool, rng: Generator) -> Post:
        return Post(
            author=author,
            topic=topic,
            text=text,
            likes=int(rng.integers(1, 90)),
            picture=int(rng.integers(1, 4)) if pictured else 0,
            liked=bool(rng.random() < 0.2),
            saved=bool(rng.random() < 0.15),
        )

    def _shown(self, post: Post) -> dict[str, Any]:
        """A post as the page has it: of full size, its topic is only in its text."""
        if self.compact:
            return {**asdict(post), "text": ""}
        return {**asdict(post), "text": TOPICS[post.topic].texts[post.text], "topic": ""}


def _named(params: FeedScrollParams, place: int, mark: Mark) -> str:
    post = params.posts[place]
    return f"{mark.capitalize()} {post.author} {post.topic}"


def _sentence(form: str, marks: str) -> str:
    said = form.format(marks=marks)
    return said[0].upper() + said[1:]
