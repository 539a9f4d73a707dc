"""Which task files can be played here, and what the others lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from ui_gym.desktop.osworld import needs, taskfile
from ui_gym.desktop.osworld.cache import FileCache, TaskFiles
from ui_gym.errors import UserError

State = Literal[
    "ready",
    "needs files",
    "needs app",
    "needs machine",
    "needs web",
    "infeasible",
    "lacks",
    "damaged",
]
"""It can be played now; it could, were its files fetched, or an application installed, or were it
played on a machine of OSWorld's (with GNOME, ``sudo``), or with the live web; it cannot be done, by
design; it names what is not known; it is no task file, or not there.

Of several reasons, the last of these counts; `Covered` has them all."""

STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class Covered:
    """One file: `lacks` as ``"metric compare_image_text"``, `missing` the addresses to be fetched,
    `files` how many it needs, `apps` the applications (`absent` those that are not installed), why
    it needs the live `web` and what of OSWorld's `machine`s, and the `problem` of one that is
    damaged."""

    path: str
    domain: str
    id: str
    state: State
    infeasible: bool = False
    lacks: tuple[str, ...] = ()
    files: int = 0
    missing: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    web: str = ""
    machine: str = ""
    problem: str = ""

    @property
    def loads(self) -> bool:
        """Whether every setup step, getter and metric of it is known."""
        return self.state not in ("lacks", "damaged")

    @property
    def needs_nothing(self) -> bool:
        """Whether it needs no file to be fetched, no live web and no machine of OSWorld's: only
        its applications."""
        return self.loads and not (self.missing or self.web or self.machine)


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

    def absent(self) -> list[tuple[str, int]]:
        """The packages that are not installed, with the number of files that need each."""
        counts = Counter(name for task in self.tasks for name in task.absent)
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    def count(self, state: State) -> int:
        """How many files are in a state."""
        return sum(task.state == state for task in self.tasks)

    def to_json(self) -> dict[str, Any]:
        """All of it in plain values."""
        return {
            "files": len(self.tasks),
            "loads": sum(task.loads for task in self.tasks),
            "ready": self.count("ready"),
            "infeasible": sum(task.infeasible for task in self.tasks),
            "needs_nothing": sum(task.needs_nothing for task in self.tasks),
            "absent": dict(self.absent()),
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
    apps = needs.apps(task)
    found = Covered(
        path=str(path),
        domain=task.domain,
        id=task.id,
        state="ready",
        infeasible=task.infeasible,
        lacks=tuple(taskfile.lacks(task)),
        files=len(taskfile.urls(task)),
        missing=missing,
        apps=tuple(map(str, apps)),
        absent=tuple(str(app) for app in apps if not app.installed),
        web=needs.web(task),
        machine=needs.machine(task),
    )
    return replace(found, state=_state(found))


def _state(found: Covered) -> State:
    reasons: list[tuple[State, object]] = [
        ("lacks", found.lacks),
        ("infeasible", found.infeasible),
        ("needs web", found.web),
        ("needs machine", found.machine),
        ("needs app", found.absent),
        ("needs files", found.missing),
    ]
    return next((state for state, reason in reasons if reason), "ready")
