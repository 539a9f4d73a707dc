"""RLlib's PPO learns to press buttons, in slots that Ray actors play.

    pip install 'ui-gym[browser,ray]' torch
    pip install --no-deps dm-tree lz4 ormsgpack pandas pyarrow scipy tensorboardX
    python examples/rllib_grid.py --iterations 30

This program is a Ray program like any other: the env finds the cluster that `ray.init` connected it
to (`workers="ray"`), and spreads its slots over the nodes. RLlib asks for a whole vector env where
``gym_env_vectorize_mode="vector_entry_point"`` says so: its `env_creator` is then called with
``num_envs``, once in each EnvRunner. ``ray[rllib]`` pins an older Gymnasium than ui-gym needs,
hence the second line above.

What can be learned here is to see where buttons are, since the picture does not say which one is
meant: clicks at random succeed in about a sixth of the episodes, and a half is the most.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
import ray
from gymnasium import Env
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv, VectorObservationWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune.registry import register_env

from ui_gym.playing.vector import UIVectorEnv
from ui_gym.wrappers.vector import GridActions, ResizeScreenshot, ScreenshotOnly

TASK: dict[str, Any] = {"task": "UI/ClickButton-v0", "compact": True, "count": 2}
SIZE, COLUMNS, ROWS = (40, 32), 5, 8


class Ink(VectorObservationWrapper):
    """Pictures as vectors of how dark each pixel is, in [0, 1]: a page is nearly all white."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        shape = (int(np.prod(env.single_observation_space.shape or ())),)
        self.single_observation_space = Box(0.0, 1.0, shape, np.float32)
        self.observation_space = Box(0.0, 1.0, (env.num_envs, *shape), np.float32)

    def observations(self, observations: Any) -> Any:
        return 1 - np.asarray(observations, np.float32).reshape(self.num_envs, -1) / 255


def make_slots(config: Mapping[str, Any]) -> Env[Any, Any] | VectorEnv[Any, Any, Any]:
    """RLlib's `env_creator`."""
    envs: Any = UIVectorEnv(
        config["num_envs"], workers=config["workers"], autoreset_mode=AutoresetMode.NEXT_STEP,
        **TASK,
    )  # fmt: skip
    envs = ScreenshotOnly(ResizeScreenshot(envs, SIZE, grayscale=True))
    return Ink(GridActions(envs, COLUMNS, ROWS))


def configured(options: argparse.Namespace) -> PPOConfig:
    config = PPOConfig().environment("slots", env_config={"workers": options.workers})
    config.env_runners(
        num_env_runners=0,  # the slots are elsewhere already
        num_envs_per_env_runner=options.num_envs,
        gym_env_vectorize_mode="vector_entry_point",
        rollout_fragment_length="auto",
    )
    config.learners(num_learners=0)
    config.training(
        train_batch_size=32 * options.num_envs, minibatch_size=128, num_epochs=8, lr=1e-3,
        gamma=0.5, entropy_coeff=0.01, use_kl_loss=False, grad_clip=0.5,
    )  # fmt: skip
    config.rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64]))
    config.debugging(seed=options.seed, log_level="ERROR")
    return config


def main() -> None:
    told = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    told.add_argument("--address", help="A Ray cluster; else one is started here.")
    told.add_argument("--workers", default="ray?slots=4", help="What plays the slots.")
    told.add_argument("--num-envs", type=int, default=8)
    told.add_argument("--iterations", type=int, default=60)
    told.add_argument("--seed", type=int, default=0)
    options = told.parse_args()
    ray.init(address=options.address or "local", log_to_driver=False, include_dashboard=False)
    register_env("slots", make_slots)
    algorithm = configured(options).build_algo()
    for iteration in range(1, options.iterations + 1):
        result = algorithm.train()
        played = result["env_runners"]
        print(
            f"{iteration:3}  steps {played['num_env_steps_sampled_lifetime']:6.0f}  "
            f"return {played.get('episode_return_mean', float('nan')):.3f}  "
            f"{result['time_this_iter_s']:.1f} s",
            flush=True,
        )
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
