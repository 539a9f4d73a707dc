"""Wrappers that make an env of texts one of numbers and pictures, as classic RL wants it.

    env = gym.make("UI/ClickButton-v0", compact=True)
    env = ScreenshotOnly(ResizeScreenshot(env, (80, 64)))
    env = GridActions(env, 10, 8)

`TouchActions` takes a finger's moves one by one, as AndroidEnv has them.

They compose in any order but one: `ResizeScreenshot` comes before `FrameHistory`. The twins for
vector envs of those three have the same names, in `ui_gym.wrappers.vector`.
"""

from ui_gym.wrappers.grid import KEYS, KINDS, Grid, GridActions
from ui_gym.wrappers.pictures import FrameHistory, ResizeScreenshot, ScreenshotOnly
from ui_gym.wrappers.touch import TouchActions, TouchType

__all__ = [
    "KEYS",
    "KINDS",
    "FrameHistory",
    "Grid",
    "GridActions",
    "ResizeScreenshot",
    "ScreenshotOnly",
    "TouchActions",
    "TouchType",
]
