"""ClassicTeam: numbers and pictures in place of texts, for learners that know no language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gymnasium.spaces import Box, Space
from pettingzoo import ParallelEnv
from pettingzoo.utils import BaseParallelWrapper

from ui_gym.wrappers.grid import Writer
from ui_gym.wrappers.pictures import Picture, Shrink, picture_of, picture_space


class ClassicTeam(BaseParallelWrapper[str, Picture, int]):
    """Each agent sees its window as a small picture, and acts in a cell of a grid over it.

    The observation space of each agent is ``Box(0, 255, (height, width, channels), uint8)``, its
    action space that of `GridActions`: ``Discrete(columns * rows)`` for clicks alone. Goals are
    told to nobody, so that it suits what is the same in each episode, or what a picture tells.
    """

    def __init__(
        self,
        env: ParallelEnv[str, Any, str],
        columns: int,
        rows: int,
        *,
        kinds: Sequence[str] = ("click",),
        keys: Sequence[str] | None = None,
        size: tuple[int, int] = (84, 84),
        grayscale: bool = False,
    ) -> None:
        """Wrap `env`.

        Args:
            env: A `SharedBoard`, or `shared_inbox_v0.parallel_env()`.
            columns: Cells side by side.
            rows: Cells above each other.
            kinds: As for `GridActions`.
            keys: As for `GridActions`.
            size: Width and height of the pictures, in pixels.
            grayscale: One channel in place of three.

        Raises:
            UserError: an argument cannot be, or the env shows no pictures.
        """
        super().__init__(env)
        first = env.possible_agents[0]
        self._write = Writer(env.action_space(first), columns, rows, kinds, keys)
        self._shrink = Shrink(picture_space(env.observation_space(first)), size, grayscale)
        self._actions = {
            agent: Writer(env.action_space(agent), columns, rows, kinds, keys).grid.space
            for agent in env.possible_agents
        }
        box = self._shrink.box
        self._pictures = {
            agent: Box(0, 255, box.shape, box.dtype.type) for agent in env.possible_agents
        }

    def observation_space(self, agent: str) -> Box:
        """The space of an agent's pictures: the same object each time."""
        return self._pictures[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """The space of an agent's cells: the same object each time."""
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Picture], dict[str, Any]]:
        """As the env's, with small pictures."""
        seen, infos = self.env.reset(seed=seed, options=options)
        return self._small(seen), infos

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Picture], Any, Any, Any, Any]:
        """As the env's, with small pictures. `UserError` for what is no element of the space."""
        texts = {agent: self._write(action) for agent, action in actions.items()}
        seen, rewards, terminated, truncated, infos = self.env.step(texts)
        return self._small(seen), rewards, terminated, truncated, infos

    def _small(self, seen: dict[str, Any]) -> dict[str, Picture]:
        return {agent: self._shrink(picture_of(one)) for agent, one in seen.items()}
