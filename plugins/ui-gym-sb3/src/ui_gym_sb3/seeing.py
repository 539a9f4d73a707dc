"""Observer: what a network sees of one episode, out of its pictures, goal and elements.

It is made of the same parts as the wrappers that training sees through (`vec_env.in_numbers`), so
that a network is asked the same whoever plays: Stable-Baselines3's loop, or the host's collector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from numpy.typing import NDArray

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym.playing.spaces import ActionText
from ui_gym.wrappers import CellMask, GoalVector
from ui_gym.wrappers.grid import Writer
from ui_gym.wrappers.pictures import History, Shrink
from ui_gym_sb3.config import SB3Config

Seen = dict[str, NDArray[Any]] | NDArray[np.uint8]
"""An observation, or a batch of them: of a `screenshot` (uint8, channels last) and a `goal`, or of
the screenshot alone."""


class Observer:
    """Turns views into observations, and choices into action texts.

    Attributes:
        actions: The action space of the env.
        space: Of observations.
        action_space: Of choices: the grid's, or a `Discrete` of all its combinations for dqn.
        grid: What choices mean.
    """

    def __init__(self, config: SB3Config, actions: ActionText) -> None:
        """`actions` is the action space of the env: its dialect, and its screen's size in pixels.

        Raises:
            UserError: the grid does not fit the screen, or the dialect lacks words for it.
        """
        grid = (config.columns, config.rows, config.kinds, config.keys)
        self.actions = actions
        self._write = Writer(actions, *grid)
        self.grid = self._write.grid
        self._mask = CellMask(self.grid)
        screen = Box(0, 255, (actions.size[1], actions.size[0], 3), np.uint8)
        self._shrink = Shrink(screen, (config.size, config.size), config.grayscale)
        self._history = History(self._shrink.box, config.frames)
        self._goal = GoalVector(config.goal_places) if config.goal_places else None
        self.space: Space[Any] = self._history.box
        if self._goal is not None:
            self.space = Dict({"screenshot": self._history.box, "goal": self._goal.box})
        self.flat = config.algorithm == "dqn" and isinstance(self.grid.space, MultiDiscrete)
        self.action_space: Space[Any] = self.grid.space
        if self.flat:
            self.action_space = Discrete(int(np.prod(list(self.grid.parts.values()))))

    def see(self, pictures: Sequence[Image], goal: str) -> Seen:
        """The observation after `pictures`, the oldest first. `UserError` where there are none."""
        if not pictures:
            raise UserError(
                "this policy needs pictures, and the env shows elements alone: ask for "
                'observation="screenshot" or "both"'
            )
        length = self._history.length
        kept = [self._shrink(picture) for picture in pictures[-length:]]
        kept = [kept[0]] * (length - len(kept)) + kept
        picture = np.concatenate(kept, axis=-1)
        return picture if self._goal is None else {"screenshot": picture, "goal": self._goal(goal)}

    def mask(self, elements: str) -> NDArray[np.bool_]:
        """What may be chosen, shape (values of all parts,), bool."""
        return self._mask(elements)

    def text(self, choice: Any) -> str:
        """The action text of an element of `action_space`."""
        return self._write(unflatten(self.grid.parts, int(choice)) if self.flat else choice)


def unflatten(parts: dict[str, int], choice: int) -> NDArray[np.intp]:
    """The value of each part that a number stands for, where all combinations are counted."""
    return np.array(np.unravel_index(choice, tuple(parts.values())))


def batch(seen: Sequence[Seen]) -> Any:
    """Observations as one, with a first dimension more."""
    if isinstance(seen[0], dict):
        each: Any = seen
        return {name: np.stack([one[name] for one in each]) for name in seen[0]}
    return np.stack(seen)  # type: ignore[arg-type]
