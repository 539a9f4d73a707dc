"""The Collector: the same episodes on any vector env, whichever slot is faster."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import paint
import pytest
from gymnasium.spaces import Box, Dict, Text
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ui_gym.errors import DeviceError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents import OracleAgent, RandomAgent, ScriptedAgent
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest, views
from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.collecting.stage import make_stage
from ui_gym_agents.episode import Episode
from ui_gym_agents.store import EpisodeStore, frozen, screenshot_hash

Make = Callable[..., UIVectorEnv]


def requests(count: int, group_size: int = 1) -> list[EpisodeRequest]:
    return [
        EpisodeRequest(seed=seed, group=f"g{seed}", member=member)
        for seed in range(count)
        for member in range(group_size)
    ]


def sync(pool: paint.PaintPool, count: int) -> SyncVectorEnv:
    return SyncVectorEnv(
        [lambda: UIEnv("PaintText", pool=pool)] * count, autoreset_mode=AutoresetMode.DISABLED
    )


def story(episodes: Sequence[Any]) -> list[Any]:
    """What an episode is, without its times."""
    return [
        (
            e.id,
            e.goal,
            e.score,
            e.final_screenshot_id,
            [(t.screenshot_id, t.action_text, t.reward) for t in e.turns],
        )
        for e in episodes
    ]


def test_oracles_succeed_in_every_episode(make_vector: Make) -> None:
    episodes = Collector(make_vector(3), OracleAgent()).collect(requests(7))
    assert [e.success for e in episodes] == [True] * 7
    assert [e.id for e in episodes] == [f"g{i}.0" for i in range(7)]
    assert all(e.terminated and e.failure is None and e.turns[-1].reward == 1 for e in episodes)


@pytest.mark.parametrize("schedule", ["free", "cohorts"])
def test_episodes_do_not_depend_on_the_schedule_or_the_number_of_slots(
    make_vector: Make, schedule: Any
) -> None:
    few, many = make_vector(2), make_vector(5)
    one = Collector(few, RandomAgent(few.single_action_space), schedule="cohorts")
    other = Collector(many, RandomAgent(many.single_action_space), schedule=schedule)
    asked = requests(4, group_size=2)
    assert story(one.collect(asked)) == story(other.collect(asked))


def test_members_of_a_group_start_alike_and_draw_differently(make_vector: Make) -> None:
    envs = make_vector(3)
    collector = Collector(envs, RandomAgent(envs.single_action_space))
    (group,) = collector.groups(requests(1, group_size=3))
    assert len({e.goal for e in group}) == len({e.turns[0].screenshot_id for e in group}) == 1
    assert len({e.turns[0].action_text for e in group}) == 3


@pytest.mark.parametrize(("every", "kept"), [(1, [0, 1, 2, 3, 4]), (2, [0, 2, 4]), (0, [])])
def test_pictures_of_every_nth_group_are_kept(
    make_vector: Make, tmp_path: Path, every: int, kept: list[int]
) -> None:
    envs = make_vector(3)
    store = EpisodeStore(tmp_path)
    agent = RandomAgent(envs.single_action_space)
    collector = Collector(envs, agent, store=store, keep_pictures=every)
    played = collector.collect(requests(5, group_size=2))
    store.screenshots.clear()
    there = {key for e in played for key in pictures(e) if store.screenshots.keeps(key)}
    wanted = {key for i in kept for e in played[2 * i : 2 * i + 2] for key in pictures(e)}
    assert there == wanted


def pictures(episode: Episode) -> list[str]:
    return [*(turn.screenshot_id for turn in episode.turns), episode.final_screenshot_id]


def test_another_run_seed_draws_otherwise(make_vector: Make) -> None:
    envs = make_vector(2)
    agent = RandomAgent(envs.single_action_space)
    first, second = (Collector(envs, agent, run_seed=seed).collect(requests(2)) for seed in (0, 1))
    assert story(first) != story(second)


def test_it_runs_unchanged_on_gymnasiums_own_vector_env(
    make_vector: Make, pool: paint.PaintPool
) -> None:
    free = Collector(make_vector(3), OracleAgent()).collect(requests(5))
    stock = sync(pool, 3)
    try:
        assert story(Collector(stock, OracleAgent()).collect(requests(5))) == story(free)
    finally:
        stock.close()


class Guess(gym.Env[dict[str, Any], str]):
    """A third party's env: say the digit that the picture's brightness shows."""

    observation_space = Dict(
        {
            "goal": Text(40, charset="abcdefghijklmnopqrstuvwxyz "),
            "screenshot": Box(0, 255, (4, 4, 3), np.uint8),
        }
    )
    action_space = Text(20)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.digit = int(self.np_random.integers(10))
        return self.look(), {}

    def look(self) -> dict[str, Any]:
        shade = np.full((4, 4, 3), 25 * self.digit, np.uint8)
        return {"goal": "say the digit", "screenshot": shade}

    def step(self, action: str) -> tuple[Any, float, bool, bool, Any]:
        return self.look(), float(action == str(self.digit)), True, False, {}


class Reader:
    """Reads the digit from the brightness."""

    def act(self, views: Sequence[View]) -> list[Decision]:
        return [Decision(str(int(view.screenshot[0, 0, 0]) // 25)) for view in views]


def test_it_runs_on_an_env_that_knows_nothing_of_ui_gym() -> None:
    envs = SyncVectorEnv([Guess] * 3, autoreset_mode=AutoresetMode.DISABLED)
    episodes = Collector(envs, Reader()).collect(requests(8))
    assert [e.score for e in episodes] == [1.0] * 8
    assert all(e.success and e.goal == "say the digit" for e in episodes)
    wrong = Collector(envs, ScriptedAgent(["11"])).collect(requests(3))
    assert not any(e.success for e in wrong)


def test_an_env_that_resets_by_itself_is_refused_with_the_remedy() -> None:
    with pytest.raises(UserError, match=r"AutoresetMode\.DISABLED"):
        make_stage(SyncVectorEnv([Guess]))


def test_a_lost_device_costs_tries_and_then_the_episode_says_so(
    make_vector: Make, faults: paint.Faults
) -> None:
    faults.lose_on = "boom"
    episodes = Collector(make_vector(2), _clicker("boom"), max_requeues=1).collect(requests(2))
    assert all(e.truncated and e.failure is not None for e in episodes)
    assert all("device:" in str(e.failure) for e in episodes)
    assert len(episodes) == 2


def _clicker(word: str) -> Any:
    class Clicker:
        wants_ground_truth = True

        def act(self, views: Sequence[View]) -> list[Decision]:
            texts = []
            for view in views:
                boxes = view.ground_truth.params["boxes"]
                _, x, y = boxes[0]
                texts.append(f"click({x}, {y})" if not view.turns else f'type("{word}")')
            return [Decision(text) for text in texts]

    return Clicker()


def test_an_episode_is_played_again_after_a_fault_and_counted_once(
    make_vector: Make, faults: paint.Faults
) -> None:
    faults.captures = 1  # the first capture of all finds its device lost
    told: list[EpisodeFault] = []
    collector = Collector(make_vector(2), OracleAgent(), on_fault=told.append)
    episodes = collector.collect(requests(4))
    assert [e.success for e in episodes] == [True] * 4
    assert len({e.id for e in episodes}) == 4
    assert [(f.attempt, f.cause, f.again, f.of_device) for f in told] == [
        (1, "device: the paint has dried", True, True)
    ]


class Stumbler:
    """Solves every task, but what it runs on fails it in the first `times` tries of seed 0."""

    wants_ground_truth = True

    def __init__(self, times: int) -> None:
        self.left = times
        self.tries = 0
        self._oracle = OracleAgent()
        self.reset_options = self._oracle.reset_options

    def act(self, views: Sequence[View]) -> list[Decision]:
        return [self._decide(view) for view in views]

    def _decide(self, view: View) -> Decision:
        if view.info["seed"] == 0 and not view.turns:
            self.tries += 1
            if self.tries <= self.left:
                return Decision("", failure="server: 500")
        return self._oracle.act([view])[0]


@pytest.mark.parametrize(("times", "tries"), [(0, 1), (1, 2), (2, 3), (3, 3), (9, 3)])
def test_an_episode_is_tried_three_times_before_those_that_wait(
    make_vector: Make, times: int, tries: int
) -> None:
    agent = Stumbler(times)
    told: list[EpisodeFault] = []
    collector = Collector(make_vector(1), agent, on_fault=told.append)
    episodes = list(collector.episodes(requests(3)))
    assert agent.tries == tries
    assert [(f.episode, f.slot, f.attempt, f.again) for f in told] == [
        ("g0.0", 0, attempt, attempt < 3) for attempt in range(1, min(times, 3) + 1)
    ]
    assert {(f.cause, f.of_device) for f in told} <= {("server: 500", False)}
    assert [e.id for e in episodes] == ["g0.0", "g1.0", "g2.0"]
    assert [e.success for e in episodes] == [times < 3, True, True]
    assert episodes[0].failure == (None if times < 3 else "server: 500")


def test_failed_members_leave_their_group(make_vector: Make, faults: paint.Faults) -> None:
    faults.lose_on = "boom"
    collector = Collector(make_vector(2), _clicker("boom"), max_requeues=0)
    assert list(collector.groups(requests(2, group_size=2))) == [[], []]


def test_a_collector_that_was_left_early_can_be_used_again(make_vector: Make) -> None:
    collector = Collector(make_vector(3), OracleAgent())
    next(iter(collector.episodes(requests(6))))
    assert all(e.success for e in collector.collect(requests(6)))


def test_devices_that_cannot_be_had_end_the_collection_and_leave_it_usable(
    make_vector: Make, faults: paint.Faults
) -> None:
    faults.starts = 100
    collector = Collector(make_vector(2), OracleAgent())
    with pytest.raises(DeviceError, match="install paint"):
        collector.collect(requests(2))
    faults.starts = 0
    assert all(e.success for e in collector.collect(requests(2)))


class Dawdler:
    """Thinks for ever about the episodes of one group, and solves the others at once."""

    wants_ground_truth = True

    def __init__(self) -> None:
        self._oracle = OracleAgent()
        self.reset_options = self._oracle.reset_options

    def act(self, views: Sequence[View]) -> Sequence[Decision]:
        return [
            Decision("wait(0.01)") if view.info["seed"] == 0 else self._oracle.act([view])[0]
            for view in views
        ]  # fmt: skip


def test_an_episode_that_takes_too_long_is_left(make_vector: Make) -> None:
    envs = make_vector(2, max_steps=10**6)
    collector = Collector(envs, Dawdler(), episode_timeout=0.3)
    episodes = collector.collect(requests(4))
    assert [e.failure is not None for e in episodes] == [True, False, False, False]
    assert str(episodes[0].failure) == "collector: it took longer than 0.3 s"
    assert [e.success for e in episodes] == [False, True, True, True]
    assert [len(group) for group in collector.groups(requests(2))] in ([0, 1], [1, 0])


class Rememberer:
    """Remembers something of each slot until its episode is over."""

    def __init__(self) -> None:
        self.remembered: set[int] = set()
        self.begun = 0

    def act(self, views: Sequence[View]) -> list[Decision]:
        for view in views:
            assert (view.slot in self.remembered) == bool(view.turns)
            self.begun += not view.turns
            self.remembered.add(view.slot)
        return [Decision("wait(1)") for _ in views]

    def ended(self, slot: int) -> None:
        self.remembered.discard(slot)


def test_an_agent_is_told_when_a_slots_episode_is_over(make_vector: Make) -> None:
    agent = Rememberer()
    collector = Collector(make_vector(3), agent)
    collector.collect(requests(7))
    assert (agent.begun, agent.remembered) == (7, set())
    played = collector.episodes(requests(7))
    next(played)
    assert agent.remembered
    played.close()
    assert agent.remembered == set()


def test_a_picture_is_hashed_once_an_episode_however_often_it_is_shown(
    make_vector: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Namer:
        """Names all pictures of the episode in every turn, as a prompt with a history does."""

        def act(self, views: Sequence[View]) -> list[Decision]:
            named.extend(screenshot_hash(image) for view in views for image in view.screenshots)
            return [Decision("wait(1)") for _ in views]

    named: list[str] = []
    hashed: list[int] = []

    def sha256(data: bytes) -> Any:
        hashed.append(1)
        return hashlib.sha256(data)

    monkeypatch.setattr("ui_gym_agents.store.hashlib", SimpleNamespace(sha256=sha256))
    (episode,) = Collector(make_vector(1), Namer()).collect(requests(1))
    keys = [turn.screenshot_id for turn in episode.turns]
    assert named == [key for n in range(1, len(keys) + 1) for key in keys[:n]]
    assert len(keys) > 2
    assert len(hashed) == len(keys) + 1


def test_a_picture_that_is_changed_is_hashed_again() -> None:
    image = np.zeros((4, 6, 3), dtype=np.uint8)
    before = screenshot_hash(image)
    kept = frozen(image)
    assert screenshot_hash(kept) == screenshot_hash(kept) == before
    image[0] = 1
    assert screenshot_hash(image) != before
    assert screenshot_hash(kept) == before
    view = image.view()
    view.setflags(write=False)
    named = screenshot_hash(view)
    image[0] = 2
    assert screenshot_hash(view) != named, "whose memory is another's"
    assert frozen(kept) is kept


def test_an_agent_that_reads_elements_alone_plays(make_vector: Make, tmp_path: Path) -> None:
    asked: list[View] = []

    class Reader:
        """Clicks on the element that the goal names, by the list alone."""

        def act(self, views: Sequence[View]) -> list[Decision]:
            asked.extend(views)
            return [Decision(self._say(view)) for view in views]

        def _say(self, view: View) -> str:
            (place,) = re.findall(rf'"{view.goal.split()[2]}" @ (\d+),(\d+)', view.elements)
            return f"click({place[0]}, {place[1]})"

    envs = make_vector(2, "PaintClick", observation="elements")
    store = EpisodeStore(tmp_path)
    episodes = Collector(envs, Reader(), store=store).collect(requests(2))
    assert all(episode.success for episode in episodes)
    kept = {episode.id: episode.turns for episode in store}
    assert kept == {episode.id: episode.turns for episode in episodes}
    assert not (tmp_path / "screenshots").exists()
    for episode in episodes:
        assert episode.final_screenshot_id == ""
        assert all((t.screenshot_id, t.seen) == ("", t.elements) for t in episode.turns)
        again = list(views(episode, store.screenshots))
        assert [v.elements for v in again] == [t.elements for t in episode.turns]
    with pytest.raises(UserError, match="needs pictures, and the env shows elements alone"):
        _ = asked[0].screenshot
