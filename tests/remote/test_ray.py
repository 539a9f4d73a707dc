"""Slots in Ray actors: as in threads; actors, nodes and all else that is lost is a fault as others.

The whole contract of vector envs runs on them too (`on_road`, nightly).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import numpy as np
import psutil
import pytest
import ray
from ray.cluster_utils import Cluster
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.remote import ray_actors
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest

Play = Callable[..., UIVectorEnv]


@pytest.fixture
def local() -> Iterator[None]:
    yield
    ray.shutdown()


def test_slots_in_actors_are_those_in_threads_and_actors_are_replaced(
    local: None, play: Play, capfd: pytest.CaptureFixture[str]
) -> None:
    env = play("ray?slots=2", 4, device="paint:hang_on=hang")
    here = play("threads", 4)
    for one, other in zip(env.reset(seed=3), here.reset(seed=3), strict=True):
        if "screenshot" in one:
            np.testing.assert_array_equal(one["screenshot"], other["screenshot"])
        else:
            assert one["seed"].tolist() == other["seed"].tolist()
    assert "no Ray is running, so one is started here" in capfd.readouterr().err
    env.set_attr("reward_mode", "progress")
    pids = ask_pids(env)
    assert len(pids) == 2
    os.kill(pids[0], signal.SIGKILL)
    _, _, _, truncated, infos = env.step(["wait(0)"] * 4)
    assert truncated.tolist() == [True, False, True, False]
    assert "a Ray actor is lost" in infos["failure"][0]
    _, infos = env.reset(seed=[3, 3, 3, 3], options={"reset_mask": truncated})
    assert env.step(["wait(0)"] * 4)[4]["step"].tolist() == [1, 2, 1, 2]
    assert env.get_attr("reward_mode") == ("progress",) * 4
    with pytest.raises(UserError, match="Ray actors are said as"):
        play("ray:auto?slot=3")


def ask_pids(env: UIVectorEnv) -> list[int]:
    return [ray.get(link._actor.pid.remote(), timeout=30) for link in env._fleet._crew.links]


@pytest.mark.nightly
def test_an_actor_that_hangs_is_killed_and_its_slots_go_on(
    local: None, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_actors, "ANSWER_SECONDS", 1.0)
    env = play("ray?slots=1", 2)
    env.reset(seed=1)
    pid = ask_pids(env)[0]
    os.kill(pid, signal.SIGSTOP)
    env._fleet._timeout = 1.0
    _, _, _, truncated, infos = env.step(["wait(0)"] * 2)
    assert truncated.tolist() == [True, False]
    assert "no answer within 1 s" in infos["failure"][0]
    env._fleet._timeout = 60.0
    env.reset(seed=[1, 1], options={"reset_mask": truncated})
    assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 2]
    assert ask_pids(env)[0] != pid


@pytest.mark.nightly
def test_a_node_that_dies_and_one_that_comes_lose_and_double_no_episode(play: Play) -> None:
    """A cluster of four nodes; every episode that was asked for is there once."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [cluster.add_node(num_cpus=1, resources={"ui_env": 8}) for _ in range(3)]
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        env = play("ray?slots=4", 16)
        collector = Collector(env, OracleAgent(), run_seed=1)
        asked = [EpisodeRequest(seed=seed, group=f"e{seed}") for seed in range(400)]
        told = []
        before: list[int] = []
        for count, episode in enumerate(collector.episodes(asked)):
            told.append(episode)
            if count == 100:
                before = ask_pids(env)
                cluster.remove_node(nodes[0])
            if count == 200:
                cluster.add_node(num_cpus=1, resources={"ui_env": 8})
        assert sorted(e.seed for e in told) == list(range(400))
        assert all(e.success and e.failure is None for e in told)
        pids = ask_pids(env)
        assert pids != before
        env.close()
        assert eventually(lambda: not any(map(psutil.pid_exists, pids)))
    finally:
        ray.shutdown()
        cluster.shutdown()
