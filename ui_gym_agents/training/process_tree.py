"""The processes that this one has started, and theirs: what memory and processor time they take.

It is read from ``/proc``, in one pass over all processes of the machine (a process says who its
parent is, and no parent says who its children are). Where there is no ``/proc``, nothing is known.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

SHELLS = frozenset({"sh", "bash", "dash"})
"""What stands between us and a child that must end with us (`ui_gym.child_process`)."""

ROLES = {
    "chrom": "chromium", "headless_shell": "chromium", "Xvfb": "Xvfb", "worker_main": "worker",
    "vllm": "engine", "sglang": "engine", "ui_gym_agents.monitor": "monitor", "raylet": "ray",
    "qemu": "emulator", "emulator": "emulator", "adb": "adb",
}  # fmt: skip
"""What a program is to us, by what is in its name. The first that fits holds."""

DEAD = frozenset("ZX")


@dataclass(frozen=True)
class ProcessUse:
    """A child with all that it started, or this process itself, which stands alone."""

    pid: int
    role: str
    rss: int
    """Bytes of memory; what several of its processes share counts for each."""
    cpu: float
    """Cores that were busy since the last look; 0 at the first."""
    alive: bool


@dataclass(frozen=True)
class _Stat:
    """A line of ``/proc/<pid>/stat``."""

    pid: int
    name: str
    state: str
    parent: int
    ticks: int
    begun: int
    pages: int


class ProcessTree:
    """This process and its children, looked at again and again from one thread."""

    def __init__(self) -> None:
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._hertz = os.sysconf("SC_CLK_TCK")
        self._ticks: dict[tuple[int, int], int] = {}
        self._at: float | None = None
        self._roles: dict[tuple[int, int], str] = {}

    def look(self) -> list[ProcessUse]:
        """This process first, then each child; empty where nothing is known."""
        found = _stats()
        own = found.get(os.getpid())
        if own is None:
            return []
        children: dict[int, list[_Stat]] = {}
        for stat in found.values():
            children.setdefault(stat.parent, []).append(stat)
        now = time.monotonic()
        seconds = 0.0 if self._at is None else now - self._at
        below = {top: _with_all(top, children) for top in children.get(own.pid, [])}
        uses = [self._use(own, [own], "main", seconds)]
        uses += [
            self._use(top, family, self._role(top, children), seconds)
            for top, family in below.items()
        ]
        ours = [own, *(stat for family in below.values() for stat in family)]
        self._ticks = {(stat.pid, stat.begun): stat.ticks for stat in ours}
        self._roles = {key: role for key, role in self._roles.items() if key in self._ticks}
        self._at = now
        return uses

    def _use(self, top: _Stat, family: list[_Stat], role: str, seconds: float) -> ProcessUse:
        ticks = sum(stat.ticks - self._ticks.get((stat.pid, stat.begun), 0) for stat in family)
        return ProcessUse(
            pid=top.pid,
            role=role,
            rss=self._page * sum(stat.pages for stat in family),
            cpu=round(ticks / self._hertz / seconds, 3) if seconds else 0.0,
            alive=top.state not in DEAD,
        )

    def _role(self, top: _Stat, children: Mapping[int, list[_Stat]]) -> str:
        known = self._roles.get((top.pid, top.begun))
        if known is not None:
            return known
        program = top
        while program.name in SHELLS and children.get(program.pid):
            program = children[program.pid][0]
        role = _role_of(program)
        if program.name not in SHELLS and (top.pid, top.begun) in self._ticks:
            # At the first sight of it, it may not have become what it is to be.
            self._roles[top.pid, top.begun] = role
        return role


def _role_of(program: _Stat) -> str:
    """What a process is to us, by the name of its program or of the module that it runs."""
    words: list[str] = []
    with suppress(OSError):
        line = (PROC / str(program.pid) / "cmdline").read_bytes().decode("utf-8", "replace")
        words = line.split("\0")
    name = Path(words[0]).name if words and words[0] else program.name
    if name.startswith("python") or name in SHELLS:  # a script's name is its first argument
        name = next((word for word in words[1:] if word and not word.startswith("-")), name)
    return next((role for part, role in ROLES.items() if part in name), Path(name).name[:32])


def _with_all(top: _Stat, children: Mapping[int, list[_Stat]]) -> list[_Stat]:
    """A process and all that it started."""
    family = [top]
    for stat in family:
        family += children.get(stat.pid, [])
    return family


def _stats() -> dict[int, _Stat]:
    """All processes that can be seen, by their ids."""
    found: dict[int, _Stat] = {}
    try:
        names = os.listdir(PROC)
    except OSError:
        return found
    for name in names:
        if not name.isdigit():
            continue
        with suppress(OSError, ValueError, IndexError):  # it ended meanwhile
            stat = _stat(int(name))
            found[stat.pid] = stat
    return found


def _stat(pid: int) -> _Stat:
    descriptor = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY)
    try:
        text = os.read(descriptor, 4096).decode("utf-8", "replace")
    finally:
        os.close(descriptor)
    before, _, after = text.rpartition(")")
    parts = after.split()
    return _Stat(
        pid=pid,
        name=before.partition("(")[2],
        state=parts[0],
        parent=int(parts[1]),
        ticks=int(parts[11]) + int(parts[12]),
        begun=int(parts[19]),
        pages=int(parts[21]),
    )
