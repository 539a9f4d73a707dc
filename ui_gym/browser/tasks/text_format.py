"""Text format: make phrases of a document bold, italic, underlined or coloured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content.documents import Place, draw_document, phrases_of, places_of
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.content.richtext import COLOURS, MARKS, STYLES, Block, Drawing, Letter, letters
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, count_scrolls, reveal, select_text, select_word
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import TaskError

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
    phrase gets two marks.

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
    | `sections` | 2, 3, 6 | how many sections the document has, 1 to 6 |
    | `phrases` | 1, 2, 3 | how many phrases are to be formatted, 1 to 4 |
    | `words` | 1, 3, 4 | how many words a phrase has at most, 1 to 5 |
    | `tricky` | False, False, True | repeated phrases, marks to take off, two marks at once |
    """

    page = "text_format.html"
    shown = ("outline", "brand", "theme")
    ends, waiting = "save", "nothing is saved"
    sections: int = whole(1, 6, easy=2, medium=3, hard=6)
    phrases: int = whole(1, 4, easy=1, medium=2, hard=3)
    words: int = whole(1, 5, easy=1, medium=3, hard=4)
    tricky: bool = flag(easy=False, medium=False, hard=True)
    mistakes = ("mark", "phrase")

    def prepare(self) -> None:
        scrolls = count_scrolls(self.sections * SECTION_HEIGHT, ROOM)
        self.max_steps = 2 * (self.phrases * (3 + scrolls // 2) + 2 * self.tricky + 2)

    def sample(self, rng: Generator) -> TextFormatParams:
        for _ in range(100):
            drawing = Drawing(draw_document(rng, self.sections), rng)
            groups = [self._edits(drawing, number, rng) for number in range(self.phrases)]
            if all(groups):
                break
        else:
            raise TaskError("TextFormat: 100 documents in a row had too few phrases")
        return TextFormatParams(
            blocks=drawing.blocks(),
            edits=tuple(edit for i in rng.permutation(len(groups)) for edit in groups[int(i)]),
            outline=bool(rng.integers(2)),
            find_at=str(rng.choice(("left", "right"))),
            brand=int(rng.integers(4)),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goal(self, params: TextFormatParams) -> str:
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
        for place, group in groupby(params.edits, key=lambda edit: edit.place):
            block, start, end = place
            text = phrase(params, place)
            selector = f"#block-{block}"
            yield from because(f'Look for "{text}".', reveal(device, selector, "#pane", margin=4))
            if " " in text:
                yield Demo(select_text(device, selector, start, end), f'Select "{text}".')
            else:
                yield Demo(select_word(device, selector, start, end), f'Select "{text}".')
            for edit in group:
                thought = f'Make "{text}" {"" if edit.on else "no longer "}{edit.mark}.'
                if edit.mark in STYLES:
                    yield Demo(click(device, f"#{edit.mark}"), thought)
                    continue
                yield Demo(click(device, "#colour"), thought)
                colour = edit.mark if edit.on else "none"
                yield Demo(click(device, f"#colour-{colour}"), thought)
        yield Demo(click(device, "#save"), "All phrases look as asked: save.")

    def misread(self, params: TextFormatParams, mistake: str, rng: Generator) -> TextFormatParams:
        """``mark``: another mark is set. ``phrase``: a word is left out, the word beside is taken,
        or the phrase of another section."""
        edits = [*params.edits]
        at = int(rng.integers(len(edits)))
        if mistake == "mark":
            kind = STYLES if edits[at].mark in STYLES else COLOURS
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
        return float(words) ** -len(places) * float(len(MARKS)) ** -len(params.edits)

    def _edits(self, drawing: Drawing, number: int, rng: Generator) -> list[Edit]:
        """What is to be done with one more phrase; nothing if there is no phrase left."""
        words = int(rng.integers(1, self.words + 1))
        mark, style, colour = (str(rng.choice(marks)) for marks in (MARKS, STYLES, COLOURS))
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
