"""RequestedEpisodes: a run's envs, in which every episode is the next that a trainer asks for.

The host's vector env resets nothing by itself: each episode is begun with a seed, a task and a
split. Stable-Baselines3 wants the next episode in the step that ends one. This does both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from ui_gym.wrappers.vector import Result
from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_sb3.vec_env import info_of

NextRequest = Callable[[], EpisodeRequest]
"""Gives the episodes to play, one after another."""


class RequestedEpisodes(VectorWrapper[Any, Any, Any, Any, NDArray[Any]]):
    """`env`, in autoreset mode ``SAME_STEP``, whose episodes are those that `next_request` gives.

    Slots that end in one step get the next requests in the slots' order, so that what is played
    does not depend on how fast a slot is. An episode's last info names its ``group``.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], next_request: NextRequest) -> None:
        """Wrap `env`, whose autoreset mode is ``DISABLED``."""
        super().__init__(env)
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
        self._next = next_request
        self._requests: list[EpisodeRequest | None] = [None] * env.num_envs

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Leave all episodes and begin new ones. Requests have seeds and options of their own."""
        return self._begin(np.ones(self.num_envs, np.bool_))

    def step(self, actions: Any) -> Result:
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        ended = np.logical_or(terminations, truncations)
        if not ended.any():
            return observations, rewards, terminations, truncations, infos
        groups = {slot: self._group(slot) for slot in np.flatnonzero(ended).tolist()}
        begun, fresh = self._begin(ended)
        merged: dict[str, Any] = {}
        for slot in range(self.num_envs):
            info = info_of(fresh if ended[slot] else infos, slot)
            if ended[slot]:
                info["final_obs"] = {name: seen[slot] for name, seen in observations.items()}
                info["final_info"] = {**info_of(infos, slot), "group": groups[slot]}
            merged = self.env._add_info(merged, info, slot)
        return begun, rewards, terminations, truncations, merged

    def _begin(self, mask: NDArray[np.bool_]) -> tuple[Any, dict[str, Any]]:
        """Begin the next episodes in the slots of `mask`."""
        options: dict[str, list[Any]] = {}
        seeds: list[int | None] = [None] * self.num_envs
        for slot in np.flatnonzero(mask).tolist():
            request = self._requests[slot] = self._next()
            seeds[slot] = request.seed
            for name, value in request.reset_options().items():
                options.setdefault(name, [None] * self.num_envs)[slot] = value
        return self.env.reset(seed=seeds, options={**options, "reset_mask": mask})  # type: ignore[arg-type]

    def _group(self, slot: int) -> str:
        request = self._requests[slot]
        return "" if request is None else request.group
