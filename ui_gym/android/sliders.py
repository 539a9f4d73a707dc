"""Sliders: how an oracle moves one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ui_gym.android import moves
from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action, Drag
from ui_gym.contract.device import Element
from ui_gym.errors import TaskError

KNOB = 15
"""Observed pixels from a slider's end to the middle of its knob there."""


def slide(device: AndroidDevice, name: str, share: float) -> Iterator[Action]:
    """Drag the knob of the slider of this name to a share of its way, 0 to 1; at an end, beyond."""
    yield from moves.scroll_to(device, name, role="slider")
    found = moves.find(device, name, role="slider")
    if found is None:
        raise TaskError(f"the phone's screen shows no slider {name!r}")
    y = found.center[1]
    yield Drag(_place(found, _share(found)), y, _place(found, share), y)


def _place(slider: Element, share: float) -> int:
    """The x of a share of the way."""
    left, _, width, _ = slider.box
    if share <= 0:
        return left + 1
    if share >= 1:
        return left + width - 2
    return round(left + KNOB + share * (width - 2 * KNOB))


def _share(slider: Element) -> float:
    """Where its knob is, as far as its value tells; else in the middle."""
    value = next((state for state in slider.states if state.startswith("value=")), "")
    number = re.search(r"\d+(\.\d+)?", value)
    return min(1.0, float(number[0]) / 100) if number else 0.5
