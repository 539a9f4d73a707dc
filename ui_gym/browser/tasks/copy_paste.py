"""Copy and paste: take text out of notes into the fields of a form, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.browser.content.notes import LABELLED, PROSE, draw_labelled, draw_prose, draw_short
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Click, Press
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

WHOLE = -1
"""In place of a line's number: the whole note."""

FORMS: tuple[dict[str, Any], ...] = table("forms")["copy_paste"]["forms"]
"""Each with its title, its lead and the labels of its fields."""
OLD_TEXTS: tuple[str, ...] = table("forms")["copy_paste"]["old"]
ENDINGS: tuple[str, ...] = table("forms")["copy_paste"]["endings"]

GOALS = (
    "{jobs}.{gone} Then save the form.",
    "Fill in the form. {jobs}.{gone} Save it in the end.",
    "{jobs}, without any change to the text, and save the form.{gone}",
)
GONE = " What {} held before must be gone."

COMPACT_GOALS = (
    "Copy {note} to {field}.{gone} Press Save.",
    "Paste {note} into {field}.{gone} Press Save.",
)
COMPACT_GONE = " Empty {} first."

LINE_HEIGHT, EDGE = 24, 17
"""Of a note, in pixels: its lines, and what is above the first."""
COMPACT_LINE_HEIGHT, COMPACT_EDGE = 28, 1
COMPACT_FIELDS = 2
"""Fields and lines of a note that the compact page has room for."""


@dataclass(frozen=True)
class Note:
    """A note of some lines."""

    title: str
    text: str
    day: str


@dataclass(frozen=True)
class Copy:
    """Something to be copied."""

    note: int
    line: int
    """Counted from 0, or `WHOLE`."""
    field: int


@dataclass(frozen=True)
class CopyPasteParams:
    """All that varies between episodes."""

    notes: tuple[Note, ...]
    form: int
    fields: tuple[tuple[str, str], ...]
    """Of the form: label and what is in it at the start."""
    copies: tuple[Copy, ...]
    layout: str
    side: str
    brand: int
    theme: int
    phrasing: int


@register("CopyPaste", suite="browser", category="office", difficulty="medium", max_steps=40)
class CopyPaste(Family[CopyPasteParams]):
    """Copy text out of notes into the fields of a form, exactly, and save the form.

    ## Description
    An app with notes (texts, network settings, license keys, bank details...) and a form, side by
    side or on two pages. The goal says which note goes into which field. The clipboard works with
    the usual keys; whoever likes may type the text. With `filled`, fields hold old texts, which
    have to go. With `tricky`, single lines of notes are asked for, and there are other versions of
    the notes with nearly the same title. The compact page has notes of two lines, two fields, and a
    word that tells that something was copied.

    ## Action space
    Clicks and the keys ctrl+a, ctrl+c and ctrl+v solve it; for single lines also home and
    shift+end.

    ## Rewards
    1 for saving the form with all asked fields as asked, the others and the notes as they were.
    Else the share of the asked fields that are right, less one part for every other field and for
    the notes if they were changed. Blanks and line ends around a text do not matter.

    ## Starting state
    The first note is open, nothing is focused; the clipboard is not to be relied on.

    ## Episode end
    Termination: the form was saved, whatever it holds. `max_steps` is twice what is needed at most;
    it follows from the arguments.

    ## Arguments
    | `notes` | 3, 5, 8 (compact: 3) | how many notes, 2 to 10, compact to 3, and enough |
    | `copies` | 1, 2, 3 (compact: 1) | how many texts are to be copied, 1 to 3, compact 1 |
    | `lines` | 3, 4, 6 (compact: 2) | lines of a note, 2 to 8 (prose: to 4), compact 2 |
    | `filled` | False, True, True (compact: False) | whether fields hold something at the start |
    | `tricky` | False, False, True (compact: False) | single lines, and notes of like titles |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "copy_paste.html"
    shown = ("layout", "side", "brand", "theme")
    ends, waiting = "save", "nothing is saved"
    notes: int = whole(2, 10, easy=3, medium=5, hard=8)
    copies: int = whole(1, 3, easy=1, medium=2, hard=3)
    lines: int = whole(2, 8, easy=3, medium=4, hard=6)
    filled: bool = flag(easy=False, medium=True, hard=True)
    tricky: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"notes": 3, "copies": 1, "lines": 2, "filled": False, "tricky": False}
    mistakes = ("field", "note", "part")

    def prepare(self) -> None:
        if self.compact:
            if self.copies > 1 or self.lines > 2 or self.tricky:
                raise UserError("CopyPaste: the compact page has one copy of a note of two lines")
            self.check_range("notes", self.notes, 2, 3)
            self.max_steps = 2 * (8 + self.filled)
            return
        least = self.copies * (1 + self.tricky)
        if self.notes < least:
            raise UserError(f"CopyPaste: notes must be at least {least} here, not {self.notes}")
        self.max_steps = 2 * (self.copies * (8 + self.filled + self.tricky) + 1)

    def sample(self, rng: Generator) -> CopyPasteParams:
        if self.compact:
            return self._sample_compact(rng)
        titles = [str(title) for title in rng.permutation((*LABELLED, *PROSE))]
        if self.tricky:  # then lines of the first one are asked for
            titles.sort(key=lambda title: title in PROSE)
            titles[1:] = [str(title) for title in rng.permutation(titles[1:])]
        twins = self.copies if self.tricky else 0
        notes = [self._note(title, title, rng) for title in titles[: self.notes - twins]]
        for title in titles[:twins]:
            notes.append(self._note(f"{title} {pick(rng, ENDINGS)}", title, rng))
        order = [int(i) for i in rng.permutation(len(notes))]
        form = int(rng.integers(len(FORMS)))
        labels = [str(label) for label in rng.permutation(FORMS[form]["labels"])[: self.copies + 1]]
        olds = [str(old) for old in rng.permutation(OLD_TEXTS)]
        kept = [self.filled and (i == 0 or bool(rng.integers(2))) for i in range(len(labels))]
        copies = [
            Copy(order.index(i), self._line(titles[i], first=i == 0, rng=rng), i)
            for i in range(self.copies)
        ]
        places = [int(i) for i in rng.permutation(len(labels))]
        return CopyPasteParams(
            notes=tuple(notes[i] for i in order),
            form=form,
            fields=tuple((labels[i], olds[i] if kept[i] else "") for i in places),
            copies=tuple(
                replace(copies[int(i)], field=places.index(int(i)))
                for i in rng.permutation(len(copies))
            ),
            layout=pick(rng, ("beside", "tabs")),
            side=pick(rng, ("left", "right")),
            brand=int(rng.integers(4)),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def _sample_compact(self, rng: Generator) -> CopyPasteParams:
        titles = rng.permutation(words.THINGS_SHORT)[: self.notes]
        labels = rng.permutation(words.FIRST_SHORT)[:COMPACT_FIELDS]
        return CopyPasteParams(
            notes=tuple(Note(str(title), draw_short(rng), "") for title in titles),
            form=0,
            fields=tuple((str(label), draw_short(rng) if self.filled else "") for label in labels),
            copies=(Copy(int(rng.integers(self.notes)), WHOLE, int(rng.integers(COMPACT_FIELDS))),),
            layout=pick(rng, ("beside", "tabs")),
            side=pick(rng, ("left", "right")),
            brand=0,
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def goal(self, params: CopyPasteParams) -> str:
        if self.compact:
            return self._compact_goal(params)
        said = []
        for copy in params.copies:
            note, (field, _) = params.notes[copy.note], params.fields[copy.field]
            what = f'the whole note "{note.title}"'
            if copy.line != WHOLE:
                label = text_of(params, copy).partition(":")[0]
                what = f'the line of the note "{note.title}" that begins with "{label}:"'
            said.append(f'copy {what} into the field "{field}"')
        jobs = listing(said)
        filled = any(params.fields[copy.field][1] for copy in params.copies)
        gone = GONE.format("these fields" if len(said) > 1 else "the field") if filled else ""
        return GOALS[params.phrasing].format(jobs=jobs[0].upper() + jobs[1:], gone=gone)

    def _compact_goal(self, params: CopyPasteParams) -> str:
        (copy,) = params.copies
        title, (field, old) = params.notes[copy.note].title, params.fields[copy.field]
        gone = COMPACT_GONE.format(field) if old else ""
        return COMPACT_GOALS[params.phrasing].format(note=title, field=field, gone=gone)

    def page_params(self, params: CopyPasteParams) -> dict[str, Any]:
        form = {"title": "Form", "lead": ""} if self.compact else FORMS[params.form]
        return {
            **super().page_params(params),
            "notes": [asdict(note) for note in params.notes],
            "form": {"title": form["title"], "lead": form["lead"]},
            "fields": [{"label": label, "old": old} for label, old in params.fields],
        }

    def verdict(self, data: Mapping[str, Any], params: CopyPasteParams) -> Verdict:
        fields = [_plain(text) for text in data.get("fields", ())]
        return _saved(params, fields, list(data.get("notes", ())))

    def oracle(self, device: BrowserDevice, params: CopyPasteParams) -> Steps:
        apart, say = params.layout == "tabs", self.thought
        for number, copy in enumerate(params.copies):
            title, (label, old) = params.notes[copy.note].title, params.fields[copy.field]
            if apart and number:
                yield Demo(click(device, "#page-notes"), "Go back to the notes.")
            yield Demo(click(device, f"#note-{copy.note}"), say(title, f'Open the note "{title}".'))
            if copy.line == WHOLE:
                yield Demo(click(device, "#note"), say("Text", "Select all of it."))
                yield Demo(Press("ctrl+a"), say("Text", "Select all of it."))
            else:
                thought = say("Text", f'Select the line "{text_of(params, copy)}".')
                yield Demo(self._click_line(device, copy.line), thought)
                yield Demo(Press("home"), thought)
                yield Demo(Press("shift+end"), thought)
            yield Demo(Press("ctrl+c"), say("Copy", "Copy it."))
            if apart:
                yield Demo(click(device, "#page-form"), say("Form", "Go to the form."))
            thought = say(label, f'It goes into "{label}".')
            yield Demo(click(device, f"#field-{copy.field}"), thought)
            if old:
                yield Demo(Press("ctrl+a"), say(label, "What is there has to go."))
            yield Demo(Press("ctrl+v"), say("Paste", "Paste it."))
        yield Demo(click(device, "#save"), say("Save", "All is copied: save."))

    def _click_line(self, device: BrowserDevice, line: int) -> Click:
        left, top, width, _ = device.box("#note")
        edge, height = EDGE, LINE_HEIGHT
        if self.compact:
            edge, height = COMPACT_EDGE, COMPACT_LINE_HEIGHT
        return Click(left + width // 2, top + edge + height * line + height // 2)

    def misread(self, params: CopyPasteParams, mistake: str, rng: Generator) -> CopyPasteParams:
        """``note``: another version of the note is taken, or a note next to it. ``field``: the text
        goes into a field that is not asked for. ``part``: only the first line is copied, or the
        line before or after the right one."""
        copies = [*params.copies]
        at = int(rng.integers(len(copies)))
        copy = copies[at]
        if mistake == "field":
            asked = {one.field for one in copies}
            free = [i for i in range(len(params.fields)) if i not in asked]
            copies[at] = replace(copy, field=pick(rng, free))
        elif mistake == "note":
            copies[at] = replace(copy, note=_other_note(params, copy))
        else:
            lines = params.notes[copy.note].text.count("\n") + 1
            beside = [n for n in (copy.line - 1, copy.line + 1) if 0 <= n < lines]
            line = 0 if copy.line == WHOLE else pick(rng, beside)
            copies[at] = replace(copy, line=line)
        return replace(params, copies=tuple(copies))

    def blind_rate(self, params: CopyPasteParams) -> float:
        """Any whole note or line into any field, as often as asked."""
        texts = sum(2 + note.text.count("\n") for note in params.notes)
        return float(texts * len(params.fields)) ** -len(params.copies)

    def _note(self, title: str, kind: str, rng: Generator) -> Note:
        if kind in LABELLED:
            text = draw_labelled(rng, kind, self.lines)
        else:
            text = draw_prose(rng, min(self.lines, 4))
        return Note(title, text, f"{rng.integers(1, 15)} January")

    def _line(self, title: str, *, first: bool, rng: Generator) -> int:
        one = self.tricky and title in LABELLED and (first or bool(rng.integers(2)))
        return int(rng.integers(self.lines)) if one else WHOLE


def text_of(params: CopyPasteParams, copy: Copy) -> str:
    """The text that is to be copied."""
    text = params.notes[copy.note].text
    return text if copy.line == WHOLE else text.split("\n")[copy.line]


def _other_note(params: CopyPasteParams, copy: Copy) -> int:
    """The note that is most easily taken for the right one: of a like title, or the next."""
    title = params.notes[copy.note].title

    def likeness(index: int) -> tuple[bool, int]:
        other = params.notes[index].title
        return not (other.startswith(title) or title.startswith(other)), abs(index - copy.note)

    right = text_of(params, copy)
    others = [
        index
        for index, note in enumerate(params.notes)
        if copy.line < note.text.count("\n") + 1
        and text_of(params, replace(copy, note=index)) != right
    ]
    return min(others, key=likeness)


def _saved(params: CopyPasteParams, fields: list[str], notes: list[str]) -> Verdict:
    """The verdict on the form as it was saved."""
    wanted = [_plain(old) for _, old in params.fields]
    if len(fields) != len(wanted):
        return Verdict(0.0, done=True, notes="there is no such form")
    for copy in params.copies:
        wanted[copy.field] = _plain(text_of(params, copy))
    asked = {copy.field for copy in params.copies}
    right = sum(fields[i] == wanted[i] for i in asked)
    spoilt = sum(fields[i] != wanted[i] for i in range(len(wanted)) if i not in asked)
    spoilt += [_plain(text) for text in notes] != [_plain(note.text) for note in params.notes]
    if right == len(asked) and not spoilt:
        return Verdict(1.0, done=True, notes="saved as asked")
    told = f"{right} of {len(asked)} fields are as asked, {spoilt} other things were changed"
    return Verdict(max(0, right - spoilt) / len(asked), done=True, notes=told)


def _plain(text: object) -> str:
    return str(text).replace("\r\n", "\n").strip()
