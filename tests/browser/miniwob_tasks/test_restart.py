"""An episode that starts in the page of the one before is as one that starts in a fresh page."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from ui_gym.browser.miniwob import catalogue
from ui_gym.contract import action as act
from ui_gym.contract import registry
from ui_gym.contract.device import DeviceOptions

if catalogue.html_folder() is None:
    pytest.skip(f"needs {catalogue.REMEDY}", allow_module_level=True)

RESTARTED = [name for name, entry in catalogue.ENTRIES.items() if entry.restarts]

HELD = """JSON.stringify([
  document.body.outerHTML.replace(/jQuery\\d+|ui-id-\\d+| style=""/g, ""),
  Array.from(document.querySelectorAll("input, select, textarea"), (e) => [e.value, e.checked]),
  [document.activeElement.tagName, document.activeElement.id, scrollX, scrollY],
])"""
SPOTS = """Array.from(document.querySelectorAll("#area *"), (element) => {
  const box = element.getBoundingClientRect();
  return [Math.floor(box.left + box.width / 2), Math.floor(box.top + box.height / 2)];
}).filter(([x, y]) => x >= 0 && x < 160 && y >= 0 && y < 210)"""

Spot = Sequence[int]


@pytest.fixture(scope="module")
def devices() -> Iterator[tuple[Any, Any]]:
    task = registry.spec("MiniWoB-ClickTest").load()()
    pool = task.pool(DeviceOptions(size=task.viewport))
    yield pool.acquire(), pool.acquire()
    pool.close()


def wild(rng: random.Random, spots: Sequence[Spot]) -> act.Action:
    """Something that an agent might do; mostly where something is."""
    x, y = rng.choice(spots) if spots and rng.random() < 0.8 else (rng.randrange(160), 105)
    kinds: list[act.Action] = [
        *[act.Click(x, y)] * 5,
        act.Click(x, y, count=2),
        act.Drag(x, y, rng.randrange(160), rng.randrange(60, 210)),
        act.Type(rng.choice(["ab", "7", "Hello x", "12/03/2016"])),
        act.Press(rng.choice(["tab", "enter", "down", "backspace", "ctrl+a"])),
        act.Scroll(x, y, 0, rng.choice([-120, 200])),
        act.Wait(rng.choice([0.1, 1.0])),
    ]
    return rng.choice(kinds)


def begun(device: Any, task: Any, seed: int, *, stay: bool) -> Sequence[Spot]:
    """Start an episode, in the page that is shown or in a fresh one; where something is in it."""
    if not stay:
        device.visit(task.site, "miniwob/click-test.html")
    task.setup(device, task.draw(seed))
    device.capture()  # all pictures of the page have come
    spots: Sequence[Spot] = device.evaluate(SPOTS)
    return spots


def seen(device: Any) -> tuple[str, list[str], Any, Any]:
    """All that there is to be seen of an episode."""
    frame = device.capture(elements=True)
    return device.evaluate(HELD), [*map(str, frame.elements)], device.state(), frame.image.copy()


def both_seen(played: Any, fresh: Any) -> tuple[Any, Any]:
    """What is seen on both, where it differs a second and a third time: on a busy machine the
    browser's accessibility tree may be a moment behind, and what was left would stay."""
    for _ in range(3):
        ours, theirs = seen(played), seen(fresh)
        if ours[:3] == theirs[:3]:
            break
    return ours, theirs


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if number % 12 else [])
        for number, name in enumerate(RESTARTED)
    ],
)
def test_nothing_is_left_of_the_episode_before(name: str, devices: tuple[Any, Any]) -> None:
    task = registry.spec(f"MiniWoB-{name}").load()()
    played, fresh = devices
    rng = random.Random(name)
    for _ in range(2):
        spots = begun(played, task, rng.randrange(10**6), stay=True)
        for _ in range(rng.randrange(1, 10)):
            played.perform(wild(rng, spots))
        played.capture()
    seed = rng.randrange(10**6)
    spots = begun(played, task, seed, stay=True)
    assert begun(fresh, task, seed, stay=False) == spots
    for _ in range(4):
        (*told, picture), (*expected, fresh_picture) = both_seen(played, fresh)
        assert told == expected
        assert np.array_equal(picture, fresh_picture)
        action = wild(rng, spots)
        played.perform(action)
        fresh.perform(action)


def test_a_page_that_remembers_is_loaded_anew(devices: tuple[Any, Any]) -> None:
    device, _ = devices
    task = registry.spec("MiniWoB-UseSpinner").load()()
    for remembered in (False, False):
        task.setup(device, task.draw(1))
        assert device.evaluate("Boolean(window.mark)") is remembered
        device.evaluate("window.mark = true")
    task = registry.spec("MiniWoB-ClickTest").load()()
    for remembered in (False, True):
        task.setup(device, task.draw(1))
        assert device.evaluate("Boolean(window.mark)") is remembered
        device.evaluate("window.mark = true")
