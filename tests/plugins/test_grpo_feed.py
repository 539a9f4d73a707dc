"""Batches that are played ahead of time."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from waiting import eventually

from ui_gym_agents.groups.feed import Feed


@contextmanager
def feeding(make: Any, **arguments: Any) -> Iterator[Feed[Any]]:
    feed: Feed[Any] = Feed(make, **{"first": 1, "last": 9, "ahead": 1} | arguments)
    try:
        yield feed
    finally:
        feed.close(5)


@pytest.mark.parametrize("ahead", [1, 3])
def test_a_batch_begins_at_most_so_many_steps_ahead(ahead: int) -> None:
    learned = [0]
    begun: dict[int, int] = {}

    def make(step: int, closed: Any) -> int:
        begun[step] = learned[0]
        return step

    with feeding(make, ahead=ahead) as feed:
        assert eventually(lambda: len(begun) == ahead + 1)
        time.sleep(0.05)
        assert sorted(begun) == list(range(1, ahead + 2))  # the rest waits for what is learned
        for step in range(1, 10):
            assert feed.get(step) == step
            learned[0] = step
            feed.learned(step)
    assert all(step - 1 - behind <= ahead for step, behind in begun.items())
    assert max(step - 1 - behind for step, behind in begun.items()) == ahead


def test_learning_and_playing_overlap() -> None:
    playing = threading.Event()

    def make(step: int, closed: Any) -> int:
        if step == 2:
            playing.set()
        return step

    with feeding(make) as feed:
        feed.get(1)
        assert playing.wait(5)  # while step 1 is not learned yet


def test_the_last_batch_may_come_just_as_nobody_waits_for_it() -> None:
    """Between the end of a wait and the look at whether the thread lives, it may have ended."""
    go = threading.Event()

    def make(step: int, closed: Any) -> int:
        go.wait(5)
        return step

    with feeding(make, last=1) as feed:
        made = feed._made

        class LateQueue:
            """Lets the thread come to its end after a wait that brought nothing."""

            def get(self, timeout: float) -> Any:
                if not go.is_set():
                    go.set()
                    feed._thread.join(5)
                    raise queue.Empty
                return made.get(timeout=timeout)

            def put(self, item: Any) -> None:
                made.put(item)

        feed._made = LateQueue()  # type: ignore[assignment]
        assert feed.get(1) == 1


def test_what_playing_raises_comes_out() -> None:
    def make(step: int, closed: Any) -> int:
        raise ValueError("no envs")

    with feeding(make) as feed, pytest.raises(ValueError, match="no envs"):
        feed.get(1)


def test_a_closed_feed_ends_and_says_so() -> None:
    stop = threading.Event()
    with feeding(lambda step, closed: step, stopping=stop.is_set) as feed:
        feed.get(1)
        feed.get(2)
        stop.set()
        with pytest.raises(Exception, match="the feed has ended"):
            feed.get(3)


def test_a_long_batch_sees_that_it_is_no_longer_wanted() -> None:
    begun = threading.Event()

    def make(step: int, closed: Any) -> int:
        begun.set()
        return step if eventually(closed) else -1

    with feeding(make) as feed:
        assert begun.wait(5)
        feed.close(5)
        assert feed.get(1) == 1


def test_steps_that_were_left_out_are_passed_over() -> None:
    with feeding(lambda step, closed: step, first=4) as feed:
        assert feed.get(4) == 4
