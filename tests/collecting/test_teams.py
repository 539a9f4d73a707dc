"""Slots in a row that are a team: what a collector asks of requests, and who fails with whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest

Make = Callable[..., UIVectorEnv]
SIZE = 2


def requests(seeds: Sequence[int], members: int = SIZE) -> list[EpisodeRequest]:
    return [
        EpisodeRequest(seed=seed, group=f"g{seed}", member=member)
        for seed in seeds
        for member in range(members)
    ]


@pytest.fixture
def teams(make_vector: Make) -> UIVectorEnv:
    """Three teams of two, who see nothing of each other."""
    envs = make_vector(3 * SIZE)
    envs.team_size = SIZE  # type: ignore[attr-defined]
    return envs


def test_a_cohort_holds_whole_teams(teams: UIVectorEnv) -> None:
    seen: list[set[int]] = []

    class Watched(OracleAgent):
        def act(self, views: Sequence[View]) -> list[Decision]:
            seen.append({view.slot for view in views})
            return super().act(views)

    episodes = Collector(teams, Watched(), schedule="cohorts").collect(requests(range(7)))
    assert all(episode.success for episode in episodes)
    assert {slot // SIZE for slots in seen for slot in slots} == {0, 1, 2}
    for slots in seen:
        assert all({slot, slot ^ 1} <= slots for slot in slots), slots


@pytest.mark.parametrize(
    "asked",
    [
        requests(range(2), 3),
        requests([0], 1),
        [EpisodeRequest(seed=0, group="a"), EpisodeRequest(seed=0, group="b")],
    ],
    ids=["groups of three", "half a team", "two groups"],
)
def test_what_makes_no_team_is_refused(teams: UIVectorEnv, asked: list[EpisodeRequest]) -> None:
    with pytest.raises(UserError, match="the size of groups a multiple of 2"):
        Collector(teams, OracleAgent(), schedule="cohorts").collect(asked)


class Failing(OracleAgent):
    """Whose server fails it once, in slot 3."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = True

    def act(self, views: Sequence[View]) -> list[Decision]:
        decisions = super().act(views)
        for i, view in enumerate(views):
            if view.slot == 3 and self.fails:
                self.fails = False
                decisions[i] = Decision(decisions[i].action_text, failure="no server")
        return decisions


def test_one_that_fails_takes_its_team_with_it(teams: UIVectorEnv) -> None:
    collector = Collector(teams, Failing(), schedule="cohorts", max_requeues=0)
    failures = [episode.failure for episode in collector.collect(requests(range(3)))]
    assert failures == [None, None, "team: no server", "no server", None, None]


def test_a_team_that_failed_plays_again_in_its_order(teams: UIVectorEnv) -> None:
    asked = requests(range(5))
    episodes = Collector(teams, Failing(), schedule="cohorts").collect(asked)
    assert [episode.id for episode in episodes] == [request.id for request in asked]
    assert all(episode.success and episode.failure is None for episode in episodes)
