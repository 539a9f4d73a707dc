"""Overrides: people's verdicts on episodes, beside the judge's.

``overrides.jsonl`` lies in the folder of a run or an evaluation, and is only ever appended to. The
last verdict on an episode holds; ``withdrawn`` gives the judge's back. The judge's own verdict is
never changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from ui_gym_agents import files
from ui_gym_agents.episode import NOT_SAID, Episode, Purpose

FILE = "overrides.jsonl"
VERDICTS = ("success", "failure", "withdrawn")

OverrideVerdict = Literal["success", "failure", "withdrawn"]


@dataclass(frozen=True)
class Override:
    """A person's verdict. `where` is ``FILE:START:END``: the episode's line among the folder's."""

    at: str
    episode: str
    where: str
    verdict: OverrideVerdict
    reason: str
    who: str
    purpose: Purpose = NOT_SAID

    @property
    def file(self) -> str:
        """The file of `where`, relative to the folder."""
        return self.where.rsplit(":", 2)[0]

    @property
    def start(self) -> int | None:
        """Where in that file the episode's line begins; None where it has no such place."""
        parts = self.where.rsplit(":", 2)
        return int(parts[1]) if len(parts) == 3 and parts[1].isdecimal() else None


def history(folder: Path) -> Iterator[Override]:
    """All verdicts, the oldest first; a torn or damaged line is none."""
    for line, _ in files.whole_lines(folder / FILE):
        try:
            value = json.loads(line)
            said = Override(**{**value, "purpose": Purpose(**value.get("purpose", {}))})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        texts = (said.at, said.episode, said.where, said.reason, said.who)
        if said.verdict in VERDICTS and all(isinstance(text, str) for text in texts):
            yield said


def read(folder: Path) -> dict[str, Override]:
    """The verdicts that hold, by `Override.where`."""
    found: dict[str, Override] = {}
    for override in history(folder):
        if override.verdict == "withdrawn":
            found.pop(override.where, None)
        else:
            found[override.where] = override
    return found


def append(folder: Path, override: Override) -> None:
    """Add a verdict, whole or not at all.

    Raises:
        NoRoom: the disk is full; nothing is lost.
    """
    files.append(folder / FILE, [json.dumps(asdict(override))])


class FileOverrides:
    """The verdicts that hold on the episodes of one file.

    They lie beside it, or in the run whose file it is, and say by its place which line they are on.
    An export (with a ``manifest.json``) has its episodes in other places: there, an episode's id
    and purpose say it.
    """

    def __init__(self, path: Path) -> None:
        """`path` is the file of episodes."""
        self._by_place: dict[int, Override] = {}
        self._by_name: dict[tuple[str, Purpose], Override] = {}
        parent = path.absolute().parent
        told = [
            (override, path.absolute().relative_to(folder).as_posix(), folder == parent)
            for folder in (parent, *parent.parents[:2])
            for override in history(folder)
        ]
        exported = (parent / "manifest.json").is_file()
        for override, name, beside in sorted(told, key=lambda one: one[0].at):
            file, start = override.file, override.start
            if file == name and start is not None:
                self._by_place[start] = override
            if exported and beside:
                self._by_name[override.episode, override.purpose] = override

    def judged(self, episode: Episode, start: int) -> Episode:
        """The episode as people judged it, whose line begins at `start`; itself if nobody did.

        Where they say otherwise than the judge, a success has the score 1, and a failure 0.
        """
        said = self._by_place.get(start)
        if said is None or said.episode != episode.id:
            said = self._by_name.get((episode.id, episode.purpose))
        if said is None or said.verdict == "withdrawn":
            return episode
        success = said.verdict == "success"
        if success == episode.success:
            return episode
        return replace(episode, success=success, score=float(success))
