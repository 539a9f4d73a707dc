"""`SharedInbox` as PettingZoo names its envs: `env(...)` turn by turn, and `parallel_env(...)`."""

from typing import Any

from pettingzoo.utils.conversions import parallel_wrapper_fn
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from ui_gym.multiagent.inbox import SharedInbox

__all__ = ["env", "parallel_env", "raw_env"]

raw_env = SharedInbox


def env(**arguments: Any) -> Any:
    """A `SharedInbox` that says when it is called in the wrong order."""
    return OrderEnforcingWrapper(SharedInbox(**arguments))


parallel_env = parallel_wrapper_fn(env)
