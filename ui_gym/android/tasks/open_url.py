"""Open a page in the browser."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import scenes, web
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.task import AndroidTask
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

GOALS = (
    "Open {url} in the browser.",
    "Go to {url}",
    "Visit the page {url} with the Browser app.",
    "Show me {url} in the browser.",
)

BAR = r"""uiautomator dump /dev/tty | grep -o '<node [^>]*:id/url_bar"[^>]*>'"""


@dataclass(frozen=True)
class OpenUrlParams:
    """All that varies between episodes."""

    url: str
    """Host and path."""
    scheme: bool
    """Whether the goal writes ``https://`` before it."""
    before: str
    """The page that the browser shows when it is opened, if any."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidOpenUrl", suite="android", category="navigation", difficulty="medium", max_steps=10,
    tags=("web",),
)  # fmt: skip
class AndroidOpenUrl(AndroidTask[OpenUrlParams]):
    """Open a web address.

    ## Description
    The goal gives the address of a page on one of the made-up sites of the built-in web. The
    browser may show another page when it is opened.

    ## Rewards
    1 if ``uiautomator dump`` tells the address as the text of ``url_bar``, which must not have the
    focus: what is only typed does not count.

    ## Starting state
    The home screen or a page of the Settings. A real phone's browser finds no such host, but shows
    the address all the same.
    """

    apps = ("com.android.browser",)
    mistakes = ("page", "site")

    def sample(self, rng: np.random.Generator) -> OpenUrlParams:
        url = drawing.pick(rng, web.addresses())
        before = drawing.other(rng, web.addresses(), url) if rng.random() < 0.5 else ""
        return OpenUrlParams(
            url=url,
            scheme=bool(rng.random() < 0.4),
            before=before,
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(GOALS) - 1),
        )

    def goal(self, params: OpenUrlParams) -> str:
        url = f"https://{params.url}" if params.scheme else params.url
        return GOALS[params.phrasing].format(url=url)

    def prepare(self, params: OpenUrlParams) -> Sequence[str]:
        lines = web.left_open(params.before) if params.before else []
        return [*lines, *params.scene.lines()]

    def checks(self, params: OpenUrlParams) -> Sequence[ShellCheck]:
        def shown(result: ShellResult) -> bool:
            text = re.search(r'\btext="([^"]*)"', result.text)
            address = re.sub(r"^(https?://)?(www\.)?", "", text[1]) if text else ""
            return address.rstrip("/") == params.url and 'focused="false"' in result.text

        return [ShellCheck("page", BAR, shown)]

    def oracle(self, device: AndroidDevice, params: OpenUrlParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Browser")
        yield from moves.fill(device, "Search or type web address", params.url, enter=True)

    def misread(
        self, params: OpenUrlParams, mistake: str, rng: np.random.Generator
    ) -> OpenUrlParams:
        """``page``: another page of the site. ``site``: another site's first page."""
        host = params.url.partition("/")[0]
        pages = [a for a in web.addresses() if (a.partition("/")[0] == host) == (mistake == "page")]
        return dataclasses.replace(params, url=drawing.other(rng, pages, params.url))
