"""AndroidWorld's actions: ``{"action_type": "click", "x": 10, "y": 20}`` or ``"index": 12``.

Source of the format: https://github.com/google-research/android_world (``env/json_action.py``, and
``env/actuation.py`` for what the actions do), with its agents' ``Reason: ... Action: {...}``.

What the format leaves open, and where we add to it:

- Coordinates are pixels of the screenshot; an `index` is the number of an element that was shown.
- ``scroll`` shows more of the side that `direction` names. Without more words it goes half the
  screen, from its middle, or half the element of the `index`; we also read `x` and `y`, and a
  `distance` in pixels.
- ``swipe`` moves a finger over the whole screen, as AndroidWorld does: down and up are the ways of
  the finger, left and right the sides of which more is shown.
- ``input_text`` first clicks the element or point, if one is given, and presses Enter after the
  text; we also read `"enter": false`, which leaves that out.
- ``wait`` is `WAIT` seconds. ``status`` is left out after an ``answer``, which ends the episode.
- ``press_keyboard`` has a `keycode` of Android, such as ``KEYCODE_VOLUME_UP``.
"""

from __future__ import annotations

from ui_gym.contract.action import (
    Action,
    Answer,
    Click,
    Drag,
    Finish,
    LongPress,
    Open,
    Outcome,
    Press,
    Scroll,
    Type,
    Wait,
)
from ui_gym.dialects.common import DIRECTIONS, speechless, unknown, written
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.grid import Size
from ui_gym.dialects.jsonish import Object
from ui_gym.dialects.keys import ANDROID
from ui_gym.dialects.objects import ObjectDialect, Place
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError

WAIT = 1.0
"""How long one ``wait`` takes, in seconds."""

SWIPE = 0.5
"""How long one ``swipe`` takes, in seconds."""

_KEYCODE = "KEYCODE_"
_KEYS = {"keyboard_enter": "enter", "navigate_home": "home", "navigate_back": "back"}
_BY_KEY = {key: name for name, key in _KEYS.items()}
_OUTCOMES: dict[str, Outcome] = {"complete": "success", "infeasible": "infeasible"}
_STATUS = {ours: theirs for theirs, ours in _OUTCOMES.items()}
_USAGE = {
    name: f'{{"action_type": "{name}"{rest}}}'
    for name, rest in {
        "click": ', "x": 10, "y": 20',
        "double_tap": ', "x": 10, "y": 20',
        "long_press": ', "x": 10, "y": 20',
        "input_text": ', "text": "text"',
        "keyboard_enter": "",
        "navigate_home": "",
        "navigate_back": "",
        "press_keyboard": ', "keycode": "KEYCODE_VOLUME_UP"',
        "scroll": ', "direction": "down"',
        "swipe": ', "direction": "up"',
        "open_app": ', "app_name": "Settings"',
        "wait": "",
        "answer": ', "text": "42"',
        "status": ', "goal_status": "complete"',
    }.items()
}


class AndroidWorld(ObjectDialect):
    """The actions of AndroidWorld."""

    name = "androidworld"
    example = _USAGE["click"]

    def read(self, said: Fields, pointer: PointerState, size: Size, seen: Seen) -> None:
        name = said.text("action_type", default="").lower()
        if name not in _USAGE:
            raise unknown("action", name, _USAGE)
        with written(name, _USAGE[name]):
            if name == "status":
                pointer.finish(Finish(said.choice(_OUTCOMES, "goal_status")))
            else:
                for action in _build(name, said, size, seen):
                    pointer.do(action)

    def say(self, action: Action, place: Place) -> list[Object]:
        name, rest = _say(action)
        return [{"action_type": name, **rest}]

    def write(self, objects: list[Object], thought: str) -> str:
        said = super().write(objects, "")
        return f"Reason: {thought}\nAction: {said}" if thought else f"Action: {said}"

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        return _PROMPT.format(
            width=size[0], height=size[1], actions="\n".join(_USAGE.values()), wait=WAIT,
            elements=_ELEMENTS if elements else "",
        )  # fmt: skip


def _build(name: str, said: Fields, size: Size, seen: Seen) -> list[Action]:
    match name:
        case "click" | "double_tap":
            return [Click(*_where(said, seen), count=2 if name == "double_tap" else 1)]
        case "long_press":
            return [LongPress(*_where(said, seen))]
        case "input_text":
            focus = [Click(*_where(said, seen))] if said.has("index", "x", "y") else []
            clear = said.flag("clear_text", default=False)
            enter = said.flag("enter", default=True)
            return [*focus, Type(said.text("text"), clear=clear, enter=enter)]
        case "scroll":
            return [_scroll(said, size, seen)]
        case "swipe":
            return [_swipe(said, size)]
        case "open_app":
            return [Open(said.text("app_name"))]
        case "press_keyboard":
            return [ANDROID.press([said.text("keycode").strip().removeprefix(_KEYCODE)])]
        case "wait":
            return [Wait(WAIT)]
        case "answer":
            return [Answer(said.text("text"))]
        case _:
            return [Press(_KEYS[name])]


def _where(said: Fields, seen: Seen) -> Point:
    if not said.has("index"):
        return said.pixel()
    if said.has("x", "y"):
        raise ActionError("argument", "give an index, or x and y, but not both")
    return seen.locate(said.get("index"))


def _scroll(said: Fields, size: Size, seen: Seen) -> Scroll:
    right, down = said.choice(DIRECTIONS, "direction")
    width, height = seen.element(said.get("index")).box[2:] if said.has("index") else size
    named = said.has("index", "x", "y")
    point = _where(said, seen) if named else (size[0] // 2, size[1] // 2)
    pixels = said.whole("distance", default=(width if right else height) // 2)
    return Scroll(*point, dx=right * pixels, dy=down * pixels)


def _swipe(said: Fields, size: Size) -> Drag:
    right, down = said.choice(DIRECTIONS, "direction")
    (x, y), (far_x, far_y) = (size[0] // 2, size[1] // 2), (size[0] - 1, size[1] - 1)
    if down:
        ends = [(x, 0), (x, far_y)]
    else:  # right: the finger goes to the left, from the far edge
        ends = [(0, y), (far_x, y)]
    start, end = ends[::-1] if down < 0 or right > 0 else ends
    return Drag(*start, *end, seconds=SWIPE)


def _say(action: Action) -> tuple[str, Object]:
    match action:
        case Click(x=x, y=y, button="left", count=1 | 2 as count, keys=""):
            return ("double_tap" if count == 2 else "click"), {"x": x, "y": y}
        case LongPress(x=x, y=y, seconds=LongPress.seconds):
            return "long_press", {"x": x, "y": y}
        case Type(text=text, clear=clear, enter=enter):
            said = {"clear_text": True} if clear else {}
            return "input_text", {"text": text, **said, **({} if enter else {"enter": False})}
        case Scroll(x=x, y=y, dx=dx, dy=dy):
            for direction, (right, down) in DIRECTIONS.items():
                pixels = dx * right + dy * down
                if pixels >= 0 and (dx, dy) == (pixels * right, pixels * down):
                    return "scroll", {"direction": direction, "x": x, "y": y, "distance": pixels}
        case Press(keys=keys) if keys in _BY_KEY:
            return _BY_KEY[keys], {}
        case Press(keys=keys) if len(names := ANDROID.write(keys)) == 1:
            code = _KEYCODE + names[0].upper()
            if ANDROID.read([code.removeprefix(_KEYCODE)]) == keys:
                return "press_keyboard", {"keycode": code}
        case Open(target=target):
            return "open_app", {"app_name": target}
        case Wait(seconds=seconds) if seconds == WAIT:
            return "wait", {}
        case Answer(text=text):
            return "answer", {"text": text}
        case Finish(outcome=outcome, message="") if outcome in _STATUS:
            return "status", {"goal_status": _STATUS[outcome]}
    raise speechless("AndroidWorld", action)


_PROMPT = """\
You operate a phone by its screen, which is {width} pixels wide and {height} high. Answer with the \
reason for your next action and with the action as a JSON object:
Reason: ...
Action: {{"action_type": ...}}
The actions are:
{actions}
x and y are whole pixels from the top left corner. input_text presses Enter after the text, unless \
"enter" is false; "clear_text": true empties the field before. A direction is up, down, left or \
right; scroll down shows what is below, and may have x, y and a distance in pixels, while swipe up \
moves a finger up over the whole screen. wait takes {wait:g} second. goal_status is complete or \
infeasible.{elements}"""

_ELEMENTS = """
The elements on the screen are listed, each with its number, as in [12] button "Submit". An index \
may stand for x and y: {"action_type": "click", "index": 12}. input_text with an index clicks the \
element first."""
