"""Slots in worker processes: the same as in threads; a lost process is a fault like others."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import paint
import psutil
import pytest
from waiting import eventually

from ui_gym.errors import TaskError, UserError
from ui_gym.playing.vector import UIVectorEnv

Made = Callable[..., UIVectorEnv]


@pytest.fixture
def vector() -> Iterator[Made]:
    """Makes vector envs of the paint suite, closes them, and checks that nothing is left."""
    before = _children()
    files = _descriptors()
    made: list[UIVectorEnv] = []

    def make(num_envs: int = 3, task: Any = "PaintText", **arguments: Any) -> UIVectorEnv:
        made.append(UIVectorEnv(num_envs, task, **{"workers": "processes:2"} | arguments))
        return made[-1]

    yield make
    for env in made:
        env.close()
    assert eventually(lambda: _children() <= before)
    assert eventually(lambda: len(_descriptors()) <= len(files)), _descriptors() - files


def _children() -> set[int]:
    return {p.pid for p in psutil.Process().children(recursive=True)}


def _descriptors() -> set[tuple[str, str]]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.add((name, os.readlink(f"/proc/self/fd/{name}")))
    return found


def _worker(env: UIVectorEnv, slot: int) -> psutil.Process:
    """The process that a slot lives in."""
    runner: Any = env._fleet.slots[slot].runner
    return psutil.Process(runner.env._worker._process.pid)


def _plain(info: dict[str, Any]) -> dict[str, Any]:
    """Infos without what differs from run to run."""
    return {
        k: np.asarray(v).tolist() for k, v in info.items() if not k.strip("_").startswith("time")
    }


def test_observations_and_infos_are_those_of_threads(vector: Made) -> None:
    envs = [vector(workers=workers) for workers in ("threads", "processes:2")]
    answers = [env.reset(seed=[5, 6, 7], options={"oracle": True}) for env in envs]
    while True:
        (first, first_info), (second, second_info) = answers
        np.testing.assert_array_equal(first["screenshot"], second["screenshot"])
        assert first["goal"] == second["goal"]
        assert _plain(first_info["oracle"]) == _plain(second_info["oracle"])
        actions = first_info["oracle"]["action_text"].tolist()
        steps = [env.step(actions) for env in envs]
        for one, other in zip(steps[0][1:4], steps[1][1:4], strict=True):
            np.testing.assert_array_equal(one, other)
        if (steps[0][2] | steps[0][3]).all():
            assert steps[1][4]["success"].tolist() == [True, True, True]
            return
        answers = [(step[0], step[4]) for step in steps]


def test_unseeded_episodes_are_those_of_threads(vector: Made) -> None:
    told = []
    for workers in ("threads", "processes:2"):
        env = vector(workers=workers)
        env.reset(seed=3)
        _, info = env.reset()
        told.append(info["seed"].tolist())
    assert told[0] == told[1]


def test_a_killed_worker_ends_the_episodes_of_its_slots_alone(vector: Made) -> None:
    env = vector(3, workers="processes:2", autoreset_mode="Disabled")
    env.reset(seed=[1, 2, 3])
    assert _worker(env, 0) == _worker(env, 2) != _worker(env, 1)
    _worker(env, 0).kill()
    noop = "wait(0)"
    _, reward, terminated, truncated, info = env.step([noop] * 3)
    assert truncated.tolist() == [True, False, True]
    assert not terminated.any()
    assert reward.tolist() == [0, 0, 0]
    assert info["failure"][0].startswith("device: worker process 0")
    assert info["failure"][1] is None
    _, info = env.reset(seed=[1, 2, 3], options={"reset_mask": truncated})
    assert info["failure"][0] is None
    assert env.step([noop] * 3)[3].tolist() == [False] * 3


def test_what_was_set_is_set_in_the_next_process_too(vector: Made) -> None:
    env = vector(2, workers="processes:1")
    env.reset(seed=1)
    env.set_attr("reward_mode", ["progress", "success"])
    _worker(env, 0).kill()
    env.step(["wait(0)"] * 2)
    env.reset(seed=1)
    assert env.get_attr("reward_mode") == ("progress", "success")


def test_a_stopped_worker_is_replaced(vector: Made) -> None:
    env = vector(2, workers="processes:2", autoreset_mode="Disabled")
    first, _ = env.reset(seed=[1, 2])
    env._fleet._timeout = 1.0
    stopped = _worker(env, 0)
    stopped.send_signal(signal.SIGSTOP)
    assert eventually(lambda: stopped.status() == psutil.STATUS_STOPPED)
    _, _, _, truncated, info = env.step(["wait(0)"] * 2)
    assert truncated.tolist() == [True, False]
    assert "no answer within 1 s" in info["failure"][0]
    assert eventually(lambda: not stopped.is_running())
    env._fleet._timeout = 30.0  # a new process takes its time
    again, _ = env.reset(seed=[1, 2], options={"reset_mask": truncated})
    np.testing.assert_array_equal(first["screenshot"], again["screenshot"])


def test_errors_of_a_task_cross_over(vector: Made) -> None:
    env = vector(1)
    env.reset(seed=1)
    with pytest.raises(UserError, match="'device' of an env in another process cannot come"):
        env.get_attr("device")
    with pytest.raises(UserError, match="split"):
        vector(1).reset(seed=1, options={"split": "heldout!"})
    with pytest.raises(UserError, match="a pool cannot be given to processes"):
        vector(1, pool=paint.PaintPool((96, 64), paint.Faults()))
    with pytest.raises(UserError, match="said as 'processes:4', not 'processes:-1'"):
        vector(1, workers="processes:-1")

    class Local(paint.PaintText):
        def goal(self, params: Any) -> str:
            raise ValueError("no")

    with pytest.raises((UserError, TaskError), match="cannot go to another process"):
        vector(1, Local())


PARENT = """
import sys, time
sys.path.insert(0, {tests!r})
import paint
from ui_gym.playing.vector import UIVectorEnv
env = UIVectorEnv(2, "PaintText", workers="processes:2")
env.reset(seed=1)
print("up", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "how",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGTERM, marks=pytest.mark.nightly),
        pytest.param(signal.SIGINT, marks=pytest.mark.nightly),
    ],
)
def test_workers_do_not_outlive_their_parent(how: signal.Signals) -> None:
    code = PARENT.format(tests=str(Path(paint.__file__).parent))
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert parent.stdout is not None
    with parent:
        assert parent.stdout.readline() == b"up\n"
        workers = psutil.Process(parent.pid).children(recursive=True)
        assert len(workers) == 2
        parent.send_signal(how)
        parent.wait(timeout=20)
    assert eventually(lambda: not any(worker.is_running() for worker in workers))
