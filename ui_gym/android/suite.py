"""The Android suite as one env."""

from __future__ import annotations

from ui_gym.android.task import AndroidTask
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.registry import register
from ui_gym.contract.suite import MEMBER_TAG, Suite


@register("Android", suite="android", category="suite", max_steps=40, tags=(MEMBER_TAG,))
class Android(Suite):
    """All tasks of the Android suite: each episode plays one of them.

    ## Description
    A reset draws a task by its seed, each as often as any other, and then its params as the task's
    own env does with that seed. ``reset(options={"task": "AndroidWifi"})`` asks for one.

    ## Rewards
    Those of the task; all lie in [0, 1].

    ## Starting state
    That of the task; `info["task"]` names it.

    ## Episode end
    Termination: as in the task. `max_steps` is that of the task.

    ## Arguments
    | `tasks` | all | names of the tasks to draw from |
    | `category` | all | only tasks of this category |
    | `difficulty` | all | only tasks of this registered difficulty |
    | `level` | each task's own | the level at which they are played |
    """

    of = "android"
    viewport = (540, 1200)

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        return AndroidTask.pool(options)
