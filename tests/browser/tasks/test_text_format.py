"""TextFormat's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, judge, levels, perform, verdicts

from ui_gym.browser.content.documents import occurrences, phrases_of
from ui_gym.browser.content.richtext import Block
from ui_gym.browser.moves import text_boxes
from ui_gym.browser.tasks.text_format import Edit, TextFormat, TextFormatParams, phrase
from ui_gym.contract.action import Drag
from ui_gym.errors import UserError

TEXT = "The red door is open."
ASKED = TextFormatParams(
    blocks=(Block("title", (("Doors", ()),)), Block("p", ((TEXT, ()),)),
            Block("p", (("A ", ()), ("blue door", ("bold",)), (" is not.", ())))),
    edits=(Edit((1, 4, 12), "italic"), Edit((2, 2, 11), "bold", on=False)),
    outline=False, find_at="left", brand=0, theme=0, phrasing=0,
)  # fmt: skip

TITLE = ["Doors", []]
BEFORE = ["The ", []]
ITALIC = ["red door", ["italic"]]
AFTER = [" is open.", []]
PLAIN = ["A blue door is not.", []]
BOLD = [["A ", []], ["blue door", ["bold"]], [" is not.", []]]


def save(
    first: Any = (BEFORE, ITALIC, AFTER), second: Any = (PLAIN,), title: Any = (TITLE,)
) -> Any:
    kinds = ("title", "p", "p")
    blocks = zip(kinds, (title, first, second), strict=True)
    return ("save", {"blocks": [{"kind": kind, "runs": runs} for kind, runs in blocks]})


test_scores = verdicts(
    TextFormat(),
    ASKED,
    {
        "right": (save(), 1.0, True),
        "blanks": (save(first=(["The", []], [" red door ", ["italic"]], ["is open.", []])), 1.0,
            True),
        "half": (save(second=BOLD), 0.5, True),
        "unchanged": (save(first=([TEXT, []],), second=BOLD), 0.0, True),
        "word missing": (save(first=(["The ", []], ["red", ["italic"]], [" door is open.", []])),
            0.5, True),
        "gap": (
            save(first=(["The ", []], ["red", ["italic"]], [" ", []], ["door", ["italic"]], AFTER)),
            0.5, True),
        "word more": (save(first=(["The red door", ["italic"]], AFTER)), 0.5, True),
        "two marks": (save(first=(BEFORE, ["red door", ["bold", "italic"]], AFTER)), 0.5, True),
        "title": (save(title=(["Doors", ["red"]],)), 0.5, True),
        "text": (save(title=(["Door", []],)), 0.0, True),
        "first counts": (save(second=BOLD), save(), 0.5, True),
        "empty": (("save", {}), 0.0, True),
    },
)  # fmt: skip


def test_colours_replace_each_other_and_join_styles() -> None:
    edits = (Edit((1, 4, 12), "italic"), Edit((1, 4, 12), "red"))
    asked = dataclasses.replace(ASKED, edits=edits)
    both = (BEFORE, ["red door", ["red", "italic"]], AFTER)
    assert judge(TextFormat(), asked, save(first=both, second=BOLD)).success
    assert not judge(TextFormat(), asked, save(second=BOLD)).success
    assert TextFormat().goal(asked) == (
        'In the document, make "red door" italic and red. Then save it.'
    )


def test_goals_say_which_section_is_meant() -> None:
    edits = (Edit((1, 4, 12), "underline", section="Doors"), ASKED.edits[1])
    said = TextFormat().goal(dataclasses.replace(ASKED, edits=edits))
    assert 'make "red door" in the section "Doors" underlined' in said
    assert 'make "blue door" no longer bold' in said


def test_phrases() -> None:
    text = "At 18:30 the check-in, (new) room 12 opens. So we go!"
    words = [text[start:end] for start, end in phrases_of(text, 1)]
    assert words == ["At", "the", "room", "12", "opens", "So", "we", "go"]
    pairs = [text[start:end] for start, end in phrases_of(text, 2)]
    assert pairs == ["room 12", "12 opens", "So we", "we go"]


@levels(TextFormat)
def test_goals_have_one_reading(task: Any) -> None:
    kinds = set()
    for params, goal in goals(task):
        texts = [block.text for block in params.blocks]
        sections: dict[str, str] = {}
        heading = ""
        for block in params.blocks:
            heading = block.text if block.kind == "heading" else heading
            sections[heading] = sections.get(heading, "") + "\n" + block.text
        assert len({edit.place for edit in params.edits}) == task.phrases
        for edit in params.edits:
            text = phrase(params, edit.place)
            assert f'"{text}"' in goal
            assert params.blocks[edit.place[0]].kind == "p"
            if edit.section:
                assert occurrences("\n".join(texts), text) > 1
                assert occurrences(sections[edit.section], text) == 1
            else:
                assert occurrences("\n".join(texts), text) == 1
            kinds.add((bool(edit.section), edit.on))
    assert kinds == (
        {(True, True), (False, True), (False, False)} if task.tricky else {(False, True)}
    )


def test_mistakes() -> None:
    task, rng = TextFormat(), np.random.default_rng(0)
    one = dataclasses.replace(ASKED, edits=ASKED.edits[:1])
    assert task.misread(one, "mark", rng).edits[0].mark == "underline"
    assert task.misread(one, "phrase", rng).edits[0].place == (1, 4, 7)
    word = dataclasses.replace(ASKED, edits=(Edit((1, 8, 12), "red"),))
    assert task.misread(word, "mark", rng).edits[0].mark == "blue"
    assert task.misread(word, "phrase", rng).edits[0].place in ((1, 4, 7), (1, 13, 15))
    again = dataclasses.replace(ASKED, edits=(Edit((1, 8, 12), "red", section="Doors"),))
    assert task.misread(again, "phrase", rng).edits[0].place == (2, 7, 11)


def test_text_format_compact_goals_name_words_and_marks() -> None:
    task, marks = TextFormat(compact=True), set()
    for params, goal in goals(task):
        (edit,) = params.edits
        marks.add(edit.mark)
        assert f" {phrase(params, edit.place)} {edit.mark}." in goal
        assert [len(block.text.split()) for block in params.blocks] == [1, 1, 3, 1, 3]
        words = " ".join(block.text for block in params.blocks).split()
        assert len(set(words)) == len(words)
    assert marks == {"bold", "italic", "red", "blue", "green"}


def test_text_format_compact_page_refuses_what_has_no_room() -> None:
    with pytest.raises(UserError, match="sections must be 1 to 2, not 3"):
        TextFormat(compact=True, level="medium")
    with pytest.raises(UserError, match="tricky is False"):
        TextFormat(compact=True, tricky=True)


def test_text_format_compact_page_takes_whole_words(make_device: Any) -> None:
    task = TextFormat(compact=True)
    device = make_device(task.viewport)
    params = next(one for one in draws(task) if " " in phrase(one, one.edits[0].place))
    ((block, start, end),) = (edit.place for edit in params.edits)
    task.setup(device, params)
    first, last = (
        text_boxes(device, f"#block-{block}", at, at + 1)[0] for at in (start + 1, end - 2)
    )
    y = round(first[1] + first[3] / 2)
    for x, other in ((first[0], last[0]), (last[0], first[0])):
        task.setup(device, params)
        state = perform(device, Drag(round(x), y, round(other) + 1, y))
        assert state["selected"] == [[block, start], [block, end]]
