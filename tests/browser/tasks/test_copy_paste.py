"""CopyPaste's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import goals, levels, verdicts

from ui_gym.browser.content.notes import LABELLED
from ui_gym.browser.tasks.copy_paste import WHOLE, Copy, CopyPaste, CopyPasteParams, Note, text_of
from ui_gym.errors import UserError

BANK = "Holder: Ann\nIBAN: XX1\nBIC: A2"
TRIP = "Train: 12\nFrom: Cork"
ASKED = CopyPasteParams(
    notes=(Note("Bank", BANK, "1 January"), Note("Trip", TRIP, "2 January"),
           Note("Bank (old)", "Holder: Ben\nIBAN: XX2\nBIC: A3", "3 January")),
    form=0, fields=(("Answer", ""), ("Remark", "n/a"), ("Details", "Old")),
    copies=(Copy(0, WHOLE, 0), Copy(1, 1, 1)), layout="beside", side="left", brand=0, theme=0,
    phrasing=0,
)  # fmt: skip
NOTES = [note.text for note in ASKED.notes]


def save(*fields: str, notes: Any = NOTES) -> Any:
    return ("save", {"fields": list(fields), "notes": list(notes)})


test_scores = verdicts(
    CopyPaste(),
    ASKED,
    {
        "right": (save(BANK, "From: Cork", "Old"), 1.0, True),
        "blanks": (save(f" {BANK}\n", "From: Cork\n", "Old"), 1.0, True),
        "line ends": (save(BANK.replace("\n", "\r\n"), "From: Cork", "Old"), 1.0, True),
        "half": (save(BANK, "n/a", "Old"), 0.5, True),
        "unchanged": (save("", "n/a", "Old"), 0.0, True),
        "not replaced": (save(BANK, "n/aFrom: Cork", "Old"), 0.5, True),
        "too much": (save(BANK, TRIP, "Old"), 0.5, True),
        "typo": (save(BANK.replace("XX1", "XXl"), "From: Cork", "Old"), 0.5, True),
        "one line": (save(BANK.replace("\n", " "), "From: Cork", "Old"), 0.5, True),
        "swapped": (save("From: Cork", BANK, "Old"), 0.0, True),
        "other field": (save(BANK, "From: Cork", ""), 0.5, True),
        "note cut": (save(BANK, "From: Cork", "Old", notes=[BANK, "", NOTES[2]]), 0.5, True),
        "first counts": (save("", "n/a", "Old"), save(BANK, "From: Cork", "Old"), 0.0, True),
        "empty": (("save", {}), 0.0, True),
    },
)


def test_goals_say_what_goes_where() -> None:
    said = CopyPaste().goal(ASKED)
    assert said == (
        'Copy the whole note "Bank" into the field "Answer" and copy the line of the note "Trip" '
        'that begins with "From:" into the field "Remark". What these fields held before must be '
        "gone. Then save the form."
    )
    one = dataclasses.replace(ASKED, copies=ASKED.copies[:1])
    assert CopyPaste().goal(one) == (
        'Copy the whole note "Bank" into the field "Answer". Then save the form.'
    )


@levels(CopyPaste)
def test_goals_have_one_reading(task: Any) -> None:
    kinds, filled = set(), 0
    for params, goal in goals(task):
        titles = [note.title for note in params.notes]
        assert len(set(titles)) == len(titles) == task.notes
        assert len({label for label, _ in params.fields}) == len(params.fields) == task.copies + 1
        assert len({copy.field for copy in params.copies}) == task.copies
        assert len({copy.note for copy in params.copies}) == task.copies
        for copy in params.copies:
            note, (label, old) = params.notes[copy.note], params.fields[copy.field]
            assert f'"{note.title}"' in goal
            assert f'"{label}"' in goal
            assert text_of(params, copy).strip() not in ("", old)
            filled += bool(old)
            if copy.line != WHOLE:
                begin = text_of(params, copy).partition(":")[0] + ":"
                assert f'"{begin}"' in goal
                assert sum(line.startswith(begin) for line in note.text.split("\n")) == 1
            kinds.add((note.title in LABELLED, copy.line == WHOLE))
    assert {(True, True), (False, True)} <= kinds
    assert ((True, False) in kinds) == task.tricky
    assert bool(filled) == task.filled


def test_every_asked_note_has_a_twin_where_it_is_tricky() -> None:
    params = CopyPaste(level="hard").draw(0)
    for copy in params.copies:
        title = params.notes[copy.note].title
        assert sum(note.title.startswith(f"{title} ") for note in params.notes) == 1


def test_mistakes() -> None:
    task, rng = CopyPaste(), np.random.default_rng(0)
    one = dataclasses.replace(ASKED, copies=ASKED.copies[:1])
    assert task.misread(one, "note", rng).copies == (Copy(2, WHOLE, 0),)
    assert task.misread(one, "part", rng).copies == (Copy(0, 0, 0),)
    assert task.misread(one, "field", rng).copies[0].field in (1, 2)
    line = dataclasses.replace(ASKED, copies=ASKED.copies[1:])
    assert task.misread(line, "part", rng).copies == (Copy(1, 0, 1),)
    assert task.misread(line, "note", rng).copies[0].note in (0, 2)


def test_copy_paste_compact_goals_name_note_and_field() -> None:
    task = CopyPaste(compact=True)
    for params, goal in goals(task):
        (copy,) = params.copies
        assert f" {params.notes[copy.note].title} " in goal
        assert f" {params.fields[copy.field][0]}." in goal
        assert "Empty" not in goal
        assert all(note.text.count("\n") == 1 for note in params.notes)
    assert {params.layout for params, _ in goals(task)} == {"beside", "tabs"}
    filled = CopyPaste(compact=True, filled=True)
    assert all("Empty" in goal for _, goal in goals(filled))


@pytest.mark.parametrize("given", [{"copies": 2}, {"lines": 3}, {"tricky": True}])
def test_copy_paste_compact_page_refuses_what_has_no_room(given: Any) -> None:
    with pytest.raises(UserError, match="one copy of a note of two lines"):
        CopyPaste(compact=True, **given)
