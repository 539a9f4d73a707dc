"""An agent sees what training saw, and the networks look at all cells alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ui_gym_sb3", reason="needs the plugin ui-gym-sb3")

import torch
from gymnasium.spaces import Box, Dict

from ui_gym.contract.action import Wait
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.wrappers import vector
from ui_gym_sb3 import SB3Config
from ui_gym_sb3.network import ActorCriticHeads, CellFeatures, QHead
from ui_gym_sb3.seeing import Observer
from ui_gym_sb3.vec_env import SB3VecEnv, in_numbers

FORMS: list[dict[str, Any]] = [
    {},
    {"grayscale": True, "frames": 3},
    {"goal": "none", "kinds": ("click", "press")},
    {"algorithm": "dqn", "kinds": ("click", "wait"), "frames": 2},
]


@pytest.mark.parametrize("form", FORMS)
def test_an_agent_sees_and_says_what_training_does(form: dict[str, Any]) -> None:
    config = SB3Config(**{"columns": 6, "rows": 4, "size": 36, **form})
    envs = UIVectorEnv(2, "PaintText", observation="both", autoreset_mode="SameStep")
    gridded = vector.GridActions(envs, 6, 4, config.kinds, config.keys)
    seen = in_numbers(
        gridded, (36, 36), config.grayscale, config.frames, config.goal_places, config.masked
    )
    training = SB3VecEnv(seen)
    observer = Observer(config, envs.single_action_space)
    assert observer.space == training.observation_space
    training.seed(3)
    observed = training.reset()
    pictures: list[list[Any]] = [[], []]
    rng = np.random.default_rng(0)
    for _ in range(5):
        raw = envs._batch()
        for slot in range(2):
            pictures[slot].append(raw["screenshot"][slot])
            own = observer.see(pictures[slot], raw["goal"][slot])
            theirs = {n: v[slot] for n, v in observed.items()} if isinstance(own, dict) else None
            if theirs is None:
                assert np.array_equal(own, observed[slot])
            else:
                assert all(np.array_equal(own[name], theirs[name]) for name in theirs)
            if config.masked:
                mask = observer.mask(raw["elements"][slot])
                assert np.array_equal(mask, training.env_method("action_masks")[slot])
        observer.action_space.seed(int(rng.integers(1000)))
        choice = observer.action_space.sample()
        if not observer.flat:
            assert gridded.actions([choice]) == [observer.text(choice)]
        observed = training.step(np.array([gridded.single_action_space.sample()] * 2))[0]
    training.close()


def test_a_flat_choice_is_that_of_its_parts() -> None:
    envs = UIVectorEnv(1, "PaintText")
    config = SB3Config(algorithm="dqn", columns=6, rows=4, kinds=("wait", "click"))
    observer = Observer(config, envs.single_action_space)
    assert observer.action_space.n == 2 * 24
    assert observer.text(0) == observer.text(23) == str(Wait())
    assert observer.text(24) == "click(8, 8)"
    assert observer.text(47) == "click(88, 56)"
    envs.close()


SPACE = Dict(
    {"screenshot": Box(0, 255, (3, 48, 48), np.uint8), "goal": Box(0, 1, (8,), np.float32)}
)


def test_what_is_seen_in_one_cell_changes_that_cell_s_score_most() -> None:
    torch.manual_seed(0)
    features, heads = CellFeatures(SPACE, 6, 6, 16), ActorCriticHeads({"cell": 36}, 6, 6, 16)
    blank = torch.ones(1, 3, 48, 48)
    written = blank.clone()
    written[:, :, 18:22, 34:38] = 0  # in the fifth cell of the third row
    goal = torch.zeros(1, 8)
    with torch.no_grad():
        before, after = (
            heads.forward_actor(features({"screenshot": picture, "goal": goal}))
            for picture in (blank, written)
        )
    changed = (after - before).abs().view(6, 6)
    row, column = divmod(int(changed.argmax()), 6)
    assert abs(row - 2) <= 1
    assert abs(column - 4) <= 1
    assert changed[5, 0] < changed.max() / 5


def test_another_goal_is_another_look() -> None:
    torch.manual_seed(0)
    features = CellFeatures(SPACE, 6, 6, 16)
    picture = torch.rand(1, 3, 48, 48)
    goals = torch.eye(8)[:2]
    one, other = (features({"screenshot": picture, "goal": goal[None]}) for goal in goals)
    assert not torch.allclose(one, other)


def test_the_values_of_a_flat_action_are_in_the_order_of_its_number() -> None:
    head = QHead({"kind": 2, "cell": 4, "key": 3}, 2, 2, 5)
    with torch.no_grad():
        head.cell.weight.zero_()
        head.cell.bias.copy_(torch.arange(6.0))  # kind * 3 + key
        values = head(torch.rand(1, 24))[0]
    for number in range(24):
        kind, _, key = np.unravel_index(number, (2, 4, 3))
        assert values[number] == kind * 3 + key
