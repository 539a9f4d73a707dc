"""Wrappers that make an env of texts one of numbers and pictures, as classic RL wants it.

    env = gym.make("UI/ClickButton-v0", compact=True)
    env = ScreenshotOnly(ResizeScreenshot(env, (80, 64)))
    env = GridActions(env, 10, 8)

`GoalWords` in place of `ScreenshotOnly` keeps the goal, as numbers; `ClickableCells` turns the
elements into a mask of the grid's cells. `TouchActions` takes a finger's moves one by one, as
AndroidEnv has them.

They compose in any order but this: `ResizeScreenshot` comes before `FrameHistory`, and
`ClickableCells` after `GridActions` and before `GoalWords` or `ScreenshotOnly`. The twins for
vector envs of all but `TouchActions` have the same names, in `ui_gym.wrappers.vector`.
"""

from ui_gym.wrappers.cells import CellMask, ClickableCells
from ui_gym.wrappers.goals import GoalVector, GoalWords
from ui_gym.wrappers.grid import KEYS, KINDS, Grid, GridActions
from ui_gym.wrappers.pictures import FrameHistory, ResizeScreenshot, ScreenshotOnly
from ui_gym.wrappers.touch import TouchActions, TouchType

__all__ = [
    "KEYS",
    "KINDS",
    "CellMask",
    "ClickableCells",
    "FrameHistory",
    "GoalVector",
    "GoalWords",
    "Grid",
    "GridActions",
    "ResizeScreenshot",
    "ScreenshotOnly",
    "TouchActions",
    "TouchType",
]
