"""The UI-TARS dialects: ``Thought: ...`` and ``Action: click(start_box='(x,y)')``.

Source of the format: https://github.com/bytedance/UI-TARS (``codes/ui_tars/prompt.py`` and
``action_parser.py``). UI-TARS (on Qwen2-VL) and Doubao-1.5-UI-TARS write coordinates from 0 to
1000 of the screen's width and height: `UITars`. UI-TARS-1.5 (on Qwen2.5-VL) writes pixels of the
picture as Qwen's processor resized it: `UITars15`. Its limits are those of the model's processor; a
server that resizes to other ones needs ``UITars("absolute", max_pixels=...)`` with these.

What the grammar leaves open, we define:

- Coordinates are rounded to the nearest grid line and back, half up. A point survives the round
  trip where the grid is at least as fine as the screen: on screens of up to 1000 pixels in a
  direction for `UITars`, and wherever the resized picture is no smaller for `UITars15`. Elsewhere
  it is off by half a grid step at most: by one pixel on screens of up to 3000 pixels for `UITars`.
- ``scroll`` has no amount: it is `SCROLL` pixels, and no other amount can be said.
- ``wait()`` is `WAIT` seconds, and no other time can be said.
- ``finished(content='x')`` gives an answer if there is content, else it is ``finish("success")``.
  ``call_user()`` is ``finish("infeasible")``.
- One newline at the end of a typed text is the Enter key, so text that ends in a newline can only
  be typed with ``enter=True``. So is a backslash and an n there, since models escape it twice; a
  text that ends so can only be typed with ``enter=True`` as well. `clear`, held keys, the middle
  button, triple clicks and the time of a drag cannot be said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ui_gym.contract import action as act
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import (
    DIRECTIONS,
    check_actions,
    check_length,
    has_words,
    speechless,
    unknown,
    written,
)
from ui_gym.dialects.grid import (
    MAX_PIXELS,
    MIN_PIXELS,
    RELATIVE,
    Size,
    smart_resize,
    to_grid,
    to_pixel,
)
from ui_gym.dialects.seen import NOTHING, Point, Seen
from ui_gym.dialects.uitars_text import UitarsCall, quote, read_calls, read_numbers
from ui_gym.errors import ActionError

SCROLL = 300
"""How far one ``scroll`` goes, in pixels."""

WAIT = 5.0
"""How long one ``wait()`` takes, in seconds; UI-TARS's own prompt says so."""

Coordinates = Literal["relative", "absolute"]

_TEXTS = read_table(__package__, "texts")["uitars"]
_PROMPT: str = _TEXTS["prompt"]
_ALIASES: dict[str, str] = _TEXTS["aliases"]
_USAGE: dict[str, str] = _TEXTS["usage"]
_ARROWS = {f"arrow{direction}": direction for direction in DIRECTIONS}


class UITars:
    """UI-TARS with coordinates from 0 to 1000."""

    name = "uitars"

    def __init__(
        self,
        coordinates: Coordinates = "relative",
        *,
        factor: int = 28,
        min_pixels: int = MIN_PIXELS,
        max_pixels: int = MAX_PIXELS,
    ) -> None:
        self.coordinates = coordinates
        self._resize = (factor, min_pixels, max_pixels)

    def parse(self, text: str, size: Size, seen: Seen = NOTHING) -> list[act.Action]:
        check_length(text)
        return [self._action(call, size) for call in read_calls(text)]

    def render(self, actions: Sequence[act.Action], size: Size, thought: str = "") -> str:
        check_actions(actions, size)
        grid = self.grid(size)

        def place(point: Point) -> str:
            x, y = to_grid(point, grid, size)
            return f"'({x},{y})'"

        said = "Action: " + "\n\n".join(_say(action, place) for action in actions)
        return f"Thought: {thought}\n{said}" if thought else said

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        width, height = self.grid(size)
        return _PROMPT + (
            "- x and y run from 0 to 1000, from the left and from the top of the screen."
            if self.coordinates == "relative"
            else f"- x and y are pixels of the screenshot, which is {width} wide and {height} high."
        )

    def can_say(self, action: act.Action) -> bool:
        return has_words(_say, action, lambda point: "'(0,0)'")

    def grid(self, size: Size) -> Size:
        """The coordinates of the screen's far corner, as the model writes them."""
        if self.coordinates == "relative":
            return RELATIVE
        return smart_resize(size, *self._resize)

    def _action(self, call: UitarsCall, size: Size) -> act.Action:
        name = _ALIASES.get(call.name, call.name)
        if name not in _USAGE:
            raise unknown("action", call.name, _USAGE)
        with written(call.name, _USAGE[name]):
            return self._build(name, call, size)

    def _build(self, name: str, call: UitarsCall, size: Size) -> act.Action:
        match name:
            case "click":
                return act.Click(*self._point(call, "start", size))
            case "left_double":
                return act.Click(*self._point(call, "start", size), count=2)
            case "right_single":
                return act.Click(*self._point(call, "start", size), button="right")
            case "hover":
                return act.Move(*self._point(call, "start", size))
            case "drag":
                return act.Drag(*self._point(call, "start", size), *self._point(call, "end", size))
            case "long_press":
                seconds = read_numbers(call.get("time") or "0.8", 1)[0]
                return act.LongPress(*self._point(call, "start", size), seconds=seconds)
            case "scroll":
                return self._scroll(call, size)
            case "hotkey":
                return act.Press(_read_keys(call.need("key", "hotkey", "press")))
            case "type":
                return _read_text(call.need("content", "text"))
            case "open_app":
                return act.Open(call.need("app_name", "app", "name"))
            case "press_home" | "press_back":
                return act.Press(name.removeprefix("press_"))
            case "wait":
                return act.Wait(WAIT)
            case "call_user":
                return act.Finish("infeasible")
            case _:  # finished
                content = call.get("content")
                return act.Answer(content) if content else act.Finish("success")

    def _scroll(self, call: UitarsCall, size: Size) -> act.Scroll:
        said = call.need("direction").strip().lower()
        if said not in DIRECTIONS:
            raise ActionError("argument", f"direction {act.shorten(said)} is unknown")
        dx, dy = (SCROLL * sign for sign in DIRECTIONS[said])
        middle = size[0] // 2, size[1] // 2
        somewhere = call.get("start_box", "point", "start_point")
        x, y = self._point(call, "start", size) if somewhere else middle
        return act.Scroll(x, y, dx=dx, dy=dy)

    def _point(self, call: UitarsCall, end: Literal["start", "end"], size: Size) -> Point:
        other = "point" if end == "start" else "end_point"
        said = call.need(f"{end}_box", other, f"{end}_point")
        numbers = read_numbers(said, 2, 4)
        half = len(numbers) // 2
        # Of a box, its middle: (x1 + x2) / 2.
        x, y = (sum(numbers[axis::2]) / half for axis in (0, 1))
        return to_pixel((x, y), self.grid(size), size)


class UITars15(UITars):
    """UI-TARS-1.5, with coordinates in pixels of the picture as Qwen's processor resizes it."""

    name = "uitars15"

    def __init__(self) -> None:
        super().__init__("absolute")


def _say(action: act.Action, place: Callable[[Point], str]) -> str:
    """`action` in UI-TARS's grammar; `ActionError` (``name``) if the grammar has no words."""
    points = [place(point) for point in action.points()]
    match action:
        case act.Click(keys="", button="left", count=1):
            return f"click(start_box={points[0]})"
        case act.Click(keys="", button="left", count=2):
            return f"left_double(start_box={points[0]})"
        case act.Click(keys="", button="right", count=1):
            return f"right_single(start_box={points[0]})"
        case act.Move():
            return f"hover(start_box={points[0]})"
        case act.LongPress(seconds=seconds):
            time = "" if seconds == act.LongPress.seconds else f", time='{seconds!r}'"
            return f"long_press(start_box={points[0]}{time})"
        case act.Drag(seconds=act.Drag.seconds):
            return f"drag(start_box={points[0]}, end_box={points[1]})"
        case act.Scroll(dx=dx, dy=dy):
            for direction, (right, down) in DIRECTIONS.items():
                if (dx, dy) == (right * SCROLL, down * SCROLL):
                    return f"scroll(start_box={points[0]}, direction='{direction}')"
        case act.Type(clear=False, text=text, enter=enter) if (
            _read_text(text + "\n" * enter) == action
        ):
            return f"type(content={quote(text + chr(10) * enter)})"
        case act.Press(keys=keys) if _read_keys(_write_keys(keys)) == keys:
            return f"hotkey(key={quote(_write_keys(keys))})"
        case act.Open(target=target) if target:
            return f"open_app(app_name={quote(target)})"
        case act.Wait(seconds=seconds) if seconds == WAIT:
            return "wait()"
        case act.Answer(text=text) if text:
            return f"finished(content={quote(text)})"
        case act.Finish(outcome="success", message=""):
            return "finished(content='')"
        case act.Finish(outcome="infeasible", message=""):
            return "call_user()"
    raise speechless("UI-TARS", action)


def _read_text(said: str) -> act.Type:
    """A typed text; the line break that ends it, escaped once or twice, is the Enter key."""
    for ending in ("\n", "\\n"):
        # One ending alone: stripping characters would eat the n of "plan".
        if said.endswith(ending):
            return act.Type(said.removesuffix(ending), enter=True)
    return act.Type(said)


def _read_keys(said: str) -> str:
    """``ctrl c`` (or ``ctrl+c``) as ``ctrl+c``."""
    keys: list[str] = []
    for word in said.split():
        keys += [word] if word == "+" else [key for key in word.split("+") if key]
    missing = [""] * (said.strip().endswith("+") and keys[-1:] != ["+"])
    return "+".join(_ARROWS.get(key, key) for key in keys + missing)


def _write_keys(keys: str) -> str:
    plus = keys == "+" or keys.endswith("++")
    return " ".join([*keys.removesuffix("+").split("+"), "+"] if plus else keys.split("+")).strip()
