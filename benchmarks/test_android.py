"""The built-in phone: env steps and resets a second, memory a phone, our ADB client beside `adb`.

Run with ``pytest benchmarks/test_android.py``. A step is a touch that changes the screen, or opens
another one, and the finished RGB array. The two ways to a phone are timed in turns in one run: the
`adb` command as a process of its own for each call (that of the adbutils wheel, or on the PATH),
and our client over the device's transport and through the same adb server.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import gymnasium as gym
import pytest

import ui_gym  # noqa: F401 - registers the ids
from ui_gym.android.adb_device import AdbDevice
from ui_gym.contract.device import DeviceOptions
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_phone.device import PhoneDevice
from ui_gym_phone.serving import serve

OPEN = "drag(270, 5, 270, 600); drag(270, 300, 270, 900)"
"""Pulls the shade down, whole."""
TOUCHES = ("click(134, 150)", "click(405, 150)", "click(134, 210)", "click(405, 210)")
"""Tiles of the quick settings."""
PLACES = (
    'open("Settings")', "scroll(270, 600, dy=500)", 'press("home")', "scroll(270, 700, dy=400)",
)  # fmt: skip
"""Whole screens that change."""
ROUNDS, STEPS = 7, 40


@pytest.fixture(params=(1, 16))
def envs(request: pytest.FixtureRequest) -> Iterator[UIVectorEnv]:
    made: Any = gym.make_vec(
        "UI/AndroidMkdir-v0", request.param, vectorization_mode="vector_entry_point",
        max_steps=10**6, autoreset_mode=gym.vector.AutoresetMode.DISABLED,
    )  # fmt: skip
    made.reset(seed=0)
    yield made
    made.close()


@pytest.mark.parametrize("actions", [TOUCHES, PLACES], ids=("touch", "screen"))
def test_phone_steps(benchmark: Any, envs: UIVectorEnv, actions: tuple[str, ...]) -> None:
    count = envs.num_envs
    number = iter(range(10**9))
    envs.step((OPEN,) * count)

    def run() -> None:
        for _ in range(STEPS):
            envs.step((actions[next(number) % len(actions)],) * count)

    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    rate = STEPS * count / benchmark.stats.stats.median
    benchmark.extra_info["steps_per_second"] = round(rate, 1)


def test_phone_resets(benchmark: Any, envs: UIVectorEnv) -> None:
    seeds = iter(range(1, 10**9))

    def run() -> None:
        for _ in range(STEPS):
            envs.reset(seed=next(seeds))

    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    took = benchmark.stats.stats.median / STEPS / envs.num_envs
    benchmark.extra_info["milliseconds_per_reset"] = round(1000 * took, 2)


@pytest.mark.parametrize("kept", [True, False], ids=("same", "new"))
def test_phone_renews(benchmark: Any, kept: bool) -> None:
    """The device alone: a state that a group shares, and one that nobody has seen, prepared, told
    to the judge and drawn."""
    device = PhoneDevice(DeviceOptions("phone", (540, 1200)))
    device.start()
    number = iter(range(10**9))

    def run() -> None:
        for _ in range(STEPS):
            name = 0 if kept else next(number)
            device.renew((), f"mkdir -p '/sdcard/Download/Bills {name}' && svc wifi disable")
            device.facts()
            device.capture()

    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    took = benchmark.stats.stats.median / STEPS
    benchmark.extra_info["milliseconds_per_renewal"] = round(1000 * took, 2)
    device.close()


_GROWTH = """
import gymnasium as gym, os, ui_gym, sys
def resident():
    for line in open("/proc/self/smaps_rollup"):
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
def phones(n):
    envs = gym.make_vec("UI/Android-v0", n, vectorization_mode="vector_entry_point",
                        autoreset_mode=gym.vector.AutoresetMode.DISABLED)
    for seed in range(12):
        envs.reset(seed=seed)
        for _ in range(5):
            envs.action_space.seed(seed)
            envs.step(envs.action_space.sample())
            envs.reset(seed=seed)
    return envs
one = phones(1)
before = resident()
many = phones(16)
print(before, (resident() - before) / 16)
"""


def test_phone_memory(benchmark: Any) -> None:
    def run() -> str:
        return subprocess.run(
            [sys.executable, "-c", _GROWTH], capture_output=True, text=True, check=True
        ).stdout

    whole, each = benchmark.pedantic(run, rounds=1).split()
    benchmark.extra_info |= {
        "megabytes_per_phone": round(float(each), 1),
        "megabytes_with_the_first": round(float(whole), 1),
    }


# -- the ADB client --


@pytest.fixture(scope="module")
def ways() -> Iterator[dict[str, dict[str, Callable[[], object]]]]:
    """What is asked for -> how it is asked for -> a call that does so."""
    adb = pytest.importorskip("adbutils").adb_path()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = str(free.getsockname()[1])
    os.environ["ANDROID_ADB_SERVER_PORT"] = server
    with serve(0, 1) as (port,):
        serial = f"127.0.0.1:{port}"
        base = [adb, "-P", server]
        subprocess.run([*base, "connect", serial], check=True, capture_output=True)
        ours = AdbDevice(DeviceOptions(f"adb:{serial}", (540, 1200)))
        direct = AdbDevice(DeviceOptions(f"adb-direct:{serial}", (540, 1200)))
        try:
            ours.start()
            direct.start()

            def command(*words: str) -> Callable[[], object]:
                call = [*base, "-s", serial, *words]
                return lambda: subprocess.run(call, check=True, capture_output=True)

            yield {
                "adb: shell getprop": {
                    "adb": command("shell", "getprop ro.product.model"),
                    "ui-gym through the adb server": lambda: ours.shell("getprop ro.product.model"),
                    "ui-gym": lambda: direct.shell("getprop ro.product.model"),
                },
                "adb: raw screenshot": {
                    "adb": command("exec-out", "screencap"),
                    "ui-gym through the adb server": lambda: ours._execute("screencap"),
                    "ui-gym": lambda: direct._execute("screencap"),
                },
            }
        finally:
            ours.close()
            direct.close()
            subprocess.run([*base, "kill-server"], capture_output=True)
            del os.environ["ANDROID_ADB_SERVER_PORT"]


@pytest.mark.parametrize("asked", ["adb: shell getprop", "adb: raw screenshot"])
def test_adb(benchmark: Any, ways: Any, asked: str) -> None:
    """All ways in turns, so that what else the machine does troubles all of them."""
    calls = ways[asked]
    took: dict[str, list[float]] = {name: [] for name in calls}

    def run() -> None:
        for _ in range(15):
            for name, call in calls.items():
                started = time.perf_counter()
                call()
                took[name].append(time.perf_counter() - started)

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    for name, times in took.items():
        benchmark.extra_info[f"{name}: ms"] = round(1000 * median(times), 2)
    for name in ("ui-gym", "ui-gym through the adb server"):
        benchmark.extra_info[f"{name}: times as fast as adb"] = round(
            median(took["adb"]) / median(took[name]), 2
        )
