"""What is done in the comparison: an oracle's actions, or some that follow from the page alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.miniwob.tasks import SIZE, MiniWoBParams, MiniWoBTask
from ui_gym.contract.action import Action, Click, Drag, Press, Scroll, Type

SPOTS = """((selector, width, height) => {
  const found = [];
  for (const node of document.querySelectorAll(selector)) {
    const box = node.getBoundingClientRect();
    const [x, y] = [Math.floor(box.left + box.width / 2), Math.floor(box.top + box.height / 2)];
    const hit = document.elementFromPoint(x, y);
    const inside = x > 2 && y > 52 && x < width - 2 && y < height - 2;
    if (inside && box.width >= 3 && box.height >= 3 && node.contains(hit)) found.push([x, y]);
  }
  return found;
})"""
LEAVES = "#area *:not(:has(*)):not(option), #area select"
BUTTONS = "#area button, #area input[type=submit], .ui-dialog button, #subbtn, #area .alink"


def script(task: MiniWoBTask, device: BrowserDevice, params: MiniWoBParams) -> Iterator[Action]:
    """The actions that are done in an episode."""
    if task.has_oracle:
        return (action for action in task.oracle(device, params))
    if task.viewport != SIZE:
        return flight()
    return generic(device, f"{task.spec.name}-{params.seed}")


def generic(device: BrowserDevice, seed: str) -> Iterator[Action]:
    """Something of everything, and in the end the buttons."""
    rng = random.Random(seed)

    def anywhere() -> tuple[int, int]:
        leaves = spots(device, LEAVES)
        return rng.choice(leaves) if leaves else (rng.randrange(5, 150), rng.randrange(60, 200))

    yield Scroll(*anywhere(), dy=50)
    yield Drag(*anywhere(), *anywhere())
    yield Click(*anywhere())
    yield Type("3")
    yield Press("tab")
    yield Click(*anywhere())
    for _ in range(3):
        buttons = spots(device, BUTTONS)
        yield Click(*(buttons[-1] if buttons else anywhere()))


def flight() -> Iterator[Action]:
    """Fill in where from, and search."""
    yield Click(100, 170)
    yield Type("PDX")
    yield Press("tab")
    yield Click(187, 535)


def spots(device: BrowserDevice, selector: str) -> list[tuple[int, int]]:
    """The middles of elements that can be seen and clicked."""
    found: list[Any] = device.evaluate(f"{SPOTS}({selector!r}, {SIZE[0]}, {SIZE[1]})")
    return [(x, y) for x, y in found]
