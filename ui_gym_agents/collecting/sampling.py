"""Rejection sampling's strategies: so many episodes a task, or as many as N successes take.

The second is UI-RL's: the task with the fewest successes is tried next, until all have theirs or
the budget is spent. Tries are asked for in waves as wide as there are envs; a try in progress
counts as a success until it ends, so that no task is tried more often than it may need. A wave is
chosen from counts alone, so that a run whose episodes repeat also asks for the same ones again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode


@dataclass(frozen=True)
class Count:
    """How far sampling is: episodes `played` of at most `most`, `successes` among them, and how
    many of the `units` have what is wanted of them (`done`)."""

    played: int
    most: int
    successes: int
    done: int
    units: int


Watch = Callable[[Count], None]
"""Told each time when episodes ended."""


@dataclass(frozen=True)
class Unit:
    """What successes are counted for: a task instance, or a whole task.

    `requests` are its tries in order, and as many as it may have: members of one group, or
    instances of the task.
    """

    name: str
    requests: Sequence[EpisodeRequest]


def sample_fixed(
    collector: Collector, requests: Sequence[EpisodeRequest], watch: Watch = lambda _: None
) -> list[Episode]:
    """Play all `requests`; the episodes come in their order."""
    played: dict[str, Episode] = {}
    wins = 0
    solved: set[str] = set()
    groups = len({request.group for request in requests})
    for episode in collector.episodes(requests):
        played[episode.id] = episode
        wins += episode.success
        if episode.success:
            solved.add(episode.group)
        watch(Count(len(played), len(requests), wins, len(solved), groups))
    return [played[request.id] for request in requests]


@dataclass
class _Tally:
    """A unit's counts; `flying` is reset when a wave is over."""

    unit: Unit
    tries: int = 0
    wins: int = 0
    flying: int = 0


def sample_successes(
    collector: Collector,
    units: Sequence[Unit],
    *,
    wanted: int,
    budget: int,
    width: int,
    good: Callable[[Episode], bool] = lambda episode: episode.success,
    watch: Watch = lambda _: None,
) -> list[Episode]:
    """Play until every unit has `wanted` successes, the one with the fewest first.

    Args:
        collector: Where episodes are played.
        units: What successes are counted for.
        wanted: Successes of a unit.
        budget: Most episodes in all.
        width: Episodes asked for at a time, such as the number of envs.
        good: What counts as a success.
        watch: Told after each wave.

    Returns:
        All episodes, in the order in which they were asked for.
    """
    tallies = [_Tally(unit) for unit in units]
    most = min(budget, sum(len(unit.requests) for unit in units))
    episodes: list[Episode] = []
    while wave := _wave(tallies, wanted, min(width, most - len(episodes))):
        played = collector.collect([request for _, request in wave])
        for (tally, _), episode in zip(wave, played, strict=True):
            tally.flying = 0
            tally.wins += episode.failure is None and good(episode)
        episodes += played
        wins = sum(tally.wins for tally in tallies)
        done = sum(tally.wins >= wanted for tally in tallies)
        watch(Count(len(episodes), most, wins, done, len(units)))
    return episodes


def _wave(
    tallies: Sequence[_Tally], wanted: int, width: int
) -> list[tuple[_Tally, EpisodeRequest]]:
    """The next tries, at most `width`: each of the unit that has the fewest successes by then."""
    wave: list[tuple[_Tally, EpisodeRequest]] = []
    while len(wave) < width:
        open_ = [
            t for t in tallies if t.wins + t.flying < wanted and t.tries < len(t.unit.requests)
        ]
        if not open_:
            break
        tally = min(open_, key=lambda t: (t.wins + t.flying, t.tries))
        wave.append((tally, tally.unit.requests[tally.tries]))
        tally.tries += 1
        tally.flying += 1
    return wave
