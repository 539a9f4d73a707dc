"""Change documents, with Writer of LibreOffice."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action, Press, Type, Wait
from ui_gym.contract.draws import between, other, pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo
from ui_gym.desktop import navigation
from ui_gym.desktop.content import documents, texts, words
from ui_gym.desktop.content.documents import Paragraph
from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.document_task import DocumentParams, DocumentTask, go_to, plain, save

ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True)
class WriterReplaceParams(DocumentParams):
    """All that varies between episodes."""

    word: str
    twin: str
    """A longer word that begins with it, and must stay."""
    new: str
    whole: bool = True


@register(
    "DesktopWriterReplaceWord", suite="desktop", category="writer", difficulty="medium",
    max_steps=20, tags=("document", "extra", "libreoffice"),
)  # fmt: skip
class DesktopWriterReplaceWord(DocumentTask[WriterReplaceParams]):
    """Replace a word wherever it stands in a document.

    ## Description
    The goal names the word and what is to stand in its place. Another word begins with it.

    ## Rewards
    1 if the word is replaced everywhere in the saved document, and all else is as it was.

    ## Starting state
    The document is open in Writer.
    """

    mistakes = ("new", "twin", "part")
    goals = (
        'Replace the word "{word}" by "{new}" everywhere in {file} and save. Keep "{twin}".',
        'In the document, every "{word}" should be "{new}", but not "{twin}". Save the file.',
        'Change "{word}" to "{new}" wherever it stands as a word of its own, then save {file}.',
    )

    def sample(self, rng: np.random.Generator) -> WriterReplaceParams:
        word, twin = pick(rng, words.PAIRS)
        lines = [texts.line_with(rng, word), texts.line_with(rng, word)]
        others = [texts.line_with(rng, twin), *texts.lines(rng, between(rng, 1, 2))]
        # A word in capitals is another to the goal, but not to all who search for it.
        lines += [line for line in others if not re.search(rf"\b{word}\b", line, re.IGNORECASE)]
        return WriterReplaceParams(
            file=words.file_names(rng, 1, "docx")[0],
            paragraphs=tuple(lines[int(i)] for i in rng.permutation(len(lines))),
            phrasing=self.phrase(rng),
            word=word,
            twin=twin,
            new=words.another(rng, word, twin),
        )

    def wanted(self, params: WriterReplaceParams) -> list[Paragraph]:
        old = re.compile(rf"\b{re.escape(params.word)}\b")
        return [Paragraph(old.sub(params.new, one.text)) for one in plain(params)]

    def oracle(self, device: DesktopDevice, params: WriterReplaceParams) -> Iterator[Action | Demo]:
        yield Press("ctrl+h")
        yield from navigation.opened(device, "Find and Replace")
        dialog = navigation.window(device, "Find and Replace")
        yield navigation.at(dialog, (371, 30))
        yield Type(params.word, clear=True)
        if params.whole:
            yield navigation.at(dialog, (223, 64))
        yield navigation.at(dialog, (371, 123))
        yield Type(params.new, clear=True)
        yield navigation.at(dialog, (608, 178))  # Replace All
        yield Wait(0.5)
        yield Press("escape")
        yield from navigation.closed(device, "Find and Replace")
        yield from navigation.opened(device, params.file)
        yield from save()

    def misread(
        self, params: WriterReplaceParams, mistake: str, rng: np.random.Generator
    ) -> WriterReplaceParams:
        """``new``: another one. ``twin``: the longer word. ``part``: both."""
        if mistake == "part":
            return dataclasses.replace(params, whole=False)
        if mistake == "twin":
            return dataclasses.replace(params, word=params.twin, twin=params.word)
        new = words.another(rng, params.new, params.word, params.twin)
        return dataclasses.replace(params, new=new)


@dataclass(frozen=True)
class WriterAppendParams(DocumentParams):
    """All that varies between episodes."""

    text: str
    """The new paragraph."""
    after: int
    """The paragraph after which it belongs, the first of which is 0."""


@register(
    "DesktopWriterAddParagraph", suite="desktop", category="writer", difficulty="easy",
    max_steps=15, tags=("document", "extra", "libreoffice"),
)  # fmt: skip
class DesktopWriterAddParagraph(DocumentTask[WriterAppendParams]):
    """Write a paragraph into a document, at its place among the others.

    ## Description
    The goal gives the text, and the paragraph after which it belongs.

    ## Rewards
    1 if the saved document has it there as a paragraph of its own, and all else is as it was.

    ## Starting state
    The document is open in Writer.
    """

    mistakes = ("place", "text")
    goals = (
        'After the {ordinal} paragraph of {file}, add a paragraph that says "{text}" and save.',
        'Write "{text}" as a new paragraph below the {ordinal} one, then save {file}.',
        'The document lacks a paragraph after its {ordinal}: "{text}". Write it there and save.',
    )

    def sample(self, rng: np.random.Generator) -> WriterAppendParams:
        text, *lines = texts.lines(rng, between(rng, 4, 6))
        return WriterAppendParams(
            file=words.file_names(rng, 1, "docx")[0],
            paragraphs=tuple(lines),
            phrasing=self.phrase(rng),
            text=text,
            after=between(rng, 0, len(lines) - 1),
        )

    def told(self, params: WriterAppendParams) -> Mapping[str, object]:
        return {"ordinal": ORDINALS[params.after]}

    def wanted(self, params: WriterAppendParams) -> list[Paragraph]:
        found = plain(params)
        return [*found[: params.after + 1], Paragraph(params.text), *found[params.after + 1 :]]

    def oracle(self, device: DesktopDevice, params: WriterAppendParams) -> Iterator[Action | Demo]:
        yield from go_to(params.after)
        yield Press("end")
        yield Press("enter")
        yield Type(params.text)
        yield from save()

    def misread(
        self, params: WriterAppendParams, mistake: str, rng: np.random.Generator
    ) -> WriterAppendParams:
        """``place``: after another paragraph. ``text``: another one."""
        if mistake == "text":
            return dataclasses.replace(params, text=f"{params.text} {texts.line(rng)}")
        places = range(len(params.paragraphs))
        return dataclasses.replace(params, after=other(rng, places, params.after))


@dataclass(frozen=True)
class WriterFormatParams(DocumentParams):
    """All that varies between episodes."""

    target: int
    """The paragraph, the first of which is 0."""
    style: str
    """One of `documents.STYLES`, or of `documents.ALIGNMENTS`."""


@register(
    "DesktopWriterFormat", suite="desktop", category="writer", difficulty="medium", max_steps=15,
    tags=("document", "extra", "libreoffice"),
)  # fmt: skip
class DesktopWriterFormat(DocumentTask[WriterFormatParams]):
    """Make a paragraph bold, italic or underlined, or align it.

    ## Description
    The goal says which paragraph, and how it is to look. All others stay as they are.

    ## Rewards
    1 if all of that paragraph looks so in the saved document, and all else is as it was.

    ## Starting state
    The document is open in Writer.
    """

    mistakes = ("paragraph", "style", "more")
    goals = (
        "Make the {ordinal} paragraph of {file} {style} and save the file.",
        "The whole {ordinal} paragraph should be {style}, and nothing else. Save the document.",
        'Make the paragraph that begins with "{start}" {style}, then save {file}.',
    )
    _KEYS = (
        ("bold", "ctrl+b"), ("italic", "ctrl+i"), ("underline", "ctrl+u"), ("centre", "ctrl+e"),
        ("right", "ctrl+r"), ("justify", "ctrl+j"),
    )  # fmt: skip
    _SAID = (
        ("bold", "bold"), ("italic", "italic"), ("underline", "underlined"),
        ("centre", "centred"), ("right", "right-aligned"), ("justify", "justified"),
    )  # fmt: skip

    def sample(self, rng: np.random.Generator) -> WriterFormatParams:
        lines = texts.lines(rng, between(rng, 3, 5))
        return WriterFormatParams(
            file=words.file_names(rng, 1, "docx")[0],
            paragraphs=lines,
            phrasing=self.phrase(rng),
            target=between(rng, 0, len(lines) - 1),
            style=pick(rng, (*documents.STYLES, *documents.ALIGNMENTS)),
        )

    def told(self, params: WriterFormatParams) -> Mapping[str, object]:
        return {
            "ordinal": ORDINALS[params.target],
            "style": dict(self._SAID)[params.style],
            "start": _beginning(params),
        }

    def wanted(self, params: WriterFormatParams) -> list[Paragraph]:
        found = plain(params)
        text = found[params.target].text
        if params.style in documents.STYLES:
            found[params.target] = Paragraph(text, styles=(params.style,))
        else:
            found[params.target] = Paragraph(text, alignment=params.style)
        return found

    def oracle(self, device: DesktopDevice, params: WriterFormatParams) -> Iterator[Action | Demo]:
        if params.target < 0:
            yield Press("ctrl+a")
        else:
            yield from go_to(params.target)
            yield Press("shift+end")
        yield Press(dict(self._KEYS)[params.style])
        yield from save()

    def misread(
        self, params: WriterFormatParams, mistake: str, rng: np.random.Generator
    ) -> WriterFormatParams:
        """``paragraph``: another. ``style``: another. ``more``: all paragraphs."""
        if mistake == "more":
            return dataclasses.replace(params, target=-1)
        if mistake == "style":
            styles = (*documents.STYLES, *documents.ALIGNMENTS)
            return dataclasses.replace(params, style=other(rng, styles, params.style))
        target = other(rng, range(len(params.paragraphs)), params.target)
        return dataclasses.replace(params, target=target)


def _beginning(params: WriterFormatParams) -> str:
    """The first words of the paragraph, at least four, with which no other one begins."""
    words_of_it = params.paragraphs[params.target].split()
    for count in range(4, len(words_of_it)):
        start = " ".join(words_of_it[:count])
        if sum(one.startswith(start) for one in params.paragraphs) == 1:
            return start
    return params.paragraphs[params.target]
