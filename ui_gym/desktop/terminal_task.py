"""TerminalTask: what tasks share that begin in a terminal and end with files as they should be."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TypeVar

from ui_gym.contract.action import Action, Type, Wait
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.facts import files_change
from ui_gym.desktop.files import encoded, judge_files, parents
from ui_gym.desktop.offices import await_document
from ui_gym.desktop.task import DesktopTask

T = TypeVar("T")

REST = 0.3
"""Seconds without a change on the screen after which the shell has shown its prompt."""

FINAL_WAITS = 4
"""Pauses for the last command to end, of which an episode sees what it needs."""


class TerminalTask(DesktopTask[T]):
    """A task with files and a shell. A subclass gives `after` or `judge`."""

    def before(self, params: T) -> dict[str, str]:
        """The files that there are, by their paths in the home folder: the params' `files`."""
        return dict(params.files)  # type: ignore[attr-defined]

    def after(self, params: T) -> dict[str, str]:
        """The files that there should be."""
        return self.before(params)

    def folders(self, params: T) -> Sequence[str]:
        """Folders that there should be beside those of the files."""
        return ()

    def commands(self, params: T) -> Sequence[str]:
        """The lines that solve the task, typed in the home folder."""
        raise NotImplementedError

    def session(self, params: T) -> SessionSpec:
        return SessionSpec(files=encoded(self.before(params)), launch=[["xfce4-terminal"]])

    def setup(self, device: DesktopDevice, params: T) -> None:
        super().setup(device, params)
        await_document(device, "Terminal", REST)

    def may_change(self, params: T) -> Sequence[AllowedChange]:
        return files_change(self.before(params), self.after(params), self.folders(params))

    def judge(self, device: DesktopDevice, params: T, history: Sequence[Action]) -> Verdict:
        wanted = self.folders(params)
        folders = {*wanted, *parents(wanted)}
        return judge_files(device, self.before(params), self.after(params), folders=folders)

    def oracle(self, device: DesktopDevice, params: T) -> Iterator[Action | Demo]:
        for line in self.commands(params):
            yield Type(line, enter=True)
        for _ in range(FINAL_WAITS):
            yield Wait(0.5)


def line(*words: str) -> str:
    """Words as a shell reads them from one line."""
    return shlex.join(words)
