"""Several agents at work together, each in a browser window of its own: PettingZoo envs.

    from ui_gym.multiagent import shared_board_v0
    env = shared_board_v0.parallel_env(document="sheet", goal="split")

`shared_board_v0` and `shared_inbox_v0` have `parallel_env` and `env`, as PettingZoo's own modules
have; `parallel_env` and `env` here take such a module's name. `TeamVectorEnv` plays many teams side
by side. It needs PettingZoo: the extra `multi`.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ui_gym.contract.arguments import choose
from ui_gym.errors import UserError

if TYPE_CHECKING:
    from ui_gym.multiagent.board import SharedBoard
    from ui_gym.multiagent.classic import ClassicTeam
    from ui_gym.multiagent.inbox import SharedInbox
    from ui_gym.multiagent.vector import TeamVectorEnv

__all__ = [
    "ClassicTeam",
    "SharedBoard",
    "SharedInbox",
    "TeamVectorEnv",
    "env",
    "parallel_env",
    "shared_board_v0",
    "shared_inbox_v0",
]

NAMES = ("shared_board_v0", "shared_inbox_v0")

_HOMES = {
    "ClassicTeam": "classic",
    "SharedBoard": "board",
    "SharedInbox": "inbox",
    "TeamVectorEnv": "vector",
}


def parallel_env(name: str, **arguments: Any) -> Any:
    """The env of a name, such as ``"shared_board_v0"``, whose agents act all at once.

    Raises:
        UserError: there is no such env, an argument is wrong, or PettingZoo is not installed.
    """
    return _module(name).parallel_env(**arguments)


def env(name: str, **arguments: Any) -> Any:
    """The env of a name, whose agents act one after another.

    Raises:
        UserError: there is no such env, an argument is wrong, or PettingZoo is not installed.
    """
    return _module(name).env(**arguments)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_imported(_HOMES[name]), name)
    if name in NAMES:
        return _module(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _module(name: str) -> ModuleType:
    return _imported(choose(name, NAMES, "env of several agents"))


def _imported(module: str) -> ModuleType:
    try:
        return importlib.import_module(f"{__name__}.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pettingzoo":
            raise
        raise UserError(
            "envs of several agents need PettingZoo: pip install 'ui-gym[multi]'"
        ) from None
