"""Episodes a minute of 16 slots whose steps take unlike times and now and then hang.

Free slots, as `Collector` plays them, beside turn lockstep: every slot waits for the slowest, as
where all envs are stepped together. Time is scaled down: the median step takes 20 ms here, for
about 1.5 s on a virtual machine, and a step that hangs is given up after a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from ui_gym.contract.action import Action, Click
from ui_gym.contract.device import DeviceOptions, Frame, Image
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Task, Verdict
from ui_gym.errors import DeviceLost
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest

SLOTS, EPISODES = 16, 480
MEDIAN, SIGMA = 0.02, 0.8
"""Of a step's seconds, which are log-normal."""
HANGS = 0.002
"""The part of steps that never end."""
GIVEN_UP = 1.0
"""Seconds after which they are given up."""
TURNS = (4, 16)


@dataclass(frozen=True)
class Errand:
    """How long an episode is, and what its steps take."""

    seed: int
    turns: int


class SlowDevice:
    """A screen whose changes take their time."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self._gone = threading.Event()
        self._rng = np.random.default_rng(0)

    def start(self) -> None:
        """Nothing is needed."""

    def begin(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def perform(self, action: Action) -> None:
        hangs = self._rng.random() < HANGS
        seconds = float(self._rng.lognormal(np.log(MEDIAN), SIGMA))
        self._gone.wait(None if hangs else seconds)
        if self._gone.is_set():
            raise DeviceLost("the device is closed")

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        width, height = self.size
        return Frame(np.zeros((height, width, 3), np.uint8) if out is None else out)

    def close(self) -> None:
        self._gone.set()


class SlowPool:
    """Lends slow devices."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size

    def acquire(self) -> SlowDevice:
        return SlowDevice(self._size)

    def release(self, device: SlowDevice, *, healthy: bool) -> None:
        device.close()

    def close(self) -> None:
        """Nothing is shared."""


class Errands(Task[Errand, SlowDevice]):
    """As many clicks as it takes."""

    spec = TaskSpec(
        name="Errands", suite="test", entry_point="", category="test", max_steps=TURNS[1] + 1
    )
    viewport = (64, 64)

    @classmethod
    def pool(cls, options: DeviceOptions) -> Any:
        return SlowPool(options.size)

    def sample(self, rng: np.random.Generator) -> Errand:
        return Errand(int(rng.integers(2**31)), int(rng.integers(*TURNS)))

    def goal(self, params: Errand) -> str:
        return "Click until it is done."

    def setup(self, device: SlowDevice, params: Errand) -> None:
        device.begin(params.seed)

    def judge(self, device: SlowDevice, params: Errand, history: Sequence[Action]) -> Verdict:
        done = len(history) >= params.turns
        return Verdict(float(done), done=done)

    def oracle(self, device: SlowDevice, params: Errand) -> Any:
        return (Click(1, 1) for _ in range(params.turns))


class Thinker:
    """An agent that takes a while for a batch, and a little for each of it."""

    def act(self, views: Sequence[View]) -> list[Decision]:
        time.sleep(0.004 + 0.0005 * len(views))
        return [Decision("click(1, 1)") for _ in views]


class Together:
    """A vector env that can only be stepped as a whole."""

    def __init__(self, envs: UIVectorEnv) -> None:
        self._envs = envs
        self.num_envs = envs.num_envs
        self.metadata = envs.metadata
        self.single_action_space = envs.single_action_space
        self.reset, self.step = envs.reset, envs.step

    @property
    def unwrapped(self) -> Together:
        return self


@pytest.mark.parametrize("way", ["lockstep", "ui-gym"])
def test_episodes(benchmark: Any, way: str) -> None:
    envs = UIVectorEnv(
        SLOTS, Errands(), autoreset_mode=AutoresetMode.DISABLED, step_timeout=GIVEN_UP
    )
    stage: Any = Together(envs) if way == "lockstep" else envs
    failed = 0

    def run() -> None:
        nonlocal failed
        requests = [EpisodeRequest(seed=seed) for seed in range(EPISODES)]
        played = Collector(stage, Thinker(), schedule="free").collect(requests)
        failed += sum(episode.failure is not None for episode in played)

    benchmark.group, benchmark.name = "Collector, 16 slots that may hang", way
    try:
        benchmark.pedantic(run, rounds=1)
    finally:
        envs.close()
    per_minute = 60 * EPISODES / benchmark.stats.stats.median
    benchmark.extra_info |= {"per_second": round(per_minute / 60, 2), "failed": failed}
