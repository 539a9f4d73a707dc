"""The monitor beside a live run: how soon a step is seen, and what it takes of the machine.

The monitor is the command, in a process of its own; the run's files are written by this one, as a
trainer writes them. What is asked: a step is seen within 1 s; at rest it takes 1 % of a core and
60 MB at the most; with 20 pages that watch, 10 % of a core.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import psutil
import pytest
from monitor_tests import Browser, MadeRun

from ui_gym_agents.episode import Purpose

WATCHERS, EPISODES, EVERY, SECONDS = 20, 100, 3.0, 30.0

SEEN_AT = """
window.steps = {};
new MutationObserver(() => {
  const shown = document.querySelector(".figures")?.innerText.match(/(\\d+)\\s+of/)?.[1];
  if (shown) window.steps[shown] ??= Date.now();
}).observe(document, { childList: true, characterData: true, subtree: true });
"""


class Command:
    """The monitor's command over a folder."""

    def __init__(self, folder: Path, cache: Path) -> None:
        line = [sys.executable, "-m", "ui_gym_agents.monitor.cli", str(folder), "--port", "0",
                "--cache", str(cache)]  # fmt: skip
        self._process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip().rstrip("/")
        self._told = psutil.Process(self._process.pid)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(20)

    def cpu(self) -> float:
        times = self._told.cpu_times()
        return float(times.user + times.system)

    def memory(self) -> dict[str, float]:
        """Megabytes: what is resident, and what nobody else has."""
        sums = {"Rss": 0.0, "Private_Clean": 0.0, "Private_Dirty": 0.0}
        for line in Path(f"/proc/{self._process.pid}/smaps_rollup").read_text().splitlines():
            name = line.split(":")[0]
            if name in sums:
                sums[name] += int(line.split()[1]) / 1024
        private = sums["Private_Clean"] + sums["Private_Dirty"]
        return {"rss_mb": round(sums["Rss"], 1), "private_mb": round(private, 1)}


@pytest.fixture
def run(tmp_path: Path) -> MadeRun:
    made = MadeRun(tmp_path / "runs" / "live")
    made.begin()
    made.step(1)
    return made


@pytest.fixture
def monitor(run: MadeRun, tmp_path: Path) -> Iterator[Command]:
    made = Command(run.folder, tmp_path / "cache")
    yield made
    made.close()


def test_a_step_is_seen(benchmark: Any, run: MadeRun, monitor: Command) -> None:
    browser = Browser()
    written: dict[str, float] = {}
    with browser.tab() as page:
        page.run(("Page.addScriptToEvaluateOnNewDocument", {"source": SEEN_AT}))
        page.open(f"{monitor.url}/#/run/{_id(monitor)}")
        page.until("window.steps['1'] > 0")
        numbers = iter(range(2, 22))

        def step() -> None:
            number = next(numbers)
            run.step(number)
            written[str(number)] = time.time()
            page.until(f"window.steps['{number}'] > 0")

        benchmark.group, benchmark.name = "a step is seen", "ui-gym"
        benchmark.pedantic(step, rounds=20)
        seen = page.js("window.steps")
    browser.close()
    late = [seen[number] / 1000 - at for number, at in written.items()]
    benchmark.extra_info |= {
        "median_ms": round(1000 * median(late)),
        "max_ms": round(1000 * max(late)),
    }
    print(f"\nmedian {1000 * median(late):.0f} ms, max {1000 * max(late):.0f} ms")


def test_beside_a_run_that_goes_on(benchmark: Any, run: MadeRun, monitor: Command) -> None:
    _id(monitor)
    figures: dict[str, float] = {}

    def idle() -> None:
        time.sleep(2)
        before, begun = monitor.cpu(), time.monotonic()
        time.sleep(20)
        figures["share"] = round((monitor.cpu() - before) / (time.monotonic() - begun), 4)

    benchmark.group, benchmark.name = "the monitor at rest beside a run", "ui-gym"
    benchmark.pedantic(idle, rounds=1)
    figures |= monitor.memory()
    benchmark.extra_info |= figures
    print(f"\n{figures}")


def test_twenty_watch_a_run(benchmark: Any, run: MadeRun, monitor: Command) -> None:
    watched = _id(monitor)
    over = threading.Event()
    asked = [0] * WATCHERS
    watchers = [
        threading.Thread(target=_watch, args=(monitor.url, watched, over, asked, number))
        for number in range(WATCHERS)
    ]
    figures: dict[str, float] = {}

    def train() -> None:
        for watcher in watchers:
            watcher.start()
        time.sleep(2)
        before, begun, number = monitor.cpu(), time.monotonic(), 1
        while time.monotonic() - begun < SECONDS:
            number += 1
            _step(run, number, begun + (number - 1) * EVERY)
        passed = time.monotonic() - begun
        figures["share"] = round((monitor.cpu() - before) / passed, 4)
        figures["requests_per_second"] = round(sum(asked) / passed, 1)

    benchmark.group, benchmark.name = f"{WATCHERS} pages watch a run", "ui-gym"
    benchmark.pedantic(train, rounds=1)
    over.set()
    run.tell.step_finished(999, {"success": 0.0}, 1.0)  # wakes those who wait
    for watcher in watchers:
        watcher.join(20)
    figures |= monitor.memory()
    benchmark.extra_info |= figures
    print(f"\n{figures}")


def _id(monitor: Command) -> str:
    while True:
        runs = httpx.get(f"{monitor.url}/api/runs").json()["runs"]
        if runs and runs[0]["episodes"]:
            return str(runs[0]["id"])
        time.sleep(0.05)


def _watch(url: str, run: str, over: threading.Event, asked: list[int], me: int) -> None:
    """As the page of a run: it hears of changes, and asks for its parts every 250 ms at most."""
    with httpx.Client(base_url=url, timeout=60) as client:
        last = 0
        with client.stream("GET", "/api/events") as stream:
            for line in stream.iter_lines():
                if over.is_set():
                    return
                if not line.startswith("data: ") or run not in line:
                    continue
                for path in ("", f"/steps?after={last}"):
                    found = client.get(f"/api/runs/{run}{path}").json()
                    asked[me] += 1
                last = found["last"]
                time.sleep(0.25)


def _step(run: MadeRun, number: int, until: float) -> None:
    """A step that ends at a moment; its episodes are written one after the other, as they end."""
    run.tell.step_begun(number, 1000)
    name, purpose = f"{number}-0", Purpose("step", number)
    for member in range(EPISODES):
        run.episode(f"{name}.{member}", purpose, success=member % 2 == 0, group=name)
        time.sleep(max(0.0, (until - time.monotonic()) / (EPISODES - member)))
    run.tell.step_finished(number, {"success": 0.5, "loss": 1 / number}, 10.0 * number)
