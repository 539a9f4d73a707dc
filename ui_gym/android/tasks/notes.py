"""Notes, and sending on by text message what is found elsewhere."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import facts, moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import people, records, scenes, texts
from ui_gym.android.content.people import Person
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice
from ui_gym.android.facts import EXCESSES
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.android.tasks import messages
from ui_gym.contract import words
from ui_gym.contract.draws import Rng, between, other, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

NOTES = "/sdcard/Documents/Notes"


def short_files(rng: Rng, count: int) -> tuple[str, ...]:
    """Different names of files, of short words."""
    return tuple(f"{name}.txt" for name in some(rng, texts.THINGS_SHORT, count))


def _text(rng: Rng, short: bool) -> str:
    return pick(rng, texts.THINGS_SHORT) if short else texts.note(rng)


@dataclass(frozen=True)
class NoteCreateParams:
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
class AndroidNoteCreate(CompactTask[NoteCreateParams]):
    """Write a note with a file name and a text.

    ## Description
    The goal gives the name of a file and its text. Other notes are there, one named alike.

    ## Rewards
    1 if ``cat`` reads the text in the file of that name in ``/sdcard/Documents/Notes``.

    ## Starting state
    The home screen or a page of the Settings; there is no such file. A real phone needs an app that
    keeps its notes there.

    ## Arguments
    | `compact` | False | a screen of 256x320 pixels |
    """

    apps = ("org.uigym.notes",)
    mistakes = ("name", "text")
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidNoteCreate")
    compact_steps = 9

    def sample(self, rng: Rng) -> NoteCreateParams:
        file, *others = (
            short_files(rng, 3) if self.compact else texts.files(rng, between(rng, 2, 5))
        )
        return NoteCreateParams(
            file=file,
            text=_text(rng, self.compact),
            others=tuple((name, _text(rng, self.compact)) for name in others),
            scene=self.scene(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def prepare(self, params: NoteCreateParams) -> Sequence[str]:
        lines = [records.remove(f"{NOTES}/{params.file}")]
        for name, text in params.others:
            lines += records.write(f"{NOTES}/{name}", text)
        return [*lines, *params.scene.lines()]

    def checks(self, params: NoteCreateParams) -> Sequence[ShellCheck]:
        line = f"cat {shlex.quote(f'{NOTES}/{params.file}')} 2>/dev/null"
        return [ShellCheck("note", line, lambda r: r.text.strip() == params.text)]

    def twice(self, params: NoteCreateParams) -> Sequence[str]:
        files = (params.file, f"copy-{params.file}")
        return [line for name in files for line in records.write(f"{NOTES}/{name}", params.text)]

    def may_change(self, params: NoteCreateParams) -> Sequence[AllowedChange]:
        return [AllowedChange(facts.file(f"{NOTES}/{params.file}"), gone=0, new=1)]

    def oracle(self, device: AndroidDevice, params: NoteCreateParams) -> Steps:
        yield from moves.launch(device, "Notes")
        yield from moves.tap(device, "New note")
        yield from moves.fill(device, "File name", params.file)
        yield from moves.fill(device, "Text", params.text)
        yield from moves.tap(device, "Save", role="button")

    def misread(self, params: NoteCreateParams, mistake: str, rng: Rng) -> NoteCreateParams:
        """``name``: another file name. ``text``: another text."""
        if mistake == "name":
            taken = (params.file, *(name for name, _ in params.others))
            free = short_files(rng, len(taken) + 1) if self.compact else ()
            new = next((name for name in free if name not in taken), "")
            return dataclasses.replace(params, file=new or words.new_name(rng, *taken))
        text = _text(rng, self.compact)
        return params if text == params.text else dataclasses.replace(params, text=text)


@dataclass(frozen=True)
class ClipboardParams:
    text: str
    people: tuple[Person, ...]
    """The one who is written to, and others."""
    scene: StartScene
    phrasing: int


@dataclass(frozen=True)
class NoteToSmsParams:
    notes: tuple[tuple[str, str], ...]
    """(file, text) of the notes."""
    note: str
    """The file that is meant."""
    people: tuple[Person, ...]
    """The one who is written to, and others."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidClipboardToSms", suite="android", category="input", difficulty="hard", max_steps=20,
    tags=("messages", "heldout-template"),
)  # fmt: skip
class AndroidClipboardToSms(AndroidTask[ClipboardParams]):
    """Send what is in the clipboard to a number.

    ## Description
    A text is in the clipboard, and is seen nowhere; the goal gives a number to send it to.

    ## Rewards
    1 if ``content query --uri content://sms/sent`` tells the text with the number.

    ## Starting state
    The home screen or a page of the Settings. A real phone needs the app Clipper for it, as the
    clipboard is set by the broadcast ``clipper.set``.

    ## Episode end
    Termination: the text was sent.
    """

    apps = (messages.MESSAGES,)
    mistakes = ("recipient",)
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidClipboardToSms")

    def sample(self, rng: Rng) -> ClipboardParams:
        return ClipboardParams(
            text=texts.note(rng),
            people=people.people(rng, 2),
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def goal(self, params: ClipboardParams) -> str:
        return self.goals[params.phrasing].format(number=params.people[0].number)

    def prepare(self, params: ClipboardParams) -> Sequence[str]:
        copy = f"am broadcast -a clipper.set -e text {shlex.quote(params.text)} >/dev/null"
        forget = records.forget_messages(person.number for person in params.people)
        return [*forget, copy, *params.scene.lines()]

    def checks(self, params: ClipboardParams) -> Sequence[ShellCheck]:
        return [messages.sent(params.people[0].digits, params.text)]

    def twice(self, params: ClipboardParams) -> Sequence[str]:
        return 2 * [records.outgoing(params.people[0].number, params.text)]

    def may_change(self, params: ClipboardParams) -> Sequence[AllowedChange]:
        return facts.text_sent()

    def oracle(self, device: AndroidDevice, params: ClipboardParams) -> Steps:
        yield from messages.start(device, params.people[0].digits)
        yield from messages.paste(device)

    def misread(self, params: ClipboardParams, mistake: str, rng: Rng) -> ClipboardParams:
        """``recipient``: it goes to another number."""
        first, *rest = params.people
        wrong = dataclasses.replace(first, digits=people.neighbour(rng, first.digits))
        return dataclasses.replace(params, people=(wrong, *rest))


@register(
    "AndroidNoteToSms", suite="android", category="input", difficulty="hard", max_steps=25,
    tags=("messages", "notes", "heldout-template"),
)  # fmt: skip
class AndroidNoteToSms(CompactTask[NoteToSmsParams]):
    """Send the text of a note to somebody among the contacts.

    ## Description
    The Notes app holds some notes, two of them named alike. The goal names one of them and the
    person who is to have its text.

    ## Rewards
    1 if ``content query --uri content://sms/sent`` tells the note's text with the person's number.

    ## Starting state
    The home screen or a page of the Settings.

    ## Episode end
    Termination: the text was sent.

    ## Arguments
    | `compact` | False | a screen of 256x320 pixels |
    """

    apps = ("org.uigym.notes", messages.MESSAGES)
    compact_steps = 15
    mistakes = ("note", "recipient")
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidNoteToSms")

    def sample(self, rng: Rng) -> NoteToSmsParams:
        if self.compact:
            files = list(short_files(rng, 3))
            notes = tuple(zip(files, some(rng, texts.THINGS_SHORT, len(files)), strict=True))
        else:
            files = [f"{name.rpartition('.')[0]}.txt" for name in texts.files(rng, 4)]
            notes = tuple((name, texts.note(rng)) for name in dict.fromkeys(files))
        return NoteToSmsParams(
            notes=some(rng, notes, len(notes)),
            note=files[0],
            people=self.people(rng, 3),
            scene=self.scene(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def goal(self, params: NoteToSmsParams) -> str:
        name = params.people[0].name
        return self.goals[params.phrasing].format(note=params.note, name=name)

    def prepare(self, params: NoteToSmsParams) -> Sequence[str]:
        lines = [line for name, text in params.notes
                 for line in records.write(f"{NOTES}/{name}", text)]  # fmt: skip
        lines += records.forget(person.name for person in params.people)
        lines += records.forget_messages(person.number for person in params.people)
        for person in params.people:
            lines += records.contact(person.name, person.number)
        return [*lines, *params.scene.lines()]

    def checks(self, params: NoteToSmsParams) -> Sequence[ShellCheck]:
        text = dict(params.notes)[params.note]
        return [messages.sent(params.people[0].digits, text)]

    def twice(self, params: NoteToSmsParams) -> Sequence[str]:
        text = dict(params.notes)[params.note]
        return 2 * [records.outgoing(params.people[0].number, text)]

    def may_change(self, params: NoteToSmsParams) -> Sequence[AllowedChange]:
        return facts.text_sent()

    def oracle(self, device: AndroidDevice, params: NoteToSmsParams) -> Steps:
        text = dict(params.notes)[params.note]
        yield from moves.launch(device, "Notes")
        yield from moves.tap(device, params.note)
        said = text if self.compact else f"The note says: {text}"
        for i, action in enumerate(messages.start(device, params.people[0].name)):
            yield Demo(action, "" if i or not self.compact else said)
        for action in messages.write(device, text):
            yield Demo(action, said)

    def misread(self, params: NoteToSmsParams, mistake: str, rng: Rng) -> NoteToSmsParams:
        """``note``: another note is sent. ``recipient``: it goes to the one of the same name."""
        if mistake == "note":
            names = [name for name, _ in params.notes]
            return dataclasses.replace(params, note=other(rng, names, params.note))
        first, other_person, *rest = params.people
        return dataclasses.replace(params, people=(other_person, first, *rest))
