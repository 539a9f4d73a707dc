"""Slots in Ray actors, beside actors as one writes them first: a slot each, whole pictures.

Run with ``pytest benchmarks/test_ray.py``, with nothing else on the machine. The env is next to
nothing (`tests/core/paint.py`), with pictures of 320x320 pixels, 307 kB: what is measured is the
way. Ours are four actors of four slots; theirs four of one, the free ones by ``ray.wait``.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import ray

from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.remote.ray_actors import STORE_BYTES

PAINT = next((Path(__file__).parents[1] / "tests").rglob("paint.py")).parent
ARGUMENTS: dict[str, Any] = {"viewport": (320, 320), "max_steps": 10**6}
STEPS = 800


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    sys.path.insert(0, str(PAINT))
    os.environ["PYTHONPATH"] = str(PAINT)
    import paint  # noqa: F401  (registers its tasks)

    ray.init(
        address="local", num_cpus=4, include_dashboard=False, object_store_memory=STORE_BYTES,
        logging_level=logging.ERROR, log_to_driver=False,
    )  # fmt: skip
    yield
    ray.shutdown()


def click(rng: Random) -> str:
    return f"click({rng.randrange(320)}, {rng.randrange(320)})"


@ray.remote(num_cpus=0)
class OneSlot:
    """An env in an actor."""

    def __init__(self) -> None:
        import paint  # noqa: F401

        self._env = UIEnv("PaintClick", **ARGUMENTS)
        self._env.reset(seed=0)

    def step(self, action: str) -> Any:
        answer = self._env.step(action)
        if answer[2] or answer[3]:
            self._env.reset(seed=0)
        return answer


def test_four_actors_of_one_slot(benchmark: Any) -> None:
    actors = [OneSlot.remote() for _ in range(4)]
    rng = Random(0)

    def play() -> None:
        waiting = {actor.step.remote(click(rng)): actor for actor in actors}
        for left in reversed(range(STEPS)):
            (ready,), _ = ray.wait(list(waiting), num_returns=1)
            actor = waiting.pop(ready)
            ray.get(ready)
            if left >= len(actors):
                waiting[actor.step.remote(click(rng))] = actor

    measure(benchmark, play)


def test_four_actors_of_four_slots(benchmark: Any) -> None:
    envs = UIVectorEnv(
        16, "PaintClick", autoreset_mode="Disabled", workers="ray?slots=4", **ARGUMENTS
    )
    envs.reset(seed=0)
    rng = Random(0)

    def play() -> None:
        envs.send([click(rng) for _ in range(16)], range(16))
        sent = received = 16
        while received:
            for answer in envs.recv():
                received -= 1
                if answer.ended:
                    envs.send_reset([answer.slot], [0])
                elif sent < STEPS:
                    envs.send([click(rng)], [answer.slot])
                    sent += 1
                else:
                    continue
                received += 1

    measure(benchmark, play)
    envs.close()


def measure(benchmark: Any, play: Any) -> None:
    benchmark.group = "steps in four Ray actors, pictures of 307 kB"
    play()
    benchmark.pedantic(play, rounds=5)
    benchmark.extra_info["steps_per_second"] = round(STEPS / benchmark.stats.stats.median)
