"""The browser suite as one env."""

from __future__ import annotations

from types import MappingProxyType

from ui_gym.browser.task import BrowserTask
from ui_gym.contract.registry import register
from ui_gym.contract.suite import MEMBER_TAG, Suite


@register("Browser", suite="browser", category="suite", max_steps=60, tags=(MEMBER_TAG,))
class Browser(Suite):
    """All families of the browser suite: each episode plays one of them.

    ## Description
    A reset draws a family by its seed, each as often as any other, and then its params as the
    family's own env does with that seed. ``reset(options={"task": "Login"})`` asks for one. Tasks
    that are taken over from other benchmarks are not drawn.
    """

    base = BrowserTask


@register("Compact", suite="browser", category="suite", max_steps=60, tags=(MEMBER_TAG,))
class Compact(Suite):
    """All families of the browser suite in their compact form: pages of 320x256 pixels.

    ## Description
    As `Browser(compact=True)`: what a vision model of a few million parameters can read, for
    learning on a laptop.
    """

    base = BrowserTask
    compact = True


@register("Varied", suite="browser", category="suite", max_steps=60, tags=(MEMBER_TAG,))
class Varied(Suite):
    """All families of the browser suite, each episode in a look of its own.

    ## Description
    As `Browser(arguments={"look": "varied"})`: a seed asks for the same as there, in a look that
    follows from it. Looks that are held out are never drawn.
    """

    base = BrowserTask
    arguments = MappingProxyType({"look": "varied"})
