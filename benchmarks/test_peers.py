"""Env steps and resets beside those of other implementations, in one run: ``tox -e bench``.

The same pages, sizes and numbers of envs; the peers' own pauses at zero; each step is a click that
the page takes without ending the episode, and a picture as an array. `report.py` beside this file
writes the ratios into the README there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import ui_gym  # noqa: F401 - registers the ids
from ui_gym.browser import documents
from ui_gym.browser.chromium.process import find_browser
from ui_gym.playing.vector import UIVectorEnv

STEPS, ROUNDS = 20, 5
TASK = "ClickButton", "click-button"
"""The task of MiniWoB++ that is measured, by our name and by MiniWoB's."""
QUERY = (120, 10)
"""A point in the task's query, where a click changes nothing."""

Play = Callable[[], None]


def measure(benchmark: Any, name: str, steps: int, play: Play, before: Play | None = None) -> None:
    """Time `play`, which takes `steps` steps, each time after `before`."""
    benchmark.group, benchmark.name = name.rsplit(": ", 1)
    if before is not None:
        before()
    play()
    benchmark.pedantic(play, setup=before, rounds=ROUNDS)
    benchmark.extra_info["per_second"] = round(steps / benchmark.stats.stats.median, 1)


# -- MiniWoB++ --


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as executor:
        yield executor


@pytest.fixture
def peers(request: pytest.FixtureRequest) -> Iterator[list[Any]]:
    """MiniWoB's own envs."""
    pytest.importorskip("miniwob", reason="needs miniwob: run it by tox -e bench")
    driver = shutil.which("chromedriver")
    if driver is None:
        pytest.skip("needs chromedriver (Debian: apt-get install chromium-driver)")
    os.environ["MINIWOB_CHROME_BINARY"], os.environ["MINIWOB_CHROMEDRIVER"] = find_browser(), driver
    import gymnasium as gym
    import miniwob

    gym.register_envs(miniwob)
    with contextlib.ExitStack() as stack:
        made = []
        for _ in range(request.param):
            made.append(gym.make(f"miniwob/{TASK[1]}-v1", disable_env_checker=True).unwrapped)
            stack.callback(made[-1].close)
        yield made


def all_of(threads: ThreadPoolExecutor, calls: Sequence[Play]) -> None:
    list(threads.map(lambda call: call(), calls))


@pytest.mark.parametrize("peers", [1, 4], indirect=True)
def test_miniwob_steps_peer(benchmark: Any, peers: list[Any], threads: ThreadPoolExecutor) -> None:
    from miniwob.action import ActionTypes

    def steps(env: Any) -> Play:
        action = env.create_action(ActionTypes.CLICK_COORDS, coords=np.array(QUERY, np.float32))
        return lambda: [env.step(action) for _ in range(STEPS)] and None

    def reset() -> None:
        all_of(threads, [lambda env=env: env.reset(seed=1) and None for env in peers])

    reset()
    count = len(peers)
    name = f"MiniWoB++ steps, N={count}: miniwob"
    measure(benchmark, name, STEPS * count, lambda: all_of(threads, [*map(steps, peers)]), reset)


@pytest.mark.parametrize("peers", [1], indirect=True)
def test_miniwob_resets_peer(benchmark: Any, peers: list[Any]) -> None:
    seeds = iter(range(10**6))
    measure(
        benchmark, "MiniWoB++ resets, N=1: miniwob", STEPS,
        lambda: [peers[0].reset(seed=next(seeds)) for _ in range(STEPS)] and None,
    )  # fmt: skip


@pytest.mark.parametrize("observation", ["screenshot", "both"])
@pytest.mark.parametrize("count", [1, 4])
def test_miniwob_steps_ours(benchmark: Any, count: int, observation: str) -> None:
    pytest.importorskip("miniwob", reason="needs miniwob: run it by tox -e bench")
    with contextlib.closing(
        UIVectorEnv(count, f"MiniWoB-{TASK[0]}", observation=observation, max_steps=10**6,
                    step_time=0.001)
    ) as envs:  # fmt: skip
        action = ("click({}, {})".format(*QUERY),) * count
        ours = "ui-gym" if observation == "screenshot" else "ui-gym, both"
        measure(
            benchmark, f"MiniWoB++ steps, N={count}: {ours}", STEPS * count,
            lambda: [envs.step(action) for _ in range(STEPS)] and None,
            lambda: envs.reset(seed=1) and None,
        )  # fmt: skip


def test_miniwob_resets_ours(benchmark: Any) -> None:
    pytest.importorskip("miniwob", reason="needs miniwob: run it by tox -e bench")
    with contextlib.closing(UIVectorEnv(1, f"MiniWoB-{TASK[0]}")) as envs:
        seeds = iter(range(10**6))
        measure(
            benchmark, "MiniWoB++ resets, N=1: ui-gym", STEPS,
            lambda: [envs.reset(seed=next(seeds)) for _ in range(STEPS)] and None,
        )  # fmt: skip


# -- a click and a picture at 1280x800 --

SIZE = (1280, 800)
POINTS = ((640, 60), (640, 200))


@pytest.fixture
def html(tmp_path: Path) -> str:
    """A page of ours as any browser can show it: the sign-in form, without our clock."""
    body = documents.resource("base.css").decode()
    fields = "".join(f"<p><label>Field {n} <input></label></p>" for n in range(6))
    path = tmp_path / "form.html"
    path.write_text(f"<!doctype html><style>{body}</style><h1>Sign in</h1>{fields}<button>Go")
    return path.as_uri()


def decoded(png: bytes) -> None:
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (SIZE[1], SIZE[0], 3)
    cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def test_click_and_picture_selenium(benchmark: Any, html: str) -> None:
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium>=4.40,<5")
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    driver_path = shutil.which("chromedriver")
    if driver_path is None:
        pytest.skip("needs chromedriver (Debian: apt-get install chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = find_browser()
    for flag in ("--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,800"):
        options.add_argument(flag)
    service = webdriver.ChromeService(driver_path)
    driver = webdriver.Chrome(options=options, service=service)
    try:
        metrics = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(html)

        def play() -> None:
            for step in range(STEPS):
                builder = ActionBuilder(driver, duration=0)
                builder.pointer_action.move_to_location(*POINTS[step % 2])
                builder.pointer_action.click()
                builder.perform()
                decoded(driver.get_screenshot_as_png())

        measure(benchmark, "click and picture at 1280x800: selenium", STEPS, play)
    finally:
        driver.quit()


def test_click_and_picture_playwright(benchmark: Any, html: str) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser())
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(html)

        def play() -> None:
            for step in range(STEPS):
                page.mouse.click(*POINTS[step % 2])
                decoded(page.screenshot())

        measure(benchmark, "click and picture at 1280x800: playwright", STEPS, play)
        browser.close()


def test_click_and_picture_ours(benchmark: Any) -> None:
    with contextlib.closing(UIVectorEnv(1, "Login", max_steps=10**6)) as envs:
        envs.reset(seed=3)
        actions = [("click({}, {})".format(*point),) for point in POINTS]
        measure(
            benchmark, "click and picture at 1280x800: ui-gym", STEPS,
            lambda: [envs.step(actions[step % 2]) for step in range(STEPS)] and None,
        )  # fmt: skip


# -- last, because it leaves Playwright's event loop running --


def test_miniwob_steps_browsergym(benchmark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """BrowserGym's, its pause before an observation at zero; clicks by coordinates."""
    pytest.importorskip("browsergym.miniwob", reason="needs browsergym-miniwob")
    import gymnasium as gym
    from browsergym.core.action.highlevel import HighLevelActionSet
    from playwright.sync_api import BrowserType

    launch = BrowserType.launch
    monkeypatch.setattr(
        BrowserType, "launch",
        lambda self, **given: launch(self, **given | {"executable_path": find_browser()}),
    )  # fmt: skip
    html = Path(str(find_spec("miniwob").submodule_search_locations[0])) / "html" / "miniwob"  # type: ignore[union-attr, index]
    monkeypatch.setenv("MINIWOB_URL", f"file://{html}/")
    actions = HighLevelActionSet(subsets=["coord"], multiaction=False)
    env = gym.make(
        f"browsergym/miniwob.{TASK[1]}", headless=True, pre_observation_delay=0,
        action_mapping=actions.to_python_code, disable_env_checker=True,
    )  # fmt: skip
    with contextlib.closing(env):
        env.reset(seed=1)
        action = "mouse_click({}, {})".format(*QUERY)
        measure(
            benchmark, "MiniWoB++ steps, N=1: browsergym", 4,
            lambda: [env.step(action) for _ in range(4)] and None,
            lambda: env.reset(seed=1) and None,
        )  # fmt: skip
