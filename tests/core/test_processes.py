"""An env forgotten without `close`, pickled, or found in a fork of the process that made it."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium
import numpy as np
import paint
import pytest

from ui_gym.child_process import ChildProcess
from ui_gym.playing.env import UIEnv
from ui_gym.playing.pool import FreshPool, NamedPool
from ui_gym.playing.vector import UIVectorEnv


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[paint.PaintPool]:
    """The pools that envs make of their own."""
    made: list[paint.PaintPool] = []

    def pool(cls: Any, options: Any) -> paint.PaintPool:
        made.append(paint.PaintPool(options.size))
        return made[-1]

    monkeypatch.setattr(paint.PaintTask, "pool", classmethod(pool))
    return made


# -- forgotten --


def test_an_env_that_is_forgotten_closes_its_pool(pools: list[paint.PaintPool]) -> None:
    for seed in range(3):
        env: Any = UIEnv("PaintText")  # rebound, as in a notebook
        env.reset(seed=seed)
    assert [pool.closed for pool in pools] == [True, True, False]
    env.itself = env
    del env
    gc.collect()
    assert pools[2].closed


def test_a_clone_that_is_forgotten_gives_its_device_back(pool: paint.PaintPool) -> None:
    env = UIEnv("PaintText", pool=pool)
    clone = env.clone()
    clone.reset(seed=1)
    assert len(pool.lent) == 1
    del clone
    gc.collect()
    assert (len(pool.lent), len(pool.idle), pool.closed) == (0, 1, False)
    env.close()


# -- pickled --


def wrapped() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("UI/PaintText-v0", max_steps=3, boxes=2)


def vector() -> UIVectorEnv:
    return UIVectorEnv(2, "PaintText", boxes=2, autoreset_mode="Disabled")


@pytest.mark.parametrize("make", [wrapped, vector])
def test_an_env_can_be_pickled_before_its_first_reset(make: Callable[[], Any]) -> None:
    first = make()
    first.action_space.seed(5)
    for pickler in (pickle, cloudpickle):
        again = pickle.loads(pickler.dumps(first))  # noqa: S301  our own bytes
        seen = again.reset(seed=3)[0]
        fresh = make()
        assert np.array_equal(seen["screenshot"], fresh.reset(seed=3)[0]["screenshot"])
        assert seen["goal"] == fresh.unwrapped.reset(seed=3)[0]["goal"]
        assert again.spec == first.spec
        for env in (again, fresh):
            env.close()
    drawn = pickle.loads(pickle.dumps(first)).action_space.sample()  # noqa: S301
    assert drawn == first.action_space.sample()
    first.close()


def test_what_makes_an_env_can_be_pickled() -> None:
    again = pickle.loads(cloudpickle.dumps(lambda: gymnasium.make("UI/PaintText-v0")))()  # noqa: S301
    again.reset(seed=1)
    again.close()


def test_an_env_that_is_in_use_says_why_it_cannot_be_pickled(pool: paint.PaintPool) -> None:
    for made in (UIEnv("PaintText"), UIVectorEnv(2, "PaintText")):
        made.reset(seed=1)
        with pytest.raises(TypeError, match=r"reset or closed cannot be pickled.*function that"):
            pickle.dumps(made)
        made.close()
    for made in (UIEnv("PaintText", pool=pool), UIVectorEnv(2, "PaintText", pool=pool)):
        with pytest.raises(TypeError, match=r"on a given pool cannot be pickled.*without pool="):
            pickle.dumps(made)
        made.close()


# -- forked --


def in_a_fork(do: Callable[[], Any], leave: Callable[[int], Any] = os._exit) -> str:
    """What `do` returns, or raises, in a forked child; ``""`` if the child ends otherwise."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)  # a child that hangs ends, and has said nothing
        try:
            said = str(do())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(tell, said.encode())
        leave(0)
    os.close(tell)
    with os.fdopen(told) as ending:
        said = ending.read()
    os.waitpid(child, 0)
    return said


def run_exit_handlers(code: int) -> None:
    """End as an interpreter does: with the handlers of `atexit`, finalizers among them."""
    weakref.finalize._exitfunc()  # type: ignore[attr-defined]
    os._exit(code)


@pytest.fixture
def sleeper() -> Iterator[ChildProcess]:
    child = ChildProcess(["sleep", "60"])
    yield child
    child.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_device_comes_back_while_its_pool_makes_another() -> None:
    """As when Python collects a forgotten env just then."""
    pool: NamedPool[paint.PaintDevice]
    held: list[paint.PaintDevice] = []

    def make(name: str) -> paint.PaintDevice:
        for device in held:
            pool.release(device, healthy=True)
        return paint.PaintDevice((96, 64), paint.Faults())

    pool = NamedPool(make, ["one", "two"])
    held.append(pool.acquire())
    acquiring = threading.Thread(target=pool.acquire, daemon=True)
    acquiring.start()
    acquiring.join(20)
    assert not acquiring.is_alive()
    pool.close()


class TestFork:
    def test_a_child_closes_nothing_of_its_parent(self, sleeper: ChildProcess) -> None:
        class Sleeping(paint.PaintPool):
            """Its devices are one process, which ends with the pool."""

            def close(self) -> None:
                super().close()
                os.kill(sleeper.pid, 9)

        env = UIEnv("PaintText", pool=Sleeping((96, 64)))
        env._loan.owns_pool = True
        slots = UIVectorEnv(2, "PaintText", pool=env._loan.pool)
        held: list[Any] = [env, slots]
        for one in held:
            one.reset(seed=1)

        def forget() -> str:
            nonlocal env, slots
            held.clear()
            del env, slots
            gc.collect()
            return "forgotten"

        def close() -> str:
            for one in (*held, sleeper):
                one.close()
            return "closed"

        assert in_a_fork(close) == "closed"
        assert in_a_fork(forget) == "forgotten"
        assert in_a_fork(lambda: "left", run_exit_handlers) == "left"
        assert sleeper.alive
        assert env.step("wait(0)")[4]["failure"] is None
        assert slots.step(["wait(0)"] * 2)[4]["failure"].tolist() == [None, None]
        slots.close()
        env._loan.owns_pool = False
        env.close()

    def test_a_pool_in_a_child_leaves_the_parent_s_devices(self, tmp_path: Path) -> None:
        class Device(paint.PaintDevice):
            def close(self) -> None:
                (tmp_path / f"closed by {os.getpid()}").touch()

        pool = FreshPool(lambda: Device((96, 64), paint.Faults()))
        device = pool.acquire()
        assert in_a_fork(lambda: pool.release(device, healthy=True)) == "None"
        assert in_a_fork(pool.close) == "None"
        assert not list(tmp_path.iterdir())
        pool.close()
        assert [path.name for path in tmp_path.iterdir()] == [f"closed by {os.getpid()}"]

    def test_a_pool_in_a_child_closes_the_child_s_own_devices(self) -> None:
        made: list[paint.PaintDevice] = []

        def make() -> paint.PaintDevice:
            made.append(paint.PaintDevice((96, 64), paint.Faults()))
            return made[-1]

        pool = FreshPool(make)

        def play() -> list[bool]:
            pool.release(pool.acquire(), healthy=False)
            pool.acquire()
            pool.close()
            return [device.closed.is_set() for device in made]

        pool.acquire()
        assert in_a_fork(play) == "[False, True, True]"
        pool.close()
        assert [device.closed.is_set() for device in made] == [True]

    def test_an_env_in_use_is_not_played_by_a_child(self) -> None:
        env, slots = UIEnv("PaintText"), UIVectorEnv(2, "PaintText")
        env.reset(seed=1)
        slots.reset(seed=1)
        told = "UserError: this env belongs to the process that this one was forked from"
        assert in_a_fork(lambda: env.step("wait(0)")).startswith(told)
        assert in_a_fork(lambda: env.reset(seed=1)).startswith(told)
        told = "UserError: this vector env belongs to the process that this one was forked from"
        assert in_a_fork(lambda: slots.reset(seed=1)).startswith(told)
        env.close()
        slots.close()

    def test_an_env_that_was_not_reset_is_the_child_s_own(
        self, pools: list[paint.PaintPool]
    ) -> None:
        env = UIEnv("PaintText")

        def play() -> str:
            goal = str(env.reset(seed=1)[0]["goal"])
            env.close()
            return f"{goal} {[pool.closed for pool in pools]}"

        told = in_a_fork(play)
        goal = env.reset(seed=1)[0]["goal"]
        assert told == f"{goal} [False, True]"
        env.close()
