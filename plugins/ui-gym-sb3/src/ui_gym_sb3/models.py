"""Stable-Baselines3's algorithms, made from a configuration, and what is kept of them.

Stable-Baselines3's own `save` pickles. Here weights, the optimizer and the replay buffer are
safetensors, and counters are JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, Space
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.buffers import DictReplayBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.preprocessing import is_image_space_channels_first
from stable_baselines3.common.vec_env import VecEnv, VecTransposeImage

from ui_gym.errors import UserError
from ui_gym_agents.training.tensors import (
    load_optimizer,
    load_tensors,
    save_optimizer,
    save_tensors,
)
from ui_gym_sb3.config import SB3Config
from ui_gym_sb3.network import CellPolicy, CellQPolicy, MaskableCellPolicy

Model = PPO | MaskablePPO | DQN

OPTIMIZER, POLICY, REPLAY, COUNTERS = (
    "optimizer.safetensors", "policy.safetensors", "replay.safetensors", "counters.json",
)  # fmt: skip

_SHARED = ("pi_features_extractor.", "vf_features_extractor.")
_SHARED_AS = re.compile("^(pi|vf)_features_extractor[.]")

CELL_POLICIES: dict[str, Any] = {
    "ppo": CellPolicy,
    "maskable_ppo": MaskableCellPolicy,
    "dqn": CellQPolicy,
}


def make_model(config: SB3Config, envs: VecEnv, parts: Mapping[str, int], device: str) -> Model:
    """The algorithm on `envs`, whose actions have these `parts`. It logs nowhere.

    Its weights are drawn from torch's generator, which the caller seeds.
    """
    policy, given = policy_of(config, envs.observation_space, parts)
    shared: dict[str, Any] = {
        "policy": policy, "env": envs, "policy_kwargs": given, "learning_rate": config.lr,
        "batch_size": config.batch_size, "gamma": config.gamma,
        "max_grad_norm": config.max_grad_norm, "device": device,
    }  # fmt: skip
    model: Model
    if config.algorithm == "dqn":
        model = DQN(
            **shared, buffer_size=config.buffer_size, learning_starts=config.learning_starts,
            train_freq=config.train_every, gradient_steps=config.gradient_steps,
            target_update_interval=config.target_update_every,
        )  # fmt: skip
        # Its own schedule begins anew with each call of `learn`, of which every step has one.
        model.exploration_schedule = lambda _: exploration(config, model.num_timesteps)
    else:
        kind = MaskablePPO if config.masked else PPO
        model = kind(
            **shared, n_steps=config.n_steps, n_epochs=config.n_epochs,
            gae_lambda=config.gae_lambda, ent_coef=config.ent_coef, vf_coef=config.vf_coef,
            clip_range=config.clip_range, target_kl=config.target_kl,
        )  # fmt: skip
    model.set_logger(Logger(None, []))
    return model


def policy_of(
    config: SB3Config, space: Space[Any], parts: Mapping[str, int]
) -> tuple[Any, dict[str, Any]]:
    """The class of a policy, or its name, and its arguments; `space` is of observations."""
    if config.network == "nature":
        name = "MultiInputPolicy" if isinstance(space, Dict) else "CnnPolicy"
        return name, {"net_arch": list(config.net_arch)}
    sizes = {"columns": config.columns, "rows": config.rows, "width": config.width}
    given: dict[str, Any] = {"parts": dict(parts), "features_extractor_kwargs": sizes}
    if config.algorithm == "dqn":
        given["net_arch"] = []
    return CELL_POLICIES[config.algorithm], given


def exploration(config: SB3Config, steps: int) -> float:
    """The share of actions at random after so many env steps: from 1 down to its last, evenly."""
    share = min(1.0, steps / config.exploration_steps)
    return 1.0 + share * (config.exploration_final - 1.0)


def bare_policy(
    config: SB3Config, space: Space[Any], action_space: Space[Any], parts: Mapping[str, int]
) -> BasePolicy:
    """A policy without algorithm and envs, as `make_model` would make it."""
    policy, given = policy_of(config, space, parts)
    if isinstance(policy, str):
        kind = {"ppo": PPO, "maskable_ppo": MaskablePPO, "dqn": DQN}[config.algorithm]
        policy = kind.policy_aliases[policy]  # type: ignore[attr-defined]
    made: BasePolicy = policy(channels_first(space), action_space, lambda _: config.lr, **given)
    return made


def channels_first(space: Space[Any]) -> Space[Any]:
    """The space as a network has it: pictures with channels first."""
    if not isinstance(space, Dict):
        return VecTransposeImage.transpose_space(space)  # type: ignore[arg-type]
    picture = VecTransposeImage.transpose_space(space["screenshot"])  # type: ignore[arg-type]
    return Dict({**space.spaces, "screenshot": picture})


def check_channels(config: SB3Config, space: Space[Any]) -> None:
    """Refuse pictures whose channels Stable-Baselines3 would take for their height.

    Raises:
        UserError: there are more channels than pixels in a side.
    """
    picture = space["screenshot"] if isinstance(space, Dict) else space
    if is_image_space_channels_first(picture):  # type: ignore[arg-type]
        raise UserError(
            f"{config.frames} frames are more channels than the picture is wide ({config.size}): "
            "take fewer, or grayscale"
        )


# -- what is kept --


def save(model: Model, directory: Path, *, replay: bool) -> None:
    """Write weights, optimizer and counters, and the replay buffer of a DQN, if `replay`."""
    save_tensors(directory / POLICY, weights_of(model.policy))
    save_optimizer(model.policy.optimizer, directory / OPTIMIZER)
    counters: dict[str, Any] = {
        "num_timesteps": model.num_timesteps,
        "n_updates": model._n_updates,
        "episodes": model._episode_num,
    }
    if isinstance(model, DQN):
        counters |= {"calls": model._n_calls, "exploration_rate": model.exploration_rate}
        if replay:
            counters["replay"] = _save_replay(model, directory / REPLAY)
    (directory / COUNTERS).write_text(json.dumps(counters), encoding="utf-8")


def load(model: Model, directory: Path) -> None:
    """Become what `save` wrote, to the bit, where the replay buffer was kept."""
    put_weights(model.policy, load_tensors(directory / POLICY))
    load_optimizer(model.policy.optimizer, directory / OPTIMIZER)
    counters = json.loads((directory / COUNTERS).read_text(encoding="utf-8"))
    model.num_timesteps = counters["num_timesteps"]
    model._n_updates = counters["n_updates"]
    model._episode_num = counters["episodes"]
    if isinstance(model, DQN):
        model._n_calls = counters["calls"]
        model.exploration_rate = counters["exploration_rate"]
        if "replay" in counters:
            _load_replay(model, directory / REPLAY, counters["replay"])
        else:  # a new buffer is filled first
            model.learning_starts += model.num_timesteps


def weights_of(policy: BasePolicy) -> dict[str, Any]:
    """A policy's weights, each once: its parts share one extractor of features."""
    state = policy.state_dict()
    return {name: value for name, value in state.items() if not name.startswith(_SHARED)}


def put_weights(policy: BasePolicy, weights: Mapping[str, Any]) -> None:
    """Give a policy what `weights_of` took.

    Raises:
        RuntimeError: they are of another network.
    """
    whole = {name: weights.get(_SHARED_AS.sub("features_extractor.", name)) for name in
             policy.state_dict()}  # fmt: skip
    policy.load_state_dict({**weights, **{n: v for n, v in whole.items() if v is not None}})


def _arrays(model: DQN) -> dict[str, Any]:
    """The arrays of a replay buffer by name, each of shape (places, envs, ...)."""
    buffer: Any = model.replay_buffer
    found = {name: getattr(buffer, name) for name in ("actions", "rewards", "dones", "timeouts")}
    for name in ("observations", "next_observations"):
        held = getattr(buffer, name)
        parts = held if isinstance(buffer, DictReplayBuffer) else {"": held}
        found |= {f"{name}.{key}": array for key, array in parts.items()}
    return found


def _save_replay(model: DQN, path: Path) -> dict[str, Any]:
    """Write the filled part of the buffer; returns where it is filled to."""
    buffer: Any = model.replay_buffer
    filled = buffer.buffer_size if buffer.full else buffer.pos
    save_tensors(path, {name: array[:filled] for name, array in _arrays(model).items()})
    return {"position": buffer.pos, "full": bool(buffer.full)}


def _load_replay(model: DQN, path: Path, state: Mapping[str, Any]) -> None:
    buffer: Any = model.replay_buffer
    kept = load_tensors(path, "numpy")
    for name, array in _arrays(model).items():
        array[: len(kept[name])] = kept[name]
    buffer.pos, buffer.full = state["position"], state["full"]


def numbers(model: Model) -> dict[str, float]:
    """What the algorithm logged since the last time, by the last word of its names."""
    logged = dict(model.logger.name_to_value)
    model.logger.name_to_value.clear()
    found: dict[str, Any] = {n.rpartition("/")[2]: value for n, value in logged.items()}
    if "entropy_loss" in found:
        found["entropy"] = -found["entropy_loss"]
    found["policy_loss"] = found.get("policy_gradient_loss")
    kept = (
        "loss", "policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction",
        "explained_variance", "exploration_rate",
    )  # fmt: skip
    told = {name: float(found[name]) for name in kept if found.get(name) is not None}
    # Without any variance there is none to explain; a loss that is not finite must be seen.
    return {n: v for n, v in told.items() if np.isfinite(v) or "loss" in n}
