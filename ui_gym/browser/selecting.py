"""The moves of oracles that select text on a page with the mouse."""

from __future__ import annotations

import json

from ui_gym.browser.device import BrowserDevice
from ui_gym.contract.action import Click, Drag
from ui_gym.errors import TaskError

Box = tuple[float, float, float, float]

# Where the letters from `start` to `end` of an element are: a box for each line, in pixels.
_BOXES = """
(() => {
  const element = document.querySelector(%s);
  if (!element) return null;
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let before = 0;
  let open = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const after = before + node.length;
    if (!open && %d < after) { range.setStart(node, %d - before); open = true; }
    if (open && %d <= after) { range.setEnd(node, %d - before); break; }
    before = after;
  }
  const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
  return boxes.map((box) => [box.left, box.top, box.width, box.height]);
})()
"""


def text_boxes(device: BrowserDevice, selector: str, start: int, end: int) -> list[Box]:
    """Where the letters from `start` to `end` of an element's text are, a box for each piece.

    Raises:
        TaskError: no element matches, or it has no such letters.
    """
    found = device.evaluate(_BOXES % (json.dumps(selector), start, start, end, end))
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
