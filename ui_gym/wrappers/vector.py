"""The wrappers for vector envs: the same names, arguments and meaning, over all slots at once.

They keep to every autoreset mode, `final_obs` in the infos included. What `UIVectorEnv.send` and
`recv` move passes by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode, VectorActionWrapper, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ui_gym.wrappers.cells import CellMask, Mask, grid_of, without_elements
from ui_gym.wrappers.goals import GoalVector, seen_with_goal
from ui_gym.wrappers.grid import Grid, Writer
from ui_gym.wrappers.pictures import (
    History,
    Picture,
    Shrink,
    picture_of,
    picture_space,
    with_picture,
    with_picture_space,
)

Array = NDArray[Any]
Result = tuple[Any, Array, Array, Array, dict[str, Any]]
"""What `step` returns."""


class GridActions(VectorActionWrapper[Any, Any, Any, Array]):
    """As `ui_gym.wrappers.GridActions`; actions are of shape (N,), or (N, parts)."""

    def __init__(
        self,
        env: VectorEnv[Any, Any, Array],
        columns: int,
        rows: int,
        kinds: Sequence[str] = ("click",),
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(env)
        self._write = Writer(env.single_action_space, columns, rows, kinds, keys)
        self.grid = self._write.grid
        self.single_action_space = self.grid.space
        self.action_space = batch_space(self.grid.space, env.num_envs)

    def actions(self, actions: Any) -> list[str]:
        return [self._write(choice) for choice in actions]


class _Observations(VectorWrapper[Any, Any, Any, Any, Array]):
    """Changes observations one by one, the last ones of episodes included."""

    def _shows(self, space: Space[Any]) -> None:
        self.single_observation_space = space
        self.observation_space = batch_space(space, self.env.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observations, infos = self.env.reset(seed=seed, options=options)
        return self.observations(observations), infos

    def step(self, actions: Any) -> Result:
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        for slot in _final(infos):
            infos["final_obs"][slot] = self.observation(infos["final_obs"][slot])
        return self.observations(observations), rewards, terminations, truncations, infos

    def observation(self, observation: Any) -> Any:
        """What becomes of one slot's observation."""
        raise NotImplementedError

    def observations(self, observations: Any) -> Any:
        """What becomes of a batch."""
        raise NotImplementedError


class ResizeScreenshot(_Observations):
    """As `ui_gym.wrappers.ResizeScreenshot`; a batch is of shape (N, height, width, 3 or 1)."""

    def __init__(
        self, env: VectorEnv[Any, Any, Array], size: tuple[int, int], grayscale: bool = False
    ) -> None:
        super().__init__(env)
        space = env.single_observation_space
        self._shrink = Shrink(picture_space(space), size, grayscale)
        self._shows(with_picture_space(space, self._shrink.box))

    def observation(self, observation: Any) -> Any:
        return with_picture(observation, self._shrink(picture_of(observation)))

    def observations(self, observations: Any) -> Any:
        small = np.stack([self._shrink(picture) for picture in picture_of(observations)])
        return with_picture(observations, small)


class ScreenshotOnly(_Observations):
    """As `ui_gym.wrappers.ScreenshotOnly`; a batch is of shape (N, height, width, channels)."""

    def __init__(self, env: VectorEnv[Any, Any, Array]) -> None:
        super().__init__(env)
        self._shows(picture_space(env.single_observation_space))

    def observation(self, observation: Any) -> Picture:
        return picture_of(observation)

    def observations(self, observations: Any) -> Picture:
        return picture_of(observations)


class GoalWords(_Observations):
    """As `ui_gym.wrappers.GoalWords`; goals of a batch are of shape (N, length)."""

    def __init__(self, env: VectorEnv[Any, Any, Array], length: int = 64) -> None:
        super().__init__(env)
        self._words = GoalVector(length)
        self._shows(seen_with_goal(env.single_observation_space, self._words))

    def observation(self, observation: Any) -> Any:
        return {"screenshot": picture_of(observation), "goal": self._words(observation["goal"])}

    def observations(self, observations: Any) -> Any:
        goals = np.stack([self._words(goal) for goal in observations["goal"]])
        return {"screenshot": picture_of(observations), "goal": goals}


class ClickableCells(_Observations):
    """As `ui_gym.wrappers.ClickableCells`; `action_masks` are of shape (N, values)."""

    def __init__(self, env: VectorEnv[Any, Any, Array]) -> None:
        super().__init__(env)
        self._mask = CellMask(grid_of(lambda name: _grid_below(env)))
        self._shows(without_elements(env.single_observation_space))
        self._elements: Sequence[str] = [""] * env.num_envs

    def action_masks(self) -> Mask:
        """What may be chosen now in each slot, shape (N, values of all parts), bool."""
        return np.stack([self._mask(text) for text in self._elements])

    def observation(self, observation: Any) -> Any:
        return {name: value for name, value in observation.items() if name != "elements"}

    def observations(self, observations: Any) -> Any:
        self._elements = observations["elements"]
        return self.observation(observations)


class FrameHistory(_Observations):
    """As `ui_gym.wrappers.FrameHistory`; each slot's history begins anew with its episodes."""

    def __init__(self, env: VectorEnv[Any, Any, Array], k: int) -> None:
        super().__init__(env)
        space = env.single_observation_space
        self._history = History(picture_space(space), k)
        self._shows(with_picture_space(space, self._history.box))
        self._frames: Picture | None = None
        self._ended = np.zeros(env.num_envs, np.bool_)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observations, infos = self.env.reset(seed=seed, options=options)
        begun = self._history.begin(picture_of(observations))
        if self._frames is None or not options or "reset_mask" not in options:
            self._frames = begun
            self._ended[:] = False
        else:
            mask = options["reset_mask"]
            self._frames[mask] = begun[mask]
            self._ended[mask] = False
        return with_picture(observations, self._frames.copy()), infos

    def step(self, actions: Any) -> Result:
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        assert self._frames is not None, "step() would have raised ResetNeeded"
        pictures = picture_of(observations)
        frames = self._history.push(self._frames, pictures)
        final = _final(infos)
        for slot in final:
            last = infos["final_obs"][slot]
            pushed = self._history.push(self._frames[slot], picture_of(last))
            infos["final_obs"][slot] = with_picture(last, pushed)
        # Where this observation is an episode's first: of the step after its end, or of the same.
        fresh = final
        if self.env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP:
            fresh = np.flatnonzero(self._ended)
        frames[fresh] = self._history.begin(pictures[fresh])
        self._frames = frames
        self._ended = np.logical_or(terminations, truncations)
        return with_picture(observations, frames.copy()), rewards, terminations, truncations, infos


def _grid_below(env: Any) -> Grid | None:
    """The grid of the `GridActions` that an env is wrapped in, if any."""
    while isinstance(env, VectorWrapper):
        if isinstance(env, GridActions):
            return env.grid
        env = env.env
    return None


def _final(infos: dict[str, Any]) -> NDArray[np.intp]:
    """The slots whose episodes ended and began anew in one step."""
    return np.flatnonzero(infos["_final_obs"]) if "final_obs" in infos else np.array([], np.intp)
