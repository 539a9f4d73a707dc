"""TeamVectorEnv: teams as slots, and the collector that plays them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

from ui_gym.errors import UserError
from ui_gym.multiagent.vector import TeamVectorEnv
from ui_gym_agents.agents import OracleAgent, ScriptedAgent
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest, Schedule
from ui_gym_agents.episode import Episode

TEAMS = 3
USERS = 2


@pytest.fixture(scope="module")
def teams() -> Iterator[TeamVectorEnv]:
    envs = TeamVectorEnv(TEAMS, "kanban", compact=True)
    yield envs
    envs.close()


def requests(seeds: Sequence[int], teams: int = 1) -> list[EpisodeRequest]:
    """Groups of so many teams."""
    return [
        EpisodeRequest(seed=seed, group=f"g{seed}", member=member)
        for seed in seeds
        for member in range(teams * USERS)
    ]


def story(episodes: Sequence[Episode]) -> list[Any]:
    """What episodes are, without their times."""
    return [
        (e.id, e.goal, e.score, e.failure, [(t.screenshot_id, t.action_text) for t in e.turns])
        for e in episodes
    ]


# -- Gymnasium's vector API --


def test_slots_in_a_row_are_a_team(teams: TeamVectorEnv) -> None:
    assert (teams.num_envs, teams.team_size) == (6, 2)
    assert teams.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    seen, infos = teams.reset(seed=[4, 4, 5, 5, 4, 4], options={"oracle": True})
    assert teams.observation_space.contains(seen)
    shots = seen["screenshot"]
    assert shots.shape == (6, 256, 320, 3)
    assert np.array_equal(shots[:2], shots[4:])
    assert infos["seed"].tolist() == [4, 4, 5, 5, 4, 4]
    texts = [str(one) for one in infos["oracle"]["action_text"]]
    _, rewards, ends, cuts, infos = teams.step(texts)
    assert not np.stack([rewards, ends, cuts]).any()
    texts = [str(one) for one in infos["oracle"]["action_text"]]
    _, rewards, ends, cuts, infos = teams.step(texts)
    assert rewards.tolist() == [1.0] * 6
    assert ends.all()
    assert infos["score"].tolist() == [1.0] * 6
    with pytest.raises(ResetNeeded, match="reset them first"):
        teams.step(texts)


def test_teams_are_reset_alone(teams: TeamVectorEnv) -> None:
    before, _ = teams.reset(seed=1)
    mask = np.array([False, False, True, True, False, False])
    now, infos = teams.reset(seed=[None, None, 9, 9, None, None], options={"reset_mask": mask})
    assert infos["_seed"].tolist() == mask.tolist()
    same = [np.array_equal(before["screenshot"][i], now["screenshot"][i]) for i in range(6)]
    assert same == [True, True, False, False, True, True]
    with pytest.raises(ValueError, match=r"holds whole teams, and of team 1 it has slots \[2\]"):
        teams.reset(options={"reset_mask": np.arange(6) == 2})
    with pytest.raises(UserError, match="one seed and the same options"):
        teams.reset(seed=[1, 2, 3, 3, 4, 4])
    teams.reset(seed=0)  # nothing is left of what was refused


def test_a_round_begins_when_all_of_a_team_have_acted(teams: TeamVectorEnv) -> None:
    teams.reset(seed=0)
    teams.send(["wait(0.1)"], [0])
    assert teams.recv(1, timeout=0.05) == []
    teams.send(["wait(0.1)"], [1])
    assert [result.slot for result in teams.recv(1)] == [0, 1]
    teams.send(["wait(0.1)", "wait(0.1)", "wait(0.1)"], [4, 5, 2])
    assert [result.slot for result in teams.recv(1)] == [4, 5]
    with pytest.raises(RuntimeError, match=r"slots \[2\] have answers to come"):
        teams.step(["wait(0.1)"] * 6)
    with pytest.raises(RuntimeError, match=r"0 slots have .*, and slots \[2\] wait for their team"):
        teams.recv(1)
    teams.send_reset([2, 3], [8, 8])  # the action of slot 2 is forgotten
    assert [result.is_reset for result in teams.recv(2)] == [True, True]
    with pytest.raises(ValueError, match="one action for each"):
        teams.send("wait(0.1)", [0])
    with pytest.raises(ValueError, match="different numbers from 0 to 5"):
        teams.send(["a"], [6])


def test_a_closed_vector_env_says_so() -> None:
    envs = TeamVectorEnv(1, "kanban", compact=True)
    envs.close()
    with pytest.raises(ClosedEnvironmentError):
        envs.reset()
    with pytest.raises(UserError, match="num_teams is a whole number"):
        TeamVectorEnv(0)


# -- the collector --


@pytest.mark.parametrize("schedule", ["free", "cohorts"])
def test_oracles_solve_boards_through_the_collector(
    teams: TeamVectorEnv, schedule: Schedule
) -> None:
    asked = requests(range(5), teams=2)
    episodes = Collector(teams, OracleAgent(), schedule=schedule).collect(asked)
    assert [e.id for e in episodes] == [r.id for r in asked]
    assert all(e.success and e.score == 1.0 and e.failure is None for e in episodes)
    assert [len(e.turns) for e in episodes] == [2] * len(episodes)
    assert episodes[0].task == "shared_board_v0:kanban-compact"
    assert episodes[0].params["labels"]


def test_a_team_has_one_score(teams: TeamVectorEnv) -> None:
    agent = OracleAgent({"unsaved": 0.5})
    groups = list(Collector(teams, agent).groups(requests(range(8))))
    assert all(len({episode.score for episode in group}) == 1 for group in groups)
    assert {episode.score for group in groups for episode in group} == {0.5, 1.0}


def test_episodes_do_not_depend_on_the_schedule(teams: TeamVectorEnv) -> None:
    def played(schedule: Schedule) -> list[Any]:
        collector = Collector(teams, OracleAgent({"twice": 0.5}), schedule=schedule)
        return story(collector.collect(requests(range(6))))

    assert played("free") == played("cohorts")


def test_groups_that_make_no_teams_are_refused(teams: TeamVectorEnv) -> None:
    asked = [EpisodeRequest(seed=s, group=f"g{s}", member=m) for s in (0, 1) for m in range(3)]
    with pytest.raises(UserError, match="make the size of groups a multiple of 2"):
        Collector(teams, OracleAgent()).collect(asked)


class Killer:
    """Plays as the oracle does, and kills a browser once."""

    wants_ground_truth = True

    def __init__(self, teams: TeamVectorEnv, user: int) -> None:
        self._oracle = OracleAgent()
        self.reset_options = self._oracle.reset_options
        self._device: Callable[[], Any] = lambda: teams.teams[1].windows.devices[user]
        self.done = False

    def act(self, views: Sequence[View]) -> list[Decision]:
        if not self.done and any(view.slot // USERS == 1 for view in views):
            self.done = True
            os.killpg(self._device().pid, signal.SIGKILL)
        return self._oracle.act(views)


@pytest.mark.parametrize("schedule", ["free", "cohorts"])
def test_a_team_whose_browser_died_plays_again(teams: TeamVectorEnv, schedule: Schedule) -> None:
    asked = requests(range(6))
    agent = Killer(teams, 1)
    episodes = Collector(teams, agent, schedule=schedule).collect(asked)
    assert agent.done
    assert [e.id for e in episodes] == [r.id for r in asked]
    assert all(e.success for e in episodes)
    oracle = Collector(teams, OracleAgent(), schedule=schedule)
    assert story(episodes) == story(oracle.collect(asked))


class Failing:
    """An agent whose server fails one member of a group for good."""

    def act(self, views: Sequence[View]) -> list[Decision]:
        return [
            Decision("wait(0.1)", failure="no server" if view.slot == 1 else None) for view in views
        ]


def test_one_that_fails_takes_its_team_with_it(teams: TeamVectorEnv) -> None:
    collector = Collector(teams, Failing(), max_requeues=0)
    first, second, *others = collector.collect(requests(range(3)))
    assert (first.failure, second.failure) == ("team: no server", "no server")
    assert [e.failure for e in others] == [None] * 4


class Served:
    """Answers each for itself; never the agent of slot 1."""

    def act(self, views: Sequence[View]) -> list[Decision]:
        raise AssertionError("it is asked one by one")

    def submit(self, view: View) -> Future[Decision]:
        future: Future[Decision] = Future()
        if view.slot != 1:
            future.set_result(Decision("wait(0.1)"))
        return future


def test_an_answer_that_never_comes_ends_its_team(teams: TeamVectorEnv) -> None:
    collector = Collector(teams, Served(), episode_timeout=3.0, max_requeues=0)
    first, second, *others = collector.collect(requests(range(3)))
    late = "collector: it took longer than 3 s"
    assert second.failure == late
    assert first.failure in (late, f"team: {late}")
    assert [e.truncated for e in others] == [True] * 4
    # The slots are free again.
    assert all(e.success for e in Collector(teams, OracleAgent()).collect(requests([0, 1])))


def test_a_team_that_is_finished_ends(teams: TeamVectorEnv) -> None:
    episodes = Collector(teams, ScriptedAgent(['finish("success")'])).collect(requests([0]))
    assert [(e.score, e.terminated, len(e.turns)) for e in episodes] == [(0.0, True, 1)] * 2
