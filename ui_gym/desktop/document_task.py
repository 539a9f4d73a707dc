"""DocumentTask: what tasks with a document of LibreOffice Writer share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ui_gym.contract.action import Action, Press, Wait
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.task import Verdict
from ui_gym.desktop import offices
from ui_gym.desktop.content import documents
from ui_gym.desktop.content.documents import Paragraph
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.facts import file_change
from ui_gym.desktop.task import DesktopTask


@dataclass(frozen=True)
class DocumentParams:
    """What varies in all of them."""

    file: str
    paragraphs: tuple[str, ...]
    """Of the document, each at most a line long."""
    phrasing: int


T = TypeVar("T", bound=DocumentParams)


class DocumentTask(DesktopTask[T]):
    """A task with a document that is to be changed and saved."""

    def wanted(self, params: T) -> list[Paragraph]:
        """The paragraphs that there should be."""
        raise NotImplementedError

    def session(self, params: T) -> SessionSpec:
        return SessionSpec(
            files={params.file: documents.document(params.paragraphs)},
            launch=[[*offices.LIBREOFFICE, params.file]],
            warm=(offices.LIBREOFFICE_WARM,),
            titles=[params.file],
        )

    def setup(self, device: DesktopDevice, params: T) -> None:
        super().setup(device, params)
        offices.await_document(
            device, params.file, offices.LIBREOFFICE_REST, program=offices.LIBREOFFICE_PROCESS
        )

    def may_change(self, params: T) -> Sequence[AllowedChange]:
        return file_change(params.file)

    def judge(self, device: DesktopDevice, params: T, history: Sequence[Action]) -> Verdict:
        found = documents.read(device.read(params.file))
        wanted = self.wanted(params)
        right = found == wanted
        return Verdict(float(right), done=right, notes=_difference(found, wanted))


def plain(params: DocumentParams) -> list[Paragraph]:
    """The paragraphs as they are at the beginning."""
    return [Paragraph(text.rstrip()) for text in params.paragraphs]


def go_to(paragraph: int) -> Iterator[Action]:
    """Put the caret before a paragraph, the first of which is 0."""
    yield Press("ctrl+home")
    for _ in range(paragraph):
        yield Press("ctrl+down")


def save() -> Iterator[Action]:
    """Save, and wait until that is done."""
    yield Press("ctrl+s")
    for _ in range(4):  # the file is written in the application's own time
        yield Wait(0.5)


def _difference(found: list[Paragraph] | None, wanted: list[Paragraph]) -> str:
    if found is None:
        return "there is no such document"
    if len(found) != len(wanted):
        return f"it has {len(found)} paragraphs, not {len(wanted)}"
    for one, other in zip(found, wanted, strict=True):
        if one != other:
            return f"a paragraph is {one}, not {other}"
    return ""
