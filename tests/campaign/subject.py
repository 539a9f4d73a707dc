"""What faults are caused in: our commands in processes of their own, and their room.

All that it writes lies on small disks of its own (`Room`), so that a fault can fill them or make
them read-only, and whatever it leaves behind is found there.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import room
from waiting import eventually

SECONDS = 180.0
"""How long anything may take that a fault is waited for with."""
WHOLE = 3600.0
"""How long a whole run may take."""
MARK = "UI_GYM_CAMPAIGN"
"""The environment variable that all processes of a campaign have."""


NOT_OURS = (f"torchinductor_{getpass.getuser()}",)
"""Torch's own cache, which it makes once and keeps."""


class Broken(AssertionError):
    """What should have come of a fault did not."""


@dataclass(frozen=True)
class Room:
    """Disks of a campaign's own, in a mount namespace of its own."""

    folder: Path

    @property
    def runs(self) -> Path:
        return self.folder / "disk"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def shared_memory(self) -> Path:
        return Path("/dev/shm")

    def mount(self) -> None:
        for path, size in (
            (self.runs, "250m"), (self.temporary, "250m"), (self.shared_memory, "250m"),
        ):  # fmt: skip
            path.mkdir(exist_ok=True)
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size},mode=1777", "none", str(path)],
                check=True,
            )  # fmt: skip

    @contextmanager
    def full(self, disk: Path, leave: int = 0) -> Iterator[None]:
        """All but `leave` bytes of a disk are taken, while this is open."""
        room.fill(disk, leave)
        try:
            yield
        finally:
            room.free(disk)

    @contextmanager
    def read_only(self, disk: Path) -> Iterator[None]:
        """Whoever opens a file on a disk meets one that is read-only, as the system makes it after
        errors of the device. (A mount above it: files that are open keep this one writable.)"""
        subprocess.run(["mount", "--bind", str(disk), str(disk)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(disk)], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)


class Program:
    """A command of ours in a process of its own, which writes below `directory`."""

    module: str

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self.directory = directory
        self.environment = {**os.environ, **environment, "PYTHONUNBUFFERED": "1"}
        self.output = directory.with_suffix(".out")
        self._process: subprocess.Popen[bytes] | None = None

    # -- its process --

    def spawn(self, *arguments: str) -> None:
        with self.output.open("ab") as out:
            self._process = subprocess.Popen(
                self.command(*arguments), env=self.environment, stdin=subprocess.DEVNULL,
                stdout=out, stderr=out,
            )  # fmt: skip

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", self.module, *arguments]

    @property
    def process(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise Broken("it was not started")
        return self._process

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self, seconds: float = SECONDS) -> int:
        """Its exit status, once it has ended by itself."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Broken(f"it did not end within {seconds:g} s") from None

    def close(self) -> None:
        if self.running:
            self.process.kill()
            self.process.wait()

    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for something that comes while it goes on."""
        if not eventually(lambda: holds() or not self.running, SECONDS):
            raise Broken(f"{what} did not come within {SECONDS:g} s")
        if not holds():
            raise Broken(f"it ended before {what}: {self.said()[-800:]}")

    # -- what it started --

    def browsers(self) -> list[psutil.Process]:
        """The main processes of its browsers."""
        return [p for p in self.programs("chromium") if not _kind(p)]

    def renderers(self) -> list[psutil.Process]:
        return [p for p in self.programs("chromium") if _kind(p) == "renderer"]

    def programs(self, name: str) -> list[psutil.Process]:
        """Those of its processes that run a program whose path holds a name."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in children if name in _words(child)[0]]


class Subject(Program):
    """A training."""

    module = "ui_gym_agents.training.cli"

    def __init__(
        self, directory: Path, settings: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        super().__init__(directory, environment)
        self.settings = settings

    def start(self) -> None:
        self.spawn(*self.settings, "--run.directory", str(self.directory))

    def resume(self, *more: str) -> None:
        """Go on from the newest checkpoint."""
        self.spawn("--resume", str(self.directory), *more)

    def attempt(self, *arguments: str, before: Sequence[str] = (), **environment: str) -> str:
        """What a second command says that must be refused, and change nothing of the run."""
        kept = self.files()
        done = subprocess.run(
            [*before, *self.command(*arguments)], env={**self.environment, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
        if done.returncode == 0:
            raise Broken(f"it was not refused: {done.stdout}")
        found = self.files()
        changed = [n for n in sorted({*kept, *found}) if kept.get(n) != found.get(n)]
        if changed and not self.running:
            raise Broken(f"what was refused changed {', '.join(changed)}: {done.stdout[-800:]}")
        return done.stdout

    # -- what it wrote --

    def log(self) -> str:
        return (self.directory / "log.txt").read_text(errors="replace")

    def events(self, kind: str) -> list[dict[str, Any]]:
        path = self.directory / "events.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines if line.endswith("}")]
        return [event for event in found if event["event"] == kind]

    def step(self) -> int:
        """The last finished step."""
        return max((event["step"] for event in self.events("step_finished")), default=0)

    def saved(self) -> int:
        """The step of the newest checkpoint."""
        return max((event["step"] for event in self.events("checkpoint")), default=0)

    def files(self) -> dict[str, bytes]:
        """Its settings and whole checkpoints. (Whoever resumes it sweeps away what was torn.)"""
        parts = ("config.yaml", "checkpoints/step_??????/*")
        found = (path for part in parts for path in self.directory.glob(part) if path.is_file())
        return {str(path): path.read_bytes() for path in found}

    def wait_for_step(self, more: int = 1) -> None:
        """Wait until `more` further steps are finished."""
        goal = self.step() + more
        self.wait(lambda: self.step() >= goal, f"step {goal}")

    def wait_in_step(self) -> None:
        """Wait until a step has begun that is not finished."""
        self.wait(
            lambda: len(self.events("step_begun")) > len(self.events("step_finished")), "a step"
        )


def _words(process: psutil.Process) -> list[str]:
    """A process's command line; empty words where it has ended."""
    with contextlib.suppress(psutil.Error):
        return process.cmdline() or [""]
    return [""]


def _kind(process: psutil.Process) -> str:
    """What a process of a browser is: empty for its main one."""
    given = " ".join(_words(process)).split()
    return next((word[len("--type=") :] for word in given if word.startswith("--type=")), "")


def left_behind(room: Room) -> list[str]:
    """What a campaign's processes left: processes, temporary files, shared memory."""
    told: list[str] = []

    def processes() -> list[str]:
        return [f"{p.pid} {' '.join(p.cmdline())[:80]}" for p in marked()]

    if not eventually(lambda: not processes(), 20):
        told += [f"process {line}" for line in processes()]
    for folder in (room.temporary, room.shared_memory):
        told += [str(path) for path in sorted(folder.iterdir()) if path.name not in NOT_OURS]
    return told


def marked() -> Iterator[psutil.Process]:
    """Processes of this campaign, other than this one, with what they started (a browser gives its
    children no environment)."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == os.environ[MARK]:
                family = [process, *process.children(recursive=True)]
                found |= {one.pid: one for one in family}
    found.pop(os.getpid(), None)
    yield from found.values()


def privately(arguments: Sequence[str]) -> None:
    """Start this program anew where its mounts are seen by nobody else, if it is not there yet."""
    if os.environ.get(MARK):
        return
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Broken("a campaign fills disks of its own, which takes root and unshare (util-linux)")
    os.environ[MARK] = str(time.time_ns())
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, *arguments])
