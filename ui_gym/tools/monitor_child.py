"""The monitor as a child of a command (``--monitor``): it ends with it, however that ends.

The monitor prints its address in a line of its own. One that does not start is a warning: what it
was to show goes on without it.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import IO, Self

from ui_gym.child_process import ChildProcess
from ui_gym.errors import UserError

FLAG = "--monitor"

ANY_PORT = 0


class MonitorChild:
    """A running monitor; `note` gets a line that says where it is, or why there is none.

    A context manager, at whose end the monitor ends.

    Args:
        command: What starts it.
        note: Called from a thread, once.
    """

    def __init__(self, command: Sequence[str], note: Callable[[str], None]) -> None:
        self._note = note
        self._closing = False
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        reads, writes = os.pipe()
        self._said = os.fdopen(reads, encoding="utf-8", errors="replace")
        try:
            self._child = ChildProcess(command, stdout=writes, stderr=self._errors)
        except BaseException:
            self._said.close()
            self._errors.close()
            raise
        finally:
            os.close(writes)
        self._thread = threading.Thread(target=self._listen, name="monitor", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the monitor. May be repeated."""
        self._closing = True
        self._child.close()
        self._thread.join(3.0)
        if not self._thread.is_alive():
            self._said.close()
            self._errors.close()

    def _listen(self) -> None:
        """Say where it is, and take what else it prints: a full pipe would stop it."""
        told = False
        for line in self._said:
            if not told and "://" in line:
                told = True
                self._note(f"monitor: {line.strip().removeprefix('monitor: ')}")
        if not told and not self._closing:
            self._note(f"warning: the monitor did not start ({self._why()}); all else goes on")

    def _why(self) -> str:
        """The last that it said in its trouble."""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else "it said nothing"


def with_port(arguments: Sequence[str]) -> list[str]:
    """Arguments in which ``--monitor`` has its port: ``--monitor``, ``--monitor 8123`` and
    ``--monitor=8123`` are all said as the last."""
    found: list[str] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == FLAG:
            port = words.pop(0) if words and words[0].isdigit() else str(ANY_PORT)
            word = f"{FLAG}={port}"
        found.append(word)
    return found


def port_in(text: str) -> int:
    """A port, as ``--monitor`` takes it.

    Raises:
        UserError: it is none.
    """
    if not text.isdigit() or int(text) > 65535:
        raise UserError(f"{FLAG} takes a port from 0 (any that is free) to 65535, not {text!r}")
    return int(text)
