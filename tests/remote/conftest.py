"""Servers in this process and in others, and clients of theirs that leave nothing behind."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import paint
import psutil
import pytest
from waiting import eventually

from ui_gym.playing.vector import UIVectorEnv
from ui_gym.remote import wire
from ui_gym.remote.lending import ServerLimits
from ui_gym.remote.server import EnvServer


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(wire.TOKEN, raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[..., EnvServer]]:
    """Starts servers in this process."""
    with contextlib.ExitStack() as stack:

        def start(slots: int = 8, grace: float = 5.0, **settings: Any) -> EnvServer:
            limits = ServerLimits(slots=slots, grace=grace, sessions=4)
            given = {"port": 0, "devices": ["*"], "limits": limits} | settings
            return stack.enter_context(EnvServer(**given))

        yield start


@pytest.fixture
def play() -> Iterator[Callable[..., UIVectorEnv]]:
    """Makes vector envs of the paint suite whose slots are played by servers."""
    made: list[UIVectorEnv] = []

    def make(workers: str, num_envs: int = 2, task: Any = "PaintText", **given: Any) -> UIVectorEnv:
        given = {"autoreset_mode": "Disabled", "workers": workers} | given
        made.append(UIVectorEnv(num_envs, task, **given))
        return made[-1]

    yield make
    for env in made:
        env.close()


class ServerProcess:
    """``ui-gym serve`` in a process of its own, with the paint suite."""

    def __init__(self, *options: str, port: int = 0, within: Sequence[str] = ()) -> None:
        code = (
            f"import sys; sys.path.insert(0, {str(Path(paint.__file__).parent)!r}); "
            "from ui_gym.tools.cli import main; main()"
        )
        self._process = subprocess.Popen(
            [*within, sys.executable, "-c", code, "serve", "--port", str(port), "--import", "paint",
             "--device", "*", *options],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().split(": ")[0]
        self.port = int(self.address.rpartition(":")[2])
        self.process = psutil.Process(self._process.pid)

    def end(self) -> int:
        """End it with Ctrl-C; its exit status."""
        self.process.send_signal(2)
        return self._process.wait(30)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def server_process() -> Iterator[Callable[..., ServerProcess]]:
    started: list[ServerProcess] = []

    def start(*options: str, **settings: Any) -> ServerProcess:
        started.append(ServerProcess(*options, **settings))
        return started[-1]

    yield start
    for server in started:
        children = [] if not server.process.is_running() else server.process.children()
        server.kill()
        assert eventually(lambda left=children: not any(child.is_running() for child in left))
