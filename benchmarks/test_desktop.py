"""Desktops: the picture as an array beside mss and Pillow, a click until it is settled, resets,
and memory a slot.

Run with ``pytest benchmarks/test_desktop.py``. Ways to take a picture are timed in turns in one
run: ours (the mapped framebuffer), ``mss`` with Pillow, and Pillow's ``ImageGrab``, all as an RGB
array of the same screen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil
import pytest
from PIL import Image, ImageGrab

from ui_gym.contract.action import Click, Press
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.x11.device import X11Device

NOTES = SessionSpec(files={"notes.txt": b"alpha\nbeta\n"}, launch=[["mousepad", "notes.txt"]])
SIZES = ((1280, 720), (1920, 1080))
LIGHT = {
    "mousepad": NOTES,
    "pcmanfm": SessionSpec(launch=[["pcmanfm"]]),
    "xfce4-terminal": SessionSpec(launch=[["xfce4-terminal"]]),
    "galculator": SessionSpec(launch=[["galculator"]]),
    "gnumeric": SessionSpec(launch=[["gnumeric"]]),
}
ROUNDS = 60


@pytest.fixture
def desktops() -> Iterator[Callable[[tuple[int, int]], X11Device]]:
    made: list[X11Device] = []

    def make(size: tuple[int, int]) -> X11Device:
        made.append(X11Device(DeviceOptions("x11", size)))
        made[-1].start()
        made[-1].renew(NOTES)
        return made[-1]

    yield make
    for device in made:
        device.close()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_desktop_picture(benchmark: Any, desktops: Any, size: tuple[int, int]) -> None:
    device = desktops(size)
    out = device.display.picture()
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: device.display.picture(out),
        "imagegrab": lambda: np.asarray(ImageGrab.grab(xdisplay=device.display.name)),
    }
    mss = pytest.importorskip("mss")
    with getattr(mss, "MSS", None)(display=device.display.name) as grabber:

        def by_mss() -> Any:
            shot = grabber.grab(grabber.monitors[0])
            return np.asarray(Image.frombytes("RGB", shot.size, shot.bgra, "raw", "BGRX"))

        ways["mss"] = by_mss
        took: dict[str, list[float]] = {name: [] for name in ways}

        def turns() -> None:
            for name, take in ways.items():
                began = time.perf_counter()
                take()
                took[name].append(time.perf_counter() - began)

        benchmark.pedantic(turns, rounds=ROUNDS, warmup_rounds=3)
    for name, seconds in took.items():
        benchmark.extra_info[f"{name}_ms"] = round(1000 * median(seconds), 2)
    for name in ("mss", "imagegrab"):
        ratio = median(b / a for a, b in zip(took["ours"], took[name], strict=True))
        benchmark.extra_info[f"times_{name}"] = round(ratio, 1)


@pytest.mark.parametrize("program", LIGHT)
def test_desktop_click(benchmark: Any, desktops: Any, program: str) -> None:
    """A click that opens a menu, until its settled picture is there."""
    device = desktops((1280, 720))
    device.renew(LIGHT[program])
    left, top, _, _ = device.windows()[-1].box

    def close_menu() -> None:
        device.perform(Press("escape"))
        device.capture()

    def click() -> None:
        device.perform(Click(left + 20, top + 12))
        device.capture()

    benchmark.pedantic(click, setup=close_menu, rounds=ROUNDS, warmup_rounds=2)
    stats = benchmark.stats.stats
    benchmark.extra_info["median_ms"] = round(1000 * stats.median, 1)
    benchmark.extra_info["p90_ms"] = round(1000 * sorted(stats.data)[int(0.9 * ROUNDS)], 1)


@pytest.mark.parametrize("program", LIGHT)
def test_desktop_reset(benchmark: Any, desktops: Any, program: str) -> None:
    device = desktops((1280, 720))
    benchmark.pedantic(lambda: device.renew(LIGHT[program]), rounds=12, warmup_rounds=2)
    benchmark.extra_info["median_s"] = round(benchmark.stats.stats.median, 2)
    memory = sum(_proportional(p) for p in psutil.Process().children(recursive=True))
    benchmark.extra_info["slot_MB"] = round(memory / 2**20)


def _proportional(process: psutil.Process) -> int:
    """A process's memory in bytes, what it shares divided among those that share it (PSS)."""
    try:
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
