"""Look through pictures in the image viewer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press
from ui_gym.contract.draws import between, other, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import navigation, shell
from ui_gym.desktop.content import words
from ui_gym.desktop.content.pictures import DrawnShapes, drawings
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.task import DesktopTask

PICTURES = 3
"""How many there are."""


@dataclass(frozen=True)
class PicturesParams:
    """Pictures and folders on the desktop, and what is to go where."""

    pictures: tuple[tuple[str, DrawnShapes], ...]
    """(name, what it shows)."""
    folders: tuple[str, ...]
    target: str
    """The picture that is meant."""
    place: str
    """The folder that it is to go into."""
    phrasing: int

    @property
    def names(self) -> list[str]:
        return sorted(name for name, _ in self.pictures)

    @property
    def source(self) -> str:
        return f"{shell.FOLDER}/{self.target}"

    @property
    def goes_to(self) -> str:
        return f"{shell.FOLDER}/{self.place}/{self.target}"


@register(
    "DesktopFindPicture", suite="desktop", category="shell", difficulty="medium", max_steps=20,
    tags=("icons", "pictures"),
)  # fmt: skip
class DesktopFindPicture(DesktopTask[PicturesParams]):
    """Find the picture that shows what the goal says, and put it into a folder.

    ## Description
    Pictures of shapes lie on the desktop, with names that say nothing; the image viewer opens them.
    They differ in how many shapes there are, in their colour, or in their kind.

    ## Rewards
    1 if that picture is in the folder and no more on the desktop, and all else is as it was.

    ## Starting state
    A desktop with icons and a panel. No window is open.
    """

    mistakes = ("look_alike", "place")
    goals = (
        'One of the pictures on the desktop shows {what}. Drag it into the folder "{place}".',
        'Look through the pictures on the desktop, and move the one with {what} into "{place}".',
        'The folder "{place}" on the desktop should hold the picture of {what}. Find it among the '
        "pictures beside the folder, and put it there.",
    )

    def sample(self, rng: np.random.Generator) -> PicturesParams:
        drawn = drawings(rng, PICTURES)
        numbers = sorted(some(rng, range(1000, 10_000), PICTURES))
        names = [f"IMG_{number}.png" for number in numbers]
        target = between(rng, 0, PICTURES - 1)
        shown = [*drawn[1 : target + 1], drawn[0], *drawn[target + 1 :]]
        folders = words.folder_names(rng, shell.MOST_ICONS - PICTURES)
        return PicturesParams(
            pictures=tuple(zip(names, shown, strict=True)), folders=folders, target=names[target],
            place=pick(rng, folders), phrasing=self.phrase(rng),
        )  # fmt: skip

    def told(self, params: PicturesParams) -> Mapping[str, object]:
        return {"what": dict(params.pictures)[params.target].words}

    def session(self, params: PicturesParams) -> SessionSpec:
        held = {f"{folder}/about.txt": f"{folder}\n".encode() for folder in params.folders}
        held |= {name: picture.png() for name, picture in params.pictures}
        files = {f"{shell.FOLDER}/{path}": data for path, data in held.items()}
        return shell.session(files, packages={"gpicview": "gpicview"})

    def may_change(self, params: PicturesParams) -> Sequence[AllowedChange]:
        return [
            AllowedChange(f"file {params.source}", new=0),
            AllowedChange(f"file {params.goes_to}", gone=0),
        ]

    def judge(
        self, device: DesktopDevice, params: PicturesParams, history: Sequence[Action]
    ) -> Verdict:
        wanted = dict(params.pictures)[params.target].png()
        left = device.read(params.source) is not None
        right = not left and device.read(params.goes_to) == wanted
        notes = f"{params.target} is {'still on the desktop' if left else 'not in the folder'}"
        return Verdict(float(right), done=right, notes="" if right else notes)

    def oracle(self, device: DesktopDevice, params: PicturesParams) -> Iterator[Action | Demo]:
        names = params.names
        yield shell.icon(names[0], params.folders, names, count=2)
        yield from navigation.opened(device, names[0])
        for name in names[1 : names.index(params.target) + 1]:
            yield Press("right")
            yield from navigation.opened(device, name)
        yield Press("alt+f4")
        yield from navigation.until(lambda: not device.windows())
        yield shell.drag(params.target, params.place, params.folders, names)
        yield from navigation.until(lambda: device.read(params.goes_to) is not None)

    def misread(
        self, params: PicturesParams, mistake: str, rng: np.random.Generator
    ) -> PicturesParams:
        """``look_alike``: another picture is taken; ``place``: it goes into another folder."""
        if mistake == "look_alike":
            return dataclasses.replace(params, target=other(rng, params.names, params.target))
        return dataclasses.replace(params, place=other(rng, params.folders, params.place))

    def blind_rate(self, params: PicturesParams) -> float:
        """Any picture, the folder as named."""
        return 1 / len(params.pictures)
