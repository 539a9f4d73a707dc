"""Write on a whole desktop: by an icon, by the panel's list of windows, by its launchers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import between, other, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import navigation, shell
from ui_gym.desktop.content import texts, words
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.facts import files_change
from ui_gym.desktop.files import encoded, judge_files
from ui_gym.desktop.task import DesktopTask
from ui_gym.desktop.tasks.editing import EditorParams, EditorTask, go_to, save_as


@dataclass(frozen=True)
class LineParams(EditorParams):
    """Documents, and a line of one."""

    line: int
    """Which one it is, the first being 0."""
    text: str
    """What it is to be."""


class LineTask(EditorTask[LineParams]):
    """What tasks with one line of a document share."""

    def sample(self, rng: np.random.Generator) -> LineParams:
        files = self.sample_files(rng)
        lines = files["files"][files["target"]][1]
        text = next(line for line in texts.lines(rng, len(lines) + 1) if line not in lines)
        return LineParams(**files, line=between(rng, 0, len(lines) - 1), text=text)

    def misread(self, params: LineParams, mistake: str, rng: np.random.Generator) -> LineParams:
        """``words``: the new line reads otherwise; ``line``: another line is taken; as all."""
        if mistake == "words":
            taken = (params.text, *params.lines)
            drawn = texts.lines(rng, len(taken) + 1)
            return dataclasses.replace(params, text=next(t for t in drawn if t not in taken))
        if mistake == "line":
            lines = range(len(params.lines))
            return dataclasses.replace(params, line=other(rng, lines, params.line))
        return super().misread(params, mistake, rng)


@register(
    "DesktopChangeDocument", suite="desktop", category="shell", difficulty="easy", max_steps=15,
    tags=("icons", "typing"),
)  # fmt: skip
class DesktopChangeDocument(LineTask):
    """Open a document by its icon on the desktop, and change one of its lines.

    ## Description
    The goal names the document and the line, and says what the line is to be. Documents of like
    names lie on the desktop as well.

    ## Rewards
    1 if the document on the disk has the new line in the place of the old one, and all others are
    unchanged.

    ## Starting state
    A desktop with icons and a panel. No window is open.
    """

    tabs = (3, 3)
    mistakes = ("line", "twin", "words", "unsaved")
    goals = (
        'Open the document "{name}" on the desktop, replace its line "{old}" by "{text}", and '
        "save it.",
        'On the desktop there is a document called "{name}". Its line "{old}" should read '
        '"{text}". Change it, and save the document.',
        'In "{name}", which lies on the desktop, change line {number} to "{text}" and save.',
    )

    def sample_files(
        self, rng: np.random.Generator, lines: Sequence[str] | None = None
    ) -> dict[str, object]:
        return {**super().sample_files(rng, lines), "folder": shell.FOLDER}

    def told(self, params: LineParams) -> Mapping[str, object]:
        return {"old": params.lines[params.line], "number": params.line + 1}

    def before(self, params: LineParams) -> dict[str, str]:
        return shell.own_files() | super().before(params)

    def edited(self, params: LineParams) -> Sequence[str]:
        before, after = params.lines[: params.line], params.lines[params.line + 1 :]
        return (*before, params.text, *after)

    def session(self, params: LineParams) -> SessionSpec:
        return shell.session(encoded(self.before(params)))

    def oracle(self, device: DesktopDevice, params: LineParams) -> Iterator[Action | Demo]:
        names = [name for name, _ in (*params.files, *params.beside)]
        yield shell.icon(params.name, (), names, count=2)
        yield from navigation.opened(device, params.name)
        yield from self.edit(device, params)
        if params.saves:
            yield Press("ctrl+s")

    def edit(self, device: DesktopDevice, params: LineParams) -> Iterator[Action | Demo]:
        yield from go_to(device, params.line)
        yield Press("shift+end")
        yield Type(params.text)


@register(
    "DesktopRestoreWindow", suite="desktop", category="shell", difficulty="easy", max_steps=15,
    tags=("windows", "typing"),
)  # fmt: skip
class DesktopRestoreWindow(LineTask):
    """Bring back a minimised window by the panel, and add a line to what is open in it.

    ## Description
    The goal names the file and gives the line. Three files of like names are open, each in a window
    of its own, and all windows are minimised: only the panel's list shows them.

    ## Rewards
    1 if the file on the disk holds its old lines and then the new one, and the others are
    unchanged.

    ## Starting state
    A desktop with icons and a panel. Three windows are minimised.
    """

    tabs = (3, 3)
    mistakes = ("twin", "words", "unsaved")
    goals = (
        'The window with "{name}" is minimised. Bring it back, add the line "{text}" at the end, '
        "and save.",
        'Three files are open in minimised windows. At the end of "{name}", write "{text}" on a '
        "line of its own, and save.",
        'Use the list of windows in the panel to get "{name}" back. Its last line should be '
        '"{text}": add it below the others, and save.',
    )

    def edited(self, params: LineParams) -> Sequence[str]:
        return (*params.lines, params.text)

    def session(self, params: LineParams) -> SessionSpec:
        opened = [f"{params.folder}/{name}" for name, _ in params.files]
        launch = [["mousepad", "--opening-mode=window", path] for path in opened]
        return shell.session(encoded(self.before(params)), launch)

    def setup(self, device: DesktopDevice, params: LineParams) -> None:
        super().setup(device, params)
        for number in reversed(range(len(params.files))):
            # It is that of the active window: when one is minimised, the one before is active.
            device.perform(shell.task(device.size, number))
            device.settle()
        # The pointer would show what that button says.
        device.perform(shell.rest(device.size))

    def oracle(self, device: DesktopDevice, params: LineParams) -> Iterator[Action | Demo]:
        yield shell.task(device.size, params.target)
        yield from navigation.opened(device, params.name)
        yield from self.edit(device, params)
        if params.saves:
            yield Press("ctrl+s")

    def edit(self, device: DesktopDevice, params: LineParams) -> Iterator[Action | Demo]:
        yield Press("ctrl+end")
        yield Type(params.text)


@dataclass(frozen=True)
class NoteParams:
    """A text, and where it is to be."""

    text: tuple[str, ...]
    new: str
    """The name of its file."""
    place: str
    """The file's folder."""
    files: tuple[tuple[str, str], ...]
    """(path, text) of files in the folders that there are."""
    phrasing: int


@register(
    "DesktopWriteNote", suite="desktop", category="shell", difficulty="medium", max_steps=15,
    tags=("panel", "typing"),
)  # fmt: skip
class DesktopWriteNote(DesktopTask[NoteParams]):
    """Start the text editor from the panel, write a note, and save it in a folder.

    ## Description
    The goal gives the text, the name of the file, and its folder in the home folder.

    ## Rewards
    1 if the file is there and holds that text, and all others are unchanged. Spaces and empty lines
    at the ends do not count.

    ## Starting state
    A desktop with icons and a panel. No window is open.
    """

    mistakes = ("name", "place", "words")
    goals = (
        'Start the text editor from the panel, write this, and save it as "{new}" in the folder '
        '"{place}" of your home folder:\n{note}',
        "Write a note with the text editor and keep it as {place}/{new} in the home folder. It "
        "should read:\n{note}",
        'I need a new file "{new}" in my folder "{place}". Open the text editor, and write into '
        "it:\n{note}",
    )

    def sample(self, rng: np.random.Generator) -> NoteParams:
        folders = words.folder_names(rng, 3)
        names = words.file_names(rng, 3, "txt")
        files = tuple(
            (f"{folder}/{name}", texts.page(rng))
            for folder, name in zip(folders, names, strict=True)
        )
        return NoteParams(
            text=texts.lines(rng, between(rng, 1, 3)), new=words.new_name(rng, *names),
            place=pick(rng, folders), files=files, phrasing=self.phrase(rng),
        )  # fmt: skip

    def told(self, params: NoteParams) -> Mapping[str, object]:
        return {"note": "\n".join(params.text)}

    def after(self, params: NoteParams) -> dict[str, str]:
        """All files in the end."""
        written = {f"{params.place}/{params.new}": texts.joined(params.text)}
        return dict(params.files) | written

    def session(self, params: NoteParams) -> SessionSpec:
        return shell.session(encoded(dict(params.files)))

    def may_change(self, params: NoteParams) -> Sequence[AllowedChange]:
        return files_change(dict(params.files), self.after(params))

    def judge(
        self, device: DesktopDevice, params: NoteParams, history: Sequence[Action]
    ) -> Verdict:
        return judge_files(device, dict(params.files), self.after(params))

    def oracle(self, device: DesktopDevice, params: NoteParams) -> Iterator[Action | Demo]:
        yield shell.launcher(device.size, "editor")
        yield from navigation.opened(device, "Mousepad")
        yield Type("\n".join(params.text))
        yield from save_as(device, f"{params.place}/{params.new}")

    def misread(self, params: NoteParams, mistake: str, rng: np.random.Generator) -> NoteParams:
        """``name``: the file gets another name; ``place``: it goes into another folder; ``words``:
        the text is another one."""
        if mistake == "name":
            return dataclasses.replace(params, new=words.new_name(rng, params.new))
        if mistake == "place":
            folders = [path.partition("/")[0] for path, _ in params.files]
            return dataclasses.replace(params, place=other(rng, folders, params.place))
        count = len(params.text)
        drawn = [line for line in texts.lines(rng, 2 * count) if line not in params.text]
        return dataclasses.replace(params, text=tuple(drawn[:count]))
