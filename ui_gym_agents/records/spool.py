"""The spool: changes on disk while the database is away, a JSON line each, in order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ui_gym_agents.records import changes
from ui_gym_agents.records.changes import Change

FILE = "records.spool.jsonl"
"""Its name in a run's directory."""
REFUSED = "records.refused.jsonl"
"""Changes that the database will not take, for a person to look at."""


class Spool:
    """Changes in a file. One process and one thread at a time may use it.

    What was appended is on the disk when `append` returns. `read` goes on where it left off, and
    `clear` empties the file once all is applied; a process that dies in between reads again from
    the start, which does no harm (`changes.apply`).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._size = self._whole_size()

    @property
    def pending(self) -> bool:
        """Whether something was not read yet."""
        return self._size > self._offset

    def append(self, batch: Sequence[Change]) -> None:
        """Add changes. `OSError` where the disk takes no more; the file is then as it was."""
        append_lines(self.path, batch, self._size)
        self._size = self.path.stat().st_size

    def read(self, most: int = 200) -> tuple[list[Change], int]:
        """The next `most` changes, and the offset behind them for `advance`."""
        batch: list[Change] = []
        with self.path.open("rb") as file:
            file.seek(self._offset)
            for line in iter(file.readline, b""):
                batch.append(changes.from_json(line))
                if len(batch) == most:
                    break
            return batch, file.tell()

    def advance(self, offset: int) -> None:
        """What lies before `offset` is applied; at the end, the file is removed."""
        self.skip(offset)
        if not self.pending:
            self.clear()

    def skip(self, offset: int) -> None:
        """Go on reading at `offset`."""
        self._offset = offset

    def clear(self) -> None:
        """All is applied: remove the file."""
        self.path.unlink(missing_ok=True)
        self._offset = self._size = 0

    def count(self) -> int:
        """How many changes wait."""
        if not self.pending:
            return 0
        with self.path.open("rb") as file:
            file.seek(self._offset)
            return sum(1 for _ in file)

    def _whole_size(self) -> int:
        """The size without a torn last line, which a killed process may have left."""
        if not self.path.exists():
            return 0
        data = self.path.read_bytes()
        size = data.rfind(b"\n") + 1
        if size < len(data):
            os.truncate(self.path, size)
        return size


def append_lines(path: Path, batch: Sequence[Change], size: int | None = None) -> None:
    """Append changes and force them onto the disk; `size`: the file's, to go back to on trouble."""
    data = "".join(changes.to_json(change) + "\n" for change in batch).encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        if size is None:
            size = os.fstat(descriptor).st_size
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
