"""Change words of a text in the text editor: replace one everywhere, correct one."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import between, pick, some
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop import navigation
from ui_gym.desktop.content import texts, words
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.tasks.editing import (
    EditorParams,
    EditorTask,
    word_at,
)

DIALOG = "Find and Replace"
SEARCH_FOR, REPLACE_WITH, MATCH_CASE, WHOLE_WORD, REPLACE_ALL, REPLACE, CLOSE = (
    (150, 26), (150, 64), (20, 133), (20, 158), (20, 217), (298, 257), (387, 257),
)  # fmt: skip
"""Places in the editor's dialog of that name."""


@dataclass(frozen=True)
class ReplaceParams(EditorParams):
    """A file, and two words."""

    old: str
    longer: str
    """Another word of the file, which begins with `old`."""
    new: str


@register(
    "DesktopReplaceWord", suite="desktop", category="mousepad", difficulty="medium", max_steps=25,
    tags=("dialog",),
)  # fmt: skip
class DesktopReplaceWord(EditorTask[ReplaceParams]):
    """Replace a word by another wherever it stands.

    ## Description
    The word stands in two to four lines; in others stands a longer word that begins with it, which
    is to stay.

    ## Rewards
    1 if the word is replaced everywhere in the file on the disk and nothing else has changed.

    ## Starting state
    The editor with the file.
    """

    tabs = (1, 1)
    mistakes = ("longer", "new", "unsaved")
    goals = (
        'Replace the word "{old}" with "{new}" everywhere in the open file and save it. '
        "Longer words that contain it must stay as they are.",
        'In "{name}", change every "{old}" to "{new}" (whole words only), then save.',
        'Wherever "{old}" is a word of its own in "{name}", write "{new}". Then save the file.',
    )

    def sample(self, rng: np.random.Generator) -> ReplaceParams:
        old, longer = pick(rng, words.PAIRS)
        lines = [texts.line_with(rng, old) for _ in range(between(rng, 2, 4))]
        lines += [texts.line_with(rng, longer) for _ in range(between(rng, 1, 2))]
        lines += [line for line in texts.lines(rng, 2) if old not in line.lower()]
        files = self.sample_files(rng, some(rng, lines, len(lines)))
        return ReplaceParams(**files, old=old, longer=longer, new=words.another(rng, longer))

    def edited(self, params: ReplaceParams) -> Sequence[str]:
        return [re.sub(rf"\b{params.old}\b", params.new, line) for line in params.lines]

    def edit(self, device: DesktopDevice, params: ReplaceParams) -> Iterator[Action | Demo]:
        yield Press("ctrl+r")
        yield from navigation.opened(device, DIALOG)
        dialog = navigation.window(device, DIALOG)
        for place, text in ((SEARCH_FOR, params.old), (REPLACE_WITH, params.new)):
            yield navigation.at(dialog, place)
            yield Type(text)
        for place in (MATCH_CASE, WHOLE_WORD, REPLACE_ALL, REPLACE, CLOSE):
            yield navigation.at(dialog, place)
        yield from navigation.closed(device, DIALOG)

    def misread(
        self, params: ReplaceParams, mistake: str, rng: np.random.Generator
    ) -> ReplaceParams:
        """``longer``: the longer word is replaced; ``new``: by another word; as all."""
        if mistake == "longer":
            return dataclasses.replace(params, old=params.longer)
        if mistake == "new":
            return dataclasses.replace(params, new=words.another(rng, params.new, params.old))
        return super().misread(params, mistake, rng)


@dataclass(frozen=True)
class TypoParams(EditorParams):
    """A file with a word that is misspelt."""

    row: int
    """The line in which it stands, the first being 0."""
    wrong: str
    right: str


@register(
    "DesktopFixTypo", suite="desktop", category="mousepad", difficulty="medium", max_steps=12,
)  # fmt: skip
class DesktopFixTypo(EditorTask[TypoParams]):
    """Find a misspelt word and correct it.

    ## Description
    One word of the file has two letters swapped, one too many or one too few. The goal does not
    say which.

    ## Rewards
    1 if the word is right in the file on the disk and nothing else has changed.

    ## Starting state
    The editor with the file.
    """

    tabs = (1, 1)
    mistakes = ("spelling", "unsaved")
    goals = (
        'One word in "{name}" is misspelt. Correct it and save the file.',
        "There is a single spelling mistake in the open file. Fix it, then save.",
        'Proofread "{name}": one word has a typo. Put it right and save; change nothing else.',
    )

    def sample(self, rng: np.random.Generator) -> TypoParams:
        right = pick(rng, [word for word in words.THINGS if len(word) >= 6])
        wrong = words.misspelt(rng, right)
        lines = list(texts.lines(rng, between(rng, 3, 7)))
        row = between(rng, 0, len(lines))
        lines.insert(row, texts.line_with(rng, right).replace(right, wrong, 1))
        return TypoParams(**self.sample_files(rng, lines), row=row, wrong=wrong, right=right)

    def edited(self, params: TypoParams) -> Sequence[str]:
        lines = list(params.lines)
        lines[params.row] = lines[params.row].replace(params.wrong, params.right, 1)
        return lines

    def edit(self, device: DesktopDevice, params: TypoParams) -> Iterator[Action | Demo]:
        column = params.lines[params.row].index(params.wrong)
        yield word_at(device, params.row, column, len(params.wrong))
        yield Type(params.right)

    def misread(self, params: TypoParams, mistake: str, rng: np.random.Generator) -> TypoParams:
        """``spelling``: it is misspelt again; as all."""
        if mistake == "spelling":
            return dataclasses.replace(params, right=words.misspelt(rng, params.right))
        return super().misread(params, mistake, rng)
