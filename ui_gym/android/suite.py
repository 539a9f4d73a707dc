"""The Android suite as one env."""

from __future__ import annotations

from ui_gym.android.task import AndroidTask
from ui_gym.contract.registry import register
from ui_gym.contract.suite import MEMBER_TAG, Suite


@register("Android", suite="android", category="suite", max_steps=40, tags=(MEMBER_TAG,))
class Android(Suite):
    """All tasks of the Android suite: each episode plays one of them.

    ## Description
    A reset draws a task by its seed, each as often as any other, and then its params as the task's
    own env does with that seed. ``reset(options={"task": "AndroidWifi"})`` asks for one.
    """

    base = AndroidTask
