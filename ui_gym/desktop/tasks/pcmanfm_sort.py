"""Sort files into folders in the file manager."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.draws import between, pick, some
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop.content import texts, words
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.tasks.filing import FilingParams, FilingTask, PcmanfmTask


@dataclass(frozen=True)
class SortingParams(FilingParams):
    """A folder with files of several kinds."""

    kinds: tuple[tuple[str, str], ...]
    """(ending, folder) of the kinds that are to be moved, and where to."""


@register(
    "DesktopSortFiles", suite="desktop", category="pcmanfm", difficulty="hard", max_steps=40,
    tags=("files",),
)  # fmt: skip
class DesktopSortFiles(FilingTask[SortingParams]):
    """Sort the files of a folder into other folders by their endings.

    ## Description
    The goal names a folder, and for two endings the folders where their files are to go. Files
    with other endings are to stay.

    ## Rewards
    The share of these files that are where they are to be, or 0 as soon as any file is lost,
    changed or where it should not be.

    ## Starting state
    The file manager with that folder or the home folder.
    """

    mistakes = ("swapped", "one kind")
    goals = (
        'Sort the files of the folder "{source}": move those ending in {rules}. '
        "All others stay where they are.",
        'From "{source}", move the files ending in {rules}. Leave files of other kinds there.',
        "Tidy up the folder {source}: files ending in {rules}. Do not move anything else.",
    )

    def sample(self, rng: np.random.Generator) -> SortingParams:
        source, *places = words.folder_names(rng, 3)
        endings = some(rng, words.KINDS, 3)
        names: set[str] = set()
        for ending in endings:
            names |= set(words.file_names(rng, between(rng, 1, 3), ending))
        held = [(source, some(rng, sorted(names), len(names)))]
        held += [(place, words.file_names(rng, 1, "pdf")) for place in places]
        folders = [
            (folder, tuple((name, texts.page(rng, 1, 3)) for name in files))
            for folder, files in held
        ]
        return SortingParams(
            folders=tuple(folders), inside=bool(rng.random() < 0.5), source=source,
            phrasing=self.phrase(rng),
            kinds=tuple(zip(endings[:2], places, strict=True)),
        )  # fmt: skip

    def told(self, params: SortingParams) -> Mapping[str, object]:
        rules = [f'.{ending} to "{folder}"' for ending, folder in params.kinds]
        return {"rules": " and those ending in ".join(rules)}

    def after(self, params: SortingParams) -> Mapping[str, str]:
        files = self.before(params)
        for ending, folder in params.kinds:
            for name in self.chosen(params, ending):
                files[f"{folder}/{name}"] = files.pop(f"{params.source}/{name}")
        return files

    def chosen(self, params: SortingParams, ending: str) -> list[str]:
        """The files of that ending."""
        return [name for name in params.names(params.source) if name.endswith(f".{ending}")]

    def judge(
        self, device: DesktopDevice, params: SortingParams, history: Sequence[Action]
    ) -> Verdict:
        verdict = super().judge(device, params, history)
        start, end = set(self.before(params)), set(self.after(params))
        wrong = {what: set(paths) for what, paths in verdict.details.items()}
        moved = len(end - start - wrong["missing"] - wrong["different"])
        harm = wrong["unexpected"] - start | (wrong["missing"] | wrong["different"]) & start
        gone = len(start - end) - len(wrong["unexpected"] & start)
        if verdict.success or harm or gone > moved:
            return verdict
        return dataclasses.replace(verdict, score=min(moved, gone) / len(end - start))

    def oracle(self, device: DesktopDevice, params: SortingParams) -> Iterator[Action | Demo]:
        browser = PcmanfmTask(device, params, self)
        yield from browser.sort_by_extension()
        for ending, folder in params.kinds:
            yield from browser.carry(params.source, self.chosen(params, ending), folder, "ctrl+x")

    def misread(
        self, params: SortingParams, mistake: str, rng: np.random.Generator
    ) -> SortingParams:
        """``swapped``: each kind goes where the other should; ``one kind``: one is forgotten."""
        if mistake == "one kind":
            return dataclasses.replace(params, kinds=(pick(rng, params.kinds),))
        if len(params.kinds) < 2:
            return params  # the other is forgotten
        (one, here), (two, there) = params.kinds
        return dataclasses.replace(params, kinds=((one, there), (two, here)))
