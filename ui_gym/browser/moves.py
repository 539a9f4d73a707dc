"""The moves of oracles on a page: click it, fill it, pick it, bring it to sight, select text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator

from ui_gym.browser import documents
from ui_gym.browser.device import BrowserDevice
from ui_gym.contract.action import Action, Click, Drag, Scroll, Type
from ui_gym.contract.task import Demo
from ui_gym.errors import TaskError

Box = tuple[float, float, float, float]
"""Left, top, width, height, in pixels."""

SCROLL = 300
"""How far is scrolled at once, in pixels: what every dialect can say."""


def because(thought: str, actions: Iterable[Action]) -> Iterator[Demo]:
    """The actions, each with the thought that leads to it."""
    return (Demo(action, thought) for action in actions)


def count_scrolls(length: int, room: int = 0) -> int:
    """How many scrolls bring the end of `length` px to sight, of which `room` px are seen."""
    return math.ceil(max(0, length - room) / SCROLL)


def click(device: BrowserDevice, selector: str, *, count: int = 1) -> Click:
    """Click the middle of the first element of a CSS selector."""
    return Click(*device.center(selector), count=count)


def fill(
    device: BrowserDevice, selector: str, text: str, *, clear: bool = False
) -> Iterator[Action]:
    """Click a text field and type into it; `clear` empties it before."""
    yield click(device, selector)
    yield Type(text, clear=clear)


def pick(device: BrowserDevice, dropdown: str, value: str) -> Iterator[Action]:
    """Choose the option with the data-value `value` in the kit's drop-down list of the id."""
    yield click(device, f"#{dropdown}")
    option = f"#{dropdown}-list [data-value={json.dumps(value, ensure_ascii=False)}]"
    yield from reveal(device, option, f"#{dropdown}-list")
    yield click(device, option)


def reveal(
    device: BrowserDevice, selector: str, pane: str, *, margin: int = 0, head: int = 0
) -> Iterator[Scroll]:
    """Scroll `pane` (a CSS selector) until the element is wholly inside it, `margin` px apart.

    `head` is the height of what stays at the pane's top, as the titles of a table do.
    """
    left, top, width, height = device.box(pane)
    before = None
    while True:
        _, its_top, _, its_height = device.box(selector)
        above = its_top < top + margin + head
        below = its_top + its_height > top + height - margin
        if not (above or below) or its_top == before:
            return
        before = its_top
        yield Scroll(left + width // 2, top + height // 2, dy=-SCROLL if above else SCROLL)


def text_boxes(device: BrowserDevice, selector: str, start: int, end: int) -> list[Box]:
    """Where the letters from `start` to `end` of an element's text are, a box for each piece.

    Raises:
        TaskError: no element matches, or it has no such letters.
    """
    boxes = documents.text("text_boxes.js")
    found = device.evaluate(f"({boxes})({json.dumps(selector)}, {start}, {end})")
    if not found:
        raise TaskError(f"the page has no letters {start} to {end} in {selector!r}")
    return [(left, top, width, height) for left, top, width, height in found]


def select_word(device: BrowserDevice, selector: str, start: int, end: int) -> Click:
    """Double-click a word."""
    left, top, width, height = text_boxes(device, selector, start, end)[0]
    return Click(round(left + width / 2), round(top + height / 2), count=2)


def select_text(device: BrowserDevice, selector: str, start: int, end: int) -> Drag:
    """Draw the mouse over a piece of text, which may go on in the next line."""
    boxes = text_boxes(device, selector, start, end)
    left, top, _, height = boxes[0]
    last_left, last_top, last_width, last_height = boxes[-1]
    return Drag(
        # Just inside the first and the last letter, whose nearer edge is then the outer one.
        round(left) + 1,
        round(top + height / 2),
        round(last_left + last_width) - 1,
        round(last_top + last_height / 2),
    )
