"""ui-gym: user-interface tasks as Gymnasium environments.

Importing this package registers every task as an env id, without starting or importing what the
tasks are played on::

    import gymnasium as gym
    import ui_gym

    env = gym.make("UI/DataEntry-v0")
"""

from ui_gym.contract import registry
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceStartError,
    DeviceTimeout,
    TaskError,
    UIGymError,
    UserError,
)

__version__ = "0.1.0"

__all__ = [
    "ActionError",
    "DeviceError",
    "DeviceLost",
    "DeviceStartError",
    "DeviceTimeout",
    "TaskError",
    "UIGymError",
    "UserError",
    "registry",
]

import ui_gym.android.suite
import ui_gym.android.tasks  # registers the tasks of phones
import ui_gym.browser.suite
import ui_gym.browser.tasks  # registers the browser tasks
import ui_gym.desktop.suite
import ui_gym.desktop.tasks  # noqa: F401  registers the tasks of desktops

registry.register_entry_points()
