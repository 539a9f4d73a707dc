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
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from ui_gym.catalog import TaskSource
from ui_gym.playing.slot import Call, Deliver, Reset, SlotResult
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents import OracleAgent, RandomAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.tasks.mix import make_envs, reset_names
from ui_gym_agents.tasks.sources import entries_of

ROADS = ("threads", "processes:2", "ws", "ray?slots=8")
SCREENS: dict[str, tuple[str, dict[str, Any]]] = {
    "phone 540x1200": ("AndroidWifi", {"device": "phone", "max_steps": 10**6}),
    "browser 1280x800": ("DataEntry", {"max_steps": 10**6}),
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    program = [sys.executable, "-m", "ui_gym.tools.cli", "serve", "--port", "0"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split(": ")[0]
        process.terminate()


def play(envs: UIVectorEnv, steps: int, rng: Random) -> None:
    """So many random clicks over all slots, none of which waits for another."""
    width, height = envs.call("size")[0]

    def clicks(count: int) -> list[str]:
        return [f"click({rng.randrange(width)}, {rng.randrange(height)})" for _ in range(count)]

    envs.send(clicks(envs.num_envs), range(envs.num_envs))
    sent, received = envs.num_envs, 0
    while received < steps:
        answers = envs.recv()
        received += len(answers)
        slots = [answer.slot for answer in answers][: max(0, steps - sent)]
        if slots:
            envs.send(clicks(len(slots)), slots)
            sent += len(slots)


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("count", [16, 1])
def test_steps(benchmark: Any, server: str, screen: str, road: str, count: int) -> None:
    task, arguments = SCREENS[screen]
    benchmark.group = f"steps of {count} slots, {screen}"
    workers = server if road == "ws" else road
    envs = UIVectorEnv(count, task, autoreset_mode="Disabled", workers=workers, **arguments)
    envs.reset(seed=0)
    rng, steps = Random(0), 15 * count if count > 1 else 60
    play(envs, steps, rng)
    benchmark.pedantic(play, (envs, steps, rng), rounds=5)
    envs.close()
    median = benchmark.stats.stats.median
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
    """Slots that answer at once, with a new picture each time; their episodes have ten steps."""

    def __init__(self, count: int) -> None:
        self._picture = np.zeros((256, 320, 3), np.uint8)
        self._steps = [0] * count

    def runner(self, slot: int, deliver: Deliver) -> Any:
        return _InstantRunner(self, slot, deliver)

    def close(self) -> None:
        """Nothing is open."""

    def answer(self, slot: int, call: Call) -> SlotResult:
        first = isinstance(call, Reset)
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


@pytest.mark.parametrize("count", [100, 1000, 10000])
def test_collector(benchmark: Any, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    benchmark.group = "collector of slots that answer at once"
    envs = UIVectorEnv(1, "DataEntry", compact=True, autoreset_mode="Disabled")
    envs.close()
    envs = simulated(envs, count, monkeypatch)
    agent = RandomAgent(envs.single_action_space)
    collector = Collector(envs, agent, run_seed=0, schedule="free")
    episodes = max(500, count)
    asked = [EpisodeRequest(seed=seed, group=f"e{seed}") for seed in range(episodes)]
    benchmark.pedantic(lambda: collector.collect(asked), rounds=1)
    benchmark.extra_info["steps_per_second"] = round(10 * episodes / benchmark.stats.stats.median)


def simulated(envs: UIVectorEnv, count: int, monkeypatch: pytest.MonkeyPatch) -> UIVectorEnv:
    """A vector env whose slots are `Instant`."""
    first = envs._fleet._crew._first  # type: ignore[attr-defined]
    monkeypatch.setattr("ui_gym.playing.vector.order_crew", lambda *given: (first, Instant(count)))
    return UIVectorEnv(count, "DataEntry", compact=True, autoreset_mode="Disabled")
