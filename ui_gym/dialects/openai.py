"""OpenAI's computer tool: ``{"type": "click", "button": "left", "x": 10, "y": 20}`` and the like.

Source of the format: OpenAI's Responses API, the items ``computer_call`` of computer-use-preview
(with one ``action``) and of gpt-5.4 and later (with a list ``actions``); the types are those of
``openai.types.responses.computer_action``. A bare action, a list of them, an item, a list of items
and a whole response are read alike.

What the tool leaves open, we define:

- Coordinates and scrolled distances are pixels of the screenshot.
- ``wait`` has no time: it is `WAIT` seconds, as in OpenAI's own examples.
- ``screenshot`` waits for no time at all, since an observation follows in any case.
- A drag goes straight from the first point of its path to the last.
- Keys are held in clicks. In a ``move`` they change nothing, and are read over; a ``scroll`` or a
  ``drag`` with keys would do something else (zoom, copy), and is refused.
- One newline at the end of a typed text is the Enter key.
- What the tool has no word for are calls of functions beside it: ``answer``, ``open`` and
  ``finish``. A message without any call is an answer, for that is how the models end.
"""

from __future__ import annotations

from typing import Any

from ui_gym.contract.action import Action, Button, Click, Drag, Move, Press, Scroll, Type, Wait
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import speechless, typed, typing, unknown, written
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.functions import call_function, function_of, teach_functions
from ui_gym.dialects.grid import Size
from ui_gym.dialects.jsonish import Object, write_object
from ui_gym.dialects.keys import OPENAI
from ui_gym.dialects.objects import ObjectDialect, Place
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

WAIT = 2.0
"""How long one ``wait`` takes, in seconds."""

_BUTTONS: dict[str, Button] = {"left": "left", "right": "right", "wheel": "middle"}
_THEIRS = {ours: theirs for theirs, ours in _BUTTONS.items()}
_TEXTS = read_table(__package__, "texts")["openai"]
_PROMPT: str = _TEXTS["prompt"]
_USAGE: dict[str, str] = _TEXTS["usage"]


class OpenAI(ObjectDialect):
    """The actions of OpenAI's computer tool."""

    name = "openai"
    example = _USAGE["click"]

    def read(self, said: Fields, pointer: PointerState, size: Size, seen: Seen) -> None:
        for item in said.objects("output") if said.has("output") else [said]:
            self._item(item, pointer)

    def say(self, action: Action, place: Place) -> list[Object]:
        if (call := function_of(action)) is not None:
            name, arguments = call
            text = write_object(arguments)
            return [{"type": "function_call", "name": name, "arguments": text}]
        return [_say(action)]

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        return _PROMPT.format(
            width=size[0], height=size[1], actions="\n".join(_USAGE.values()),
            functions=teach_functions(), wait=WAIT,
        )  # fmt: skip

    def _item(self, item: Fields, pointer: PointerState) -> None:
        kind = item.text("type", default="")
        if kind == "message":
            pointer.remark(_message(item.get("content")))
        elif kind == "function_call":
            call_function(item.text("name"), item.get("arguments"), pointer)
        elif item.has("actions", "action"):
            for action in item.objects("actions", "action"):
                self._action(action, pointer)
        elif kind != "reasoning":
            self._action(item, pointer)

    def _action(self, said: Fields, pointer: PointerState) -> None:
        name = said.text("type", default="")
        if name not in _USAGE:
            raise unknown("action", name, _USAGE)
        with written(name, _USAGE[name]):
            pointer.do(_build(name, said))


def _build(name: str, said: Fields) -> Action:
    keys = OPENAI.read(said.words("keys")) if said.has("keys") else ""
    match name:
        case "click":
            button = said.choice(_BUTTONS, "button", default="left")
            return Click(*said.pixel(), button=button, keys=keys)
        case "double_click":
            return Click(*said.pixel(), count=2, keys=keys)
        case "keypress":
            return OPENAI.press(said.words("keys"))
        case "type":
            return typed(said.text("text"))
        case "screenshot":
            return Wait(0.0)
        case "wait":
            return Wait(WAIT)
        case "move":
            return Move(*said.pixel())
    if keys:
        raise ActionError("argument", f"keys cannot be held in a {name}; do it without them")
    match name:
        case "scroll":
            dx, dy = (said.whole(f"scroll_{axis}", default=0) for axis in "xy")
            return Scroll(*said.pixel(), dx=dx, dy=dy)
        case _:  # drag
            path = said.need("path")
            if not isinstance(path, list) or len(path) < 2:
                raise ActionError("argument", "path must be a list of two points or more")
            ends = Fields({"start": path[0], "end": path[-1]})
            return Drag(*ends.pixel("start"), *ends.pixel("end"))


def _message(content: Any) -> str:
    """The text of a message, whose content is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _say(action: Action) -> Object:
    match action:
        case Click(x=x, y=y, button=button, count=1, keys=keys):
            said: Object = {"type": "click", "button": _THEIRS[button], "x": x, "y": y}
            return said | ({"keys": OPENAI.write(keys)} if keys else {})
        case Click(x=x, y=y, button="left", count=2, keys=keys):
            said = {"type": "double_click", "x": x, "y": y}
            return said | ({"keys": OPENAI.write(keys)} if keys else {})
        case Move(x=x, y=y):
            return {"type": "move", "x": x, "y": y}
        case Drag(x1=x1, y1=y1, x2=x2, y2=y2, seconds=Drag.seconds):
            return {"type": "drag", "path": [{"x": x1, "y": y1}, {"x": x2, "y": y2}]}
        case Scroll(x=x, y=y, dx=dx, dy=dy):
            return {"type": "scroll", "x": x, "y": y, "scroll_x": dx, "scroll_y": dy}
        case Type() if (text := typing(action)) is not None:
            return {"type": "type", "text": text}
        case Press(keys=keys):
            return {"type": "keypress", "keys": OPENAI.write(keys)}
        case Wait(seconds=seconds) if seconds in (0.0, WAIT):
            return {"type": "wait" if seconds else "screenshot"}
    raise speechless("OpenAI's computer tool", action)
