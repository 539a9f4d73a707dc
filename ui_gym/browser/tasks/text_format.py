"""Text format: make phrases of a document bold, italic, underlined or coloured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content.documents import (
    Place,
    draw_document,
    draw_lines,
    phrases_of,
    places_of,
)
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.content.richtext import COLOURS, STYLES, Block, Drawing, Letter, letters
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import (
    because,
    click,
    count_scrolls,
    reveal,
    select_text,
    select_word,
    text_boxes,
)
from ui_gym.contract.action import Action, Drag
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import TaskError, UserError

SAID = {"underline": "underlined"}
"""How goals call marks that have another name."""
SECTION_HEIGHT = 250
ROOM = 500
"""What a section takes at most and what of the first page is seen of them, in pixels."""

GOALS = (
    "In the document, {edits}. Then save it.",
    "Format the text: {edits}. Save the document when you are done.",
    "Please {edits}, and save the document. Change nothing else.",
)
COMPACT_GOALS = ("Make {edits}. Press Save.", "Set {edits}. Press Save.")
COMPACT_MOST = 2
"""Sections, and words of a phrase, that the compact page has room for."""
COMPACT_WORDS = 3
"""Of a compact line; two phrases in it might have no room."""


@dataclass(frozen=True)
class Edit:
    """One mark to be put on a phrase, or taken off it."""

    place: Place
    mark: str
    on: bool = True
    section: str = ""
    """The heading above it, where the phrase also stands elsewhere."""


@dataclass(frozen=True)
class TextFormatParams:
    """All that varies between episodes."""

    blocks: tuple[Block, ...]
    edits: tuple[Edit, ...]
    """In the goal's order; those of one phrase follow each other."""
    outline: bool
    """Whether there is a list of the sections at the side."""
    find_at: str
    brand: int
    theme: int
    phrasing: int


@register("TextFormat", suite="browser", category="office", difficulty="medium", max_steps=24)
class TextFormat(Family[TextFormatParams]):
    """Make the named phrases of a document bold, italic, underlined or coloured, and save.

    ## Description
    A rich text editor with a document of some sections. The goal names phrases and how they have to
    look: bold, italic, underlined or in one of five colours. Phrases are selected by a double
    click, by dragging, with Shift, or with the search field (Enter selects the next match); marks
    are set with the buttons or with the usual keys. Some phrases have marks already. With `tricky`,
    a phrase stands in several sections and only one is meant, a mark has to be taken off, or a
    phrase gets two marks. The compact page has sections of three short words, and two styles and
    three colours.

    ## Action space
    Clicks, dragging and scrolling solve it.

    ## Rewards
    1 for saving the document with all marks as asked and nothing else changed. Else the share of
    the marks that are as asked, less one part if anything else looks different; 0 if a letter of
    the text was changed. Marks on blanks beside a phrase do not matter.

    ## Starting state
    The top of the document, nothing selected.

    ## Episode end
    Termination: the document was saved. `max_steps` is about twice what is needed; it follows from
    the arguments.

    ## Arguments
    | `sections` | 2, 3, 6 (compact: 2) | how many sections there are, 1 to 6, compact to 2 |
    | `phrases` | 1, 2, 3 (compact: 1) | how many phrases to format, 1 to 4, compact one a section |
    | `words` | 1, 3, 4 (compact: 2) | words of a phrase at most, 1 to 5, compact to 2 |
    | `tricky` | False, False, True (compact: False) | repeated phrases, marks to take off |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "text_format.html"
    shown = ("outline", "brand", "theme")
    ends, waiting = "save", "nothing is saved"
    sections: int = whole(1, 6, easy=2, medium=3, hard=6)
    phrases: int = whole(1, 4, easy=1, medium=2, hard=3)
    words: int = whole(1, 5, easy=1, medium=3, hard=4)
    tricky: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"sections": 2, "phrases": 1, "words": 2, "tricky": False}
    mistakes = ("mark", "phrase")

    def prepare(self) -> None:
        few = self.compact
        self._styles, self._colours = STYLES[: 2 if few else None], COLOURS[: 3 if few else None]
        self._marks = (*self._styles, *self._colours)
        if self.compact:
            if self.tricky:
                raise UserError("TextFormat: the compact page only sets marks; tricky is False")
            self.check_range("sections", self.sections, 1, COMPACT_MOST)
            self.check_range("words", self.words, 1, COMPACT_MOST)
            self.check_range("phrases", self.phrases, 1, self.sections)
            self.max_steps = 2 * (3 * self.phrases + 1)
            return
        scrolls = count_scrolls(self.sections * SECTION_HEIGHT, ROOM)
        self.max_steps = 2 * (self.phrases * (3 + scrolls // 2) + 2 * self.tricky + 2)

    def sample(self, rng: Generator) -> TextFormatParams:
        for _ in range(100):
            if self.compact:
                document = draw_lines(rng, self.sections, COMPACT_WORDS)
            else:
                document = draw_document(rng, self.sections)
            drawing = Drawing(document, rng, self._marks)
            groups = [self._edits(drawing, number, rng) for number in range(self.phrases)]
            if all(groups):
                break
        else:
            raise TaskError("TextFormat: 100 documents in a row had too few phrases")
        edits = tuple(edit for i in rng.permutation(len(groups)) for edit in groups[int(i)])
        if self.compact:
            return TextFormatParams(
                blocks=drawing.blocks(),
                edits=edits,
                outline=False,
                find_at="right",
                brand=int(rng.integers(2)),
                theme=0,
                phrasing=int(rng.integers(len(COMPACT_GOALS))),
            )
        return TextFormatParams(
            blocks=drawing.blocks(),
            edits=edits,
            outline=bool(rng.integers(2)),
            find_at=pick(rng, ("left", "right")),
            brand=int(rng.integers(4)),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goal(self, params: TextFormatParams) -> str:
        if self.compact:
            made = [f"{phrase(params, edit.place)} {edit.mark}" for edit in params.edits]
            return COMPACT_GOALS[params.phrasing].format(edits=listing(made))
        said = []
        for place, group in groupby(params.edits, key=lambda edit: edit.place):
            edits = list(group)
            marks = listing([SAID.get(edit.mark, edit.mark) for edit in edits])
            where = f' in the section "{edits[0].section}"' if edits[0].section else ""
            no_longer = "" if edits[0].on else "no longer "
            said.append(f'make "{phrase(params, place)}"{where} {no_longer}{marks}')
        return GOALS[params.phrasing].format(edits=listing(said))

    def page_params(self, params: TextFormatParams) -> dict[str, Any]:
        blocks = [asdict(block) for block in params.blocks]
        return {**super().page_params(params), "blocks": blocks, "findAt": params.find_at}

    def verdict(self, data: Mapping[str, Any], params: TextFormatParams) -> Verdict:
        saved = [letters(block["runs"]) for block in data.get("blocks", ())]
        return _saved(params, saved)

    def oracle(self, device: BrowserDevice, params: TextFormatParams) -> Steps:
        say = self.thought
        for place, group in groupby(params.edits, key=lambda edit: edit.place):
            block, start, end = place
            text = phrase(params, place)
            selector = f"#block-{block}"
            if not self.compact:  # where all is in sight
                scrolls = reveal(device, selector, "#pane", margin=4)
                yield from because(f'Look for "{text}".', scrolls)
            select: Callable[[BrowserDevice, str, int, int], Action] = select_word
            if " " in text:
                select = _select_words if self.compact else select_text
            yield Demo(select(device, selector, start, end), say(text, f'Select "{text}".'))
            for edit in group:
                thought = f'Make "{text}" {"" if edit.on else "no longer "}{edit.mark}.'
                named = say(edit.mark.capitalize(), thought)
                if edit.mark in STYLES:
                    yield Demo(click(device, f"#{edit.mark}"), named)
                    continue
                yield Demo(click(device, "#colour"), say("Color", thought))
                colour = edit.mark if edit.on else "none"
                yield Demo(click(device, f"#colour-{colour}"), named)
        yield Demo(click(device, "#save"), say("Save", "All phrases look as asked: save."))

    def misread(self, params: TextFormatParams, mistake: str, rng: Generator) -> TextFormatParams:
        """``mark``: another mark is set. ``phrase``: a word is left out, the word beside is taken,
        or the phrase of another section."""
        edits = [*params.edits]
        at = int(rng.integers(len(edits)))
        if mistake == "mark":
            kind = self._styles if edits[at].mark in STYLES else self._colours
            other = kind[(kind.index(edits[at].mark) + 1) % len(kind)]
            edits[at] = replace(edits[at], mark=other)
        else:
            taken = _slip(params, edits[at])
            edits = [
                replace(edit, place=taken) if edit.place == edits[at].place else edit
                for edit in edits
            ]
        return replace(params, edits=tuple(edits))

    def blind_rate(self, params: TextFormatParams) -> float:
        """Any phrases that are as long, with any marks."""
        words = sum(len(block.text.split()) for block in params.blocks)
        places = {edit.place for edit in params.edits}
        return float(words) ** -len(places) * float(len(self._marks)) ** -len(params.edits)

    def _edits(self, drawing: Drawing, number: int, rng: Generator) -> list[Edit]:
        """What is to be done with one more phrase; nothing if there is no phrase left."""
        words = int(rng.integers(1, self.words + 1))
        mark, style, colour = (
            pick(rng, marks) for marks in (self._marks, self._styles, self._colours)
        )
        if self.tricky and number == 0:
            place = drawing.take_repeated(words)
            if place is not None:
                return [Edit(place, mark, section=drawing.sections[place[0]])]
        place = drawing.take(words)
        if place is None:
            return []
        if self.tricky and number == 1:
            if rng.integers(2):
                drawing.marked[place] = mark
                return [Edit(place, mark, on=False)]
            return [Edit(place, style), Edit(place, colour)]
        return [Edit(place, mark)]


def phrase(params: TextFormatParams, place: Place) -> str:
    """What stands at a place."""
    block, start, end = place
    return params.blocks[block].text[start:end]


def _select_words(device: BrowserDevice, selector: str, start: int, end: int) -> Drag:
    """Draw the mouse over two words, from the middle of the one to that of the other."""
    boxes = text_boxes(device, selector, start, end)
    (left, top, width, height), (last_left, _, last_width, _) = boxes[0], boxes[-1]
    y = round(top + height / 2)
    return Drag(round(left + width / 2), y, round(last_left + last_width / 2), y)


def _saved(params: TextFormatParams, saved: list[list[Letter]]) -> Verdict:
    """The verdict on the document as it was saved."""
    wanted = [letters(block.runs) for block in params.blocks]
    if [[char for char, _ in block] for block in saved] != [[c for c, _ in b] for b in wanted]:
        return Verdict(0.0, done=True, notes="the text itself was changed")
    inside = set()
    for edit in params.edits:
        block, start, end = edit.place
        for at in range(start, end):
            char, marks = wanted[block][at]
            replaced = marks - set(COLOURS) if edit.mark in COLOURS else marks - {edit.mark}
            wanted[block][at] = (char, replaced | {edit.mark} if edit.on else replaced)
            inside.add((block, at))
    right = sum(
        saved[block][start:end] == wanted[block][start:end]
        for block, start, end in (edit.place for edit in params.edits)
    )
    extra = any(
        saved[block][at] != letter and (block, at) not in inside and letter[0].strip()
        for block, line in enumerate(wanted)
        for at, letter in enumerate(line)
    )
    total = len(params.edits)
    if right == total and not extra:
        return Verdict(1.0, done=True, notes="saved as asked")
    notes = f"{right} of {total} marks are as asked" + (", others were changed" if extra else "")
    return Verdict(max(0, right - extra) / total, done=True, notes=notes)


def _slip(params: TextFormatParams, edit: Edit) -> Place:
    """What may be taken for the phrase of an edit."""
    block, start, end = edit.place
    text = phrase(params, edit.place)
    if edit.section:
        places = places_of([one.text for one in params.blocks], text)
        return next(place for place in places if place != edit.place)
    if " " in text:
        return block, start, start + text.rindex(" ")
    words = [span for span in phrases_of(params.blocks[block].text, 1) if span != (start, end)]
    return block, *min(words, key=lambda span: abs(span[0] - start))
