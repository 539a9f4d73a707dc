"""Tasks with LibreOffice, where that is installed: what counts as done."""

from __future__ import annotations

import dataclasses
import io
import shutil
from typing import Any

import pytest

from ui_gym.contract import registry
from ui_gym.desktop.content import documents
from ui_gym.desktop.content.documents import Paragraph

TASKS = (
    "DesktopCalcEnterCell", "DesktopCalcFixValue", "DesktopCalcFillBlanks", "DesktopCalcSumColumn",
    "DesktopCalcSortRows", "DesktopCalcRenameSheet", "DesktopWriterReplaceWord",
    "DesktopWriterAddParagraph", "DesktopWriterFormat",
)  # fmt: skip

needs_libreoffice = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="LibreOffice is not installed"
)


@pytest.mark.parametrize("name", TASKS)
def test_they_are_only_played_if_they_are_named(name: str) -> None:
    assert "extra" in registry.spec(name).tags


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        (name, mistake)
        for name in TASKS
        if name.startswith("DesktopWriter")
        for mistake in registry.spec(name).load().mistakes
    ],
)
def test_documents_after_a_mistake_are_not_those_that_are_wanted(name: str, mistake: str) -> None:
    task: Any = registry.spec(name).load()()
    for seed in range(10):
        params = task.draw(seed)
        misread = task.misunderstand(params, {mistake: 1.0}, seed)
        assert misread != params
        if mistake not in ("more", "part"):  # these are mistakes of the hand
            assert task.wanted(misread) != task.wanted(params)


def test_a_document_is_read_as_it_was_written() -> None:
    found = documents.read(documents.document(["One", "Two ", ""]))
    assert found == [Paragraph("One"), Paragraph("Two")]


def test_other_changes_of_a_document_are_seen() -> None:
    docx = pytest.importorskip("docx")
    plain = documents.document(["One", "Two"])

    def heading(book: Any) -> None:
        book.paragraphs[0].style = book.styles["Heading 1"]

    def struck(book: Any) -> None:
        book.paragraphs[1].runs[0].font.strike = True

    def table(book: Any) -> None:
        book.add_table(1, 2)

    for change in (heading, struck, table):
        book = docx.Document(io.BytesIO(plain))
        change(book)
        file = io.BytesIO()
        book.save(file)
        assert documents.read(file.getvalue()) not in (documents.read(plain), None)


def test_replaced_words_and_their_twins_differ() -> None:
    task: Any = registry.spec("DesktopWriterReplaceWord").load()()
    for seed in range(400):
        params = task.draw(seed)
        misread = task.misunderstand(params, {"new": 1.0}, seed)
        assert params.twin not in (params.new, misread.new)


def test_a_beginning_is_that_of_one_paragraph() -> None:
    task: Any = registry.spec("DesktopWriterFormat").load()()
    for seed in range(100):
        drawn = task.draw(seed)
        lines = ("Call the bank before 9:15", "Call the bank before 9:30", *drawn.paragraphs[:1])
        params = dataclasses.replace(drawn, phrasing=2, paragraphs=lines, target=seed % 3)
        start = task.goal(params).split('"')[1]
        assert [one.startswith(start) for one in lines].index(True) == params.target
        assert sum(one.startswith(start) for one in lines) == 1


@pytest.mark.parametrize("data", [None, b"", b"PK\x03\x04 half of a file", b"text"])
def test_what_is_no_document_is_none(data: bytes | None) -> None:
    assert documents.read(data) is None
