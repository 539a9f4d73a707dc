"""Compact pages: what they show lies on the screen and is said in few words."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.content import words
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import COMPACT_SIZE
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import compact_families

SHORT = {word.lower() for word in (*words.FIRST_SHORT, *words.LAST_SHORT, *words.THINGS_SHORT)}
OWN_WORDS = 40
"""That a family's pages and goals say beside the short lists and numbers, at most."""

each_family = pytest.mark.parametrize(
    "spec", [pytest.param(spec, id=spec.name) for spec in compact_families("browser")]
)


@pytest.fixture(scope="module")
def device() -> Iterator[BrowserDevice]:
    with contextlib.closing(ChromiumDevice(DeviceOptions(size=COMPACT_SIZE))) as made:
        made.start()
        yield made


def screens(spec: TaskSpec, device: BrowserDevice, seeds: range) -> Iterator[tuple[str, Any]]:
    """Goals, with the elements of each screen on the oracle's way."""
    task = make_task(spec.id, {"compact": True})
    assert task.viewport == COMPACT_SIZE
    for seed in seeds:
        params = task.draw(seed)
        task.setup(device, params)
        for demo in task.demonstrate(device, params):
            yield task.goal(params), device.capture(elements=True).elements
            if not demo.action.ends_episode:
                device.perform(demo.action)


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(12), marks=pytest.mark.nightly)])
@each_family
def test_things_lie_on_the_screen_and_few_words_are_to_be_read(
    spec: TaskSpec, device: BrowserDevice, seeds: range
) -> None:
    said: set[str] = set()
    for goal, elements in screens(spec, device, seeds):
        assert len(goal) <= 120
        for element in elements:
            left, top, width, height = element.box
            inside = left >= 0 and left + width <= COMPACT_SIZE[0] and top >= 0
            assert inside, str(element)
            assert top + height <= COMPACT_SIZE[1], str(element)
        said |= {word for text in (goal, *(e.name for e in elements)) for word in _words(text)}
    assert len(said - SHORT) <= OWN_WORDS, sorted(said - SHORT)


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[^\W\d_]+", text)}
