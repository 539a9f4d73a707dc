"""Which task files can be played here, and what the others lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ui_gym.desktop.osworld import taskfile
from ui_gym.desktop.osworld.cache import FileCache, TaskFiles
from ui_gym.errors import UserError

State = Literal["ready", "needs files", "lacks", "damaged"]
"""It can be played; it could, were its files fetched; it names what is not known; it is no task
file."""

STATES: tuple[State, ...] = ("ready", "needs files", "lacks", "damaged")


@dataclass(frozen=True)
class Covered:
    """One file: `lacks` as ``"metric compare_image_text"``, `missing` the addresses to be fetched,
    `files` how many it needs, and the `problem` of one that is damaged."""

    path: str
    domain: str
    id: str
    state: State
    infeasible: bool = False
    lacks: tuple[str, ...] = ()
    files: int = 0
    missing: tuple[str, ...] = ()
    problem: str = ""

    @property
    def loads(self) -> bool:
        """Whether every setup step, getter and metric of it is known."""
        return self.state in ("ready", "needs files")


@dataclass(frozen=True)
class Coverage:
    """What is known of a collection of files."""

    tasks: Sequence[Covered]

    def domains(self) -> dict[str, Counter[State]]:
        """How many files of each domain are in which state."""
        found: dict[str, Counter[State]] = {}
        for task in self.tasks:
            found.setdefault(task.domain, Counter())[task.state] += 1
        return found

    def lacking(self) -> list[tuple[str, int]]:
        """What is lacking, with the number of files that name it; the most wanted first."""
        counts = Counter(name for task in self.tasks for name in task.lacks)
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    def to_json(self) -> dict[str, Any]:
        """All of it in plain values."""
        return {
            "files": len(self.tasks),
            "loads": sum(task.loads for task in self.tasks),
            "ready": sum(task.state == "ready" for task in self.tasks),
            "infeasible": sum(task.infeasible for task in self.tasks),
            "domains": {name: dict(counts) for name, counts in self.domains().items()},
            "lacking": dict(self.lacking()),
            "tasks": [asdict(task) for task in self.tasks],
        }


def cover(paths: Iterable[Path], cache: FileCache | None = None) -> Coverage:
    """Look at task files (`taskfile.find` finds them); none of them is refused."""
    cache = cache or FileCache()
    return Coverage([_covered(path, cache) for path in paths])


def _covered(path: Path, cache: FileCache) -> Covered:
    try:
        task = taskfile.read(path)
        missing = tuple(TaskFiles(path.parent, cache).missing(task))
    except UserError as error:
        return Covered(str(path), path.parent.name, path.stem, "damaged", problem=str(error))
    lacks = tuple(taskfile.lacks(task))
    return Covered(
        path=str(path),
        domain=task.domain,
        id=task.id,
        state="lacks" if lacks else "needs files" if missing else "ready",
        infeasible=task.infeasible,
        lacks=lacks,
        files=len(taskfile.urls(task)),
        missing=missing,
    )
