"""Five hundred episodes on four slots, with processes that are killed, leave nothing behind."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
import psutil
import pytest
from waiting import eventually
from x11_helpers import SIZE

from ui_gym.playing.vector import UIVectorEnv

SLOTS = 4
ROUNDS = 125
EARLY = 25
"""Rounds after which what is there is taken as what should be there."""

VICTIMS = ("Xvfb", "openbox", "dbus-daemon", "mousepad", "bwrap")
ALLOWED_MB = 30
"""How much this process may grow from the early rounds to the last: the allocator's own doing."""


def used() -> dict[str, Any]:
    """What this process holds, and its children."""
    me = psutil.Process()
    children = me.children(recursive=True)
    return {
        "memory": me.memory_info().rss / (1 << 20),
        "descriptors": me.num_fds(),
        "threads": me.num_threads(),
        "processes": len([p for p in children if p.status() != psutil.STATUS_ZOMBIE]),
        "zombies": len([p for p in children if p.status() == psutil.STATUS_ZOMBIE]),
        "folders": len(os.listdir(tempfile.gettempdir())),
    }


def killed(rng: np.random.Generator) -> str:
    """Kill a process of some slot's desktop; its name."""
    name = str(rng.choice(VICTIMS))
    found = [p for p in psutil.Process().children(recursive=True) if p.name() == name]
    if found:
        found[int(rng.integers(len(found)))].kill()
    return name if found else ""


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_five_hundred_episodes_with_kills_leave_nothing() -> None:
    before = used()
    rng = np.random.default_rng(0)
    envs = UIVectorEnv(SLOTS, "DesktopTypeAndSave", viewport=SIZE, timeout=30)
    kills = failures = 0
    try:
        for number in range(ROUNDS):
            envs.reset(seed=[number * SLOTS + slot for slot in range(SLOTS)])
            if number % 3 == 2:
                kills += bool(killed(rng))
            *_, truncated, _ = envs.step(['type("a"); press("ctrl+s")'] * SLOTS)
            failures += int(np.count_nonzero(truncated))
            if number == EARLY - 1:
                envs.reset(seed=list(range(SLOTS)))
                early = used()
        envs.reset(seed=list(range(SLOTS)))
        late = used()
    finally:
        envs.close()
    print(
        f"{ROUNDS * SLOTS} episodes, {kills} kills, {failures} failures; {before}, {early}, {late}"
    )
    assert kills >= ROUNDS // 3 - 2
    assert failures >= kills // 2
    for what in ("processes", "folders"):
        assert late[what] <= early[what] + 2, (what, early, late)
    assert late["descriptors"] <= early["descriptors"] + 8, (early, late)
    assert late["threads"] <= early["threads"] + 4, (early, late)
    assert late["memory"] <= early["memory"] + ALLOWED_MB, (early, late)
    assert eventually(lambda: used()["processes"] <= before["processes"]), (before, used())
    assert eventually(lambda: used()["folders"] <= before["folders"]), (before, used())
