"""Gemini's computer use: ``{"name": "click", "args": {"x": 500, "y": 300}}`` and the like.

Source of the format: Google's Gemini API, ``computer_use``: the functions of Gemini 3.x for
browsers, phones and desktops, and those of gemini-2.5-computer-use-preview and Gemini 3 Flash
(``click_at`` and the like). All are read; those of 3.x are written, since the older ones have no
words for a right click, a double click, a held key, or typing where the caret is. A call, a part
of a message, a list of either, a content, a whole response, and the steps of the Interactions API
are read alike. What a call says of its `intent` and of `safety_decision` is no action: whoever
speaks with the API answers it.

What the functions leave open, we define:

- Coordinates are thousandths of the screen, 0 to `LAST`, rounded as in the dialect ``uitars``: they
  survive where the screen is no wider and higher than 1000 pixels.
- ``scroll`` counts pixels of the screenshot, and notches of `NOTCH` pixels where it says
  ``magnitude_in_wheel_clicks``. The `magnitude` of ``scroll_at`` is in thousandths of the screen;
  ``scroll_document`` scrolls `PAGE` of them in the middle.
- ``take_screenshot`` and ``open_web_browser`` wait for no time at all: an observation follows in
  any case, and a browser that is needed is open.
- ``go_back`` is the key Back, which phones have. ``navigate`` is `Open`, as ``open_app`` is.
  ``go_forward``, ``search`` and ``list_apps`` are refused: there is no action for them.
- In a chord, a letter is the key, be it a capital or not: ``Control+A`` selects all.
- The button and keys may be held within one step alone.
- What the functions have no word for are calls of others: ``answer``, ``open`` and ``finish``. A
  message without any call is an answer, for that is how the models end.
"""

from __future__ import annotations

from typing import Any

from ui_gym.contract import action as act
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import (
    CLICK_NAMES,
    CLICKS,
    DIRECTIONS,
    NOTCH,
    speechless,
    unknown,
    written,
)
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.functions import call_function, function_of, teach_functions
from ui_gym.dialects.grid import RELATIVE, Size, scale, to_grid, to_pixel
from ui_gym.dialects.jsonish import Object, read_object
from ui_gym.dialects.keys import KeyNames
from ui_gym.dialects.objects import ObjectDialect, Place
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError

LAST = 999
"""The largest coordinate, and the farthest that one ``scroll`` goes, in pixels."""

PAGE = 800
"""How far the older ``scroll`` functions go unless they say it, in thousandths of the screen."""

_CALL = ("functionCall", "function_call")
_FUNCTIONS = ("answer", "open", "finish")
_REFUSED = ("go_forward", "search", "list_apps")
_CLICKS = CLICKS | {"click": CLICKS["left_click"], "click_at": CLICKS["left_click"]}

_TEXTS = read_table(__package__, "texts")["gemini"]
_PROMPT: str = _TEXTS["prompt"]
_TAUGHT: dict[str, str] = _TEXTS["usage"]
_USAGE: dict[str, str] = _TAUGHT | _TEXTS["also"]
_KEYS = KeyNames(read_table(__package__, "keys")["gemini"])


class Gemini(ObjectDialect):
    """The functions of Gemini's computer use."""

    name = "gemini"
    example = _USAGE["click"]

    def read(self, said: Fields, pointer: PointerState, size: Size, seen: Seen) -> None:
        for part in _parts(said):
            self._part(part, pointer, size)

    def say(self, action: act.Action, place: Place) -> list[Object]:
        name, args = function_of(action) or _say(action, place)
        return [{"name": name, "args": args}]

    def place(self, size: Size) -> Place:
        def placed(point: Point) -> Point:
            x, y = to_grid(point, RELATIVE, size)
            return min(x, LAST), min(y, LAST)

        return placed

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        return _PROMPT.format(
            last=LAST, actions="\n".join(_TAUGHT.values()), functions=teach_functions()
        )

    def _part(self, part: Fields, pointer: PointerState, size: Size) -> None:
        kind = part.get("type")
        if part.has(*_CALL):
            for call in part.objects(*_CALL):
                self._call(call, pointer, size)
        elif kind in (None, "function_call") and part.has("name"):
            self._call(part, pointer, size)
        elif kind == "model_output":
            for said in part.objects("content"):
                _remark(said, pointer)
        elif kind in (None, "text") and part.has("text"):
            _remark(part, pointer)
        elif kind is None and not part.has("thoughtSignature", "thought_signature"):
            raise unknown("function", "", _USAGE)

    def _call(self, call: Fields, pointer: PointerState, size: Size) -> None:
        name = call.text("name")
        args = call.get("args", "arguments") or {}
        if name in _FUNCTIONS:
            return call_function(name, args, pointer)
        if name in _REFUSED:
            raise ActionError("name", f"{name} is not offered here: use what is on the screen")
        if name not in _USAGE:
            raise unknown("function", name, _USAGE)
        with written(name, _USAGE[name]):
            _do(name, _fields(args), pointer, size)
        return None


def _parts(said: Fields) -> list[Fields]:
    """The parts of a response, of its first candidate, of a content, or of an interaction."""
    if said.has("steps", "outputs"):
        return said.objects("steps", "outputs")
    if said.has("candidates"):
        said = next(iter(said.objects("candidates")), Fields({}))
        if not said.has("content"):
            return []
    if isinstance(content := said.get("content"), dict):
        said = Fields(content)
    return said.objects("parts") if said.has("parts") else [said]


def _remark(part: Fields, pointer: PointerState) -> None:
    if part.has("text") and part.get("thought") is not True:
        pointer.remark(part.text("text"))


def _fields(args: Any) -> Fields:
    """Arguments, as an object or as its text."""
    said = read_object(args) if isinstance(args, str) else args
    if not isinstance(said, dict):
        raise ActionError("argument", "the arguments are no JSON object")
    return Fields(said)


def _do(name: str, said: Fields, pointer: PointerState, size: Size) -> None:
    def point(x: str = "x", y: str = "y") -> Point:
        return _pixel((said.number(x), said.number(y)), size)

    if name in _CLICKS:
        return pointer.click(point(), *_CLICKS[name])
    match name:
        case "move" | "hover_at":
            pointer.move(point())
        case "mouse_down":
            pointer.down(point())
        case "mouse_up":
            pointer.up(point())
        case "long_press":
            pointer.do(act.LongPress(*point(), said.number("seconds", default=2)))
        case "drag_and_drop" if said.has("start_x"):
            pointer.drag(point("end_x", "end_y"), start=point("start_x", "start_y"))
        case "drag_and_drop":
            pointer.drag(point("destination_x", "destination_y"), start=point())
        case "scroll" | "scroll_at":
            _scroll(name, said, pointer, point() if said.has("x", "y") else None, size)
        case "scroll_document":
            _scroll(name, said, pointer, (size[0] // 2, size[1] // 2), size)
        case "type_text_at":
            pointer.click(point())
            _type(said, pointer, default=True)
        case "type":
            _type(said, pointer, default=False)
        case "wait":
            pointer.wait(said.number("seconds", default=1))
        case "wait_5_seconds":
            pointer.wait(5)
        case "take_screenshot" | "open_web_browser":
            pointer.wait(0)
        case "navigate" | "open_app":
            pointer.do(act.Open(said.text("url" if name == "navigate" else "app_name")))
        case _:
            _press(name, said, pointer)
    return None


def _press(name: str, said: Fields, pointer: PointerState) -> None:
    chord = "back" if name == "go_back" else _read_keys(said.words("key", "keys"))
    match name:
        case "key_down":
            pointer.key_down(chord)
        case "key_up":
            pointer.key_up(chord)
        case _:  # press_key, hotkey, key_combination, go_back
            pointer.press(chord)


def _type(said: Fields, pointer: PointerState, *, default: bool) -> None:
    clear = said.flag("clear_before_typing", default=default)
    enter = said.flag("press_enter", default=default)
    pointer.do(act.Type(said.text("text"), clear=clear, enter=enter))


def _scroll(
    name: str, said: Fields, pointer: PointerState, point: Point | None, size: Size
) -> None:
    right, down = said.choice(DIRECTIONS, "direction", default="down")
    if said.has("magnitude_in_wheel_clicks"):
        pixels = said.whole("magnitude_in_wheel_clicks") * NOTCH
    elif name == "scroll" and not said.has("magnitude"):
        pixels = said.whole("magnitude_in_pixels", default=300)
    else:
        thousandths = said.number("magnitude", default=PAGE)
        pixels = scale(thousandths, RELATIVE[0], size[0] if right else size[1])
    if pixels < 0:
        raise ActionError("argument", "a scroll goes 0 pixels or more in its direction")
    pointer.scroll(point, dx=right * pixels, dy=down * pixels)


def _pixel(said: tuple[float, float], size: Size) -> Point:
    if not all(0 <= value <= LAST for value in said):
        where = act.shorten(f"({said[0]:g}, {said[1]:g})")[1:-1]
        raise ActionError("argument", f"{where} is outside the screen; x and y are 0 to {LAST}")
    return to_pixel(said, RELATIVE, size)


def _say(action: act.Action, place: Place) -> tuple[str, Object]:
    """The function that says `action`, and its arguments."""
    points = [place(point) for point in action.points()]
    at: Object = dict(zip(("x", "y"), points[0], strict=True)) if points else {}
    match action:
        case act.Click(button=button, count=count, keys="") if (button, count) in CLICK_NAMES:
            return CLICK_NAMES[button, count].removeprefix("left_"), at
        case act.LongPress(seconds=seconds):
            return "long_press", at | {"seconds": _brief(seconds)}
        case act.Move():
            return "move", at
        case act.Drag(seconds=act.Drag.seconds):
            names = ("start_x", "start_y", "end_x", "end_y")
            return "drag_and_drop", dict(zip(names, points[0] + points[1], strict=True))
        case act.Scroll(dx=dx, dy=dy):
            for direction, (right, down) in DIRECTIONS.items():
                far = dx * right + dy * down
                if 0 <= far <= LAST and (dx, dy) == (far * right, far * down):
                    return "scroll", at | {"direction": direction, "magnitude_in_pixels": far}
        case act.Type(clear=False, text=text, enter=enter):
            return "type", {"text": text, "press_enter": enter}
        case act.Press(keys="back"):
            return "go_back", {}
        case act.Press(keys=keys):
            names_of_keys = _write_keys(keys)
            if len(names_of_keys) == 1:
                return "press_key", {"key": names_of_keys[0]}
            return "hotkey", {"keys": names_of_keys}
        case act.Wait(seconds=seconds):
            return ("wait", {"seconds": _brief(seconds)}) if seconds else ("take_screenshot", {})
    raise speechless("Gemini's computer use", action)


def _brief(seconds: float) -> float:
    """A whole number where it is one, as the functions want it."""
    return int(seconds) if seconds.is_integer() else seconds


def _read_keys(names: list[str]) -> str:
    keys = act.split_keys(_KEYS.read(names))
    return "+".join(key.lower() if len(keys) > 1 and len(key) == 1 else key for key in keys)


def _write_keys(chord: str) -> list[str]:
    names = _KEYS.write(chord)
    if _read_keys(names) != chord:
        raise ActionError("name", f"there is no way to write the keys {act.shorten(chord)}")
    return names
