"""A thousand episodes leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from ui_gym.playing.vector import UIVectorEnv

pytestmark = pytest.mark.nightly

SLOTS, EPISODES, FIRST = 8, 1000, 200


@dataclass(frozen=True)
class Held:
    """What this process and all that it started hold."""

    megabytes: float
    processes: int
    descriptors: int
    folders: int

    @classmethod
    def now(cls) -> Held:
        gc.collect()
        own = psutil.Process()
        memory, alive = own.memory_info().rss, 0
        for child in own.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                memory += child.memory_info().rss
                alive += child.status() != psutil.STATUS_ZOMBIE
        folders = len(list(Path(tempfile.gettempdir()).glob("ui-gym-*")))
        return cls(memory / 1e6, alive, own.num_fds(), folders)


def play(envs: Any, episodes: int, first: int) -> None:
    """Episodes of three clicks, on slots that do not wait for each other."""
    waiting = iter(range(first, first + episodes))
    left = dict.fromkeys(range(envs.num_envs), 0)
    busy = 0
    for slot in left:
        envs.send_reset([slot], [next(waiting)])
        busy += 1
    while busy:
        for result in envs.recv(1):
            busy -= 1
            left[result.slot] = 3 if result.is_reset else left[result.slot] - 1
            if left[result.slot] and not result.ended:
                point = 20 + result.slot * 9, 40 * left[result.slot]
                envs.send(["click({}, {})".format(*point)], [result.slot])
            elif (seed := next(waiting, None)) is not None:
                envs.send_reset([result.slot], [seed])
            else:
                continue
            busy += 1


@pytest.mark.timeout(600)
def test_what_is_held_does_not_grow(scratch: Path) -> None:
    envs = UIVectorEnv(SLOTS, "ClickButton", compact=True)
    try:
        play(envs, FIRST, 0)
        early = Held.now()
        play(envs, EPISODES - FIRST, FIRST)
        late = Held.now()
    finally:
        envs.close()
    assert early.folders > 0
    assert (late.processes, late.descriptors, late.folders) == (
        early.processes, early.descriptors, early.folders,
    )  # fmt: skip
    assert late.megabytes < 1.1 * early.megabytes + 20
