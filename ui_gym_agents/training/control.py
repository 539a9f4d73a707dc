"""What a run is asked while it goes on, from outside of its process: to stop, evaluate or save.

``control.jsonl`` in the run's folder has a line for each: ``at`` (ISO 8601 in UTC), ``what``, and
``after``, where it has time until so many steps are done. The host looks between two steps, and
does what was asked since its own process began.
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


def ask(directory: Path, what: str, *, after: int = 0) -> None:
    """Ask the run in `directory` for something, to be done once `after` steps are.

    Whether a run goes on there is not looked at.

    Raises:
        UserError: there is no run, or nothing that is called so.
        NoRoom: the disk is full.
    """
    if what not in WISHES:
        raise UserError(f"a run cannot be asked to {what!r}. {nearest(what, WISHES)}")
    if not (directory / "config.yaml").is_file():
        raise UserError(f"{directory} holds no run: {directory / 'config.yaml'} is not there")
    line = {"at": datetime.now(UTC).isoformat(), "what": what, "after": after}
    append(directory / FILE, [json.dumps(line)])


class RunControl:
    """What the run in `directory` is asked from now on."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._read = self._path.stat().st_size if self._path.exists() else 0
        self._waiting: list[tuple[Wish, int]] = []

    def asked(self, done: int) -> list[Wish]:
        """What is due after `done` steps, each thing once, in the order it was asked for.

        What is not known is passed over.
        """
        with suppress(OSError):  # nobody can ask then
            self._waiting += self._new()
        due = [what for what, after in self._waiting if after <= done]
        self._waiting = [(what, after) for what, after in self._waiting if after > done]
        return list(dict.fromkeys(due))

    def _new(self) -> Iterator[tuple[Wish, int]]:
        for text, end in whole_lines(self._path, self._read):
            self._read = end
            try:
                line = json.loads(text)
                what, after = line["what"], int(line.get("after", 0))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if what in WISHES:
                yield cast(Wish, what), after
