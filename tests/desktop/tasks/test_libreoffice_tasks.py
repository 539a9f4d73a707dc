"""Tasks with LibreOffice, where that is installed: what counts as done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from desktop_episodes import assert_idleness_scores_nothing, assert_solved, desktops, made

from ui_gym import registry
from ui_gym.desktop.content import documents
from ui_gym.desktop.content.documents import Paragraph
from ui_gym.device import DevicePool

TASKS = (
    "DesktopCalcEnterCell", "DesktopCalcFixValue", "DesktopCalcFillBlanks", "DesktopCalcSumColumn",
    "DesktopCalcSortRows", "DesktopCalcRenameSheet", "DesktopWriterReplaceWord",
    "DesktopWriterAddParagraph", "DesktopWriterFormat",
)  # fmt: skip

needs_libreoffice = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="LibreOffice is not installed"
)


@pytest.fixture(scope="module")
def pool() -> Iterator[DevicePool]:
    with desktops() as made_pool:
        yield made_pool


@needs_libreoffice
@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_reaches_the_goal(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        assert_solved(env, 1)


@needs_libreoffice
@pytest.mark.parametrize("name", ["DesktopCalcSortRows", "DesktopWriterFormat"])
def test_who_does_nothing_scores_nothing(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        assert_idleness_scores_nothing(env, 1)


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


@pytest.mark.parametrize("data", [None, b"", b"PK\x03\x04 half of a file", b"text"])
def test_what_is_no_document_is_none(data: bytes | None) -> None:
    assert documents.read(data) is None
