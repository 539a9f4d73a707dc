"""What a run is asked while it goes on, from outside of its process: to stop, evaluate or save.

``control.jsonl`` in the run's folder has a line for each: ``at`` (ISO 8601 in UTC) and ``what``.
The host looks between two steps, and does what was asked since its own process began.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast, get_args

from ui_gym.errors import UserError, nearest
from ui_gym_agents.files import append, whole_lines

FILE = "control.jsonl"

Wish = Literal["stop", "evaluate", "save"]
"""``stop``: as the first Ctrl-C does. ``evaluate``: the quick evaluation, though it is not due.
``save``: a checkpoint, likewise."""

WISHES: tuple[Wish, ...] = get_args(Wish)


def ask(directory: Path, what: str) -> None:
    """Ask the run in `directory` for something; whether one goes on there is not looked at.

    Raises:
        UserError: there is no run, or nothing that is called so.
        NoRoom: the disk is full.
    """
    if what not in WISHES:
        raise UserError(f"a run cannot be asked to {what!r}. {nearest(what, WISHES)}")
    if not (directory / "config.yaml").is_file():
        raise UserError(f"{directory} holds no run: {directory / 'config.yaml'} is not there")
    line = {"at": datetime.now(UTC).isoformat(), "what": what}
    append(directory / FILE, [json.dumps(line)])


class RunControl:
    """What the run in `directory` is asked from now on."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._read = self._path.stat().st_size if self._path.exists() else 0

    def asked(self) -> list[Wish]:
        """What was asked since the last look, each thing once; what is not known is passed over."""
        found: dict[Wish, None] = {}
        with suppress(OSError):  # nobody can ask then
            found.update(dict.fromkeys(self._new()))
        return list(found)

    def _new(self) -> Iterator[Wish]:
        for text, end in whole_lines(self._path, self._read):
            self._read = end
            try:
                what = json.loads(text)["what"]
            except (ValueError, KeyError, TypeError):
                continue
            if what in WISHES:
                yield cast(Wish, what)
