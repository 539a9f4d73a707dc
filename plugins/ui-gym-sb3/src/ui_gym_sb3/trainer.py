"""Stable-Baselines3's algorithms as a trainer: the host owns the run, they own the update.

A step is one rollout of `n_steps` in every env, and what the algorithm learns from it: for PPO one
update, for DQN a gradient step every `train_every` steps. Departures from a plain ``learn()``:

- Episodes are those that the host asks for (its seeds, split and curriculum), and all begin anew
  with each step, so that a resumed run plays the same. One that is open at a step's end is left;
  its value is estimated by the network, as at any rollout's end.
- An episode whose device failed is no result: Stable-Baselines3 sees a truncation, whose value it
  estimates, and the metrics leave it out (``failures`` counts them).
- Exploration of DQN sinks with the env steps of the run, not of a call of ``learn()``.

What needs torch is imported where a trainer is made.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ui_gym.errors import UserError
from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_agents.episode import Episode
from ui_gym_agents.training.context import TrainerContext
from ui_gym_sb3.config import SB3Config

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv


class SB3Trainer:
    """One step: a rollout in all envs, and learning from it."""

    api_version = 1
    Config = SB3Config
    defaults = {
        "env.num_envs": 8,
        "env.dialect": "canonical",
        "env.observation": "both",
        "run.steps": 60,
        "run.eval_every": 20,
        "run.save_every": 20,
        "evaluation.episodes": 100,
    }

    def __init__(self, config: SB3Config, context: TrainerContext) -> None:
        """Make envs, algorithm and agent; the agent becomes the run's player.

        Raises:
            UserError: the observations do not suit, or the grid does not fit the screen.
        """
        import torch

        from ui_gym_agents.training.parts import choose_device
        from ui_gym_sb3 import models
        from ui_gym_sb3.agent import SB3Agent
        from ui_gym_sb3.seeing import Observer

        check_observation(config, context.config.env.observation)
        if context.config.policy.threads is not None:
            torch.set_num_threads(context.config.policy.threads)
        self.config = config
        self.context = context
        self._asked = 0
        self.observer = Observer(config, context.envs.single_action_space)  # type: ignore[arg-type]
        models.check_channels(config, self.observer.space)
        torch.manual_seed(context.derive("network"))
        device = choose_device(context.config.policy.device)
        self.model = models.make_model(config, self._make_envs(), self.observer.grid.parts, device)
        self.agent = SB3Agent(self.model.policy, self.observer, config)
        context.player = self.agent

    def step(self) -> Mapping[str, float]:
        """Play and learn once; returns metrics (times in seconds)."""
        from ui_gym_sb3 import models
        from ui_gym_sb3.callback import StepCallback

        started = time.perf_counter()
        self._asked = 0
        self.model.action_space.seed(self.context.derive("explore", self.context.step))
        self.model._last_obs = None  # every step begins with new episodes
        told = StepCallback()
        steps = self.config.n_steps * self.model.n_envs
        self.model.learn(steps, told, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]
        self._observe(told.ended)
        elapsed = time.perf_counter() - started
        return {
            **describe(told.ended),
            **models.numbers(self.model),
            "env_steps": self.model.num_timesteps,
            "time_env": told.seconds,
            "time_learn": elapsed - told.seconds,
        }

    def save(self, directory: Path) -> None:
        """Write weights, optimizer, counters, what the agent needs, and a DQN's replay buffer."""
        from ui_gym_sb3 import models

        models.save(self.model, directory, replay=self.config.save_replay)
        self.agent.save(directory)

    def load(self, directory: Path) -> None:
        """Continue from what `save` wrote; to the bit, unless the replay buffer was left out."""
        from ui_gym_sb3 import models

        models.load(self.model, directory)

    # -- what is played --

    def _make_envs(self) -> VecEnv:
        """The run's envs as Stable-Baselines3 has them. They are the host's, and it closes them."""
        from stable_baselines3.common.vec_env import VecMonitor

        from ui_gym.wrappers import vector
        from ui_gym_sb3.requested import RequestedEpisodes
        from ui_gym_sb3.vec_env import FlatActions, SB3VecEnv, in_numbers

        config = self.config
        requested = RequestedEpisodes(self.context.envs, self._next_request)
        gridded: Any = vector.GridActions(
            requested, config.columns, config.rows, config.kinds, config.keys
        )
        size = (config.size, config.size)
        seen = in_numbers(
            gridded, size, config.grayscale, config.frames, config.goal_places, config.masked
        )
        if self.observer.flat:
            seen = FlatActions(seen, self.observer.grid.parts)
        return VecMonitor(SB3VecEnv(seen))

    def _next_request(self) -> EpisodeRequest:
        """The next episode of this step."""
        (request,) = self.context.requests(self.context.step, 1, first=self._asked)
        self._asked += 1
        return request

    def _observe(self, ended: list[dict[str, Any]]) -> None:
        """Tell the curriculum how episodes ended."""
        self.context.observe(
            Episode(
                task=str(info["task"]), seed=int(info["seed"]), goal="", turns=[],
                group=str(info["group"]), success=bool(info["success"]), failure=info["failure"],
            )
            for info in ended
        )  # fmt: skip
        failures = Counter(info["failure"] for info in ended if info["failure"])
        if failures:
            (why, _), *_ = failures.most_common(1)
            self.context.note(
                f"step {self.context.step}: {failures.total()} of {len(ended)} episodes count for "
                f"nothing, since their device failed: {why}"
            )


def check_observation(config: SB3Config, observation: str) -> None:
    """Refuse observations that the algorithm cannot learn from.

    Raises:
        UserError: there are no pictures, or no elements for the mask.
    """
    if observation == "elements":
        raise UserError(
            "this trainer learns from pictures: --env.observation both, or screenshot, in place of "
            "elements"
        )
    if config.masked and observation != "both":
        raise UserError(
            "maskable_ppo clicks where elements are, and none are observed: --env.observation "
            "both, or --trainer.algorithm ppo"
        )


def describe(ended: list[dict[str, Any]]) -> dict[str, float]:
    """Metrics of the episodes that ended in a step, by their last infos."""
    good = [info for info in ended if not info["failure"]]
    told: dict[str, float] = {"episodes": len(good), "failures": len(ended) - len(good)}
    if good:
        told |= {
            "success": float(np.mean([bool(info["success"]) for info in good])),
            "reward": float(np.mean([info["episode"]["r"] for info in good])),
            "turns": float(np.mean([info["episode"]["l"] for info in good])),
        }
    return told
