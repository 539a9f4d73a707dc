"""The campaign's evaluation: `ui-gym-eval` asks a model that is served, while all sorts of things
fail. What was measured must be what an undisturbed evaluation measures, episode by episode.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.campaign.history import seen
from tests.campaign.subject import WHOLE, Broken, Program, Room
from tests.engines.model_server import ModelServer
from tests.remote.failing_proxy import Proxy
from ui_gym_agents.store import EpisodeStore
from ui_gym_tiny import FOLDER

EPISODES = 60
INTERRUPTED = 130


class Evaluation(Program):
    """An evaluation of the model that is served at `port`."""

    module = "ui_gym_agents.evaluation.cli"

    def __init__(self, directory: Path, port: int, model: str = "tiny") -> None:
        super().__init__(directory, {})
        self.port = port
        self.model = model

    def start(self) -> None:
        """Begin, or go on."""
        self.spawn(
            "--task", "ClickButton", "--set", "compact=true", "--episodes", str(EPISODES),
            "--agent", f"openai:{self.model}@http://127.0.0.1:{self.port}/v1", "--dialect", "cells",
            "--envs", "4", "--server-timeout", "3", "--server-attempts", "4",
            "--out", str(self.directory),
        )  # fmt: skip

    def finish(self) -> None:
        if status := self.ended(WHOLE):
            raise Broken(f"the evaluation ended with {status}: {self.said()[-800:]}")

    def played(self) -> int:
        """How many episodes are there."""
        path = self.directory / "episodes.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def go_on(self, more: int = 2) -> None:
        """Wait until so many further episodes are there."""
        goal = self.played() + more
        self.wait(lambda: self.played() >= goal, f"{goal} episodes")


class Trouble:
    """What an evaluation goes through."""

    def __init__(self, subject: Evaluation, server: ModelServer, proxy: Proxy, room: Room) -> None:
        self.subject, self.server, self.proxy, self.room = subject, server, proxy, room

    def a_server_that_fails(self) -> None:
        self.server.faults += ["500", "429", "cut", "503", "junk"]
        self.subject.go_on(6)

    def a_server_that_hangs(self) -> None:
        self.server.faults += ["hang"]
        self.subject.go_on(6)

    def a_network_that_is_cut(self) -> None:
        for _ in range(3):
            self.proxy.cut()
            self.subject.go_on(1)

    def a_network_that_stands_still(self) -> None:
        self.proxy.stall()
        try:
            threading.Event().wait(1.5)
        finally:
            self.proxy.go_on()
        self.subject.go_on()

    def a_killed_browser(self) -> None:
        os.kill(self.subject.browsers()[0].pid, signal.SIGKILL)
        self.subject.go_on()

    def a_kill(self) -> None:
        self.subject.signal(signal.SIGKILL)
        self._again(-signal.SIGKILL)

    def ctrl_c_while_the_server_hangs(self) -> None:
        self.server.faults += ["hang"] * 4
        self.subject.wait(lambda: not self.server.faults, "questions to a server that hangs")
        self.subject.signal(signal.SIGINT)
        self._again(INTERRUPTED)

    def a_full_disk(self) -> None:
        with self.room.full(self.room.runs):
            self.subject.ended()
        self._again(1)

    def _again(self, *statuses: int) -> None:
        if (status := self.subject.ended()) not in statuses:
            raise Broken(f"the evaluation ended with {status}: {self.subject.said()[-800:]}")
        self.subject.start()
        self.subject.go_on()


TROUBLES = (
    (1, "a killed browser", Trouble.a_killed_browser),
    (13, "a kill", Trouble.a_kill),
    (16, "Ctrl-C while the server hangs", Trouble.ctrl_c_while_the_server_hangs),
    (18, "a full disk", Trouble.a_full_disk),
    (31, "a server that fails", Trouble.a_server_that_fails),
    (31, "a server that hangs", Trouble.a_server_that_hangs),
    (31, "a network that is cut", Trouble.a_network_that_is_cut),
    (31, "a network that stands still", Trouble.a_network_that_stands_still),
)
"""What an evaluation goes through: the number in the table of forty, a name, and how it is done."""


def evaluate(room: Room, random: Random, tell: Callable[[str], None]) -> list[str]:
    """What an evaluation under faults has otherwise than one without."""
    server, proxy = ModelServer(FOLDER / "tiny-reader"), Proxy()
    proxy.target = int(server.url.split(":")[2].split("/")[0])
    try:
        whole = Evaluation(room.runs / "measured", proxy.port)
        whole.start()
        whole.finish()
        subject = Evaluation(room.runs / "disturbed_measured", proxy.port)
        subject.start()
        subject.go_on()
        trouble = Trouble(subject, server, proxy, room)
        broken = []
        for number, name, cause in random.sample(TROUBLES, len(TROUBLES)):
            tell(f"after {subject.played()} episodes: {number}, {name}")
            try:
                cause(trouble)
            except Broken as error:
                broken.append(f"{name}: {error}")
        subject.finish()
        return [*broken, *_otherwise(subject, whole)]
    finally:
        proxy.close()
        server.close()


def _otherwise(subject: Evaluation, whole: Evaluation) -> list[str]:
    ours, theirs = (list(EpisodeStore(one.directory)) for one in (subject, whole))
    counts = Counter(episode.id for episode in ours)
    told = [f"episode {name} is there {n} times" for name, n in counts.items() if n > 1]
    expected = {episode.id: seen(episode) for episode in theirs}
    found = {episode.id: seen(episode) for episode in ours}
    told += [f"episode {name} is lost" for name in sorted(expected.keys() - found.keys())]
    told += [
        f"episode {name} was {found[name]}, and without faults {expected[name]}"
        for name in sorted(expected.keys() & found.keys())
        if found[name] != expected[name]
    ]
    return told
