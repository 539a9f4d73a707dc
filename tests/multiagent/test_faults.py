"""A fault of one agent's browser: it ends the round for all, is named, and heals."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from multiagent_helpers import COMPACT, Make, idle, play_oracle
from waiting import eventually

from ui_gym.errors import DeviceError
from ui_gym.multiagent import shared_inbox_v0
from ui_gym.multiagent.team_env import TeamEnv


def kill(env: TeamEnv, user: int) -> None:
    """Kill the Chromium of a user, and wait until it is seen to be dead."""
    device: Any = env.windows.devices[user]
    os.killpg(device.pid, signal.SIGKILL)

    def is_dead() -> bool:
        try:
            device.evaluate("1")
        except DeviceError:
            return True
        return False

    assert eventually(is_dead)


@pytest.mark.parametrize("user", [0, 1])
def test_a_killed_browser_truncates_the_round_for_all_and_heals(make: Make, user: int) -> None:
    env = make(**COMPACT, reward="progress")
    env.reset(seed=0)
    devices = list(env.windows.devices)
    kill(env, user)
    seen, rewards, ends, cuts, infos = env.step(idle(env))
    assert rewards == {"user_0": 0.0, "user_1": 0.0}
    assert ends == {"user_0": False, "user_1": False}
    assert cuts == {"user_0": True, "user_1": True}
    assert env.agents == []
    for agent in env.possible_agents:
        assert infos[agent]["failure"].startswith(f"device: user_{user}: ")
        assert (infos[agent]["score"], infos[agent]["success"]) == (0.0, False)
        assert env.observation_space(agent).contains(seen[agent])

    play_oracle(env, 0)
    now = list(env.windows.devices)
    assert [now[u] is devices[u] for u in (0, 1)] == [u != user for u in (0, 1)]
    rewards, infos = play_oracle(env, 1)
    assert rewards == {"user_0": 1.0, "user_1": 1.0}
    assert infos["user_0"]["failure"] is None


def test_a_browser_that_dies_between_episodes_is_replaced(make: Make) -> None:
    env = make(**COMPACT)
    first, _ = env.reset(seed=0)
    kill(env, 1)
    again, infos = env.reset(seed=0)
    assert infos["user_1"]["failure"] is None
    same = [np.array_equal(first[a]["screenshot"], again[a]["screenshot"]) for a in first]
    assert same == [True, True]


@pytest.mark.parametrize("clerk", [0, 1])
def test_an_inbox_ends_with_its_cycle(clerk: int) -> None:
    env = shared_inbox_v0.parallel_env(mails=1, viewport=(640, 400))
    env.reset(seed=0)
    kill(env.unwrapped, clerk)
    _, rewards, ends, cuts, infos = env.step(dict.fromkeys(env.agents, "wait(0.1)"))
    assert cuts == {"clerk_0": True, "clerk_1": True}
    assert not any(ends.values())
    assert not any(rewards.values())
    assert all(info["failure"].startswith(f"device: clerk_{clerk}: ") for info in infos.values())
    _, infos = env.reset(seed=0)
    assert infos["clerk_0"]["failure"] is None
    env.close()
