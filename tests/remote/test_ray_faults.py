"""What of Ray itself can be lost: a node's raylet, the head, room for objects.

Each ends what was played there by name, in bounded time, and leaves no process behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import noise  # noqa: F401 - registers its task
import numpy as np
import paint
import psutil
import pytest
import ray
from ray.cluster_utils import Cluster
from waiting import eventually

from ui_gym.playing.vector import UIVectorEnv

pytestmark = pytest.mark.nightly

Play = Callable[..., UIVectorEnv]

STORE = 80_000_000
"""Bytes of a small object store."""

DRIVER = """
import sys
address, *sys.path[:0] = sys.argv[1:]
import paint, ray
from ui_gym.playing.vector import UIVectorEnv

ray.init(address=address, log_to_driver=False)
env = UIVectorEnv(4, "PaintText", autoreset_mode="Disabled", workers="ray?slots=2")
env.reset(seed=1)
print("playing", flush=True)
while True:
    truncated, infos = env.step(["wait(0.05)"] * 4)[3:]
    for failure in filter(None, infos.get("failure", ())):
        print("failure:", failure, flush=True)
    if truncated.any():
        env.reset(options={"reset_mask": truncated})
"""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A head on which nothing is played, and two nodes for four slots each."""
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "5")  # rather than a minute
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(2):
        made.add_node(num_cpus=1, resources={"ui_env": 4})
    yield made
    left = below()
    ray.shutdown()
    made.shutdown()
    assert eventually(lambda: not alive(actors(left)), 60), alive(left)
    for process in left:  # the daemons of a head that was killed
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.fixture
def local() -> Iterator[None]:
    yield
    ray.shutdown()


def below() -> list[psutil.Process]:
    """All processes that this one started, and those that they did."""
    return psutil.Process().children(recursive=True)


def title(process: psutil.Process) -> str:
    """What a process says it is; empty if it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def alive(processes: list[psutil.Process]) -> list[str]:
    return [title(process) for process in processes if process.is_running() and title(process)]


def actors(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if "SlotsActor" in title(process)]


def actor_pids(env: UIVectorEnv) -> list[int]:
    return [ray.get(link._actor.pid.remote(), timeout=60) for link in env._fleet._crew.links]


def test_slots_of_a_raylet_that_is_killed_go_on_at_another_node(
    cluster: Cluster, play: Play
) -> None:
    ray.init(address=cluster.address, log_to_driver=False)
    env = play("ray?slots=2", 4, max_steps=10**6)
    env.reset(seed=1)
    pids = actor_pids(env)
    raylet = psutil.Process(pids[0]).parent()
    assert raylet is not None
    lives = [psutil.Process(pid).parent() == raylet for pid in pids]
    os.kill(raylet.pid, signal.SIGKILL)
    lost = np.zeros(4, np.bool_)
    until = time.monotonic() + 60
    while lost.tolist() != lives * 2 and time.monotonic() < until:  # each may see it a step later
        now, failure = step_until_lost(env, seconds=60)
        assert "a Ray actor is lost" in failure
        lost |= now
        env.reset(seed=[1] * 4, options={"reset_mask": np.array(now)})
    assert lost.tolist() == lives * 2
    assert not env.step(["wait(0)"] * 4)[3].any()
    assert time.monotonic() < until + 60


def test_an_actor_ends_with_its_raylet(cluster: Cluster, play: Play) -> None:
    ray.init(address=cluster.address, log_to_driver=False)
    env = play("ray?slots=2", 2)
    env.reset(seed=1)
    actor = psutil.Process(actor_pids(env)[0])
    raylet = actor.parent()
    assert raylet is not None
    os.kill(raylet.pid, signal.SIGKILL)
    try:
        assert eventually(lambda: not alive([actor]), 15), alive([actor])
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            actor.kill()


def step_until_lost(env: UIVectorEnv, seconds: float) -> tuple[list[bool], str]:
    """Which slots were lost, and why one of them."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        _, _, _, truncated, infos = env.step(["wait(0.05)"] * env.num_envs)
        if truncated.any():
            return truncated.tolist(), next(filter(None, infos["failure"]))
    raise AssertionError(f"nothing was lost within {seconds} s")


@pytest.mark.parametrize("what", ["gcs", "head"])
def test_a_program_whose_head_is_killed_ends_and_leaves_nothing(
    cluster: Cluster, what: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, cluster.address, str(Path(paint.__file__).parent)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as driver:  # fmt: skip
        try:
            assert driver.stdout is not None
            while "playing" not in (line := driver.stdout.readline()):
                assert line, "the driver ended"
            ours = [*actors(below()), psutil.Process(driver.pid)]
            head = cluster.head_node
            if what == "gcs":
                head.kill_gcs_server(check_alive=False)
            else:
                cluster.remove_node(head, allow_graceful=False)
            said, _ = driver.communicate(timeout=90)
        finally:
            driver.kill()
    assert driver.returncode != 0
    assert "failure:" in said or "Failed to connect to GCS" in said, said
    assert len(ours) == 3
    assert eventually(lambda: not alive(ours), 60), alive(ours)


@pytest.mark.parametrize("spills", [True, False])
def test_a_full_object_store_is_gone_around_or_named(
    local: None, play: Play, monkeypatch: pytest.MonkeyPatch, spills: bool
) -> None:
    """Objects beyond the store go to the disk; without one, the episode ends, and says why."""
    if not spills:
        monkeypatch.setenv("RAY_local_fs_capacity_threshold", "0.0001")
    ray.init(
        address="local", num_cpus=1, include_dashboard=False, log_to_driver=False,
        object_store_memory=STORE, resources={"ui_env": 8},
    )  # fmt: skip
    env = play("ray?slots=2", 2, task="PaintNoise", step_timeout=30.0)
    env.reset(seed=1)
    held = fill_store()
    stored = sum(each.nbytes for each in held)
    if spills:
        assert stored > 1.2 * STORE
        assert not env.step(["wait(0)"] * 2)[3].any()
        return
    assert 0.9 * STORE < stored < 1.1 * STORE
    lost, failure = step_until_lost(env, seconds=60)
    assert all(lost)
    assert "a Ray actor is lost" in failure
    assert "OutOfDisk" in failure
    del held
    env.reset(seed=1)
    assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 1]


def fill_store() -> list[Any]:
    """Objects that are in use, and so cannot leave the store, down to less than a picture."""
    held = []
    for size in (10**7,) * 9 + (10**6,) * 12 + (10**5 + 1,) * 12:
        with contextlib.suppress(ray.exceptions.OutOfDiskError):
            held.append(ray.get(ray.put(np.zeros(size, np.uint8)), timeout=30))
    return held


def test_the_browser_of_an_actor_that_is_killed_is_closed(local: None, play: Play) -> None:
    env = play("ray?slots=1", 1, task="ClickButton", compact=True)
    env.reset(seed=1)
    actor = psutil.Process(actor_pids(env)[0])
    browsers = actor.children(recursive=True)
    assert browsers
    ray.kill(env._fleet._crew.links[0]._actor, no_restart=False)
    assert eventually(lambda: not alive(browsers), 30), alive(browsers)
