"""Who plays the rollouts: a function in threads of this process, or a program beside it."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ui_gym import extras
from ui_gym.child_process import ChildProcess
from ui_gym.errors import UserError
from ui_gym_agents.serving import client

COMMAND = "command:"

QUICK = 10.0
"""Seconds within which a program that ended without an episode of its own has failed to start."""
STARTS = 3
"""How often in a row a program may end quickly."""

SPARE = 16
"""Threads a slot of a function: one that never returns keeps its own, and others go on."""


class RolloutPlayer(Protocol):
    """Plays the rollouts of a server until it is closed."""

    def start(self, url: str) -> None:
        """Play the rollouts of the policy at `url`."""

    def close(self) -> None:
        """Play no more. May be repeated."""


Lost = Callable[[str, str], bool]
"""Is told which agent ended, and why; whether it had played, and left no episode open."""
Broken = Callable[[Exception], None]
"""Is told that nothing can be played."""


def make_player(name: str, slots: int, secret: str, lost: Lost, broken: Broken) -> RolloutPlayer:
    """The agent ``command:PROGRAM ARGUMENTS`` or ``module:function``.

    What it calls itself begins with the `secret`, so that no others are handed rollouts.

    Raises:
        UserError: it is not there.
    """
    if not name.startswith(COMMAND):
        play = extras.named(f"the agent {name!r}", name, UserError)
        if not callable(play):
            raise UserError(f"{name!r} is no function that plays a rollout")
        return _Function(play, SPARE * slots, secret)
    command = shlex.split(name.removeprefix(COMMAND))
    if not command or shutil.which(command[0]) is None:
        raise UserError(f'the agent {name!r} names no program: write command:"python my_agent.py"')
    return _Program(command, secret, lost, broken)


class _Function:
    def __init__(
        self, play: Callable[[client.RolloutEnv], object], threads: int, secret: str
    ) -> None:
        self._play = play
        self._threads = threads
        self._secret = secret

    def start(self, url: str) -> None:
        options = {"threads": self._threads, "base_url": url, "agent": self._secret}
        threading.Thread(
            target=client.play_all, args=(self._play,), kwargs=options, daemon=True, name="agent"
        ).start()

    def close(self) -> None:
        """It ends by itself, once there is nothing to play."""


class _Program:
    """A program that is started again where it ends: it may play one rollout or all."""

    def __init__(self, command: list[str], secret: str, lost: Lost, broken: Broken) -> None:
        self._command = command
        self._secret = secret
        self._lost = lost
        self._broken = broken
        self._closed = threading.Event()
        self._child: ChildProcess | None = None
        self._thread: threading.Thread | None = None

    def start(self, url: str) -> None:
        self._thread = threading.Thread(target=self._run, args=(url,), name="agent", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        if self._child is not None:
            self._child.close()
        if self._thread is not None:
            self._thread.join(10)

    def _run(self, url: str) -> None:
        quick = number = 0
        with tempfile.TemporaryDirectory(prefix="ui-gym-agent-") as folder:
            log = Path(folder) / "log"
            while not self._closed.is_set():
                number += 1
                agent = f"{self._secret}-{number}"
                begun = time.monotonic()
                try:
                    self._play(url, agent, log)
                except OSError as error:
                    self._broken(UserError(f"the agent's program does not start: {error}"))
                    return
                if self._closed.is_set():
                    return
                said = _last_line(log) or "it said nothing"
                has_played = self._lost(agent, f"its program ended: {said}")
                quick = quick + 1 if not has_played and time.monotonic() - begun < QUICK else 0
                if quick == STARTS:
                    told = f"{shlex.join(self._command)} ended {STARTS} times: {said}"
                    self._broken(UserError(f"the agent's program cannot play: {told}"))
                    return

    def _play(self, url: str, agent: str, log: Path) -> None:
        """Run the program once, to its end. What it writes goes to the log."""
        ours, its = os.pipe()
        own = {client.BASE: url, client.AGENT: agent}
        with log.open("wb") as written, os.fdopen(ours, "rb") as told:
            try:
                self._child = ChildProcess(
                    self._command, environment=os.environ | own, stdout=its, stderr=written
                )
            finally:
                os.close(its)
            while part := told.read1(1 << 16):  # ends when the program does
                written.write(part)
                written.flush()
        self._child.close()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else ""
