"""ui-gym: user-interface tasks as Gymnasium environments.

Importing this package registers every task as an env id, without starting or importing what the
tasks are played on::

    import gymnasium as gym
    import ui_gym

    env = gym.make("UI/DataEntry-v0")

What an env gives and a task promises is in `ui_gym.contract`. The names below are the public
surface; each is imported when it is first used.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from ui_gym.contract import registry
from ui_gym.contract.registry import register
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceSetupError,
    DeviceStartError,
    DeviceTimeout,
    TaskError,
    UIGymError,
    UserError,
)

if TYPE_CHECKING:
    from ui_gym.android.task import AndroidTask
    from ui_gym.browser.task import BrowserTask
    from ui_gym.contract.action import (
        Action,
        Answer,
        Click,
        Drag,
        Finish,
        LongPress,
        Move,
        Open,
        Press,
        Scroll,
        Type,
        Wait,
    )
    from ui_gym.contract.spec import TaskSpec
    from ui_gym.contract.task import Demo, Task, Verdict
    from ui_gym.desktop.task import DesktopTask
    from ui_gym.playing.env import UIEnv
    from ui_gym.playing.vector import UIVectorEnv
    from ui_gym.testing import check_ui_env

__version__ = "0.1.0"

__all__ = [
    "Action",
    "ActionError",
    "AndroidTask",
    "Answer",
    "BrowserTask",
    "Click",
    "Demo",
    "DesktopTask",
    "DeviceError",
    "DeviceLost",
    "DeviceSetupError",
    "DeviceStartError",
    "DeviceTimeout",
    "Drag",
    "Finish",
    "LongPress",
    "Move",
    "Open",
    "Press",
    "Scroll",
    "Task",
    "TaskError",
    "TaskSpec",
    "Type",
    "UIEnv",
    "UIGymError",
    "UIVectorEnv",
    "UserError",
    "Verdict",
    "Wait",
    "check_ui_env",
    "register",
    "registry",
]

_HOMES = {
    "ui_gym.android.task": ("AndroidTask",),
    "ui_gym.browser.task": ("BrowserTask",),
    "ui_gym.contract.action": (
        "Action", "Answer", "Click", "Drag", "Finish", "LongPress", "Move", "Open", "Press",
        "Scroll", "Type", "Wait",
    ),
    "ui_gym.contract.spec": ("TaskSpec",),
    "ui_gym.contract.task": ("Demo", "Task", "Verdict"),
    "ui_gym.desktop.task": ("DesktopTask",),
    "ui_gym.playing.env": ("UIEnv",),
    "ui_gym.playing.vector": ("UIVectorEnv",),
    "ui_gym.testing": ("check_ui_env",),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


registry.declare_table(Path(__file__).with_name("tasks.json"))
registry.register_entry_points()
