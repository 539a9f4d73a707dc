"""The desktop suite as one env."""

from __future__ import annotations

from ui_gym.contract.registry import register
from ui_gym.contract.suite import MEMBER_TAG, Suite
from ui_gym.desktop.task import DesktopTask


@register("Desktop", suite="desktop", category="suite", max_steps=30, tags=(MEMBER_TAG,))
class Desktop(Suite):
    """All tasks of the desktop suite: each episode plays one of them.

    ## Description
    A reset draws a task by its seed, each as often as any other, and then its params as the task's
    own env does with that seed. ``reset(options={"task": "DesktopTypeAndSave"})`` asks for one.
    """

    base = DesktopTask
