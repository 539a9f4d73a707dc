"""ScriptReader: the commands that a shell's standard input holds, one after the other.

A shell reads no further than the command that it is about to run, so that ``read`` and ``cat``
among the commands take what follows them there.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ui_gym_phone.shell.parser import MAX_LINE, next_command
from ui_gym_phone.shell.registry import decode, encode
from ui_gym_phone.shell.streams import InputBytes
from ui_gym_phone.shell.syntax import ShellNode, ShellSyntaxError, UnfinishedError

_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\\n\Z")
"""A line that a backslash joins with the next one."""

MAX_COMMAND = 4 * MAX_LINE
"""Bytes of one command, here-documents included."""


class ScriptReader:
    """Reads commands from `stream`. `ask` is told whether a line that it waits for goes on with a
    command, before it waits."""

    def __init__(self, stream: InputBytes, ask: Callable[[bool], None] = lambda goes_on: None):
        self._stream, self._ask = stream, ask
        self.line = 0
        """The number of the last line that was read."""

    def next(self) -> ShellNode | None:
        """The next command; None at the end.

        Raises:
            ShellSyntaxError: what comes next is none. It is skipped; `line` is where it is wrong.
        """
        least = 1
        while True:
            self._ask(least > 1)
            data = self._stream.look(least, 2 * least)
            text, count = decode(data), data.count(b"\n")
            try:
                found = next_command(text, 0)
            except UnfinishedError as error:
                if count < least or len(data) > MAX_COMMAND:  # that is all
                    raise self._skip(text, error) from None
                least = count + 1
                continue
            except ShellSyntaxError as error:
                raise self._skip(text, error) from None
            if found is not None and count >= least and _CONTINUED.search(text[: found[1]]):
                least = count + 1
                continue
            if found is not None:
                node, end = found
                self._take(text[:end])
                return node
            self._take(text)
            if count < least:
                return None
            least = 1

    def _take(self, text: str) -> None:
        self._stream.take(len(encode(text)))
        self.line += text.count("\n") + bool(text and not text.endswith("\n"))

    def _skip(self, text: str, error: ShellSyntaxError) -> ShellSyntaxError:
        """Leave out the lines up to where it is wrong."""
        end = text.find("\n", max(0, error.position - 1)) + 1 or len(text)
        self._take(text[:end])
        return error
