"""`SharedBoard` as PettingZoo names its envs: `parallel_env(...)`, and `env(...)` turn by turn."""

from pettingzoo.utils.conversions import aec_wrapper_fn

from ui_gym.multiagent.board import SharedBoard

__all__ = ["env", "parallel_env", "raw_env"]

parallel_env = SharedBoard
env = aec_wrapper_fn(SharedBoard)
raw_env = env
