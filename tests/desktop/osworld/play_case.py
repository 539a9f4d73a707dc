"""A play of a published task file: what was made for it, who solves it, and who nearly does."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ui_gym.desktop.osworld import devtools, taskfile
from ui_gym.desktop.osworld.cache import FileCache
from ui_gym.desktop.x11.device import X11Device
from ui_gym.playing.env import UIEnv

SIZE = (1280, 720)
TIMEOUT = 120.0
"""Seconds of one wait on the desktop: GIMP starts in half a minute on a busy machine."""
MAX_STEPS = 100

Files = Mapping[str, bytes | Callable[[Path], object]]
"""By the last part of their addresses: bytes, or what writes the file to a path."""


class Player:
    """Who plays: by actions, by commands as typed into a terminal, by pages of the browser."""

    def __init__(self, env: UIEnv[Any]) -> None:
        self.env = env

    @property
    def device(self) -> X11Device:
        device = self.env.device
        assert isinstance(device, X11Device)
        return device

    def do(self, *actions: str) -> None:
        """Perform actions, a step each."""
        for action in actions:
            observation, _, _, _, info = self.env.step(action)
            assert not observation["feedback"], (action, observation["feedback"])
            assert info["failure"] is None, (action, info["failure"])

    def run(self, line: str) -> str:
        """Run a line of shell in the home folder; it must succeed."""
        done = self.device.run(["/bin/bash", "-c", line], timeout=TIMEOUT, cwd=self.device.home)
        assert done.code == 0, (line, done)
        return done.text

    def await_window(self, title: str) -> None:
        """Wait until a window's title holds that."""
        self.device.display.wait_for_title(title, TIMEOUT)

    def browser_saves(self) -> None:
        """Let the browser write its settings, as it does some seconds after a change."""
        self.do("wait(11)")

    def wait_for(self, look: Callable[[], object], what: str) -> None:
        """Wait until `look()` is true."""
        deadline = time.monotonic() + TIMEOUT
        while not look():
            assert time.monotonic() < deadline, f"{what} did not come about"
            time.sleep(0.2)

    @contextlib.contextmanager
    def page(self, url: str) -> Iterator[devtools.DevToolsPage]:
        """A page of the browser's own, such as its settings."""
        tools = None
        deadline = time.monotonic() + TIMEOUT
        while tools is None and time.monotonic() < deadline:
            tools = devtools.find(self.device)
        assert tools is not None, "the browser does not answer"
        tab = tools.open(url)
        with tools.page(tab) as page:
            page.wait_loaded()
            yield page


@dataclass(frozen=True)
class Play:
    """A published file, `task` (``domain/first part of its id``), played twice.

    `made`, `right` and `wrong` say for the documentation what was synthesised, what solves it, and
    what nearly does.
    """

    task: str
    made: str
    right: str
    wrong: str
    oracle: Callable[[Player], None]
    miss: Callable[[Player], None]
    files: Files = ()  # type: ignore[assignment]
    programs: tuple[str, ...] = ()

    def path(self, published: Path) -> Path:
        """The task file."""
        (found,) = published.glob(f"examples/{self.task}*.json")
        return found


def fill(cache: FileCache, play: Play, published: Path, folder: Path) -> None:
    """Put what was made into the file cache, under the addresses that the task names."""
    cache.folder.mkdir(parents=True, exist_ok=True)
    made = dict(play.files)
    for url in taskfile.urls(taskfile.read(play.path(published))):
        content = made[unquote(url.rpartition("/")[2])]
        part = folder / Path(unquote(url)).name
        if isinstance(content, bytes):
            part.write_bytes(content)
        else:
            content(part)
        cache.add(url, part)


def judge(play: Play, published: Path, cache: Path, acts: Callable[[Player], None]) -> Any:
    """The last ``info`` of an episode in which `acts` plays."""
    env = UIEnv(
        "OSWorld", task_file=str(play.path(published)), cache=str(cache), device="x11",
        viewport=SIZE, timeout=TIMEOUT, max_steps=MAX_STEPS,
    )  # fmt: skip
    try:
        env.reset(seed=0)
        acts(Player(env))
        *_, info = env.step("finish()")
        return info
    finally:
        env.close()
