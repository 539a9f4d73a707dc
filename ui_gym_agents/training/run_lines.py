"""The lines of a run's files, in the order in which they make sense, from where a reader stopped.

Records and the monitor read runs by this, while they go on or years later.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ui_gym_agents import files
from ui_gym_agents.training import event_log


@dataclass(frozen=True)
class FileLine:
    """A line of a file of a run; `end` is the offset behind it."""

    file: str
    text: bytes
    end: int

    @property
    def start(self) -> int:
        """The offset at which it begins."""
        return self.end - len(self.text)


def unread(directory: Path, marks: Mapping[str, int]) -> Iterator[FileLine]:
    """The lines of a run's files behind `marks`, in the order in which they must be taken in.

    Events come in their order, and episodes after the events of their time: what a resumed run
    makes void (`event_log`) comes before the event that says so, and what is played anew after it.
    """
    marks = dict(marks)
    # Before the log is read: what lies in these files by now, the log tells the beginning of.
    sizes = {name: (directory / name).stat().st_size for name in event_log.files(directory)}

    def lines(file: str, end: int) -> Iterator[FileLine]:
        for text, behind in files.whole_lines(directory / file, marks.get(file, 0), end):
            marks[file] = behind
            yield FileLine(file, text, behind)

    for line in lines(event_log.FILE, (directory / event_log.FILE).stat().st_size):
        for file, size in _earlier(line.text).items():
            if file in sizes:
                yield from lines(file, size)
        yield line
    for file, size in sizes.items():
        yield from lines(file, size)


def _earlier(event: bytes) -> dict[str, int]:
    """How far the files of episodes went when a process of the run began, if `event` tells it."""
    try:
        line = json.loads(event)
        return dict(line["files"]) if line["event"] == "begun" else {}
    except (ValueError, KeyError, TypeError):
        return {}  # It is refused when its turn comes.
