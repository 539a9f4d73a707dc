"""Which episodes are sampled, and which of them are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ui_gym_agents.collecting import (
    Count,
    Filters,
    Unit,
    sample_fixed,
    sample_successes,
)
from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_agents.episode import Episode, TokenRecord, Turn


def episode(
    seed: int = 0, *, said: Sequence[str] = ("a",), success: bool = True, **fields: Any
) -> Episode:
    turns = [Turn(screenshot_id=f"p{i}", action_text=text) for i, text in enumerate(said)]
    score = float(success)
    return Episode("T", seed, "goal", turns, **{"success": success, "score": score, **fields})


# -- filters --


def test_without_filters_all_is_kept_but_what_failed_for_the_devices_sake() -> None:
    played = [episode(0, success=False), episode(1, failure="device: gone"), episode(2)]
    kept, dropped = Filters().episodes(played)
    assert kept == [played[0], played[2]]
    assert dropped == {"failure": 1}


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        (Filters(success=True), "unsuccessful"),
        (Filters(reward_above=0.5), "reward"),
        (Filters(max_turns=1), "long"),
    ],
)
def test_an_episode_is_dropped_for_its_own_faults(filters: Filters, reason: str) -> None:
    bad = episode(success=False, score=0.5, said=("a", "b"))
    good = episode(1)
    kept, dropped = filters.episodes([bad, good])
    assert (kept, dropped) == ([good], {reason: 1})


def test_of_equal_episodes_of_an_instance_the_first_is_kept() -> None:
    played = [episode(0), episode(0), episode(0, said=("b",)), episode(1)]
    kept, dropped = Filters(dedupe=True).episodes(played)
    assert kept == [played[0], played[2], played[3]]
    assert dropped == {"duplicate": 1}


def test_the_first_or_the_shortest_of_an_instance_are_kept_in_their_order() -> None:
    played = [episode(0, said="abc"), episode(1), episode(0, said="ab"), episode(0, said="x")]
    assert Filters(keep=2).episodes(played)[0] == played[:3]
    kept, dropped = Filters(keep=1, shortest=True).episodes(played)
    assert kept == [played[1], played[3]]
    assert dropped == {"surplus": 2}


def test_turns_that_are_no_example_are_left_out() -> None:
    cut = TokenRecord((1,), (2,), truncated=True)
    turns = [
        Turn("p", "look\nclick"),
        Turn("p", "again\nclick"),  # changed nothing, and done again
        Turn("q", "click"),  # another picture
        Turn("r", "clik", action_error="parse"),
        Turn("s", "click(", tokens=cut),
    ]
    told = Episode("T", 0, "goal", turns)
    assert Filters().turns(told) == [0, 1, 2, 3]
    assert Filters(drop_repeats=True).turns(told) == [0, 2, 3]
    assert Filters(drop_invalid=True).turns(told) == [0, 1, 2]


# -- sampling --


class Played:
    """A collector whose episodes succeed as told."""

    def __init__(self, succeeds: Callable[[EpisodeRequest], bool]) -> None:
        self.succeeds = succeeds
        self.waves: list[list[str]] = []

    def collect(self, requests: Sequence[EpisodeRequest]) -> list[Episode]:
        self.waves.append([request.id for request in requests])
        return [self._play(request) for request in requests]

    def episodes(self, requests: Sequence[EpisodeRequest]) -> Iterator[Episode]:
        yield from map(self._play, reversed(requests))

    def _play(self, request: EpisodeRequest) -> Episode:
        return episode(
            request.seed, success=self.succeeds(request), id=request.id, group=request.group
        )


def units(count: int, tries: int) -> list[Unit]:
    def requests(name: str, seed: int) -> list[EpisodeRequest]:
        return [EpisodeRequest(seed, group=name, member=n) for n in range(tries)]

    return [Unit(f"u{index}", requests(f"u{index}", index)) for index in range(count)]


def sample(collector: Played, count: int = 3, tries: int = 8, **given: Any) -> list[Episode]:
    settings = {"wanted": 2, "budget": 100, "width": 4, **given}
    return sample_successes(collector, units(count, tries), **settings)  # type: ignore[arg-type]


def test_fixed_sampling_plays_all_and_keeps_their_order() -> None:
    collector = Played(lambda request: request.seed == 1)
    requests = [request for unit in units(3, tries=2) for request in unit.requests]
    counts: list[Count] = []
    found = sample_fixed(collector, requests, counts.append)  # type: ignore[arg-type]
    assert [e.id for e in found] == [request.id for request in requests]
    assert counts[-1] == Count(played=6, most=6, successes=2, done=1, units=3)


def test_the_one_with_the_fewest_successes_is_tried_next() -> None:
    collector = Played(lambda request: request.seed != 1)
    found = sample(collector, tries=5)
    assert collector.waves[0] == ["u0.0", "u1.0", "u2.0", "u0.1"]
    assert collector.waves[1] == ["u1.1", "u2.1", "u1.2"]
    assert sum(e.success for e in found) == 4
    assert [sum(e.seed == s for e in found) for s in range(3)] == [2, 5, 2]


def test_no_more_successes_are_played_for_than_are_wanted() -> None:
    collector = Played(lambda request: True)
    assert len(sample(collector, width=50)) == 6
    assert len(collector.waves) == 1


def test_the_budget_bounds_what_is_played() -> None:
    counts: list[Count] = []
    found = sample(Played(lambda request: False), budget=10, watch=counts.append)
    assert len(found) == 10
    assert counts[-1] == Count(played=10, most=10, successes=0, done=0, units=3)


def test_an_episode_whose_device_failed_is_no_success() -> None:
    class Broken(Played):
        def _play(self, request: EpisodeRequest) -> Episode:
            failure = "device: gone" if request.member == 0 else None
            return episode(request.seed, id=request.id, failure=failure)

    found = sample(Broken(lambda request: True), count=1, wanted=1)
    assert [e.failure for e in found] == ["device: gone", None]


def test_what_counts_as_a_success_may_be_told() -> None:
    found = sample(Played(lambda request: True), good=lambda e: False, tries=2)
    assert len(found) == 6
