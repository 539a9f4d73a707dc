"""Stable-Baselines3 on `UIVectorEnv`: its algorithms get our slots instead of a loop over envs.

    from stable_baselines3 import PPO
    from ui_gym_sb3 import make_sb3

    envs = make_sb3("UI/ClickButton-v0", 8, size=(80, 64), columns=10, rows=8, compact=True)
    PPO("CnnPolicy", envs).learn(10_000)

A single env, wrapped by `ui_gym.wrappers`, is an ordinary Gymnasium env and needs nothing of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Dict, Discrete, Text
from gymnasium.vector import AutoresetMode, VectorActionWrapper, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.wrappers import vector

MASKS = "action_masks"
"""The method that sb3-contrib asks an env for what may be chosen."""


class SB3VecEnv(VecEnv):
    """A Gymnasium vector env in Stable-Baselines3's terms.

    What they differ in: seeds and options are put down for the next reset; a slot whose episode
    ends shows the next one's first observation at once, with the last observation in
    ``infos[slot]["terminal_observation"]``; infos are one dict a slot. Where the vector env is
    wrapped in `ClickableCells`, sb3-contrib gets the masks that it asks for by ``action_masks``.
    """

    def __init__(self, env: VectorEnv[Any, Any, NDArray[Any]]) -> None:
        """Adapt `env`, which is closed with this.

        Raises:
            UserError: its autoreset mode is not ``SameStep``, or it shows or takes texts.
        """
        if env.metadata.get("autoreset_mode") != AutoresetMode.SAME_STEP:
            raise UserError(
                "Stable-Baselines3 expects the next episode's first observation in the step that "
                'ends one: make the vector env with autoreset_mode="SameStep"'
            )
        seen, done = env.single_observation_space, env.single_action_space
        shown = seen.spaces.values() if isinstance(seen, Dict) else [seen]
        if any(isinstance(space, Text) for space in (*shown, done)):
            raise UserError(
                "Stable-Baselines3 knows no texts: wrap the vector env in ScreenshotOnly (or "
                "GoalWords) and GridActions of ui_gym.wrappers.vector"
            )
        self.env = env
        self._masking = _masking(env)
        self._actions: NDArray[Any] | None = None
        super().__init__(env.num_envs, seen, done)

    def reset(self) -> VecEnvObs:
        """Begin new episodes in all slots, with the seeds and options that were put down."""
        options = self._options[0]
        if any(other != options for other in self._options):
            raise UserError(
                "the options of all slots are one dict; its values may be lists, one a slot "
                "(see UIVectorEnv.reset)"
            )
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        observations, infos = self.env.reset(seed=seeds, options=options or None)  # type: ignore[arg-type]
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [info_of(infos, slot) for slot in range(self.num_envs)]
        return observations  # type: ignore[no-any-return]

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        observations, rewards, terminations, truncations, batch = self.env.step(self._actions)
        infos = [info_of(batch, slot) for slot in range(self.num_envs)]
        for slot, info in enumerate(infos):
            if "final_info" in info:
                last, final = info.pop("final_obs"), info.pop("final_info")
                self.reset_infos[slot] = info
                infos[slot] = {**final, "terminal_observation": last}
            infos[slot]["TimeLimit.truncated"] = bool(truncations[slot] and not terminations[slot])
        dones = np.logical_or(terminations, truncations)
        return observations, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        self.env.close()

    def get_images(self) -> Sequence[NDArray[Any] | None]:
        """The screen of every slot, in ``rgb_array`` mode."""
        return self.env.render() or ()  # type: ignore[return-value]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of the env in each slot asked for; ``action_masks`` is the masking's."""
        if attr_name == MASKS and self._masking is not None:
            return [self._masking.action_masks for _ in self._get_indices(indices)]
        envs: Any = self.env.unwrapped
        values = envs.get_attr(attr_name)
        return [values[slot] for slot in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise AttributeError(f"{attr_name} cannot be set: the slots of a vector env are no envs")

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """What may be chosen in each slot asked for, if that is what is called."""
        if method_name == MASKS and self._masking is not None:
            masks = self._masking.action_masks()
            return [masks[slot] for slot in self._get_indices(indices)]
        raise AttributeError(f"{method_name}() of one slot: the slots of a vector env are no envs")

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]],
        indices: VecEnvIndices = None,
    ) -> list[bool]:  # fmt: skip
        """False for each: only the vector env as a whole is wrapped."""
        return [False for _ in self._get_indices(indices)]


def make_sb3(
    task: str,
    num_envs: int,
    *,
    size: tuple[int, int],
    columns: int,
    rows: int,
    kinds: Sequence[str] = ("click",),
    keys: Sequence[str] | None = None,
    grayscale: bool = False,
    frames: int = 1,
    goal: int = 0,
    mask: bool = False,
    **arguments: Any,
) -> SB3VecEnv:
    """`num_envs` slots of a task, in numbers and pictures.

    Args:
        task: An id or a name.
        num_envs: How many slots.
        size: Width and height of the pictures.
        columns, rows, kinds, keys: As for `GridActions`.
        grayscale: As for `ResizeScreenshot`.
        frames: How many pictures an observation holds, as for `FrameHistory`.
        goal: Places for the goal's words, as for `GoalWords`: observations are a dict then. 0: the
            picture alone.
        mask: Whether ``action_masks`` tells the cells that can be clicked, as for `ClickableCells`.
        arguments: As for `UIVectorEnv`, the task's own among them.

    Raises:
        UserError: an argument that is unknown or cannot be.
    """
    if mask:
        arguments = {"observation": "both", **arguments}
    envs = UIVectorEnv(num_envs, task, autoreset_mode=AutoresetMode.SAME_STEP, **arguments)
    try:
        gridded = vector.GridActions(envs, columns, rows, kinds, keys)
        return SB3VecEnv(in_numbers(gridded, size, grayscale, frames, goal, mask))
    except BaseException:
        envs.close()
        raise


class FlatActions(VectorActionWrapper[Any, Any, Any, NDArray[Any]]):
    """Actions of several parts as one number, which counts all combinations: what DQN needs."""

    def __init__(self, env: VectorEnv[Any, Any, Any], parts: Mapping[str, int]) -> None:
        """Wrap `env`, whose actions have these `parts` (`Grid.parts`)."""
        super().__init__(env)
        self._counts = tuple(parts.values())
        self.single_action_space = Discrete(int(np.prod(self._counts)))
        self.action_space = batch_space(self.single_action_space, env.num_envs)

    def actions(self, actions: NDArray[Any]) -> NDArray[np.intp]:
        """Shape (N,) in, (N, parts) out."""
        return np.stack(np.unravel_index(actions, self._counts), axis=-1)


def in_numbers(
    env: VectorEnv[Any, Any, Any],
    size: tuple[int, int],
    grayscale: bool,
    frames: int,
    goal: int,
    mask: bool,
) -> VectorEnv[Any, Any, Any]:
    """`env`, which has `GridActions`, seen as numbers and pictures; the rest is as for `make_sb3`.

    Raises:
        UserError: an argument cannot be, or the env shows no pictures, or no elements for a mask.
    """
    if mask:
        env = vector.ClickableCells(env)
    env = vector.ResizeScreenshot(env, size, grayscale)
    if frames > 1:
        env = vector.FrameHistory(env, frames)
    return vector.GoalWords(env, goal) if goal else vector.ScreenshotOnly(env)


def _masking(env: VectorEnv[Any, Any, Any]) -> vector.ClickableCells | None:
    """The `ClickableCells` that an env is wrapped in, if any."""
    while isinstance(env, VectorWrapper):
        if isinstance(env, vector.ClickableCells):
            return env
        env = env.env
    return None


def info_of(infos: dict[str, Any], slot: int) -> dict[str, Any]:
    """One slot's info out of a vector env's, in which ``_key`` says which slots have ``key``."""
    return {
        key: info_of(value, slot) if isinstance(value, dict) else value[slot]
        for key, value in infos.items()
        if not key.startswith("_") and infos[f"_{key}"][slot]
    }
