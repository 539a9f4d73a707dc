"""Qwen's functions: ``<tool_call>{"name": "computer_use", "arguments": {...}}</tool_call>``.

Source of the format: the cookbooks of https://github.com/QwenLM/Qwen3-VL, with the functions
``computer_use`` and ``mobile_use``. Every dialect here reads the actions of both functions and
writes those of its own. Coordinates are thousandths of the screen (Qwen3-VL and later: `Qwen`,
`QwenMobile`) or pixels of the picture as the processor resized it (Qwen2.5-VL: `Qwen25`,
`Qwen25Mobile`); a text alone does not tell which.

What the functions leave open, we define:

- Points are rounded as in the dialect ``uitars``, and survive where the grid is no coarser than
  the screen.
- ``scroll`` and ``hscroll`` count pixels of the screenshot: above 0 is up, and to the right. They
  may have a `coordinate`; without one they are where the pointer is, or in the middle.
- ``left_click_drag`` begins where the pointer is: a drag is written as ``mouse_move`` and that.
- The button ``Menu`` of a phone is the list of recent apps, as Qwen describes it.
- ``terminate`` may also have the status ``infeasible``, and is left out after an ``answer``.
- One newline at the end of a typed text is the Enter key.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

from ui_gym.contract.action import (
    Action,
    Answer,
    Button,
    Click,
    Drag,
    Finish,
    LongPress,
    Move,
    Open,
    Outcome,
    Press,
    Scroll,
    Type,
    Wait,
)
from ui_gym.dialects.common import speechless, typed, typing, unknown, written
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.grid import RELATIVE, Size, smart_resize, to_grid, to_pixel
from ui_gym.dialects.jsonish import Object, read_object, write_object
from ui_gym.dialects.keys import PYAUTOGUI
from ui_gym.dialects.objects import ObjectDialect, Place
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError

FUNCTIONS = ("computer_use", "mobile_use")

FACTOR = 28
MIN_PIXELS = 4 * 28 * 28
MAX_PIXELS = 16384 * 28 * 28
"""How Qwen2.5-VL's own ``preprocessor_config.json`` has pictures resized."""

_CLICKS: dict[str, tuple[Button, int]] = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
_NAMES = {click: name for name, click in _CLICKS.items()}
_OUTCOMES: dict[str, Outcome] = {
    "success": "success", "failure": "failure", "infeasible": "infeasible",
}  # fmt: skip
_BUTTONS = {"back": "back", "home": "home", "menu": "recents", "enter": "enter"}
_SYSTEM = {ours: theirs.capitalize() for theirs, ours in _BUTTONS.items()}

_POINT, _ENDS = {"coordinate": [100, 200]}, {"coordinate": [100, 800], "coordinate2": [100, 200]}
_SHARED: dict[str, Object] = {
    "type": {"text": "text"},
    "wait": {"time": 1},
    "answer": {"text": "42"},
    "terminate": {"status": "success"},
}
_COMPUTER: dict[str, Object] = {
    "mouse_move": _POINT,
    **dict.fromkeys(_CLICKS, _POINT),
    "left_click_drag": _POINT,
    "scroll": _POINT | {"pixels": -300},
    "hscroll": _POINT | {"pixels": 300},
    "key": {"keys": ["ctrl", "c"]},
    **_SHARED,
}
_MOBILE: dict[str, Object] = {
    "click": _POINT,
    "long_press": _POINT | {"time": 1},
    "swipe": _ENDS,
    "system_button": {"button": "Back"},
    "key": {"text": "volume_up"},
    "open": {"text": "Settings"},
    **_SHARED,
}
_USAGE = {name: json.dumps({"action": name} | rest) for name, rest in (_MOBILE | _COMPUTER).items()}


class Qwen(ObjectDialect):
    """The function ``computer_use``, with coordinates from 0 to 1000."""

    name: ClassVar[str] = "qwen"
    function: ClassVar[Literal["computer_use", "mobile_use"]] = "computer_use"
    example = (
        '<tool_call>{"name": "computer_use", "arguments": '
        '{"action": "left_click", "coordinate": [100, 200]}}</tool_call>'
    )

    def read(self, said: Fields, pointer: PointerState, size: Size, seen: Seen) -> None:
        for call in said.objects("tool_calls") if said.has("tool_calls") else [said]:
            call = _arguments(call)
            name = call.text("action", default="")
            if name not in _USAGE:
                raise unknown("action", name, _USAGE)
            with written(name, _USAGE[name]):
                _do(name, call, pointer, self.grid(size), size)

    def say(self, action: Action, place: Place) -> list[Object]:
        arguments = _say_shared(action)
        if arguments is None:
            tell = _say_computer if self.function == "computer_use" else _say_mobile
            arguments = tell(action, place)
        return [{"name": self.function, "arguments": one} for one in arguments]

    def write(self, objects: list[Object], thought: str) -> str:
        calls = [f"<tool_call>\n{write_object(said)}\n</tool_call>" for said in objects]
        return "\n".join([thought, *calls] if thought else calls)

    def place(self, size: Size) -> Place:
        grid = self.grid(size)
        return lambda point: to_grid(point, grid, size)

    def grid(self, size: Size) -> Size:
        """The coordinates of the screen's far corner, as the model writes them."""
        return RELATIVE

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        width, height = self.grid(size)
        computer = self.function == "computer_use"
        named = _COMPUTER if computer else _MOBILE
        return _PROMPT.format(
            tool="a mouse and keyboard to interact with a computer" if computer
            else "a touchscreen to interact with a mobile device",
            function=self.function, width=width, height=height,
            actions="\n".join(json.dumps({"action": n} | rest) for n, rest in named.items()),
            notes=_COMPUTER_NOTES if computer else _MOBILE_NOTES,
        )  # fmt: skip


class QwenMobile(Qwen):
    """The function ``mobile_use``, with coordinates from 0 to 1000."""

    name = "qwen_mobile"
    function = "mobile_use"


class Qwen25(Qwen):
    """The function ``computer_use``, with coordinates in pixels of the resized picture."""

    name = "qwen25"

    def grid(self, size: Size) -> Size:
        return smart_resize(size, FACTOR, MIN_PIXELS, MAX_PIXELS)


class Qwen25Mobile(Qwen25):
    """The function ``mobile_use``, with coordinates in pixels of the resized picture."""

    name = "qwen25_mobile"
    function = "mobile_use"


def _arguments(said: Fields) -> Fields:
    """What a call says: bare, as a call, or as APIs give calls."""
    call = said.objects("function")[0] if said.has("function") else said
    if not call.has("name", "arguments"):
        return call
    function = call.text("name", default="computer_use")
    if function not in FUNCTIONS:
        raise unknown("function", function, FUNCTIONS)
    arguments: Any = call.get("arguments")
    found = read_object(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(found, dict):
        raise ActionError("argument", f"{function}: the arguments are no JSON object")
    return Fields(found)


def _do(name: str, said: Fields, pointer: PointerState, grid: Size, size: Size) -> None:
    def point(field: str = "coordinate") -> Point:
        return to_pixel(said.spot(field), grid, size)

    here = point() if said.has("coordinate") else None
    match name:
        case "mouse_move":
            pointer.move(point())
        case "swipe":
            pointer.drag(point("coordinate2"), start=point())
        case "left_click_drag":
            pointer.drag(point())
        case "long_press":
            pointer.do(LongPress(*point(), said.number("time", default=LongPress.seconds)))
        case "scroll":
            pointer.scroll(here, dy=-said.whole("pixels"))
        case "hscroll":
            pointer.scroll(here, dx=said.whole("pixels"))
        case "click":
            pointer.click(point())
        case "terminate":
            pointer.finish(Finish(said.choice(_OUTCOMES, "status", default="success")))
        case _ if name in _CLICKS:
            pointer.click(here, *_CLICKS[name])
        case _:
            pointer.do(_build(name, said))


def _build(name: str, said: Fields) -> Action:
    match name:
        case "key":
            return PYAUTOGUI.press(said.words("keys", "text"))
        case "system_button":
            return Press(said.choice(_BUTTONS, "button"))
        case "type":
            return typed(said.text("text"))
        case "open":
            return Open(said.text("text"))
        case "wait":
            return Wait(said.number("time", default=1.0))
        case _:  # answer
            return Answer(said.text("text"))


def _say_shared(action: Action) -> list[Object] | None:
    match action:
        case Type() if (text := typing(action)) is not None:
            return [{"action": "type", "text": text}]
        case Wait(seconds=seconds):
            return [{"action": "wait", "time": seconds}]
        case Answer(text=text):
            return [{"action": "answer", "text": text}]
        case Finish(outcome=outcome, message=""):
            return [{"action": "terminate", "status": outcome}]
    return None


def _say_computer(action: Action, place: Place) -> list[Object]:
    points = [list(place(point)) for point in action.points()]
    match action:
        case Click(button=button, count=count, keys="") if (button, count) in _NAMES:
            return [{"action": _NAMES[button, count], "coordinate": points[0]}]
        case Move():
            return [{"action": "mouse_move", "coordinate": points[0]}]
        case Drag(seconds=Drag.seconds):
            names = ("mouse_move", "left_click_drag")
            return [
                {"action": name, "coordinate": point}
                for name, point in zip(names, points, strict=True)
            ]
        case Scroll(dx=0, dy=dy):
            return [{"action": "scroll", "coordinate": points[0], "pixels": -dy}]
        case Scroll(dx=dx, dy=0):
            return [{"action": "hscroll", "coordinate": points[0], "pixels": dx}]
        case Press(keys=keys):
            return [{"action": "key", "keys": PYAUTOGUI.write(keys)}]
    raise speechless("computer_use", action)


def _say_mobile(action: Action, place: Place) -> list[Object]:
    points = [list(place(point)) for point in action.points()]
    match action:
        case Click(button="left", count=1, keys=""):
            return [{"action": "click", "coordinate": points[0]}]
        case LongPress(seconds=seconds):
            return [{"action": "long_press", "coordinate": points[0], "time": seconds}]
        case Drag(seconds=Drag.seconds):
            return [{"action": "swipe", "coordinate": points[0], "coordinate2": points[1]}]
        case Press(keys=keys) if keys in _SYSTEM:
            return [{"action": "system_button", "button": _SYSTEM[keys]}]
        case Press(keys=keys):
            return [{"action": "key", "text": "+".join(PYAUTOGUI.write(keys))}]
        case Open(target=target):
            return [{"action": "open", "text": target}]
    raise speechless("mobile_use", action)


_PROMPT = """\
# Tools

You may call the function {function}: use {tool}, and see its screen. The screen's resolution is \
{width}x{height}; a coordinate is [x, y] from its top left corner. The arguments are one of:
{actions}
{notes} "status" is success, failure or infeasible. A newline at the end of a typed text presses \
Enter.

Write your thought if you have one, and then each call as a JSON object within tags:
<tool_call>
{{"name": "{function}", "arguments": <arguments>}}
</tool_call>"""

_COMPUTER_NOTES = (
    '"pixels" above 0 scroll up (hscroll: to the right), below 0 down. left_click_drag begins '
    "where the mouse is: move it there first."
)
_MOBILE_NOTES = (
    'swipe goes from "coordinate" to "coordinate2". "button" is Back, Home, Menu or Enter.'
)
