"""Wrappers that make an env of texts one of numbers and pictures, as classic RL wants it.

    env = gym.make("UI/ClickButton-v0", compact=True)
    env = ScreenshotOnly(ResizeScreenshot(env, (80, 64)))
    env = GridActions(env, 10, 8)

They compose in any order but one: `ResizeScreenshot` comes before `FrameHistory`. Their twins for
vector envs have the same names, in `ui_gym.wrappers.vector`.
"""

from ui_gym.wrappers.grid import KEYS, KINDS, Grid, GridActions
from ui_gym.wrappers.pictures import FrameHistory, ResizeScreenshot, ScreenshotOnly

__all__ = [
    "KEYS",
    "KINDS",
    "FrameHistory",
    "Grid",
    "GridActions",
    "ResizeScreenshot",
    "ScreenshotOnly",
]
