"""Commands as OSWorld's task files write them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ui_gym.desktop.device import Command
from ui_gym.errors import UserError


def guest_command(command: str | Sequence[str], shell: object, home: str) -> Command:
    """What the device is to run, with the meaning that OSWorld's server gives it.

    With `shell` (true, or the text "true") a text is a line of ``/bin/sh``, and the first item of
    a list is one, the others its ``$0``, ``$1``, ...; without it a text is split as a shell would,
    and an argument that begins with ``~/`` is a path under `home`.
    """
    if shell:
        return command if isinstance(command, str) else ["/bin/sh", "-c", *command]
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise UserError(f"the command {command!r} cannot be read: {error}") from error
    if not words:
        raise UserError("a command in the task file is empty")
    return [f"{home}/{word[2:]}" if word.startswith("~/") else word for word in words]
