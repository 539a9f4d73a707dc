"""Documents: some paragraphs, as files of Word's format (.docx) and back."""

from __future__ import annotations

import datetime
import importlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym.desktop.content import zipped
from ui_gym.errors import UserError

STYLES = ("bold", "italic", "underline")
"""What a paragraph can be written in."""

ALIGNMENTS = ("centre", "right", "justify")
"""Where its lines can stand, if not at the left."""

_ALIGNED = {1: "centre", 2: "right", 3: "justify"}
"""Alignments by their number in python-docx (``WD_PARAGRAPH_ALIGNMENT``); others are left."""

_HEADINGS = ("Heading", "Title", "Subtitle")

_MADE = datetime.datetime(2025, 1, 1)


@dataclass(frozen=True)
class Paragraph:
    """A paragraph: its text, which of `STYLES` all of it is in, and its alignment.

    A style that only a part of it is in has ``part of`` before it. Beside those of `STYLES`, there
    are ``strike``, and ``heading`` for a paragraph in a style for headings and titles. The size,
    the colour and the font of letters are not looked at.
    """

    text: str
    styles: tuple[str, ...] = ()
    alignment: str = "left"


ADDED = Paragraph("", ("table or picture",))
"""What stands for a table or a picture: documents of tasks have none."""


def document(paragraphs: Sequence[str]) -> bytes:
    """A .docx file with these paragraphs."""
    made = _docx().Document()
    made.core_properties.created = made.core_properties.modified = _MADE
    font = made.styles["Normal"].font
    font.name = "DejaVu Sans"
    for text in paragraphs:
        made.add_paragraph(text)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def read(data: bytes | None) -> list[Paragraph] | None:
    """The paragraphs of a .docx file, without empty ones at its end, and after them `ADDED` for
    each table and each picture; None where it is none, or only half of one."""
    if data is None or not zipped.is_readable(data):
        return None
    library = _docx()
    try:
        body = library.Document(io.BytesIO(data))
        found = [_paragraph(one) for one in body.paragraphs]
        added = len(body.tables) + len(body.element.xpath("//w:drawing | //w:pict"))
    except Exception:  # a damaged file may break its reader in any way
        return None
    while found and not found[-1].text:
        found.pop()
    return found + [ADDED] * added


def _paragraph(one: Any) -> Paragraph:
    runs = [run for run in one.runs if run.text.strip()]
    styles = []
    for style in (*STYLES, "strike"):
        marked = sum(bool(getattr(run.font, style)) for run in runs)
        if marked:
            styles.append(style if marked == len(runs) else f"part of {style}")
    if one.style is not None and str(one.style.name).startswith(_HEADINGS):
        styles.append("heading")
    alignment = _ALIGNED.get(int(one.alignment or 0), "left")
    return Paragraph(one.text.rstrip(), tuple(styles), alignment)


def _docx() -> Any:
    try:
        return importlib.import_module("docx")
    except ImportError:
        raise UserError(
            'tasks with documents need python-docx: pip install "ui-gym[desktop]"'
        ) from None
