"""Write a note."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import records, scenes, texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice
from ui_gym.android.task import AndroidTask
from ui_gym.contract import draws as drawing
from ui_gym.contract import words
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

NOTES = "/sdcard/Documents/Notes"

GOALS = (
    'In Notes, create {file} with the text "{text}"',
    'Write a note named {file} that says "{text}"',
    'I need a new note. Its file name is {file} and its text "{text}"',
)


@dataclass(frozen=True)
class NoteCreateParams:
    """All that varies between episodes."""

    file: str
    text: str
    others: tuple[tuple[str, str], ...]
    """(file, text) of notes that are there already."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidNoteCreate", suite="android", category="input", difficulty="medium", max_steps=15,
    tags=("notes",),
)  # fmt: skip
class AndroidNoteCreate(AndroidTask[NoteCreateParams]):
    """Write a note with a file name and a text.

    ## Description
    The goal gives the name of a file and its text. Other notes are there, one named alike.

    ## Rewards
    1 if ``cat`` reads the text in the file of that name in ``/sdcard/Documents/Notes``.

    ## Starting state
    The home screen or a page of the Settings; there is no such file. A real phone needs an app that
    keeps its notes there.
    """

    apps = ("org.uigym.notes",)
    mistakes = ("name", "text")

    def sample(self, rng: np.random.Generator) -> NoteCreateParams:
        file, *others = texts.files(rng, drawing.between(rng, 2, 5))
        return NoteCreateParams(
            file=file,
            text=texts.note(rng),
            others=tuple((name, texts.note(rng)) for name in others),
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(GOALS) - 1),
        )

    def goal(self, params: NoteCreateParams) -> str:
        return GOALS[params.phrasing].format(file=params.file, text=params.text)

    def prepare(self, params: NoteCreateParams) -> Sequence[str]:
        lines = [records.remove(f"{NOTES}/{params.file}")]
        for name, text in params.others:
            lines += records.write(f"{NOTES}/{name}", text)
        return [*lines, *params.scene.lines()]

    def checks(self, params: NoteCreateParams) -> Sequence[ShellCheck]:
        line = f"cat {shlex.quote(f'{NOTES}/{params.file}')} 2>/dev/null"
        return [ShellCheck("note", line, lambda r: r.text.strip() == params.text)]

    def oracle(self, device: AndroidDevice, params: NoteCreateParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Notes")
        yield from moves.tap(device, "New note")
        yield from moves.fill(device, "File name", params.file)
        yield from moves.fill(device, "Text", params.text)
        yield from moves.tap(device, "Save", role="button")

    def misread(
        self, params: NoteCreateParams, mistake: str, rng: np.random.Generator
    ) -> NoteCreateParams:
        """``name``: another file name. ``text``: another text."""
        if mistake == "name":
            taken = (params.file, *(name for name, _ in params.others))
            return dataclasses.replace(params, file=words.new_name(rng, *taken))
        text = texts.note(rng)
        return params if text == params.text else dataclasses.replace(params, text=text)
