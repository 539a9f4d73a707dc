"""The monitor's pages in Chromium: how soon they are there, how much comes, how fast they scrub.

The browser has nothing of them cached: each round has a context of its own. Time is counted by the
page itself, from the beginning of its navigation until what was asked for stands in the document
and a frame was drawn. What is asked of them: 100 kB and 300 ms at the most, and at the least 30
pictures a second while scrubbing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from many_episodes import ManyEpisodes
from monitor_tests import Browser, WatchedPage

from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.monitor.app import MonitorServer
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf
from ui_gym_agents.store import EpisodeStore

ROUNDS = 7
TURNS = 200
RUN = ManyEpisodes.id
VIEWS = {
    "run": (f"#/run/{RUN}", ".figures dd"),
    "run, with its curves": (f"#/run/{RUN}", ".charts canvas"),
    "episodes": (f"#/run/{RUN}/episodes", "tbody a.row"),
}

WATCH = """
const seen = new MutationObserver(() => {
  if (!document.querySelector('%s')) return;
  seen.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.contentAt = performance.now(); }));
});
seen.observe(document, { childList: true, subtree: true });
"""
SCRUB = """
new Promise((done) => {
  const range = document.querySelector(".scrubber input[type=range]");
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  let drawn = 0;
  CanvasRenderingContext2D.prototype.drawImage = function (...of) {
    drawn += this.canvas.matches(".screen canvas:not(.veil)");
    return draw.apply(this, of);
  };
  let at = 0;
  const begun = performance.now();
  const step = () => {
    at += 1;
    if (at > range.max) return done([drawn, performance.now() - begun]);
    range.value = at;
    range.dispatchEvent(new Event("input", { bubbles: true }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})
"""


class TenThousand(Shelf):
    """A shelf with one run of ten thousand episodes."""

    def sources(self) -> Iterator[Any]:
        yield ManyEpisodes(steps=23, evaluations=1)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.close()


@pytest.mark.parametrize("view", VIEWS)
def test_first_page(benchmark: Any, browser: Browser, tmp_path: Path, view: str) -> None:
    index = MonitorIndex(tmp_path / "index.sqlite")
    shelf = TenThousand(tmp_path)
    assert next(iter(shelf.sources())).fill(index) == 10_048
    hash, there = VIEWS[view]
    found: list[tuple[float, int]] = []

    def load() -> None:
        with browser.tab() as page:
            source = {"source": WATCH % there}
            page.run(("Page.addScriptToEvaluateOnNewDocument", source))
            page.open(f"{server.url}/{hash}")
            page.until("window.contentAt > 0")
            _rest(page)
            found.append((page.js("window.contentAt") / 1000, page.received()))
            assert page.console == []

    benchmark.group, benchmark.name = "the monitor's first page, of 10,000 episodes", view
    with MonitorServer(Library([shelf], index)) as server:
        benchmark.pedantic(load, rounds=ROUNDS)
    index.close()
    seconds, size = median(s for s, _ in found), max(size for _, size in found)
    benchmark.extra_info |= {"ms": round(1000 * seconds, 1), "bytes": size}
    print(f"\n{view}: {1000 * seconds:.0f} ms, {size / 1000:.1f} kB")


def test_scrubbing(benchmark: Any, browser: Browser, tmp_path: Path) -> None:
    _long_episode(tmp_path / "long")
    index = MonitorIndex(None)
    rates: list[float] = []
    benchmark.group, benchmark.name = f"scrubbing {TURNS} turns at 1280x800", "ui-gym"
    with MonitorServer(Library([Shelf(tmp_path)], index)) as server, browser.tab() as page:
        page.open(f"{server.url}/")
        page.click("a.row")
        page.until("document.querySelector('.tabs') !== null")
        page.js("location.hash += '/episodes'")
        page.click("tbody a.row")
        page.until("document.querySelector('.scrubber') !== null")
        page.until("document.querySelector('progress.preloading') !== null")
        page.until("document.querySelector('progress.preloading') === null", 120)

        def scrub() -> None:
            drawn, took = page.js(SCRUB, promise=True)
            rates.append(1000 * drawn / took)

        benchmark.pedantic(scrub, rounds=3)
    index.close()
    benchmark.extra_info["per_second"] = round(median(rates), 1)
    print(f"\n{median(rates):.1f} pictures a second ({', '.join(f'{r:.1f}' for r in rates)})")


def _rest(page: WatchedPage) -> None:
    """Wait until nothing more comes."""
    before = -1
    while before != page.received():
        before = page.received()
        page.js("new Promise((done) => setTimeout(done, 300))", promise=True)


def _long_episode(folder: Path) -> None:
    """An episode whose pictures look like pages: blocks and lines, each a little different."""
    store = EpisodeStore(folder)
    chance = np.random.default_rng(0)
    picture = np.full((800, 1280, 3), 245, np.uint8)
    keys = []
    for _ in range(TURNS + 1):
        y, x = chance.integers(0, 700), chance.integers(0, 1100)
        picture[y : y + 60, x : x + 180] = chance.integers(0, 255, 3)
        picture[y : y + 12, x : x + 180] = chance.integers(0, 255, (12, 180, 1))
        keys.append(store.screenshots.put(picture))
    turns = [Turn(key, f"click({100 + at}, {200 + at})") for at, key in enumerate(keys[:-1])]
    store.add([
        Episode(task="core/long", seed=1, goal="Go on.", turns=turns, final_screenshot_id=keys[-1])
    ])  # fmt: skip
