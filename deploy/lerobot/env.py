"""ui-gym for LeRobot's EnvHub: tasks that one pointer can do, in pixels and numbers.

Put this file at the root of a repository on the Hub. LeRobot loads it by
``lerobot.envs.factory.make_env("ORG/REPO@REVISION", n_envs=4, trust_remote_code=True)``; it needs
``pip install 'ui-gym[browser]'`` and chromium-headless-shell there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray

from ui_gym import UIEnv

TASKS = ("UI/ClickButton-v0", "UI/CheckboxSet-v0")
"""Those that need no keyboard."""
SUITE = "ui_gym"

PointerObservation = dict[str, NDArray[Any]]


class PointerEnv(gym.Env[Any, Any]):
    """A task as a policy of robots meets one.

    Observation: ``pixels``, the screenshot, shape (height, width, 3), uint8; ``agent_pos``, where
    the pointer was put last, shape (2,), as in actions. The goal is `task_description`.

    Action: shape (3,), float32 in [-1, 1]: x and y over the screen from left to right and from top
    to bottom, and whether the button is pressed there (above 0) or the pointer only moves.

    Reward: 1 at the end of an episode that succeeded, else 0; ``info["is_success"]`` says it too.

    Raises:
        UserError: there is no such task, or it takes no such argument.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 2}

    def __init__(self, task: str, **arguments: Any) -> None:
        asked: dict[str, Any] = {"compact": True, "reward": "success"}
        self._env = UIEnv(task, **asked | arguments)
        self.task = task
        self.task_description = ""
        self.render_mode = "rgb_array"
        self._max_episode_steps = self._env.max_steps
        width, height = self._env.size
        self._last = np.array([width - 1, height - 1])
        self._picture = np.zeros((height, width, 3), np.uint8)
        self._pointer = np.zeros(2, np.float32)
        pixels = gym.spaces.Box(0, 255, (height, width, 3), np.uint8)
        pointer = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space = gym.spaces.Dict({"pixels": pixels, "agent_pos": pointer})
        self.action_space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[PointerObservation, dict[str, Any]]:
        super().reset(seed=seed)
        seen, info = self._env.reset(seed=seed, options=options)
        self.task_description = str(seen["goal"])
        self._pointer = np.zeros(2, np.float32)
        return self._observe(seen), {"is_success": bool(info["success"])}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[PointerObservation, float, bool, bool, dict[str, Any]]:
        action = np.clip(np.nan_to_num(np.asarray(action, np.float32)), -1.0, 1.0)
        self._pointer = action[:2].copy()
        x, y = np.rint((self._pointer + 1) / 2 * self._last).astype(int).tolist()
        said = f"click({x}, {y})" if action[2] > 0 else f"move({x}, {y})"
        seen, reward, terminated, truncated, info = self._env.step(said)
        told = {"is_success": bool(info["success"])}
        return self._observe(seen), float(reward), terminated, truncated, told

    def render(self) -> Any:
        return self._picture

    def close(self) -> None:
        self._env.close()

    def _observe(self, seen: dict[str, Any]) -> PointerObservation:
        self._picture = np.array(seen["screenshot"])
        return {"pixels": self._picture, "agent_pos": self._pointer}


def make_env(
    n_envs: int = 1, use_async_envs: bool = False, cfg: Any = None
) -> dict[str, dict[int, VectorEnv[Any, Any, Any]]]:
    """A vector env for each task, as LeRobot's evaluation takes them: ``{suite: {number: envs}}``.

    Args:
        n_envs: Slots of each; every slot is a Chromium of its own, which starts at the first reset.
        use_async_envs: A process for each slot.
        cfg: LeRobot's configuration, if any: its ``task``, an id, is then the only one.
    """
    tasks = (cfg.task,) if getattr(cfg, "task", None) else TASKS
    kind: Any = AsyncVectorEnv if use_async_envs else SyncVectorEnv
    made = {
        number: kind([partial(PointerEnv, task)] * n_envs, autoreset_mode=AutoresetMode.SAME_STEP)
        for number, task in enumerate(tasks)
    }
    return {SUITE: made}
