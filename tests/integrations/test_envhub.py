"""``deploy/lerobot/env.py`` by Gymnasium alone: spaces, numbers for actions, slots in processes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

from ui_gym.errors import UserError

FILE = Path(__file__).resolve().parents[2] / "deploy" / "lerobot" / "env.py"


@pytest.fixture(scope="module")
def env_file() -> ModuleType:
    """The file as a loader of Hub repositories imports it: under a name that nobody can import."""
    spec = importlib.util.spec_from_file_location("hub_env_org_repo", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_gymnasium_finds_nothing_wrong(env_file: ModuleType) -> None:
    env = env_file.PointerEnv("UI/ClickButton-v0")
    check_env(env, skip_render_check=True)
    env.close()


def test_the_corners_are_the_first_and_the_last_pixel(env_file: ModuleType) -> None:
    env = env_file.PointerEnv("UI/ClickButton-v0")
    env.reset(seed=1)
    for action in ([-1, -1, -1], [1, 1, -1], [9, float("nan"), -1]):
        seen, reward, terminated, _, info = env.step(np.array(action, np.float32))
        assert (reward, terminated, info) == (0.0, False, {"is_success": False})
    written = [str(action) for action in env._env._history]
    env.close()
    assert written == ["move(0, 0)", "move(319, 255)", "move(319, 128)"]
    assert seen["agent_pos"].tolist() == [1.0, 0.0]


def test_slots_can_be_processes_and_the_configuration_names_the_task(env_file: ModuleType) -> None:
    named = SimpleNamespace(task="UI/CheckboxSet-v0")
    found = env_file.make_env(n_envs=2, use_async_envs=True, cfg=named)
    ((number, envs),) = found["ui_gym"].items()
    try:
        assert number == 0
        assert isinstance(envs, AsyncVectorEnv)
        seen, _ = envs.reset(seed=[1, 2])
        assert seen["pixels"].shape == (2, 256, 320, 3)
        assert len(set(envs.call("task_description"))) == 2
        again, *_ = envs.step(np.array([[0, 0, -1], [0, 0, -1]], np.float32))
        assert again["pixels"].any()
    finally:
        envs.close()


def test_a_task_that_is_not_there_is_said(env_file: ModuleType) -> None:
    with pytest.raises(UserError, match="NoSuchTask"):
        env_file.PointerEnv("NoSuchTask")
