"""Anthropic's computer tool: ``{"action": "left_click", "coordinate": [10, 20]}`` and the like.

Source of the format: Anthropic's Messages API, the tools ``computer_20241022``,
``computer_20250124`` and ``computer_20251124``. The input of a call, a whole ``tool_use`` block, a
list of blocks and a whole message are read alike.

What the tool leaves open, we define:

- Coordinates are pixels of the screenshot. A click without any is where the pointer is, as in the
  oldest tool, which moves the mouse first.
- ``scroll_amount`` counts notches of `NOTCH` pixels.
- ``screenshot`` waits for no time at all, since an observation follows in any case. ``zoom`` and
  ``cursor_position`` are refused: an observation has no room for what they ask.
- ``hold_key`` presses the key once and lets the time pass: no device here repeats keys.
- The button may be held within one step alone, where that makes a drag or a long press.
- One newline at the end of a typed text is the Enter key.
- What the tool has no word for are calls of other tools: ``answer``, ``open`` and ``finish``. A
  message without any call is an answer, for that is how the models end.
"""

from __future__ import annotations

from collections.abc import Mapping

from ui_gym.contract import action as act
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import (
    CLICK_NAMES,
    CLICKS,
    DIRECTIONS,
    NOTCH,
    speechless,
    typed,
    typing,
    unknown,
    written,
)
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.functions import call_function, function_of, teach_functions
from ui_gym.dialects.grid import Size
from ui_gym.dialects.jsonish import Object
from ui_gym.dialects.keys import XDOTOOL
from ui_gym.dialects.objects import ObjectDialect, Place
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

_TEXTS = read_table(__package__, "texts")["anthropic"]
_PROMPT: str = _TEXTS["prompt"]
_USAGE: dict[str, str] = _TEXTS["usage"]
_REFUSED = ("cursor_position", "zoom")


class Anthropic(ObjectDialect):
    """The actions of Anthropic's computer tool."""

    name = "anthropic"
    example = _USAGE["left_click"]

    def read(self, said: Fields, pointer: PointerState, size: Size, seen: Seen) -> None:
        content = said.get("content")
        if isinstance(content, str):
            return pointer.remark(content)
        for block in said.objects("content") if content is not None else [said]:
            self._block(block, pointer)
        return None

    def say(self, action: act.Action, place: Place) -> list[Object]:
        if (call := function_of(action)) is not None:
            name, arguments = call
            return [{"type": "tool_use", "name": name, "input": arguments}]
        return say(action)

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        return _PROMPT.format(
            width=size[0], height=size[1], actions="\n".join(_USAGE.values()), notch=NOTCH,
            functions=teach_functions(),
        )  # fmt: skip

    def _block(self, block: Fields, pointer: PointerState) -> None:
        kind = block.get("type")
        if kind == "text":
            pointer.remark(block.text("text"))
        elif block.has("input"):
            name = block.text("name", default="computer")
            if name == "computer":
                self._action(block.objects("input")[0], pointer)
            else:
                call_function(name, block.get("input"), pointer)
        elif kind not in ("thinking", "redacted_thinking"):
            self._action(block, pointer)

    def _action(self, said: Fields, pointer: PointerState) -> None:
        name = said.text("action", default="")
        perform(name, said, pointer, _USAGE)


def perform(name: str, said: Fields, pointer: PointerState, usage: Mapping[str, str]) -> None:
    """Do the action of a name; `usage` says which there are, and how each is written.

    Raises:
        ActionError: there is none of this name, or an argument is wrong.
    """
    if name in _REFUSED:
        raise ActionError("name", f"{name} is not offered here: look at the whole screenshot")
    if name not in usage:
        raise unknown("action", name, usage)
    with written(name, usage[name]):
        _do(name, said, pointer)


def _do(name: str, said: Fields, pointer: PointerState) -> None:
    point = said.pixel("coordinate") if said.has("coordinate") else None
    match name:
        case "left_click" | "right_click" | "middle_click" | "double_click" | "triple_click":
            keys = XDOTOOL.read([said.text("text", "key", default="")])
            button, count = CLICKS[name]
            pointer.click(point, button, count, keys)
        case "mouse_move":
            pointer.move(said.pixel("coordinate"))
        case "left_click_drag":
            _nothing_held(said)
            has_start = said.has("start_coordinate")
            start = said.pixel("start_coordinate") if has_start else None
            pointer.drag(said.pixel("coordinate"), start=start)
        case "left_mouse_down":
            pointer.down(point)
        case "left_mouse_up":
            pointer.up(point)
        case "scroll":
            _nothing_held(said)
            right, down = said.choice(DIRECTIONS, "scroll_direction", default="down")
            pixels = said.whole("scroll_amount", default=3) * NOTCH
            pointer.scroll(point, dx=right * pixels, dy=down * pixels)
        case "type":
            pointer.do(typed(said.text("text")))
        case "key" | "hold_key":
            _press(said, pointer)
            if name == "hold_key":
                pointer.wait(said.number("duration", default=1))
        case "wait":
            pointer.wait(said.number("duration", default=1))
        case _:  # screenshot
            pointer.wait(0)


def _nothing_held(said: Fields) -> None:
    if said.text("text", "key", default=""):
        raise ActionError("argument", "keys can be held in clicks alone; do it without them")


def _press(said: Fields, pointer: PointerState) -> None:
    """Chords between blanks are pressed one after the other, as xdotool does."""
    text = said.text("text")
    chords = text.split() or ["space"] * (text == " ")
    repeat = said.whole("repeat", default=1)
    if not chords or not 1 <= repeat <= 100:
        raise ActionError("argument", "text must name a key, and repeat be 1 to 100")
    for _ in range(repeat):
        for chord in chords:
            pointer.press(XDOTOOL.read([chord]))


def say(action: act.Action) -> list[Object]:
    """The inputs of the calls that say `action`. Raises `ActionError` if there are none."""
    match action:
        case act.Click(button=button, count=count, keys=keys) if (button, count) in CLICK_NAMES:
            said: Object = {
                "action": CLICK_NAMES[button, count],
                "coordinate": [action.x, action.y],
            }
            return [said | ({"text": _chord(keys)} if keys else {})]
        case act.Move(x=x, y=y):
            return [{"action": "mouse_move", "coordinate": [x, y]}]
        case act.LongPress(x=x, y=y, seconds=seconds):
            return [
                {"action": "mouse_move", "coordinate": [x, y]},
                {"action": "left_mouse_down"},
                {"action": "wait", "duration": seconds},
                {"action": "left_mouse_up"},
            ]
        case act.Drag(x1=x1, y1=y1, x2=x2, y2=y2, seconds=act.Drag.seconds):
            ends = {"start_coordinate": [x1, y1], "coordinate": [x2, y2]}
            return [{"action": "left_click_drag", **ends}]
        case act.Scroll(x=x, y=y, dx=dx, dy=dy):
            for direction, (right, down) in DIRECTIONS.items():
                amount = (dx * right + dy * down) // NOTCH
                if amount >= 0 and (dx, dy) == (amount * right * NOTCH, amount * down * NOTCH):
                    how = {"scroll_direction": direction, "scroll_amount": amount}
                    return [{"action": "scroll", "coordinate": [x, y], **how}]
        case act.Type() if (text := typing(action)) is not None:
            return [{"action": "type", "text": text}]
        case act.Press(keys=keys):
            return [{"action": "key", "text": _chord(keys)}]
        case act.Wait(seconds=seconds):
            return [{"action": "wait", "duration": seconds}]
    raise speechless("Anthropic's computer tool", action)


def _chord(keys: str) -> str:
    chord = "+".join(XDOTOOL.write(keys))
    if chord.split() != [chord]:
        raise ActionError("name", f"there is no way to write the keys {act.shorten(keys)}")
    return chord
