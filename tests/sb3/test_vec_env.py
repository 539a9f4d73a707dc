"""The vector env as Stable-Baselines3's, on the paint suite."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import paint
import pytest
from gymnasium.spaces import Box, Dict, Discrete

pytest.importorskip("ui_gym_sb3", reason="needs the plugin ui-gym-sb3")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecMonitor

from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.wrappers import (
    ClickableCells,
    FrameHistory,
    GoalWords,
    GridActions,
    ResizeScreenshot,
    ScreenshotOnly,
    vector,
)
from ui_gym_sb3 import SB3VecEnv, make_sb3
from ui_gym_sb3.vec_env import FlatActions

SHAPE: dict[str, Any] = {"size": (24, 16), "columns": 6, "rows": 4, "frames": 2}


@pytest.fixture
def make() -> Iterator[Callable[..., SB3VecEnv]]:
    made: list[SB3VecEnv] = []

    def make_env(num_envs: int = 3, **arguments: Any) -> SB3VecEnv:
        made.append(make_sb3("PaintClick", num_envs, **SHAPE | arguments))
        return made[-1]

    yield make_env
    for env in made:
        env.close()


def single() -> gymnasium.Env[Any, Any]:
    small = ResizeScreenshot(gymnasium.make("UI/PaintClick-v0"), SHAPE["size"])
    return GridActions(FrameHistory(ScreenshotOnly(small), 2), 6, 4)


def test_it_plays_as_sb3_s_own_loop_over_envs_does(make: Callable[..., SB3VecEnv]) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv

    ours, theirs = make(), DummyVecEnv([single] * 3)
    assert ours.observation_space == theirs.observation_space == Box(0, 255, (16, 24, 6), np.uint8)
    assert ours.action_space == theirs.action_space == Discrete(24)
    assert ours.seed(5) == theirs.seed(5)
    assert np.array_equal(ours.reset(), theirs.reset())
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(30):
        actions = rng.integers(24, size=3)
        seen, rewards, dones, infos = ours.step(actions)
        wanted = theirs.step(actions)
        assert np.array_equal(seen, wanted[0])
        assert (rewards.dtype, rewards.tolist()) == (np.float32, wanted[1].tolist())
        assert dones.tolist() == wanted[2].tolist()
        for slot, (info, other) in enumerate(zip(infos, wanted[3], strict=True)):
            assert info.keys() == other.keys()
            for key in ("seed", "step", "success", "notes", "action_error", "TimeLimit.truncated"):
                assert info[key] == other[key]
            assert ours.reset_infos[slot]["seed"] == theirs.reset_infos[slot]["seed"]
            if dones[slot]:
                ends += 1
                assert np.array_equal(info["terminal_observation"], other["terminal_observation"])
    assert ends > 6
    theirs.close()


def test_options_are_put_down_for_the_next_reset(make: Callable[..., SB3VecEnv]) -> None:
    env = make(2)
    env.seed(1)
    env.set_options({"split": ["train", "heldout"]})
    env.reset()
    assert [info["split"] for info in env.reset_infos] == ["train", "heldout"]
    env.set_options([{"split": "train"}, {}])
    with pytest.raises(UserError, match="one dict; its values may be lists"):
        env.reset()


def test_what_sb3_asks_of_its_envs(make: Callable[..., SB3VecEnv]) -> None:
    env = VecMonitor(make(2, render_mode="rgb_array"))
    env.reset()
    assert env.render().shape[2] == 3
    assert env.get_attr("render_mode", 0) == ["rgb_array"]
    # Of the envs in the slots: the vector env has no such attribute.
    assert env.get_attr("reward_mode") == ["success", "success"]
    assert env.env_is_wrapped(ScreenshotOnly) == [False, False]
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("reward_mode", "progress")
    with pytest.raises(AttributeError, match=r"device\(\) of one slot"):
        env.env_method("device")


def test_ppo_takes_it_as_it_is(make: Callable[..., SB3VecEnv], tmp_path: Path) -> None:
    model = PPO("MlpPolicy", make(2), n_steps=8, batch_size=8, n_epochs=1)
    model.set_logger(configure(str(tmp_path), []))  # its own would stay behind in /tmp
    model.learn(32)
    assert model.num_timesteps == 32


def test_maskable_ppo_finds_the_masks_and_keeps_to_them(
    make: Callable[..., SB3VecEnv], tmp_path: Path
) -> None:
    env = VecMonitor(make(2, size=(36, 36), mask=True, goal=32))
    assert isinstance(env.observation_space, Dict)
    assert is_masking_supported(env)
    assert not is_masking_supported(VecMonitor(make(2, goal=32)))
    model = MaskablePPO("MultiInputPolicy", env, n_steps=8, batch_size=8, n_epochs=1)
    model.set_logger(configure(str(tmp_path), []))
    model.learn(32)
    seen = env.reset()
    for _ in range(20):
        masks = get_action_masks(env)
        assert masks.shape == (2, 24)
        assert masks.sum(axis=1).tolist() == [3, 3], "three boxes, each as large as a cell"
        assert (
            get_action_masks(env)[1].tolist()
            == env.env_method("action_masks", indices=1)[0].tolist()
        )
        actions, _ = model.predict(seen, action_masks=masks)
        assert masks[np.arange(2), actions].all()
        seen, _, dones, _ = env.step(actions)
        assert dones.all(), "a click on a box ends the episode"


def test_sb3_s_checker_passes_with_goal_and_mask() -> None:
    env = gymnasium.make("UI/PaintClick-v0", observation="both")
    env = ClickableCells(GridActions(env, 6, 4))
    env = GoalWords(FrameHistory(ResizeScreenshot(env, (36, 36)), 2), 32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)
    assert is_masking_supported(env)
    env.close()


def test_one_number_stands_for_all_parts() -> None:
    envs = UIVectorEnv(2, "PaintClick", autoreset_mode="SameStep")
    gridded = vector.GridActions(envs, 6, 4, ("click", "press"), ("tab", "enter"))
    flat = FlatActions(vector.ScreenshotOnly(gridded), gridded.grid.parts)
    assert flat.single_action_space == Discrete(2 * 24 * 2)
    counted = [flat.actions(np.array([number, 95])).tolist() for number in (0, 1, 2, 48)]
    assert counted == [
        [first, [1, 23, 1]] for first in ([0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0])
    ]
    envs.close()


def test_texts_and_other_autoreset_modes_are_refused() -> None:
    envs = UIVectorEnv(1, "PaintClick", pool=paint.PaintPool((96, 64)))
    with pytest.raises(UserError, match='make the vector env with autoreset_mode="SameStep"'):
        SB3VecEnv(envs)
    envs.close()
    envs = UIVectorEnv(1, "PaintClick", autoreset_mode="SameStep")
    for wrapped in (envs, vector.GridActions(envs, 6, 4), vector.ScreenshotOnly(envs)):
        with pytest.raises(
            UserError, match=r"wrap the vector env in ScreenshotOnly \(or GoalWords"
        ):
            SB3VecEnv(wrapped)
    envs.close()


def test_a_grid_that_cannot_be_leaves_no_env_open(make: Callable[..., SB3VecEnv]) -> None:
    with pytest.raises(UserError, match="rows is a whole number from 1 to 64"):
        make(rows=65)
