"""The browser suite as one env."""

from __future__ import annotations

from ui_gym.browser.task import BrowserTask
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.registry import register
from ui_gym.contract.suite import MEMBER_TAG, Suite


@register("Browser", suite="browser", category="suite", max_steps=60, tags=(MEMBER_TAG,))
class Browser(Suite):
    """All families of the browser suite: each episode plays one of them.

    ## Description
    A reset draws a family by its seed, each as often as any other, and then its params as the
    family's own env does with that seed. ``reset(options={"task": "Login"})`` asks for one. Tasks
    that are taken over from other benchmarks are not drawn.

    ## Rewards
    Those of the family; all lie in [0, 1].

    ## Starting state
    That of the family; `info["task"]` names it.

    ## Episode end
    Termination: as in the family. `max_steps` is that of the family.

    ## Arguments
    | `tasks` | all | names of the families to draw from |
    | `category` | all | only families of this category |
    | `difficulty` | all | only families of this registered difficulty |
    | `level` | each family's own | the level at which they are played |
    """

    of = "browser"

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        return BrowserTask.pool(options)
