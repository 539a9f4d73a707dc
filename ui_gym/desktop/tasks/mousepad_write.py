"""Write in the text editor: type, append, save elsewhere, join."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import between, other, pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop.compact_task import NAMES
from ui_gym.desktop.content import texts, words
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.tasks.editing import (
    CompactEditorTask,
    EditorParams,
    EditorTask,
    save_as,
    show,
)


@dataclass(frozen=True)
class TextParams(EditorParams):
    """A file, and lines to be written into it."""

    text: tuple[str, ...]
    at_end: bool
    """Whether they go after what is there, as they always do."""


@register(
    "DesktopTypeAndSave", suite="desktop", category="mousepad", difficulty="easy", max_steps=10,
    tags=("typing",),
)  # fmt: skip
class DesktopTypeAndSave(EditorTask[TextParams]):
    """Type a text into an empty file and save it.

    ## Description
    The goal gives a text of one to three lines. The file is open in the editor.

    ## Rewards
    1 if the file on the disk holds that text, and the files beside it are unchanged. Spaces and
    empty lines at the ends do not count.

    ## Starting state
    The editor with the empty file.
    """

    tabs = (1, 1)
    length = (0, 0)
    mistakes = ("words", "unsaved")
    goals = (
        'Type the following text into the open file "{name}" and save it:\n{text}',
        'The file "{name}" is empty. Write this into it and save the file:\n{text}',
        "Enter this text in the editor exactly as it stands here, then save:\n{text}",
        'Please fill "{name}" with the following and do not forget to save:\n{text}',
    )

    def sample(self, rng: np.random.Generator) -> TextParams:
        text = texts.lines(rng, between(rng, 1, 3))
        return TextParams(**self.sample_files(rng), text=text, at_end=True)

    def told(self, params: TextParams) -> Mapping[str, object]:
        return {"text": "\n".join(params.text)}

    def edited(self, params: TextParams) -> Sequence[str]:
        return params.text

    def edit(self, device: DesktopDevice, params: TextParams) -> Iterator[Action | Demo]:
        yield Type("\n".join(params.text))

    def misread(self, params: TextParams, mistake: str, rng: np.random.Generator) -> TextParams:
        """``words``: one line reads otherwise; ``unsaved``: it is not saved."""
        if mistake == "words":
            return other_words(params, rng)
        return super().misread(params, mistake, rng)


@register(
    "DesktopAppendLine", suite="desktop", category="mousepad", difficulty="easy", max_steps=12,
    tags=("typing",),
)  # fmt: skip
class DesktopAppendLine(CompactEditorTask[TextParams]):
    """Add a line at the end of a file.

    ## Description
    The goal gives the line and names the file. A second file may be open in another tab. With
    ``compact=True`` there is one, whose lines are a word each, on a screen that a model of a
    million parameters can read.

    ## Rewards
    1 if the file on the disk holds its old lines and then the new one, and the others are
    unchanged.

    ## Starting state
    The editor with one or two files, the last of them shown.

    ## Arguments
    | `compact` | False | a screen of 400x320 pixels, and six actions |
    """

    mistakes = ("words", "start", "twin", "unsaved")
    goals = (
        'Add the line "{text}" at the end of "{name}" and save the file.',
        'In "{name}", write "{text}" on a new line below the last one, and save.',
        'The last line of "{name}" should be: {text}\nAdd it below the others and save.',
    )
    compact_goals = (
        "Add {text} at the end and save.",
        "Write {text} below the last line and save.",
        "The last line should be {text}. Add it and save.",
    )
    compact_mistakes = ("words", "start", "unsaved")

    def sample(self, rng: np.random.Generator) -> TextParams:
        files = self.sample_files(rng)
        taken = {line for _, lines in files["files"] for line in lines}
        if self.compact:
            return TextParams(**files, text=(other(rng, NAMES, *taken),), at_end=True)
        text = next(line for line in texts.lines(rng, len(taken) + 1) if line not in taken)
        return TextParams(**files, text=(text,), at_end=True)

    def told(self, params: TextParams) -> Mapping[str, object]:
        return {"text": params.text[0]}

    def edited(self, params: TextParams) -> Sequence[str]:
        return (*params.lines, *params.text)

    def edit(self, device: DesktopDevice, params: TextParams) -> Iterator[Action | Demo]:
        yield Press("ctrl+end" if params.at_end else "ctrl+home")
        yield Type(params.text[0])
        if not params.at_end:
            yield Press("enter")

    def edit_compact(self, params: TextParams) -> Iterator[Action | Demo]:
        text, place = params.text[0], params.lines[-1 if params.at_end else 0]
        yield Demo(Press("ctrl+end" if params.at_end else "ctrl+home"), place)
        yield Demo(Type(text, enter=not params.at_end), text)

    def misread(self, params: TextParams, mistake: str, rng: np.random.Generator) -> TextParams:
        """``words``: the line reads otherwise; ``start``: it becomes the first one; as all."""
        if mistake == "words" and self.compact:
            taken = (*params.text, *params.lines)
            return dataclasses.replace(params, text=(other(rng, NAMES, *taken),))
        if mistake == "words":
            return other_words(params, rng)
        if mistake == "start":
            return dataclasses.replace(params, at_end=False)
        return super().misread(params, mistake, rng)


@register(
    "DesktopJoinFiles", suite="desktop", category="mousepad", difficulty="medium", max_steps=20,
    tags=("clipboard",),
)  # fmt: skip
class DesktopJoinFiles(EditorTask[TextParams]):
    """Add the text of one file at the end of another.

    ## Description
    Two files of like names are open in tabs; the goal says which one takes the text of the other.

    ## Rewards
    1 if the one file on the disk holds its own lines and then those of the other, and the other is
    unchanged.

    ## Starting state
    The editor with both files, the last of them shown.
    """

    tabs = (2, 2)
    length = (2, 6)
    mistakes = ("twin", "start", "unsaved")
    goals = (
        'Add the whole text of "{source}" at the end of "{name}" and save "{name}". '
        'Leave "{source}" as it is.',
        'Copy everything from "{source}" to the end of "{name}", then save "{name}".',
        'Both files are open: append the contents of "{source}" to "{name}" and save that file.',
    )

    def sample(self, rng: np.random.Generator) -> TextParams:
        return TextParams(**self.sample_files(rng), text=(), at_end=True)

    def told(self, params: TextParams) -> Mapping[str, object]:
        return {"source": params.files[1 - params.target][0]}

    def edited(self, params: TextParams) -> Sequence[str]:
        return (*params.lines, *params.files[1 - params.target][1])

    def oracle(self, device: DesktopDevice, params: TextParams) -> Iterator[Action | Demo]:
        yield from show(params, 1 - params.target)
        yield Press("ctrl+a")
        yield Press("ctrl+c")
        yield from super().oracle(device, params)

    def edit(self, device: DesktopDevice, params: TextParams) -> Iterator[Action | Demo]:
        yield Press("ctrl+end" if params.at_end else "ctrl+home")
        yield Press("ctrl+v")

    def misread(self, params: TextParams, mistake: str, rng: np.random.Generator) -> TextParams:
        """``start``: the text goes before the file's own; as all."""
        if mistake == "start":
            return dataclasses.replace(params, at_end=False)
        return super().misread(params, mistake, rng)


@dataclass(frozen=True)
class SaveAsParams(EditorParams):
    """A file, and where its copy is to be."""

    place: str
    """The folder of the copy, which may be that of the file."""
    new: str
    """The name of the copy."""
    elsewhere: tuple[tuple[str, str], ...]
    """(path, text) of files in other folders."""


@register(
    "DesktopSaveAs", suite="desktop", category="mousepad", difficulty="medium", max_steps=20,
    tags=("files",),
)  # fmt: skip
class DesktopSaveAs(EditorTask[SaveAsParams]):
    """Save an open file under another name.

    ## Description
    The goal gives the name and the folder of the copy, which may be another one than the file's.

    ## Rewards
    1 if the copy is there with the file's text, there is no other new file in these folders, and
    all others are unchanged.

    ## Starting state
    The editor with the file.
    """

    tabs = (1, 1)
    mistakes = ("name", "place")
    goals = (
        'Save a copy of the open file as "{new}" in the folder "{place}" of the home folder.',
        'Use Save As to store "{name}" as "{new}" in {place}. The original must stay.',
        'I need the file that is open also under the name "{new}" in the folder "{place}".',
    )

    def sample(self, rng: np.random.Generator) -> SaveAsParams:
        files = self.sample_files(rng)
        folders = [name for name in words.folder_names(rng, 3) if name != files["folder"]][:2]
        elsewhere = tuple(
            (f"{folder}/{words.file_names(rng, 1)[0]}", texts.page(rng)) for folder in folders
        )
        there = [name for name, _ in (*files["files"], *files["beside"])]
        there += [path.partition("/")[2] for path, _ in elsewhere]
        return SaveAsParams(
            **files, place=pick(rng, [files["folder"], *folders]),
            new=words.new_name(rng, *there), elsewhere=elsewhere,
        )  # fmt: skip

    def before(self, params: SaveAsParams) -> dict[str, str]:
        return super().before(params) | dict(params.elsewhere)

    def after(self, params: SaveAsParams) -> dict[str, str]:
        return self.before(params) | {f"{params.place}/{params.new}": texts.joined(params.lines)}

    def oracle(self, device: DesktopDevice, params: SaveAsParams) -> Iterator[Action | Demo]:
        yield from save_as(device, f"{params.place}/{params.new}")

    def misread(self, params: SaveAsParams, mistake: str, rng: np.random.Generator) -> SaveAsParams:
        """``name``: it gets another name; ``place``: it goes into another folder."""
        if mistake == "name":
            return dataclasses.replace(params, new=words.new_name(rng, params.new))
        folders = [params.folder, *(path.partition("/")[0] for path, _ in params.elsewhere)]
        return dataclasses.replace(params, place=other(rng, folders, params.place))


def other_words(params: TextParams, rng: np.random.Generator) -> TextParams:
    """One line of the text reads otherwise."""
    which = between(rng, 0, len(params.text) - 1)
    wrong = next(line for line in texts.lines(rng, 9) if line not in params.text)
    text = (*params.text[:which], wrong, *params.text[which + 1 :])
    return dataclasses.replace(params, text=text)
