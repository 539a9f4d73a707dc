"""Env steps and resets a second, and memory a slot, on the compact and the full page.

Run with ``pytest benchmarks/test_env.py``. A step is a click and the finished RGB array; the
figures that matter are ``extra_info``: steps or resets a second over all slots, megabytes a slot,
and how many times the CPU of the browsers and X servers alone everything together took.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest
from usage import cpu_seconds, megabytes

import ui_gym  # noqa: F401 - registers the ids
from ui_gym.playing.vector import UIVectorEnv

SIZES = {"320x256": True, "1280x800": False}
ROUNDS, STEPS = 5, 20


@pytest.fixture(
    params=[(n, size) for size in SIZES for n in (1, 8)], ids=lambda p: f"{p[1]}-{p[0]}"
)
def envs(request: pytest.FixtureRequest) -> Iterator[UIVectorEnv]:
    count, size = request.param
    made: Any = gym.make_vec(
        "UI/DataEntry-v0", count, vectorization_mode="vector_entry_point", max_steps=10**6,
        compact=SIZES[size], autoreset_mode=gym.vector.AutoresetMode.DISABLED,
    )  # fmt: skip
    made.reset(seed=0)
    yield made
    made.close()


def test_steps(benchmark: Any, envs: UIVectorEnv) -> None:
    count = envs.num_envs
    width = envs.single_observation_space["screenshot"].shape[1]
    x = int(width * 0.8)
    number = iter(range(10**9))

    def run() -> None:
        for _ in range(STEPS):
            # In the page's header, where nothing can be submitted.
            envs.step((f"click({x}, {4 + next(number) % 20})",) * count)

    run()
    spent = cpu_seconds()
    benchmark.pedantic(run, rounds=ROUNDS)
    theirs, ours = (after - before for before, after in zip(spent, cpu_seconds(), strict=True))
    benchmark.extra_info |= {
        "steps_per_second": round(STEPS * count / benchmark.stats.stats.median, 1),
        "megabytes_per_slot": round(megabytes() / count, 1),
        "cpu_over_browsers": round((theirs + ours) / theirs, 2),
    }


def test_resets(benchmark: Any, envs: UIVectorEnv) -> None:
    seeds = iter(range(1, 10**9))

    def run() -> None:
        for _ in range(STEPS):
            envs.reset(seed=next(seeds))

    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    rate = STEPS * envs.num_envs / benchmark.stats.stats.median
    benchmark.extra_info["resets_per_second"] = round(rate, 1)
