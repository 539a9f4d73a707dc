"""Ways to take a picture of a page: click and finished RGB array, by size and number of browsers.

Run with ``pytest benchmarks/test_capture.py`` on an idle machine; docs/capture.md tells what came
of it. ``extra_info`` has steps a second over all browsers, and CPU milliseconds a step: of the
browsers and X servers, and of this process.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from usage import cpu_seconds

from ui_gym.browser.chromium.capture import WAYS
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.contract.action import Click
from ui_gym.contract.device import DeviceOptions

SIZES = ((160, 210), (320, 256), (640, 480), (1280, 800))
COUNTS = (1, 4, 8, 16)
STEPS, ROUNDS = 20, 5

PAGE = """<!doctype html><html><head><!-- ui-gym --><style>
.full {{ background: repeating-linear-gradient(45deg, #fff 0 9px, #d5dae3 9px 18px); }}
.odd.full {{ background: repeating-linear-gradient(45deg, #d5dae3 0 9px, #fff 9px 18px); }}
</style></head><body class="{repaint}">
<h1>Sign up</h1><p>First name <input></p><p>Last name <input></p><button>Send</button>
<p id=said>0</p>
<script>let n = 0; document.addEventListener("click", () => {{
  document.getElementById("said").textContent = String(n += 1);
  document.body.classList.toggle("odd");
}});</script></body></html>
"""


@pytest.fixture(params=("small", "full"))
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A form of which a click repaints one line, or everything."""
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(repaint=request.param))
    return path


@pytest.fixture(params=COUNTS)
def count(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=WAYS)
def devices(
    request: pytest.FixtureRequest, size: tuple[int, int], count: int, page: Path
) -> Iterator[list[ChromiumDevice]]:
    options = DeviceOptions(kind=f"chromium:{request.param}", size=size, timeout=60)
    with contextlib.ExitStack() as stack:
        made = []
        for _ in range(count):
            made.append(ChromiumDevice(options))
            stack.callback(made[-1].close)
            made[-1].start()
            made[-1].load(page, {})
        yield made


def test_click_and_picture(
    benchmark: Any, devices: list[ChromiumDevice], size: tuple[int, int]
) -> None:
    pictures = [np.empty((size[1], size[0], 3), np.uint8) for _ in devices]

    def play(index: int) -> None:
        for step in range(STEPS):
            devices[index].perform(Click(20 + step, 20))
            devices[index].capture(pictures[index])

    with ThreadPoolExecutor(len(devices)) as threads:

        def run() -> None:
            list(threads.map(play, range(len(devices))))

        run()
        spent = cpu_seconds()
        benchmark.pedantic(run, rounds=ROUNDS)
        theirs, ours = (after - before for before, after in zip(spent, cpu_seconds(), strict=True))
    steps = STEPS * len(devices)
    benchmark.extra_info |= {
        "steps_per_second": round(steps / benchmark.stats.stats.median, 1),
        "cpu_ms_browser": round(1000 * theirs / steps / ROUNDS, 2),
        "cpu_ms_python": round(1000 * ours / steps / ROUNDS, 2),
        "load": round(os.getloadavg()[0], 1),
    }
