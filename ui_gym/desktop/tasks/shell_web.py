"""Look something up on the web, and write it down in another program."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import between, other
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop import navigation, shell
from ui_gym.desktop.content import town
from ui_gym.desktop.content.town import Enquiry, Town
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.files import encoded
from ui_gym.desktop.tasks.editing import EditorParams, EditorTask

STARTS = 30.0
"""Seconds that the browser may take to start, on a busy machine."""

_LINK, _NEXT_LINK, _LINKS = 84, 120, 172
"""Where a page's first link is in the browser's window, pixels to the next, and their height."""


@dataclass(frozen=True)
class LookUpParams(EditorParams):
    """An empty file, a small web, and what to look up there."""

    town: Town
    asked: Enquiry


@register(
    "DesktopLookUp", suite="desktop", category="shell", difficulty="medium", max_steps=20,
    tags=("web", "windows", "extra", "chromium"),
)  # fmt: skip
class DesktopLookUp(EditorTask[LookUpParams]):
    """Look up a fact on a town's web pages, and write it into a file.

    ## Description
    The browser of the panel starts with the pages of a town: a timetable, prices, a recipe, its
    offices. The goal asks for one value, which is to be written into the file that is open in the
    text editor. The pages are files; nothing is reached over a network.

    ## Rewards
    1 if the file on the disk holds that value as it stands on the page, and the files beside it are
    unchanged. Spaces and empty lines at the ends do not count.

    ## Starting state
    A desktop with icons and a panel. The text editor shows the empty file. The browser is not
    started.
    """

    tabs = (1, 1)
    length = (0, 0)
    mistakes = ("row", "column", "unsaved")
    goals = (
        "Open the web browser and look up {asks}. Write the answer, as it stands on the page, into "
        'the open file "{name}", and save it.',
        "The web pages of {town} tell {asks}. Write just that into the empty file that is open in "
        "the text editor, as the table has it, and save the file.",
        'I would like to know {asks}. You find it with the web browser. Put it into "{name}", '
        "which is open in the text editor, exactly as it is written there, and save.",
    )

    def sample(self, rng: np.random.Generator) -> LookUpParams:
        files = self.sample_files(rng)
        made = Town(between(rng, 0, 1 << 30))
        return LookUpParams(**files, town=made, asked=town.enquiry(rng))

    def told(self, params: LookUpParams) -> Mapping[str, object]:
        return {"asks": params.town.asks(params.asked), "town": params.town.name}

    def edited(self, params: LookUpParams) -> Sequence[str]:
        return [params.town.answer(params.asked)]

    def session(self, params: LookUpParams) -> SessionSpec:
        pages = {f"{shell.WEB}/{path}": page for path, page in params.town.files().items()}
        return shell.session(
            encoded(self.before(params)) | pages, [["mousepad", params.path]],
            packages={"chromium": "chromium"},
        )  # fmt: skip

    def oracle(self, device: DesktopDevice, params: LookUpParams) -> Iterator[Action | Demo]:
        yield shell.launcher(device.size, "browser")
        yield from navigation.until(lambda: _is_shown(device, params.town.name), STARTS)
        page, title = params.asked.page, params.town.title(params.asked.page)
        window = navigation.window(device, params.town.name)
        link = navigation.at(window, (_LINK + _NEXT_LINK * (page + 1), _LINKS))
        yield from navigation.insist(link, lambda: _is_shown(device, title))
        yield shell.task(device.size, 0)
        yield from navigation.opened(device, params.name)
        yield from self.edit(device, params)
        if params.saves:
            yield Press("ctrl+s")

    def edit(self, device: DesktopDevice, params: LookUpParams) -> Iterator[Action | Demo]:
        yield Type(params.town.answer(params.asked))

    def misread(self, params: LookUpParams, mistake: str, rng: np.random.Generator) -> LookUpParams:
        """``row``, ``column``: a value of another one is taken; ``unsaved``: it is not saved."""
        asked = params.asked
        if mistake == "row":
            asked = dataclasses.replace(asked, row=other(rng, range(town.ROWS), asked.row))
        elif mistake == "column":
            there = range(town.columns(asked.page))
            asked = dataclasses.replace(asked, column=other(rng, there, asked.column))
        else:
            return super().misread(params, mistake, rng)
        return dataclasses.replace(params, asked=asked)

    def blind_rate(self, params: LookUpParams) -> float:
        """Any value of the right page."""
        return 1 / (town.ROWS * town.columns(params.asked.page))


def _is_shown(device: DesktopDevice, title: str) -> bool:
    return navigation.find_window(device, title) is not None
