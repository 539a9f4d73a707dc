"""SuperSuit's vector envs over teams that see pictures and act in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from multiagent_helpers import COMPACT

from ui_gym.errors import UserError
from ui_gym.multiagent.board import SharedBoard
from ui_gym.multiagent.classic import ClassicTeam

supersuit: Any = pytest.importorskip("supersuit")


def test_teams_become_a_vector_env() -> None:
    env = ClassicTeam(SharedBoard(**COMPACT, max_cycles=3), 10, 8, size=(80, 64), grayscale=True)
    slots = supersuit.concat_vec_envs_v1(
        supersuit.pettingzoo_env_to_vec_env_v1(env), 2, num_cpus=0, base_class="gymnasium"
    )
    try:
        assert slots.num_envs == 4
        seen, _ = slots.reset(seed=0)
        assert seen.shape == (4, 64, 80, 1)
        assert seen.dtype == np.uint8
        for _ in range(3):
            actions = np.array([slots.action_space.sample() for _ in range(4)])
            seen, rewards, _, cut, infos = slots.step(actions)
        assert rewards.shape == (4,)
        assert cut.all()
        assert infos[0]["terminal_observation"].shape == (64, 80, 1)
        assert seen.shape == (4, 64, 80, 1)  # of the next episode
    finally:
        slots.close()
        env.close()


def test_a_cell_is_clicked_at_its_centre() -> None:
    board = SharedBoard(**COMPACT)
    env = ClassicTeam(board, 10, 8)
    env.reset(seed=0)
    x, y = board.windows.devices[0].center("#save")
    cell = (y * 8 // 256) * 10 + x * 10 // 320
    assert env.action_space("user_0").contains(cell)
    seen, *_ = env.step({"user_0": cell, "user_1": 0})
    assert len(board.windows.windows[0].history) == 1
    assert board.windows.devices[0].events  # "Save" was pressed
    assert seen["user_0"].shape == (84, 84, 3)
    assert env.observation_space("user_0").contains(seen["user_0"])
    with pytest.raises(UserError, match="an action is an element of"):
        env.step({"user_0": 80, "user_1": 0})
    env.close()
