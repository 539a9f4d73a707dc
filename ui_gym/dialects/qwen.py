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

from typing import Any, ClassVar, Literal

from ui_gym.contract import action as act
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import (
    CLICK_NAMES,
    CLICKS,
    OUTCOMES,
    speechless,
    typed,
    typing,
    unknown,
    written,
)
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

_BUTTONS = {"back": "back", "home": "home", "menu": "recents", "enter": "enter"}
_SYSTEM = {ours: theirs.capitalize() for theirs, ours in _BUTTONS.items()}

_TEXTS = read_table(__package__, "texts")["qwen"]
_PROMPT: str = _TEXTS["prompt"]
_USAGE: dict[str, str] = _TEXTS["mobile_use"] | _TEXTS["computer_use"]


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

    def say(self, action: act.Action, place: Place) -> list[Object]:
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
        return _PROMPT.format(
            tool="a mouse and keyboard to interact with a computer" if computer
            else "a touchscreen to interact with a mobile device",
            function=self.function, width=width, height=height,
            actions="\n".join(_TEXTS[self.function].values()),
            notes=_TEXTS["computer_notes" if computer else "mobile_notes"],
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
            pointer.do(act.LongPress(*point(), said.number("time", default=act.LongPress.seconds)))
        case "scroll":
            pointer.scroll(here, dy=-said.whole("pixels"))
        case "hscroll":
            pointer.scroll(here, dx=said.whole("pixels"))
        case "click":
            pointer.click(point())
        case "terminate":
            pointer.finish(act.Finish(said.choice(OUTCOMES, "status", default="success")))
        case _ if name in CLICKS:
            pointer.click(here, *CLICKS[name])
        case _:
            pointer.do(_build(name, said))


def _build(name: str, said: Fields) -> act.Action:
    match name:
        case "key":
            return PYAUTOGUI.press(said.words("keys", "text"))
        case "system_button":
            return act.Press(said.choice(_BUTTONS, "button"))
        case "type":
            return typed(said.text("text"))
        case "open":
            return act.Open(said.text("text"))
        case "wait":
            return act.Wait(said.number("time", default=1.0))
        case _:  # answer
            return act.Answer(said.text("text"))


def _say_shared(action: act.Action) -> list[Object] | None:
    match action:
        case act.Type() if (text := typing(action)) is not None:
            return [{"action": "type", "text": text}]
        case act.Wait(seconds=seconds):
            return [{"action": "wait", "time": seconds}]
        case act.Answer(text=text):
            return [{"action": "answer", "text": text}]
        case act.Finish(outcome=outcome, message=""):
            return [{"action": "terminate", "status": outcome}]
    return None


def _say_computer(action: act.Action, place: Place) -> list[Object]:
    points = [list(place(point)) for point in action.points()]
    match action:
        case act.Click(button=button, count=count, keys="") if (button, count) in CLICK_NAMES:
            return [{"action": CLICK_NAMES[button, count], "coordinate": points[0]}]
        case act.Move():
            return [{"action": "mouse_move", "coordinate": points[0]}]
        case act.Drag(seconds=act.Drag.seconds):
            names = ("mouse_move", "left_click_drag")
            return [
                {"action": name, "coordinate": point}
                for name, point in zip(names, points, strict=True)
            ]
        case act.Scroll(dx=0, dy=dy):
            return [{"action": "scroll", "coordinate": points[0], "pixels": -dy}]
        case act.Scroll(dx=dx, dy=0):
            return [{"action": "hscroll", "coordinate": points[0], "pixels": dx}]
        case act.Press(keys=keys):
            return [{"action": "key", "keys": PYAUTOGUI.write(keys)}]
    raise speechless("computer_use", action)


def _say_mobile(action: act.Action, place: Place) -> list[Object]:
    points = [list(place(point)) for point in action.points()]
    match action:
        case act.Click(button="left", count=1, keys=""):
            return [{"action": "click", "coordinate": points[0]}]
        case act.LongPress(seconds=seconds):
            return [{"action": "long_press", "coordinate": points[0], "time": seconds}]
        case act.Drag(seconds=act.Drag.seconds):
            return [{"action": "swipe", "coordinate": points[0], "coordinate2": points[1]}]
        case act.Press(keys=keys) if keys in _SYSTEM:
            return [{"action": "system_button", "button": _SYSTEM[keys]}]
        case act.Press(keys=keys):
            return [{"action": "key", "text": "+".join(PYAUTOGUI.write(keys))}]
        case act.Open(target=target):
            return [{"action": "open", "text": target}]
    raise speechless("mobile_use", action)
