"""RunningShell: the shell as its built-ins and its redirections see it."""

from __future__ import annotations

from typing import Protocol

from ui_gym_phone.shell.expansion import Expander, ExpandingShell
from ui_gym_phone.shell.streams import OpenStream


class RunningShell(ExpandingShell, Protocol):
    """A shell in the middle of a line."""

    streams: dict[int, OpenStream]
    expander: Expander
    loops: int
    """How many loops are running."""

    def complain(self, message: str) -> None:
        """Say something in the shell's own name."""

    def write(self, fd: int, data: bytes) -> None: ...

    def external(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a command of the machine."""
