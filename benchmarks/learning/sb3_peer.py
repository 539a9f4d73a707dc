"""MiniWoB++'s own env under Stable-Baselines3, with the observations, actions and settings of ours.

It needs the distribution `miniwob` and chromedriver. Eight processes play side by side, a Chrome
each, as Stable-Baselines3 does it (`SubprocVecEnv`).
"""

from __future__ import annotations

import os
import shutil
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv, VecMonitor

from ui_gym.contract.device import Element
from ui_gym.wrappers import CellMask, GoalVector, Grid
from ui_gym.wrappers.pictures import Shrink
from ui_gym_sb3 import SB3Config

TASK, SIZE = "click-tab", (160, 210)
COLUMNS, ROWS = 16, 21
ENVS = 8
CLICKABLE = {"a": "link", "button": "button", "input": "textbox", "input_button": "button",
             "input_checkbox": "checkbox", "input_radio": "radio", "input_text": "textbox",
             "select": "combobox", "textarea": "textbox"}  # fmt: skip
"""Tags of the DOM that MiniWoB++ tells, as the roles of what can be clicked."""


class OwnEnv(gymnasium.Env[Any, Any]):
    """MiniWoB++'s env in our terms: picture and goal in, a cell out, masks from its DOM elements.

    Its reward falls with time and is -1 for a wrong click; here, as in ours, it is 1 or 0.
    """

    def __init__(self, seed: int) -> None:
        from ui_gym.browser.chromium.process import find_browser

        driver = shutil.which("chromedriver")
        assert driver is not None, "needs chromedriver (Debian: apt-get install chromium-driver)"
        os.environ["MINIWOB_CHROME_BINARY"] = find_browser()
        os.environ["MINIWOB_CHROMEDRIVER"] = driver
        import miniwob

        gymnasium.register_envs(miniwob)
        self.env: Any = gymnasium.make(f"miniwob/{TASK}-v1", disable_env_checker=True).unwrapped
        self.grid = Grid(SIZE, COLUMNS, ROWS)
        self._mask, self._goal = CellMask(self.grid), GoalVector(64)
        self._shrink = Shrink(Box(0, 255, (SIZE[1], SIZE[0], 3), np.uint8), (84, 84), False)
        self.observation_space = Dict({"screenshot": self._shrink.box, "goal": self._goal.box})
        self.action_space = Discrete(COLUMNS * ROWS)
        self._seeds = np.random.default_rng(seed)
        self._steps = 0
        self._allowed = np.ones(COLUMNS * ROWS, np.bool_)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        drawn = int(self._seeds.integers(2**31)) if seed is None else seed
        observation, _ = self.env.reset(seed=drawn)
        self._steps = 0
        return self._see(observation), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        from miniwob.action import ActionTypes

        at = np.array(self.grid.center(int(action)), np.float32)
        click = self.env.create_action(ActionTypes.CLICK_COORDS, coords=at)
        observation, reward, terminated, truncated, _ = self.env.step(click)
        self._steps += 1
        truncated = bool(truncated or (self._steps >= 10 and not terminated))
        success = bool(terminated and reward > 0)
        # After its end, an episode of MiniWoB++ has an empty observation.
        return self._see(observation), float(success), bool(terminated), truncated, {
            "success": success
        }  # fmt: skip

    def action_masks(self) -> Any:
        return self._allowed

    def close(self) -> None:
        self.env.close()

    def _see(self, observation: dict[str, Any]) -> dict[str, Any]:
        elements = [
            Element(0, CLICKABLE[e["tag"]], "", tuple(int(float(e[k][0])) for k in
                    ("left", "top", "width", "height")))
            for e in observation["dom_elements"] if e["tag"] in CLICKABLE
        ]  # fmt: skip
        self._allowed = self._mask.cells(elements)
        picture = np.ascontiguousarray(observation["screenshot"][: SIZE[1], : SIZE[0], :3])
        return {"screenshot": self._shrink(picture), "goal": self._goal(observation["utterance"])}


class OutOfTime(BaseCallback):
    """Ends training after a number of seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._until = time.monotonic() + seconds

    def _on_step(self) -> bool:
        return time.monotonic() < self._until


def learn(seed: int, seconds: float, episodes: int = 200) -> dict[str, Any]:
    """Train for so many seconds, and measure greedily on other seeds."""
    import torch

    from ui_gym_sb3 import models

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)
    config = SB3Config(columns=COLUMNS, rows=ROWS)
    made = [lambda number=number: OwnEnv(1000 * seed + number) for number in range(ENVS)]
    envs = VecMonitor(SubprocVecEnv(made, start_method="spawn"))  # type: ignore[arg-type]
    try:
        model = models.make_model(config, envs, {"cell": COLUMNS * ROWS}, "cpu")
        envs.reset()
        started = time.monotonic()
        model.learn(10**9, OutOfTime(seconds), log_interval=None)  # type: ignore[arg-type]
        elapsed = time.monotonic() - started
        told = {"seed": seed, "seconds": round(elapsed, 1), "env_steps": model.num_timesteps}
        return {**told, "success": successes(model, envs, episodes) / episodes, "n": episodes}
    finally:
        envs.close()


def successes(model: Any, envs: VecEnv, episodes: int) -> int:
    """How many of the next episodes are solved greedily, as many in each env."""
    share = episodes // envs.num_envs
    won, done = 0, np.zeros(envs.num_envs, int)
    seen = envs.reset()
    while (done < share).any():
        masks = np.stack(envs.env_method("action_masks"))
        actions, _ = model.predict(seen, deterministic=True, action_masks=masks)
        seen, _, dones, infos = envs.step(actions)
        for slot in np.flatnonzero(dones):
            if done[slot] < share:
                done[slot] += 1
                won += infos[slot]["success"]
    return won
