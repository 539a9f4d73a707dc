"""The children of a run or of controls, kept in a file, and what those report that measure."""

from __future__ import annotations

import json
import shlex
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ui_gym.errors import UIGymError, UserError
from ui_gym_agents import files
from ui_gym_agents.bench.running import BenchStopped, BenchWorker, ChildEnd

Meter = Callable[[float, str], None]
"""Is told how far a job is (0 to 1), and in words."""

LAST_LINES = 12


class BenchFailure(UIGymError):
    """A child of the benchmark failed before there was anything to tell of it."""


@dataclass
class BenchSession:
    """The children of a run so far, kept in a file beside its folder."""

    path: Path
    settings: dict[str, Any]
    children: list[dict[str, Any]] = field(default_factory=list)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, path: Path, settings: dict[str, Any]) -> BenchSession:
        """That of an earlier try, or a new one.

        Raises:
            UserError: the earlier try had other settings.
        """
        settings = json.loads(json.dumps(settings))
        if not path.exists():
            return cls(path, settings)
        kept = json.loads(path.read_text())
        if kept["settings"] != settings:
            differ = sorted(
                key
                for key in kept["settings"].keys() | settings.keys()
                if kept["settings"].get(key) != settings.get(key)
            )
            raise UserError(
                f"the run in {path.with_suffix('')} was begun with another {', '.join(differ)}; "
                "remove that folder and the files beside it, or choose another --runs"
            )
        return cls(path, settings, kept["children"])

    def run(
        self, worker: BenchWorker, command: list[str], log: Path, look: Callable[[], None]
    ) -> ChildEnd:
        """Run a child, and keep that it ran; several may run at a time."""
        child: dict[str, Any] = {"command": shlex.join(command), "begun": time.time()}
        with self._writing:
            self.children.append(child)
            self._write()
        end = worker.run(command, log, look)
        with self._writing:
            child |= {
                "status": end.status,
                "seconds": round(end.seconds, 3),
                "cpu_seconds": round(end.cpu_seconds, 3),
            }
            self._write()
        return end

    def seconds(self) -> dict[str, float]:
        """``wall`` is while any child ran, ``cpu`` of all; of children whose end was seen."""
        ended = [child for child in self.children if "seconds" in child]
        wall = until = 0.0
        for begin, end in sorted((c["begun"], c["begun"] + c["seconds"]) for c in ended):
            wall += max(0.0, end - max(begin, until))
            until = max(until, end)
        return {"wall": round(wall, 3), "cpu": round(sum(c["cpu_seconds"] for c in ended), 3)}

    def _write(self) -> None:
        values = {"settings": self.settings, "children": self.children}
        files.replace(self.path, json.dumps(values, indent=1) + "\n")


def evaluated(
    session: BenchSession,
    worker: BenchWorker,
    commands: Mapping[str, list[str]],
    folder: Path,
    meter: Meter,
) -> dict[str, dict[str, Any]]:
    """The reports of commands of `ui-gym-eval`, each in `folder` by its name.

    As many go on at a time as the worker may have children; each goes on where it was stopped, and
    what it said lies beside its report's folder.

    Raises:
        BenchStopped: somebody stopped it.
        BenchFailure: one failed.
    """

    def report(number: int, name: str) -> dict[str, Any]:
        meter(number / len(commands), f"measuring {name}")
        log = folder / f"{name}.log"
        end = session.run(worker, commands[name], log, lambda: None)
        if worker.stop.times:
            raise BenchStopped
        if end.status:
            said = last_lines(log)
            raise BenchFailure(f"{shlex.join(commands[name])} failed, see {log}: {said}")
        found: dict[str, Any] = json.loads((folder / name / "report.json").read_text())
        return found

    with ThreadPoolExecutor(worker.children) as pool:
        return dict(zip(commands, pool.map(report, range(len(commands)), commands), strict=True))


def last_lines(log: Path) -> str:
    """The end of what children said."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return "\n".join([line for line in lines if line][-LAST_LINES:])
