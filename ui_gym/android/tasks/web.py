"""The browser: opening a page, downloading a file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import facts, moves
from ui_gym.android.checks import ShellCheck, exists
from ui_gym.android.content import records, scenes, texts, web
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.content.web import WebFile
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.facts import EXCESSES
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.draws import Rng, between, other, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register

BAR = r"""uiautomator dump /dev/tty | grep -o '<node [^>]*:id/url_bar"[^>]*>'"""


@dataclass(frozen=True)
class OpenUrlParams:
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
    goals = texts.goals("AndroidOpenUrl")

    def sample(self, rng: Rng) -> OpenUrlParams:
        url = pick(rng, web.addresses())
        before = other(rng, web.addresses(), url) if rng.random() < 0.5 else ""
        return OpenUrlParams(
            url=url,
            scheme=bool(rng.random() < 0.4),
            before=before,
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def goal(self, params: OpenUrlParams) -> str:
        url = f"https://{params.url}" if params.scheme else params.url
        return self.goals[params.phrasing].format(url=url)

    def prepare(self, params: OpenUrlParams) -> Sequence[str]:
        lines = web.left_open(params.before) if params.before else []
        return [*lines, *params.scene.lines()]

    def checks(self, params: OpenUrlParams) -> Sequence[ShellCheck]:
        def shown(result: ShellResult) -> bool:
            text = re.search(r'\btext="([^"]*)"', result.text)
            address = re.sub(r"^(https?://)?(www\.)?", "", text[1]) if text else ""
            return address.rstrip("/") == params.url and 'focused="false"' in result.text

        return [ShellCheck("page", BAR, shown)]

    def may_change(self, params: OpenUrlParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: OpenUrlParams) -> Steps:
        yield from moves.launch(device, "Browser")
        yield from moves.fill(device, "Search or type web address", params.url, enter=True)

    def misread(self, params: OpenUrlParams, mistake: str, rng: Rng) -> OpenUrlParams:
        """``page``: another page of the site. ``site``: another site's first page."""
        host = params.url.partition("/")[0]
        pages = [a for a in web.addresses() if (a.partition("/")[0] == host) == (mistake == "page")]
        return dataclasses.replace(params, url=other(rng, pages, params.url))


FOLDER = "/sdcard/Download"


@dataclass(frozen=True)
class DownloadFileParams:
    offer: WebFile
    before: str
    """The page that the browser shows when it is opened, if any."""
    files: tuple[str, ...]
    """What was downloaded earlier."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidDownloadFile", suite="android", category="input", difficulty="hard", max_steps=20,
    tags=("web", "files"),
)  # fmt: skip
class AndroidDownloadFile(AndroidTask[DownloadFileParams]):
    """Find a file on a site, and download it.

    ## Description
    The goal names a site and one of its files, which may lie some links away from the first page,
    beside others.

    ## Rewards
    1 if ``test -e`` finds the file in ``/sdcard/Download``.

    ## Starting state
    The home screen or a page of the Settings; there is no such file. Only the built-in phone has
    these sites.
    """

    apps = ("com.android.browser",)
    mistakes = ("file",)
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidDownloadFile")

    def sample(self, rng: Rng) -> DownloadFileParams:
        offer = pick(rng, web.web_files())
        others = [one.file for one in web.web_files() if one.file != offer.file]
        return DownloadFileParams(
            offer=offer,
            before=pick(rng, web.addresses()) if rng.random() < 0.5 else "",
            files=some(rng, others, between(rng, 0, 3)),
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def goal(self, params: DownloadFileParams) -> str:
        offer = params.offer
        return self.goals[params.phrasing].format(site=offer.site, host=offer.host, file=offer.file)

    def prepare(self, params: DownloadFileParams) -> Sequence[str]:
        lines = [records.remove(f"{FOLDER}/{params.offer.file}")]
        for name in params.files:
            lines += records.write(f"{FOLDER}/{name}", f"{name}\n")
        if params.before:
            lines += web.left_open(params.before)
        return [*lines, *params.scene.lines()]

    def checks(self, params: DownloadFileParams) -> Sequence[ShellCheck]:
        return [exists(f"{FOLDER}/{params.offer.file}", kind="f")]

    def twice(self, params: DownloadFileParams) -> Sequence[str]:
        stem, _, ending = params.offer.file.rpartition(".")
        names = (params.offer.file, f"{stem} (1).{ending}")
        return [line for name in names for line in records.write(f"{FOLDER}/{name}", name)]

    def may_change(self, params: DownloadFileParams) -> Sequence[AllowedChange]:
        return [AllowedChange(facts.file(f"{FOLDER}/{params.offer.file}"), gone=0, new=1)]

    def oracle(self, device: AndroidDevice, params: DownloadFileParams) -> Steps:
        offer = params.offer
        yield from moves.launch(device, "Browser")
        yield from moves.fill(device, "Search or type web address", offer.host, enter=True)
        yield from moves.path(device, *offer.links)
        yield from moves.tap(device, f"Download {offer.file}")

    def misread(self, params: DownloadFileParams, mistake: str, rng: Rng) -> DownloadFileParams:
        """``file``: another file is downloaded, of the same site if it has one."""
        others = [one for one in web.web_files() if one.file != params.offer.file]
        near = [one for one in others if one.host == params.offer.host]
        return dataclasses.replace(params, offer=pick(rng, near or others))
