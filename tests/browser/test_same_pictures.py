"""The same seed gives the same bytes whichever way the picture is taken, whatever is open."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.process import BROWSER_VARIABLE, HEADED
from ui_gym.contract import action as act
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions, Element
from ui_gym.contract.suite import families

WAYS = ("framebuffer", "beginframe", "screenshot", "screenshot of chromium")
PRESSED = frozenset({
    "button", "cell", "checkbox", "combobox", "link", "menuitem", "option", "radio", "slider",
    "spinbutton", "switch", "tab", "textbox", "treeitem",
})  # fmt: skip

WORST = [
    ("ModalNoise", "medium", 42),
    ("CalendarBook", "medium", 42),
    ("FileManager", "medium", 42),
    ("ClickButton", "easy", 0),
]
"""Veils, soft shadows, lists in dialogs and messages: what was unequal once."""

ALL = [
    (spec.name, level, seed)
    for spec in families("browser")
    for level, seed in itertools.product(spec.load().levels or ("",), (40, 42))
]

Devices = Mapping[str, ChromiumDevice]


@pytest.fixture(scope="module")
def devices() -> Iterator[Devices]:
    """A browser for each way; the last one is a Chromium that is not the headless shell."""
    with ExitStack() as stack:
        made = {}
        for way in WAYS:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            if way.endswith("of chromium"):
                patch.setenv(BROWSER_VARIABLE, next(filter(None, map(shutil.which, HEADED))))
            device = ChromiumDevice(DeviceOptions(f"chromium:{way.partition(' ')[0]}"))
            stack.callback(device.close)
            device.start()
            patch.undo()
            made[way] = device
        yield made


def play(devices: Devices, name: str, level: str, seed: int, clicks: int) -> None:
    """Click what can be clicked, in all browsers side by side, and compare each picture."""
    task: Any = make_task(f"UI/{name}-v0", {"level": level} if level else {})
    params = task.draw(seed)
    for device in devices.values():
        task.setup(device, params)
    elements = compare(devices, f"{name} {level} {seed}, at the start")
    rng = random.Random(f"{name} {level} {seed}")
    for number in range(clicks):
        found = [e for e in elements if e.role in PRESSED and "disabled" not in e.states]
        if not found:
            return
        action = act.Click(*rng.choice(found).center)
        for device in devices.values():
            device.perform(action)
        elements = compare(devices, f"{name} {level} {seed}, click {number + 1}: {action}")


def compare(devices: Devices, when: str) -> tuple[Element, ...]:
    """Take a picture with each device, all the same; what can be seen there."""
    leader, *others = WAYS
    frame = devices[leader].capture(elements=True)
    for way in others:
        image = devices[way].capture().image
        np.testing.assert_array_equal(image, frame.image, err_msg=f"{way}: {when}")
    return frame.elements


@pytest.mark.parametrize(("name", "level", "seed"), WORST)
def test_what_is_soft_is_the_same_in_all_ways(
    devices: Devices, name: str, level: str, seed: int
) -> None:
    play(devices, name, level, seed, clicks=6)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "level", "seed"), ALL)
def test_all_families_are_the_same_in_all_ways(
    devices: Devices, name: str, level: str, seed: int
) -> None:
    play(devices, name, level, seed, clicks=10)
