"""Slots played elsewhere beside slots played here: steps a second, what a step waits longer, bytes.

Run with ``pytest benchmarks/test_remote.py``, with nothing else on the machine. The server is a
process of its own (``ui-gym serve``) on the loopback, and so are Ray's actors. `test_steps` plays
random clicks in 16 slots, none waiting for another, and in one; `test_bytes` an oracle's episodes
of all families of pages at 1280x800; `test_collector` slots that answer at once, so that what is
measured is this side alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from ui_gym.catalog import TaskSource
from ui_gym.errors import DeviceLost
from ui_gym.playing.slot import Call, Deliver, Reset, SlotResult
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.playing.workers import order_crew
from ui_gym_agents.agents import OracleAgent, RandomAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.tasks.mix import make_envs, reset_names
from ui_gym_agents.tasks.sources import entries_of

ROADS = ("threads", "processes:2", "ws", "two ws", "ray?slots=8")
SCREENS: dict[str, tuple[str, dict[str, Any]]] = {
    "phone 540x1200": ("AndroidWifi", {"device": "phone", "max_steps": 10**6}),
    "browser 1280x800": ("DataEntry", {"max_steps": 10**6}),
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from serving()


@pytest.fixture(scope="module")
def two_servers() -> Iterator[str]:
    yield from serving("--processes", "2")


def serving(*options: str) -> Iterator[str]:
    program = [sys.executable, "-m", "ui_gym.tools.cli", "serve", "--port", "0", *options]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split(": ")[0]
        process.terminate()


def play(envs: UIVectorEnv, steps: int, rngs: Sequence[Random]) -> None:
    """So many random clicks in each slot, the same ones whatever plays it; no slot waits for
    another. An episode that ends by chance is begun again."""
    width, height = envs.call("size")[0]
    left = [steps] * envs.num_envs
    waiting = envs.num_envs

    def click(slot: int) -> None:
        rng = rngs[slot]
        left[slot] -= 1
        envs.send([f"click({rng.randrange(width)}, {rng.randrange(height)})"], [slot])

    for slot in range(envs.num_envs):
        click(slot)
    while waiting:
        for answer in envs.recv():
            if answer.ended:
                envs.send_reset([answer.slot], [0])
            elif left[answer.slot]:
                click(answer.slot)
            else:
                waiting -= 1


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("count", [16, 1])
def test_steps(
    benchmark: Any, server: str, two_servers: str, screen: str, road: str, count: int
) -> None:
    task, arguments = SCREENS[screen]
    benchmark.group = f"steps of {count} slots, {screen}"
    workers = {"ws": server, "two ws": two_servers}.get(road, road)
    envs = UIVectorEnv(count, task, autoreset_mode="Disabled", workers=workers, **arguments)
    envs.reset(seed=0)
    rngs, steps = [Random(slot) for slot in range(count)], 15 if count > 1 else 60
    play(envs, steps, rngs)
    benchmark.pedantic(play, (envs, steps, rngs), rounds=5)
    envs.close()
    median, steps = benchmark.stats.stats.median, steps * count
    benchmark.extra_info |= {
        "steps_per_second": round(steps / median, 1),
        "milliseconds_per_step": round(1e3 * median / steps, 2),
    }


def test_bytes(benchmark: Any, server: str) -> None:
    entries = [
        entry for entry in entries_of(TaskSource(suite="browser")) if entry.spec.max_steps <= 60
    ]
    entries = [entry for entry in entries if entry.spec.load().viewport == (1280, 800)]
    envs = make_envs(entries, 4, workers=server)
    names = reset_names(entries)
    asked = [
        EpisodeRequest(seed=seed, task=names[entry.variant], group=f"{entry.variant}/{seed}")
        for entry in entries
        for seed in range(2)
    ]
    before = sent(server)
    told = benchmark.pedantic(
        lambda: Collector(envs, OracleAgent(), run_seed=0).collect(asked), rounds=1
    )
    envs.close()
    steps = sum(len(episode.turns) for episode in told)
    benchmark.extra_info |= {
        "episodes": len(told), "steps": steps,
        "kilobytes_per_step": round((sent(server) - before) / steps / 1e3, 1),
    }  # fmt: skip


def sent(server: str) -> int:
    with urllib.request.urlopen(f"{server.replace('ws', 'http', 1)}/metrics") as answer:
        found = re.search(r"bytes_sent_total (\d+)", answer.read().decode())
    assert found is not None
    return int(found[1])


class Instant:
    """Slots that answer at once, with a new picture each time; their episodes have ten steps. One
    step in 500 loses its device."""

    def __init__(self, count: int, size: tuple[int, int]) -> None:
        self._picture = np.zeros((*size[::-1], 3), np.uint8)
        self._steps = [0] * count
        self._rng = Random(0)

    def runner(self, slot: int, deliver: Deliver) -> Any:
        return _InstantRunner(self, slot, deliver)

    def close(self) -> None:
        """Nothing is open."""

    def answer(self, slot: int, call: Call) -> SlotResult | DeviceLost:
        first = isinstance(call, Reset)
        if not first and self._rng.random() < 1 / 500:
            return DeviceLost("the machine is gone")
        self._steps[slot] = 0 if first else self._steps[slot] + 1
        picture = self._picture.copy()
        picture.setflags(write=False)
        observation = {"goal": "Wait.", "feedback": "", "screenshot": picture}
        info = {
            "task": "UI/DataEntry-v0", "seed": 0, "split": "train", "step": self._steps[slot],
            "max_steps": 10, "action_error": None, "success": False, "score": 0.0,
            "failure": None, "notes": "", "details": {}, "screenshot_encoded": None,
            "screenshot_format": None,
        }  # fmt: skip
        ended = self._steps[slot] == 10
        return SlotResult(slot, observation, 0.0, ended, False, info, first)


class _InstantRunner:
    def __init__(self, all_slots: Instant, slot: int, deliver: Deliver) -> None:
        self._all, self._slot, self._deliver = all_slots, slot, deliver

    def begin(self, number: int, call: Call) -> None:
        self._deliver((self._slot, number, self._all.answer(self._slot, call)))

    def stop(self, *, busy: bool) -> tuple[()]:
        return ()


# The pictures of ten steps are kept while an episode is open: 10,000 larger ones would fill 25 GB.
@pytest.mark.parametrize(
    ("count", "size"),
    [(100, (320, 256)), (1000, (320, 256)), (200, (1280, 800)), (10000, (32, 32))],
)
def test_collector(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch, count: int, size: tuple[int, int]
) -> None:
    benchmark.group = "collector of slots that answer at once"
    envs = simulated(count, size, monkeypatch)
    agent = RandomAgent(envs.single_action_space)
    collector = Collector(envs, agent, run_seed=0, schedule="free")
    episodes = max(500, count)
    asked = [EpisodeRequest(seed=seed, group=f"e{seed}") for seed in range(episodes)]
    told = benchmark.pedantic(lambda: collector.collect(asked), rounds=1)
    assert sorted(episode.seed for episode in told) == list(range(episodes))
    benchmark.extra_info["lost_for_good"] = sum(episode.failure is not None for episode in told)
    benchmark.extra_info["steps_per_second"] = round(10 * episodes / benchmark.stats.stats.median)


def simulated(count: int, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> UIVectorEnv:
    """A vector env whose slots are `Instant`."""
    first, crew = order_crew("threads", 1, "DataEntry", {})
    crew.close()
    crew = Instant(count, size)
    monkeypatch.setattr("ui_gym.playing.vector.order_crew", lambda *given: (first, crew))
    return UIVectorEnv(count, "DataEntry", autoreset_mode="Disabled")
