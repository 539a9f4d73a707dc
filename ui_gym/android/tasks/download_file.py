"""Download a file from a site."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck, exists
from ui_gym.android.content import records, scenes, web
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.content.web import WebFile
from ui_gym.android.device import AndroidDevice
from ui_gym.android.task import AndroidTask
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

FOLDER = "/sdcard/Download"

GOALS = (
    "Open {host} and download {file}.",
    "Download the file {file} from {site} ({host}).",
    "Find {file} on {host} in the browser and save it to the phone.",
)


@dataclass(frozen=True)
class DownloadFileParams:
    """All that varies between episodes."""

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

    def sample(self, rng: np.random.Generator) -> DownloadFileParams:
        offer = drawing.pick(rng, web.web_files())
        others = [one.file for one in web.web_files() if one.file != offer.file]
        return DownloadFileParams(
            offer=offer,
            before=drawing.pick(rng, web.addresses()) if rng.random() < 0.5 else "",
            files=drawing.some(rng, others, drawing.between(rng, 0, 3)),
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(GOALS) - 1),
        )

    def goal(self, params: DownloadFileParams) -> str:
        offer = params.offer
        return GOALS[params.phrasing].format(site=offer.site, host=offer.host, file=offer.file)

    def prepare(self, params: DownloadFileParams) -> Sequence[str]:
        lines = [records.remove(f"{FOLDER}/{params.offer.file}")]
        for name in params.files:
            lines += records.write(f"{FOLDER}/{name}", f"{name}\n")
        if params.before:
            lines += web.left_open(params.before)
        return [*lines, *params.scene.lines()]

    def checks(self, params: DownloadFileParams) -> Sequence[ShellCheck]:
        return [exists(f"{FOLDER}/{params.offer.file}", kind="f")]

    def oracle(self, device: AndroidDevice, params: DownloadFileParams) -> Iterator[Action | Demo]:
        offer = params.offer
        yield from moves.launch(device, "Browser")
        yield from moves.fill(device, "Search or type web address", offer.host, enter=True)
        yield from moves.path(device, *offer.links)
        yield from moves.tap(device, f"Download {offer.file}")

    def misread(
        self, params: DownloadFileParams, mistake: str, rng: np.random.Generator
    ) -> DownloadFileParams:
        """``file``: another file is downloaded, of the same site if it has one."""
        others = [one for one in web.web_files() if one.file != params.offer.file]
        near = [one for one in others if one.host == params.offer.host]
        return dataclasses.replace(params, offer=drawing.pick(rng, near or others))
