"""Put documents away by the icons on the desktop."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Drag
from ui_gym.contract.draws import between, other, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import compact as small
from ui_gym.desktop import navigation, shell
from ui_gym.desktop.compact_task import NAMES, PLACES, CompactDesktopTask
from ui_gym.desktop.content import texts, words
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.facts import files_change
from ui_gym.desktop.files import Files, encoded, judge_files

COMPACT_FOLDERS, COMPACT_FILES = 3, 3
"""How many there are on the compact desktop."""


@dataclass(frozen=True)
class DropParams:
    """What lies on the desktop, and where a document is to go."""

    folders: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """(name, files) of the folders; a file is (name, text)."""
    documents: tuple[tuple[str, str], ...]
    """(name, text)."""
    target: str
    """The document that is meant."""
    place: str
    """The folder that it is to go into."""
    phrasing: int

    @property
    def places(self) -> list[str]:
        """The folders."""
        return [name for name, _ in self.folders]

    @property
    def names(self) -> list[str]:
        """The documents."""
        return [name for name, _ in self.documents]


@register(
    "DesktopDropFile", suite="desktop", category="shell", difficulty="easy", max_steps=10,
    tags=("icons", "files"),
)  # fmt: skip
class DesktopDropFile(CompactDesktopTask[DropParams]):
    """Drag a document on the desktop into a folder that lies there.

    ## Description
    The goal names the document and the folder. Other folders, and documents of like names, lie
    beside them. With ``compact=True`` there are three folders and three documents of short names,
    on a screen that a model of a million parameters can read.

    ## Rewards
    1 if the document is in the folder and no more on the desktop, and all others are unchanged.

    ## Starting state
    A desktop with icons and a panel (compact: without one). No window is open.

    ## Arguments
    | `compact` | False | a screen of 400x320 pixels, and two actions |
    """

    mistakes = ("sibling", "place")
    goals = (
        'Drag the document "{target}" on the desktop into the folder "{place}".',
        'Tidy up the desktop: "{target}" belongs in the folder "{place}".',
        'Move "{target}" from the desktop into "{place}", which lies on the desktop as well.',
    )
    compact_goals = ("Drag {target} into {place}.", "Drop {target} on {place}.")
    compact_steps = 1

    def sample(self, rng: np.random.Generator) -> DropParams:
        if self.compact:
            return self._few(rng)
        folders = words.folder_names(rng, between(rng, 2, 3))
        lying = shell.MOST_ICONS - len(folders)
        names = words.file_names(rng, lying + 2 * len(folders))
        documents, held = names[:lying], iter(names[lying:])
        return DropParams(
            folders=tuple(
                (folder, tuple((next(held), texts.page(rng)) for _ in range(between(rng, 1, 2))))
                for folder in folders
            ),
            documents=tuple((name, texts.page(rng)) for name in documents),
            target=pick(rng, documents),
            place=pick(rng, folders),
            phrasing=self.phrase(rng),
        )

    def _few(self, rng: np.random.Generator) -> DropParams:
        places = some(rng, PLACES, COMPACT_FOLDERS)
        lying = COMPACT_FILES + COMPACT_FOLDERS
        names = [(name, texts.page(rng, 1, 1)) for name in some(rng, NAMES, lying)]
        documents, held = names[:COMPACT_FILES], names[COMPACT_FILES:]
        return DropParams(
            folders=tuple((place, (one,)) for place, one in zip(places, held, strict=True)),
            documents=tuple(documents),
            target=pick(rng, documents)[0],
            place=pick(rng, places),
            phrasing=self.phrase(rng),
        )

    def before(self, params: DropParams) -> dict[str, str]:
        """All files of the desktop in the beginning: texts by path."""
        held = [(f"{folder}/{name}", text) for folder, files in params.folders
                for name, text in files]  # fmt: skip
        files = {f"{shell.FOLDER}/{path}": text for path, text in (*params.documents, *held)}
        return shell.own_files() | files

    def after(self, params: DropParams) -> Files:
        """All files in the end."""
        files = self.before(params)
        text = files.pop(f"{shell.FOLDER}/{params.target}")
        return files | {_moved(params): text}

    def session(self, params: DropParams) -> SessionSpec:
        files = encoded(self.before(params))
        return self.in_form(shell.session(files, panel=not self.compact))

    def may_change(self, params: DropParams) -> Sequence[AllowedChange]:
        return files_change(self.before(params), self.after(params))

    def judge(
        self, device: DesktopDevice, params: DropParams, history: Sequence[Action]
    ) -> Verdict:
        return judge_files(device, self.before(params), self.after(params))

    def oracle(self, device: DesktopDevice, params: DropParams) -> Iterator[Action | Demo]:
        if self.compact:
            shown = shell.listed(params.places, params.names)
            ends = (small.icon(shown.index(name)) for name in (params.target, params.place))
            yield Demo(Drag(*next(ends), *next(ends)), f"{params.target} {params.place}")
        else:
            yield shell.drag(params.target, params.place, params.places, params.names)
        yield from navigation.until(lambda: device.read(_moved(params)) is not None)

    def misread(self, params: DropParams, mistake: str, rng: np.random.Generator) -> DropParams:
        """``sibling``: another document is taken; ``place``: it goes into another folder."""
        if mistake == "sibling":
            return dataclasses.replace(params, target=other(rng, params.names, params.target))
        return dataclasses.replace(params, place=other(rng, params.places, params.place))

    def blind_rate(self, params: DropParams) -> float:
        """Any document, any folder."""
        return 1 / (len(params.documents) * len(params.folders))


def _moved(params: DropParams) -> str:
    return f"{shell.FOLDER}/{params.place}/{params.target}"
