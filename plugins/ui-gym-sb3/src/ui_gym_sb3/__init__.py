"""Stable-Baselines3 for ui-gym: a trainer, its vector env, and its policies as agents.

What needs Stable-Baselines3 and torch is imported when it is asked for: the host looks at the
trainer's class before that, and should not wait.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ui_gym_sb3.config import SB3Config
from ui_gym_sb3.trainer import SB3Trainer

if TYPE_CHECKING:
    from ui_gym_sb3.agent import SB3Agent, load
    from ui_gym_sb3.vec_env import SB3VecEnv, make_sb3

__all__ = ["SB3Agent", "SB3Config", "SB3Trainer", "SB3VecEnv", "load", "make_sb3"]

_HOMES = {"SB3Agent": "agent", "load": "agent", "SB3VecEnv": "vec_env", "make_sb3": "vec_env"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
